"""One case: a base, changed, given to one verb; and what a verb may never do with it."""

from __future__ import annotations

import contextlib
import io
import os
import resource
import shutil
import signal
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import msgspec
from starlette.testclient import TestClient

from mawl.advice.capacity.bounds import Bounds
from mawl.commands.main import main
from mawl.reporters.csv import TABLES
from mawl.server.application import create_app
from mawl.server.standard import standard
from tests.fuzz.bases import KINDS, RUNS
from tests.fuzz.mutators import copy_of, mutate

MOST_SECONDS = 10
MOST_BYTES = 350 * 2**20
"""More than before the case: with mawl itself, 150 MiB, that is a peak of 500 MiB."""
LONGEST_SENTENCE = 3000
STATUSES = (0, 1, 2)

REPORTS = (
    [],
    ["--all"],
    ["--color=always"],
    *([f"--format={name}"] for name in ("json", "markdown", "disclosure", "logparse", "throughput")),
    *([f"--format={name}"] for name in ("openmetrics", "saslog", "html")),
    *(["--format=csv", f"--table={table}"] for table in TABLES),
)


class HangError(BaseException):
    """A verb took longer than it may; nothing of mawl catches it."""


class Fault(msgspec.Struct, frozen=True):
    """What fell short, and the case that shows it again."""

    case: int
    what: str
    words: list[str]
    changes: list[str]
    detail: str


def run_case(case: int, seed: int, bases: Path, place: Path) -> Fault | None:
    """Make the case of this number and judge it; None where all is well."""
    random = Random(f"{seed} {case}")
    kind = random.choices(KINDS, (6, 3, 2, 2, 3, 1))[0]
    runs = place / "runs"
    shutil.rmtree(runs, ignore_errors=True)
    runs.mkdir()
    folder = copy_of(bases / kind, runs / "x")
    changes = [mutate(folder, random) for _ in range(random.choice((1, 1, 2)))]
    words = _words(kind, random, folder, runs, bases)
    return judged(case, words, changes, lambda: _visited(runs) if words == ["serve"] else main(words))


def _words(kind: str, random: Random, folder: Path, runs: Path, bases: Path) -> list[str]:
    place = f"--runs={runs}"
    if kind == "workload":
        return [
            "plan",
            str(random.choice([folder / "nano.toml", folder / "starter.toml"])),
            place,
            f"--data={runs}/data",
        ]
    if kind == "imports":
        return [
            "import",
            str(folder),
            place,
            "--output",
            str(runs / "made"),
            *random.choice(([], ["--json"])),
        ]
    if kind == "campaign":
        shown = random.choice(([], ["--format=json"], ["--format=markdown"], ["--format=html"]))
        return random.choice(
            (["report", "x", place, *shown], ["report", "x", place], ["compare", "x", place])
        )
    assert kind in RUNS
    other = str(copy_of(bases / "hostile", runs / "other"))
    return random.choice(
        (
            *(["report", "x", place, *random.choice(REPORTS)] for _ in range(6)),
            ["compare", "x", other, place],
            [
                "compare",
                other,
                "x",
                place,
                random.choice(("--format=json", "--format=markdown", "--format=html")),
            ],
            ["simulate", "x", place],
            ["simulate", "x", place, "--set", "cores=4", "--json"],
            ["placement", "x", place],
            ["tune", "check", "x", place],
            ["clean", "--dry-run", place],
            ["serve"],
        )
    )


def _visited(runs: Path) -> int:
    """The pages of the server over the runs; raises what a page did not foresee."""
    failures: list[Exception] = []
    app = create_app(runs, standard(Bounds()), failed=failures.append)
    with TestClient(app, base_url="http://127.0.0.1:6295") as visitor:
        for page in ("/", "/runs/x", "/metrics?run=x", "/compare?reference=x&candidate=other"):
            answer = visitor.get(page)
            if answer.status_code >= 500:
                raise failures[0] if failures else AssertionError(f"{page}: {answer.status_code}")
    return 0


def judged(case: int, words: list[str], changes: list[str], act: Callable[[], int]) -> Fault | None:
    """Do it; a fault is a traceback, a hang, much memory, another status, or a message of many lines."""

    def fault(what: str, detail: str) -> Fault:
        return Fault(case, what, words, changes, detail)

    out, err = io.StringIO(), io.StringIO()
    _forget_peak()
    before = _peak_bytes()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _limited():
            status = act()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else -1
    except HangError:
        return fault("hang", traceback.format_exc()[-1500:])
    except BaseException:
        return fault("traceback", traceback.format_exc()[-2500:])
    if (more := _peak_bytes() - before) > MOST_BYTES:
        return fault("memory", f"{more / 2**20:.0f} MiB")
    said = err.getvalue()
    if status not in STATUSES:
        return fault("status", f"{status}: {said}")
    if "Traceback" in said or "Warning" in said or len(said) > LONGEST_SENTENCE or "\x1b" in said:
        return fault("message", said[:2500])
    shown = out.getvalue()
    if "--color=always" not in words and "\x1b" in shown:
        return fault("escape", shown[max(0, shown.index("\x1b") - 200) :][:400])
    if status == 2 and not said.strip():
        return fault("silence", "")
    return None


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """CPU seconds count, since others work on the machine too; waiting without end counts by the clock."""

    def hang(*_: object) -> None:
        raise HangError

    before = [signal.signal(number, hang) for number in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, 6 * MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in zip((signal.SIGPROF, signal.SIGALRM), before, strict=True):
            signal.signal(number, handler)


def _forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_bytes() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def bounded_memory(most_bytes: int) -> None:
    """This process gets no more than so much address space."""
    resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
    os.environ["MAWL_CONFIG"] = ""
