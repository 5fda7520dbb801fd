"""Jobs start, wait, report, end and are stopped, in every mode.

A library that the zygote cannot import: whether it is missing, or there is no room for it.
"""

from __future__ import annotations

import importlib
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.measure.processes import is_alive
from mawl.records.model.messages import (
    Answered,
    Failed,
    Forked,
    Hello,
    LaunchMode,
    Ready,
    Reaped,
    Release,
    Start,
    Started,
    StepEnded,
    Stop,
    decode_from_launcher,
)
from mawl.records.spec.program_options import StartMode
from mawl.run.launch import server
from mawl.run.launch.client import Launcher
from mawl.run.launch.server import Server
from mawl.run.launch.setup import ARROW_POOL_VARIABLE, Setup, arrow_pool
from tests.fakes.launcher_bench import Bench, assignment

Benches = Callable[..., Bench]


@pytest.mark.parametrize("mode", ["zygote", "spawn"])
def test_a_job_says_every_message_in_order(benches: Benches, mode: StartMode) -> None:
    bench = benches(mode)
    bench.start("first")
    end = bench.reaped("first")
    kinds = [type(message) for message in bench.messages]
    assert kinds == [Hello, Forked, Ready, Started, StepEnded, Answered, type(end)]
    assert (end.exit_code, end.signal, end.leftover_processes) == (0, None, 0)
    [ready], [started] = bench.of(Ready), bench.of(Started)
    assert ready.at <= started.at <= end.ended_at
    assert ready.startup.cpu_seconds > 0
    assert ready.resident_bytes > 5e6
    assert (bench.folder / "first.log").read_text() == f"job first of run {bench.folder.name}\n"


def test_a_new_interpreter_pays_its_start_in_startup(benches: Benches) -> None:
    startups = {}
    for mode in ("zygote", "spawn"):
        bench = benches(mode)
        bench.start("first")
        bench.reaped("first")
        startups[mode] = bench.of(Ready)[0].startup.cpu_seconds
    assert startups["spawn"] > 3 * startups["zygote"]


@pytest.mark.parametrize("mode", ["zygote", "spawn"])
def test_exit_codes_and_signals_are_reported(benches: Benches, mode: StartMode) -> None:
    bench = benches(mode)
    bench.start("three", "leave", status=3)
    bench.start("killed", "die", signal=signal.SIGKILL.value)
    bench.start("raises", "fail")
    assert bench.reaped("three").exit_code == 3
    assert bench.reaped("killed").signal == signal.SIGKILL
    assert bench.reaped("killed").exit_code is None
    assert bench.reaped("raises").exit_code == 1
    assert bench.of(Failed, "raises")[0].sentence == "RuntimeError: the table is upside down"
    assert "Traceback" in (bench.folder / "raises.log").read_text()


@pytest.mark.parametrize("mode", ["zygote", "bare"])
def test_nothing_starts_before_its_gate_is_released(benches: Benches, mode: LaunchMode) -> None:
    bench = benches(mode)
    jobs = [f"job{number}" for number in range(5)]
    for job in jobs:
        if mode == "bare":
            bench.command(job, "true", gate="first")
        else:
            bench.start(job, gate="first")
    bench.command("free", "true") if mode == "bare" else bench.start("free")
    bench.reaped("free")
    bench.until(lambda: len(bench.of(Ready)) == 6)
    assert [started.job for started in bench.of(Started)] == ["free"]
    bench.launcher.send(Release(gate="first"))
    for job in jobs:
        assert bench.reaped(job).exit_code == 0
    last_ready = max(ready.at for ready in bench.of(Ready))
    assert all(started.at > last_ready for started in bench.of(Started) if started.job != "free")
    bench.command("late", "true", gate="first") if mode == "bare" else bench.start("late", gate="first")
    assert bench.reaped("late").exit_code == 0


def test_commands_run_without_a_shell_and_with_default_signals(benches: Benches) -> None:
    bench = benches("bare")
    bench.command("echo", "echo", "a  b;c")
    bench.command("pipe", "sh", "-c", "kill -PIPE $$")
    assert bench.reaped("echo").exit_code == 0
    assert (bench.folder / "echo.log").read_text() == "a  b;c\n"
    assert bench.reaped("pipe").signal == signal.SIGPIPE


def test_a_command_has_the_default_of_every_signal(
    benches: Benches, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    previous = signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    try:
        bench = benches("bare")
    finally:
        signal.signal(signal.SIGUSR2, previous)
    bench.command("signals", "grep", "-E", "Sig(Blk|Ign)", "/proc/self/status")
    assert bench.reaped("signals").exit_code == 0
    masks = (bench.folder / "signals.log").read_text().split()[1::2]
    # 32 and 33 are the C library's own: posix_spawn of make has them ignored, and nobody may set them.
    assert [int(mask, 16) & ~(0b11 << 31) for mask in masks] == [0, 0]
    bench.command("limit", "sh", "-c", "ulimit -f 1; exec dd if=/dev/zero of=large bs=8k count=1")
    assert bench.reaped("limit").signal == signal.SIGXFSZ


@pytest.mark.parametrize("variable", ["OMP_NUM_THREADS", ARROW_POOL_VARIABLE])
@pytest.mark.parametrize("value", ["7", None])
def test_a_command_keeps_its_users_threads_and_memory_pool(
    benches: Benches, monkeypatch: pytest.MonkeyPatch, variable: str, value: str | None
) -> None:
    monkeypatch.delenv(variable, raising=False)
    if value is not None:
        monkeypatch.setenv(variable, value)
    bench = benches("bare")
    bench.command("threads", "sh", "-c", f"echo ${{{variable}-not set}} $MAWL_JOB")
    bench.reaped("threads")
    assert (bench.folder / "threads.log").read_text() == f"{value or 'not set'} threads\n"


@pytest.mark.parametrize("mode", ["zygote", "spawn"])
def test_a_program_and_its_worker_processes_have_mawls_memory_pool(
    benches: Benches, monkeypatch: pytest.MonkeyPatch, mode: StartMode
) -> None:
    monkeypatch.setenv(ARROW_POOL_VARIABLE, "mimalloc")
    bench = benches(mode, ("pyarrow",))
    bench.start("pools", "pools")
    assert bench.reaped("pools").exit_code == 0
    [answered] = bench.of(Answered)
    assert list(answered.answer.values()) == [arrow_pool()] * 2


def test_a_job_holds_no_descriptor_but_its_own(benches: Benches) -> None:
    bench = benches("bare")
    bench.command("other", "sleep", "30")
    bench.command("list", "sh", "-c", "ls /proc/$$/fd")
    bench.reaped("list")
    assert (bench.folder / "list.log").read_text().split() == ["0", "1", "2"]


def test_a_command_that_is_not_there_fails_with_a_sentence(benches: Benches) -> None:
    bench = benches("bare")
    bench.command("missing", "no-such-command-here")
    assert bench.reaped("missing").exit_code == 127
    assert "no-such-command-here: the command cannot be started" in bench.of(Failed)[0].sentence


def test_a_log_that_cannot_be_written_fails_the_job_only(benches: Benches, tmp_path: Path) -> None:
    bench = benches("zygote")
    (tmp_path / "blocked.log").mkdir()
    bench.start("blocked")
    bench.start("fine")
    assert bench.reaped("blocked").exit_code == 127
    assert "blocked.log" in bench.of(Failed, "blocked")[0].sentence
    assert bench.reaped("fine").exit_code == 0


def test_stop_ends_the_whole_tree_politely_then_by_force(benches: Benches) -> None:
    bench = benches("zygote")
    bench.start("polite", "linger", folder=bench.folder)
    pids = bench.wait_for_files("*.main", "*.child", "*.daemon", "*.cleaned")
    bench.launcher.send(Stop(job="polite", grace_seconds=30.0))
    assert bench.reaped("polite").signal == signal.SIGTERM
    assert bench.reaped("polite").leftover_processes >= 2  # child and daemon ignore SIGTERM
    assert not any(is_alive(pid) for pid in pids)
    bench.start("stubborn", "linger", folder=bench.folder, ignore="yes")
    bench.until(lambda: len(list(bench.folder.glob("*.main"))) == 2)
    bench.launcher.send(Stop(job="stubborn", grace_seconds=0.1))
    assert bench.reaped("stubborn").signal == signal.SIGKILL


def test_stop_reaches_a_job_at_its_gate(benches: Benches) -> None:
    bench = benches("zygote")
    bench.start("waits", gate="never")
    bench.until(lambda: bench.of(Ready))
    bench.launcher.send(Stop(job="waits"))
    assert bench.reaped("waits").signal == signal.SIGTERM
    assert bench.of(Started) == []


def test_garbage_in_either_direction_breaks_nothing(benches: Benches) -> None:
    bench = benches("zygote")
    os.write(bench.launcher._to_launcher.fileno(), b"no message either\n")
    bench.start("babbles", "babble")
    bench.start("talks", characters=5000)
    assert bench.reaped("babbles").exit_code == 0
    bench.reaped("talks")
    assert len(bench.launcher.complaints) == 1
    assert "this is no message" in bench.launcher.complaints[0]
    assert "longer than a pipe carries" in bench.of(Failed, "talks")[0].sentence
    assert "no message either" in (bench.folder / "launcher.log").read_text()


def test_a_launcher_that_cannot_join_its_group_is_lost_with_the_reason(
    benches: Benches, tmp_path: Path
) -> None:
    bench = benches("bare", cgroups=[tmp_path / "absent"])
    bench.until(lambda: bench.launcher.lost)
    assert str(tmp_path / "launcher.log") in str(bench.launcher.lost)
    assert "cannot join the control group" in str(bench.launcher.lost)


def test_a_module_that_is_missing_ends_the_zygote_with_a_sentence(benches: Benches) -> None:
    bench = benches("zygote", modules=("no_such_module_here",))
    bench.until(lambda: bench.launcher.lost)
    assert "cannot import no_such_module_here" in str(bench.launcher.lost)
    assert "mawl[programs]" in str(bench.launcher.lost)


def test_a_process_that_cannot_be_made_is_a_lost_job(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    read, write = os.pipe2(os.O_CLOEXEC)
    setup = Setup(
        mode="bare",
        run_id="r",
        name="r/1",
        reports=write,
        runner=os.getpid(),
        modules=[],
        cpus=None,
        cgroups=[],
    )
    server, before = Server(setup), len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(os, "fork", refuse)
    server._start(Start(assignment=assignment(tmp_path, "first"), command=["true"]))
    failed, reaped = (decode_from_launcher(text) for text in os.read(read, 65536).splitlines())
    assert isinstance(failed, Failed) and "Resource temporarily unavailable" in failed.sentence
    assert isinstance(reaped, Reaped) and reaped.exit_code is reaped.usage.cpu_seconds is None
    assert len(os.listdir("/proc/self/fd")) == before
    for descriptor in (read, write, server._wakeup, server._wakeup_write):
        os.close(descriptor)


def test_a_program_has_its_garbage_collection(benches: Benches) -> None:
    bench = benches("zygote")
    bench.start("collects", "collect")
    assert bench.reaped("collects").exit_code == 1


def test_cpus_restrict_the_jobs(benches: Benches, tmp_path: Path) -> None:
    cpu = max(os.sched_getaffinity(0))
    launcher = Launcher("bare", run_id="cpus", cpus=[cpu], log=tmp_path / "launcher.log")
    bench = Bench(launcher, tmp_path)
    try:
        bench.command("where", "sh", "-c", "grep Cpus_allowed_list /proc/self/status")
        bench.reaped("where")
        assert (tmp_path / "where.log").read_text().split()[1] == str(cpu)
    finally:
        launcher.close()


@pytest.mark.parametrize(
    ("error", "limit", "cure"),
    [
        (ModuleNotFoundError("No module named 'scipy'"), None, "install what the programs need"),
        (ModuleNotFoundError("No module named 'scipy'"), 2**29, "install what the programs need"),
        (ImportError("failed to map segment from shared object"), None, "install what the programs need"),
        (ImportError("failed to map segment from shared object"), 2**29, "(ulimit -v)"),
    ],
)
def test_the_cure_is_that_of_the_cause(
    monkeypatch: pytest.MonkeyPatch, error: ImportError, limit: int | None, cure: str
) -> None:
    def failing(name: str) -> None:
        raise error

    monkeypatch.setattr(importlib, "import_module", failing)
    monkeypatch.setattr(server, "address_space_limit", lambda: limit)
    with pytest.raises(UnsuitableMachineError) as raised:
        server._import("scipy")
    assert cure in str(raised.value) and str(error) in str(raised.value)
