"""Hostile files given to the verbs that take a stranger's: status, traceback, memory and seconds of each.

``python -m tests.fuzz.hostile --cases 2000`` prints counts, the worst figures and what fell short.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import io
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import msgspec

from mawl.archive.container import MANIFEST, read_member, read_members, write_pack
from mawl.archive.manifest import MemberSum, decode_manifest, encode_manifest
from mawl.archive.packing import PackRequest, pack
from mawl.commands.main import main
from mawl.commands.verbs import VERBS, build_parser
from mawl.plan.workload import SHIPPED
from mawl.records.store.side_files import write_probe
from mawl.records.store.without_pandas import arrow_alone
from mawl.tuning.profile_files import SHIPPED as TUNING
from tests.fakes.probes import disk, probe
from tests.fakes.published_run import write_published
from tests.fuzz.bases import SYSTEM
from tests.fuzz.hostile_texts import JSON, LOG, PARQUET, TOML, ZIP, Made
from tests.importers.recordings import RECORDED
from tests.importers.test_import import EIGHT, log

MOST_BYTES, MOST_SECONDS = 500_000_000, 30
STATUSES = (0, 1, 2)
FORESEEN = "did not foresee"
PRELOADED = ("mawl.reports.html.report", "pyarrow.parquet")
TABLES = ("jobs", "steps", "events", "samples")
REPORTS = ("text", "json", "html", "csv", "markdown")

DERIVED = """{"format": 1, "tables": [{"name": "a.b", "size_bytes": 4096}], "jobs": [{"name": "load",
 "session": "one", "steps": [{"name": "s1", "procedure": "SORT", "kernel": "sort",
 "cpu_seconds": 0.1, "memory_bytes": 1000, "tables": ["a.b"],
 "data": {"read_bytes": 4096, "written_bytes": 0}}]}]}"""


class Outcome(msgspec.Struct, frozen=True):
    """One file and what the verb did with it; ``fault`` says what fell short, or nothing."""

    number: int
    kind: str
    words: list[str]
    status: int
    seconds: float
    peak_bytes: int
    fault: str
    said: str


def write_honest(folder: Path) -> Path:
    """The files that hostile ones are made of."""
    folder.mkdir(parents=True)
    write_published(folder / "run")
    write_probe(folder / "probe.json", probe(disk()))
    with contextlib.redirect_stdout(io.StringIO()):
        pack(PackRequest(folder=folder / "run", campaign=False), folder / "run.mawl.zip")
    shutil.copy(SHIPPED / "starter.toml", folder / "workload.toml")
    shutil.copy(TUNING / "volumes.toml", folder / "tuning.toml")
    (folder / "system.toml").write_text(SYSTEM)
    (folder / "derived.json").write_text(DERIVED)
    (folder / "job.log").write_text(log(EIGHT, 10))
    for name in ("sadf.json", "iostat.json", "linux.nmon"):
        shutil.copy(RECORDED / name, folder / name)
    return folder


def repacked(content: Path, name: str, changed: bytes, target: Path) -> None:
    """The pack with another content of a member, and the sums that belong to it."""
    members = {one.name: read_member(content, one, 2**30) for one in read_members(content)}
    members[name] = changed
    if name != MANIFEST:
        sums = {
            one: MemberSum(bytes=len(part), sha256=hashlib.sha256(part).hexdigest())
            for one, part in members.items()
            if one != MANIFEST
        }
        manifest = decode_manifest(members[MANIFEST], name)
        members[MANIFEST] = encode_manifest(msgspec.structs.replace(manifest, members=sums))
    with target.open("wb") as file:
        write_pack(file, members)


def make_case(number: int, seed: int, honest: Path, place: Path) -> tuple[str, list[str]]:
    """The kind of a case and the words of its command; its files lie below ``place``."""
    random = Random(f"{seed} {number}")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    form = ("TOML", "JSON", "zip", "table", "TOML", "JSON", "zip", "log")[number % 8]
    return {"TOML": _toml, "JSON": _json, "zip": _zip, "table": _table, "log": _log}[form](
        random, honest, place
    )


def _made(kinds: dict[str, Made], random: Random, content: bytes) -> tuple[str, bytes]:
    kind = random.choice(list(kinds))
    return kind, kinds[kind](random, content)


def _toml(random: Random, honest: Path, place: Path) -> tuple[str, list[str]]:
    name = random.choice(("workload", "workload", "tuning", "system", "plan", "settings"))
    if name == "plan":
        return _in_run(random, honest, place, "plan.toml", TOML)
    source = honest / f"{name}.toml"
    content = (
        b'scale = 0.1\nseed = 3\n[roles]\ndata = ["/tmp"]\n' if name == "settings" else source.read_bytes()
    )
    kind, changed = _made(TOML, random, content)
    file = place / f"{name}.toml"
    file.write_bytes(changed)
    run = str(honest / "run")
    words = {
        "workload": ["plan", str(file), f"--data={place}/data"],
        "tuning": random.choice(
            (["tune", "show", str(file)], ["tune", "check", run, "--profile", str(file)])
        ),
        "system": ["simulate", run, "--anyway", "--system", str(file)],
        "settings": ["plan", "nano"],
    }[name]
    return f"TOML {kind}", words


def _json(random: Random, honest: Path, place: Path) -> tuple[str, list[str]]:
    name = random.choice(("run.json", "run.json", "manifest", "summary", "probe", "derived", "recording"))
    if name == "run.json":
        return _in_run(random, honest, place, name, JSON)
    if name in ("manifest", "summary"):
        member = (
            MANIFEST if name == "manifest" else f"printed/run/{random.choice(('summary', 'contents'))}.json"
        )
        return _in_pack(random, honest, place, member, JSON)
    if name == "recording":
        source = random.choice(("sadf.json", "iostat.json", "linux.nmon"))
        kind, changed = _made(JSON, random, (honest / source).read_bytes())
        (place / source).write_bytes(changed)
        return f"JSON {kind}", ["import", str(place / source), f"--output={place}/made"]
    kind, changed = _made(JSON, random, (honest / f"{name}.json").read_bytes())
    (place / f"{name}.json").write_bytes(changed)
    if name == "probe":
        return f"JSON {kind}", ["placement", str(honest / "run"), str(place / "probe.json")]
    (place / "w.toml").write_text(
        'name = "w"\nderived = "derived.json"\n[[sessions]]\nname = "one"\nstages = [["load"]]\n'
    )
    return f"JSON {kind}", ["plan", str(place / "w.toml"), f"--data={place}/data"]


def _zip(random: Random, honest: Path, place: Path) -> tuple[str, list[str]]:
    kind, changed = _made(ZIP, random, (honest / "run.mawl.zip").read_bytes())
    (place / "run.mawl.zip").write_bytes(changed)
    return kind, _of_pack(random, place)


def _table(random: Random, honest: Path, place: Path) -> tuple[str, list[str]]:
    return _in_run(random, honest, place, f"{random.choice(TABLES)}.parquet", PARQUET)


def _log(random: Random, honest: Path, place: Path) -> tuple[str, list[str]]:
    kind, changed = _made(LOG, random, (honest / "job.log").read_bytes())
    (place / "job.log").write_bytes(changed)
    verb = random.choice((["import"], ["derive"]))
    return kind, [*verb, str(place / "job.log"), f"--output={place}/made"]


def _in_run(
    random: Random, honest: Path, place: Path, name: str, kinds: dict[str, Made]
) -> tuple[str, list[str]]:
    """A changed file of a run, in its folder or in a pack of it."""
    if random.random() < 0.5:
        return _in_pack(random, honest, place, f"runs/run/{name}", kinds)
    kind, changed = _made(kinds, random, (honest / "run" / name).read_bytes())
    shutil.copytree(honest / "run", place / "run")
    (place / "run" / name).write_bytes(changed)
    run = str(place / "run")
    words = random.choice(
        (
            ["validate", run],
            ["compare", run, str(honest / "run"), "--anyway"],
            ["simulate", run, "--anyway"],
            *(["report", run, f"--format={form}"] for form in REPORTS),
        )
    )
    return f"{name.partition('.')[2].upper()} {kind}" if kinds is not PARQUET else kind, words


def _in_pack(
    random: Random, honest: Path, place: Path, member: str, kinds: dict[str, Made]
) -> tuple[str, list[str]]:
    source = honest / "run.mawl.zip"
    content = next(read_member(source, one, 2**30) for one in read_members(source) if one.name == member)
    kind, changed = _made(kinds, random, content)
    repacked(source, member, changed, place / "run.mawl.zip")
    return kind if kinds is PARQUET else f"{'TOML' if kinds is TOML else 'JSON'} {kind}", _of_pack(
        random, place
    )


def _of_pack(random: Random, place: Path) -> list[str]:
    file = str(place / "run.mawl.zip")
    return random.choice((["validate", file], ["publish", file, f"--output={place}/site"]))


def outcome_of(number: int, seed: int, honest: Path, place: Path) -> Outcome:
    """Make a case and give it to its verb, each in a process forked from this one."""
    made, status = _forked(lambda: make_case(number, seed, honest, place))
    if status:
        raise RuntimeError(f"case {number} could not be made: wait status {status}")
    kind, words = msgspec.json.decode(made, type=tuple[str, list[str]])
    began = time.monotonic()
    said, status = _forked(lambda: _judged(words, place))
    seconds = time.monotonic() - began
    shutil.rmtree(place, ignore_errors=True)
    if status:
        return Outcome(number, kind, words, -1, seconds, 0, f"wait status {status}", "")
    code, peak_bytes, text = msgspec.json.decode(said, type=tuple[int, int, str])
    fault = _fault(code, peak_bytes, seconds, text)
    return Outcome(number, kind, words, code, seconds, peak_bytes, fault, text[-2500:])


def _forked(act: Callable[[], object]) -> tuple[bytes, int]:
    """What a forked process answers as JSON, and its wait status; it ends after twice the allowed time."""
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
            os._exit(status)
    os.close(writer)
    with open(reader, "rb") as answered, _ended_after(pid, 2 * MOST_SECONDS):
        said = answered.read()
    return said, os.waitpid(pid, 0)[1]


def _fault(code: int, peak_bytes: int, seconds: float, text: str) -> str:
    if "Traceback" in text or FORESEEN in text:
        lines = re.findall(r'File "[^"]*/(src/mawl/[^"]+)", line (\d+)', text)
        return f"traceback at {':'.join(lines[-1])}" if lines else f"traceback: {text[-150:]}"
    if code not in STATUSES:
        return f"status {code}"
    if code and not text.strip():
        return "silence"
    if peak_bytes > MOST_BYTES:
        return f"memory {peak_bytes / 1e6:.0f} MB"
    return f"{seconds:.0f} s" if seconds > MOST_SECONDS else ""


def _judged(words: list[str], place: Path) -> tuple[int, int, str]:
    """The verb's status, the most memory of it and of what it started, and what it said."""
    os.chdir(place)
    os.environ["XDG_CACHE_HOME"] = str(place / "cache")
    out, err = io.StringIO(), io.StringIO()
    Path("/proc/self/clear_refs").write_text("5")
    shared_bytes = _kilobytes("VmRSS")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else -1
        except BaseException:
            traceback.print_exc()
            code = -1
    own_bytes = _kilobytes("VmHWM")
    started_bytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    # A process that it forked shares what it held before.
    peak_bytes = max(own_bytes, started_bytes + own_bytes - shared_bytes)
    text = err.getvalue() or (out.getvalue() if code else "")
    return code, peak_bytes, text[:200_000]


def _kilobytes(name: str) -> int:
    [found] = re.findall(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found) * 1024


@contextlib.contextmanager
def _ended_after(pid: int, seconds: float) -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def outcomes(numbers: range, seed: int, place: Path) -> Iterator[Outcome]:
    """The cases of these numbers, one after another; folders lie below ``place``."""
    build_parser(VERBS)
    for name in PRELOADED:
        importlib.import_module(name)
    arrow_alone()
    honest = write_honest(place / "honest")
    for number in numbers:
        yield outcome_of(number, seed, honest, place / "case")


def _main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.hostile", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--step", type=int, default=1, help="every how many-th case, for several processes")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="mawl-hostile-"))
    found = []
    try:
        for one in outcomes(range(arguments.first, arguments.cases, arguments.step), arguments.seed, place):
            found.append(one)
            if one.fault:
                print(f"{one.number}: {one.fault}\n{one.kind}: {one.words}\n{one.said}\n", flush=True)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    for kind, count in sorted(Counter(one.kind for one in found).items()):
        of_kind = [one for one in found if one.kind == kind]
        megabytes, seconds = max(one.peak_bytes for one in of_kind) / 1e6, max(one.seconds for one in of_kind)
        worst = f"{megabytes:4.0f} MB {seconds:5.2f} s"
        print(
            f"{count:5} {worst}  {kind}: "
            + ", ".join(
                f"status {status} {times}"
                for status, times in sorted(Counter(one.status for one in of_kind).items())
            )
        )
    print(
        f"{len(found)} cases, {sum(bool(one.fault) for one in found)} faults, at most "
        f"{max(one.peak_bytes for one in found) / 1e6:.0f} MB and {max(one.seconds for one in found):.1f} s"
    )
    return int(any(one.fault for one in found))


if __name__ == "__main__":
    sys.exit(_main())
