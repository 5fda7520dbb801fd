"""Jobs of every kind count into their own files, and say what they waited for a CPU."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from mawl.measure.preload.build import Library
from mawl.measure.preload.counters import CounterFile, create
from mawl.measure.preload.job import START, Ledger
from mawl.records.model.messages import LaunchMode, Reaped, Release, Start, Started
from mawl.run.launch.client import Launcher
from tests.fakes.launcher_bench import Bench, assignment, known
from tests.run.launch.conftest import FAKES

Counted = Callable[..., Bench]


@pytest.fixture
def counted(made: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counted]:
    """A launcher of a mode whose jobs may count; closed at the end."""
    monkeypatch.setenv("PYTHONPATH", str(FAKES), prepend=":")
    launchers = []

    def make(mode: LaunchMode) -> Bench:
        launcher = Launcher(
            mode, run_id="counted", log=tmp_path / "log", library=made, execute="job_programs:execute"
        )
        launchers.append(launcher)
        return Bench(launcher, tmp_path)

    yield make
    for launcher in launchers:
        launcher.close()


def start(bench: Bench, job: str, *command: str, gate: str | None = None, **inputs: object) -> Path:
    """Start a job that counts; its counter file.  Its role work is the folder ``work``."""
    (bench.folder / "work").mkdir(exist_ok=True)
    (bench.folder / "counters").mkdir(exist_ok=True)
    counters = bench.folder / "counters" / job
    create(counters, {"data": [], "work": [bench.folder / "work"], "util": []})
    told = assignment(bench.folder, job, "copy", **inputs)
    told = msgspec.structs.replace(told, counters=str(counters))
    bench.launcher.send(Start(assignment=told, command=list(command) or None, gate=gate))
    return counters


@pytest.mark.parametrize("mode", ["zygote", "spawn", "bare"])
def test_a_job_counts_from_its_release_whatever_made_it(mode: LaunchMode, counted: Counted) -> None:
    bench = counted(mode)
    path = bench.folder / "work" / "file"
    if mode == "bare":
        counters = start(bench, "job", "dd", "if=/dev/zero", f"of={path}", "bs=1000", "count=123")
    else:
        counters = start(bench, "job", path=path, bytes=123_000)
    assert bench.reaped("job").exit_code == 0
    file = CounterFile(counters)
    work = file.by_role()["work"]
    assert work.written_bytes == 123_000
    assert work.read_bytes == (0 if mode == "bare" else 123_000)
    base = Ledger(counters).entries()[START]
    assert base.io["work"].written_bytes == 0
    # Its imports are before its release in a new interpreter, and nowhere else.
    assert (base.io["other"].reads > 10) == (mode == "spawn")
    assert file.header("images") == 1


def test_forty_jobs_at_once_each_have_their_own(counted: Counted) -> None:
    bench = counted("zygote")
    sizes = {f"job{number}": 50_000 + 7919 * number for number in range(40)}
    files = {
        job: start(bench, job, gate="together", path=bench.folder / "work" / job, bytes=size)
        for job, size in sizes.items()
    }
    bench.launcher.send(Release(gate="together"))
    for job, size in sizes.items():
        bench.reaped(job)
        work = CounterFile(files[job]).by_role()["work"]
        assert (work.written_bytes, work.read_bytes, work.writes) == (size, size, 1)


def test_a_killed_command_keeps_what_it_had_counted(counted: Counted) -> None:
    bench = counted("bare")
    path = bench.folder / "work" / "file"
    code = (
        "import os, signal, sys\n"
        "d = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)\n"
        "for _ in range(100): os.write(d, bytes(10))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    counters = start(bench, "job", sys.executable, "-I", "-S", "-c", code, str(path))
    assert bench.reaped("job").signal == signal.SIGKILL
    assert CounterFile(counters).by_role()["work"].written_bytes == 1000


def test_run_delay_is_known_with_and_without_counters(counted: Counted) -> None:
    bench = counted("zygote")
    bench.start("plain", "spin", seconds=0.05, folder=bench.folder)
    reaped: Reaped = bench.reaped("plain")
    [started] = bench.of(Started, "plain")
    # Four processes of one job spin: each of them waits for those that were there before it.
    assert known(reaped.run_delay_seconds) > 0
    assert 0 <= known(started.run_delay_seconds) <= known(reaped.run_delay_seconds)
    assert known(started.used.cpu_seconds) > 0
