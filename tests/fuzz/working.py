"""Many cases, each in a process of its own, and what their faults have in common."""

from __future__ import annotations

import importlib
import math
import os
import re
import resource
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from mawl.commands.verbs import VERBS, build_parser
from mawl.records.store.without_pandas import arrow_alone
from tests.fuzz.cases import Case, Fault, judge_case, make_case
from tests.fuzz.hostile import make_hostile
from tests.fuzz.judging import MOST_SECONDS, Judgement

ADDRESS_SPACE_BYTES = 6 * 2**30
MOST_BYTES = 500_000_000
"""Of memory at its peak; mawl itself and the modules of all verbs count."""

LONGEST_CASE_SECONDS = 600
"""By the clock: others work on the machine too."""

PRELOADED = ("bokeh.embed", "mawl.reports.html.report", "pyarrow.parquet", "scipy.optimize", "scipy.stats")


class Part(msgspec.Struct, frozen=True):
    """What one worker did: cases by kind, CPU seconds, faults, and the largest peak of a case."""

    kinds: dict[str, int]
    cpu_seconds: float
    faults: list[Fault]
    peak_bytes: int


def worked(task: tuple[int, int, int, int, str, str, bool]) -> Part:
    """The cases of one worker."""
    worker, workers, cases, seed, bases, place, is_hostile = task
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES))
    make = make_hostile if is_hostile else make_case
    if not is_hostile:
        os.environ["MAWL_CONFIG"] = ""
    build_parser(VERBS)
    for name in PRELOADED:
        importlib.import_module(name)
    arrow_alone()
    own = Path(place) / f"worker{worker}"
    kinds: Counter[str] = Counter()
    faults: list[Fault] = []
    peak_bytes = 0
    numbers = range(worker, cases, workers)
    for done, number in enumerate(numbers, 1):
        case, found, used_bytes = watched(partial(make, number, seed, Path(bases), own), own)
        kinds[case.kind] += 1
        peak_bytes = max(peak_bytes, used_bytes)
        if found is not None:
            faults.append(Fault(case, *found))
            print(f"{case.number}: {found[0]} {case.words} {case.changes}\n{found[1]}\n", flush=True)
        if done % 500 == 0:
            print(f"worker {worker}: {done} of {len(numbers)}, {_cpu_seconds():.0f} CPU s", flush=True)
    return Part(dict(kinds), _cpu_seconds(), faults, peak_bytes)


def watched(make: Callable[[], Case], place: Path) -> tuple[Case, Judgement | None, int]:
    """Make and judge a case, each in a process forked from this one; and the peak memory of judging.

    The memory of a process that had many cases before, or that made the case, says little of one command.
    """
    made, status = _forked(make)
    if status:
        raise RuntimeError(f"the case could not be made: wait status {status}")
    case = msgspec.json.decode(made, type=Case)
    said, status = _forked(lambda: _judgement(case, place))
    if status:
        return case, ("death", f"wait status {status}"), 0
    found, peak_bytes = msgspec.json.decode(said, type=tuple[Judgement | None, int])
    if found is None and peak_bytes > MOST_BYTES:
        found = ("memory", f"{peak_bytes / 1e6:.0f} MB at its peak")
    return case, found, peak_bytes


def _forked(act: Callable[[], object]) -> tuple[bytes, int]:
    """What a forked process answers as JSON, and its wait status."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        status = 1
        try:
            with open(writer, "wb") as answer:
                answer.write(msgspec.json.encode(act()))
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            # Without the destructors of C++ libraries, which look for threads that a fork does not copy.
            os._exit(status)
    os.close(writer)
    before = signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, LONGEST_CASE_SECONDS)
    try:
        with open(reader, "rb") as answered:
            return answered.read(), os.waitpid(pid, 0)[1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _judgement(case: Case, place: Path) -> tuple[Judgement | None, int]:
    """What fell short, and the most memory of the verb and of what it started."""
    # No handler of Python's runs while a library computes: then the kernel ends it.
    used_seconds = math.ceil(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (used_seconds + 5 * MOST_SECONDS,) * 2)
    os.chdir(place)
    os.environ["XDG_CACHE_HOME"] = str(place / "cache")
    shared_bytes = _held_bytes("VmRSS")
    found = judge_case(case, place)
    own_bytes = _held_bytes("VmHWM")
    started_bytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    # A process that it forked shares what it held before.
    return found, max(own_bytes, started_bytes + own_bytes - shared_bytes)


def _held_bytes(name: str) -> int:
    [kilobytes] = re.findall(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(kilobytes) * 1024


def _cpu_seconds() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def signature(fault: Fault) -> str:
    """Faults of one cause have one: the kind, and where it happened."""
    lines = re.findall(r'File "[^"]*/(src/mawl/[^"]+|tests/[^"]+)", line (\d+)', fault.detail)
    return f"{fault.what} at {lines[-1][0]}:{lines[-1][1]}" if lines else f"{fault.what}: {fault.detail[:80]}"
