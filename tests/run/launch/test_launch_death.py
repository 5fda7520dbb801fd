"""Whoever dies takes what hangs below it along: nothing survives a runner, a launcher or a keeper."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from mawl.measure.processes import descendants, is_alive
from mawl.records.model.messages import Failed, Forked
from mawl.run.launch.setup import kill_run, live_runs
from tests.fakes.launcher_bench import Bench

Benches = Callable[..., Bench]

KINDS = ("*.main", "*.child", "*.daemon", "*.cleaned")
SURVIVAL_LIMIT_SECONDS = 5.0
REPOSITORY = Path(__file__).parents[3]


def assert_gone(pids: Sequence[int]) -> None:
    """All of these end before the limit."""
    deadline = time.monotonic() + SURVIVAL_LIMIT_SECONDS
    while alive := [pid for pid in pids if is_alive(pid)]:
        assert time.monotonic() < deadline, f"still alive: {alive}"
        time.sleep(0.02)


RUNNER = """
import sys, time
from pathlib import Path
from tests.fakes.launcher_bench import Bench
from mawl.run.launch.client import Launcher
folder = Path(sys.argv[1])
log = folder / "launcher.log"
launcher = Launcher("zygote", run_id=folder.name, log=log, execute="job_programs:execute")
bench = Bench(launcher, folder)
for number in range(2):
    bench.start(f"job{number}", "linger", folder=folder, ignore="yes")
bench.start("waits", gate="never")
(folder / f"{launcher.pid}.launcher").touch()
time.sleep(60)
"""


@pytest.mark.parametrize(
    ("number", "stopped"),
    [(signal.SIGKILL, False), (signal.SIGTERM, False), (signal.SIGKILL, True)],
    ids=["killed", "terminated", "killed, its launcher and jobs stopped"],
)
def test_nothing_survives_the_runner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, stopped: bool
) -> None:
    for place in (REPOSITORY, REPOSITORY / "tests" / "fakes"):
        monkeypatch.setenv("PYTHONPATH", str(place), prepend=os.pathsep)
    runner = subprocess.Popen([sys.executable, "-c", RUNNER, str(tmp_path)])
    try:
        deadline = time.monotonic() + 30
        while any(len(list(tmp_path.glob(kind))) < 2 for kind in KINDS):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        pids = [
            int(path.name.split(".")[0]) for kind in (*KINDS, "*.launcher") for path in tmp_path.glob(kind)
        ]
        assert len(pids) == 9
        assert set(live_runs()) >= {tmp_path.name}
        for pid in pids if stopped else []:
            os.kill(pid, signal.SIGSTOP)
    finally:
        runner.send_signal(number)
        runner.wait()
    assert_gone(pids)
    assert tmp_path.name not in live_runs()


def test_jobs_of_a_killed_launcher_end_by_themselves(benches: Benches) -> None:
    bench = benches("zygote")
    bench.start("lingers", "linger", folder=bench.folder, ignore="yes")
    bench.start("waits", gate="never")
    pids = bench.wait_for_files(*KINDS)
    os.kill(bench.launcher.pid, signal.SIGKILL)
    bench.until(lambda: bench.launcher.lost)
    assert_gone(pids)
    bench.start("after")
    assert bench.launcher.close(0.5).cpu_seconds is not None
    assert_gone(list(live_runs().get(bench.folder.name, [])))


def test_a_killed_keeper_costs_its_job_only(benches: Benches) -> None:
    bench = benches("zygote")
    bench.start("kept", "linger", folder=bench.folder)
    pids = bench.wait_for_files(*KINDS)
    bench.start("other", gate="later")
    bench.until(lambda: bench.of(Forked, "other"))
    os.kill(bench.of(Forked, "kept")[0].pid, signal.SIGKILL)
    end = bench.reaped("kept")
    assert (end.exit_code, end.signal) == (None, None)
    assert end.usage.application_read_bytes is None
    assert (
        "job kept is lost: the process that kept it ended with signal 9"
        in bench.of(Failed, "kept")[0].sentence
    )
    assert_gone(pids)
    assert is_alive(bench.of(Forked, "other")[0].pid)


def test_the_sweep_finds_what_lost_launcher_and_keeper(benches: Benches) -> None:
    run_id = f"sweep-{os.getpid()}"
    bench = benches("zygote", run_id=run_id)
    bench.start("lingers", "linger", folder=bench.folder)
    pids = bench.wait_for_files("*.daemon", "*.main")
    keeper = bench.of(Forked)[0].pid
    os.kill(keeper, signal.SIGSTOP)
    os.kill(bench.launcher.pid, signal.SIGKILL)
    bench.until(lambda: bench.launcher.lost)
    os.kill(keeper, signal.SIGKILL)
    assert_gone([keeper])
    [daemon] = [pid for pid in pids if (bench.folder / f"{pid}.daemon").exists()]
    assert is_alive(daemon)
    assert daemon in live_runs()[run_id]
    assert kill_run(run_id) >= 1
    assert_gone(pids)
    assert run_id not in live_runs()
    assert kill_run(run_id) == 0
    for path in bench.folder.glob("*.cleaned"):  # it has no mark and no keeper: what a sweep cannot see
        os.kill(int(path.name.split(".")[0]), signal.SIGKILL)


def test_closing_a_launcher_spares_the_other_one_of_the_run(benches: Benches) -> None:
    first, second = benches("bare", run_id="shared"), benches("zygote", run_id="shared")
    second.start("waits", gate="first")
    second.until(lambda: second.of(Forked))
    first.command("sleeps", "sleep", "60")
    first.until(lambda: first.of(Forked))
    first.launcher.close()
    assert first.reaped("sleeps").signal == signal.SIGKILL
    assert is_alive(second.of(Forked)[0].pid)


def test_a_keeper_that_does_not_answer_is_killed_with_its_job(benches: Benches) -> None:
    bench = benches("zygote")
    bench.start("lingers", "linger", folder=bench.folder)
    pids = bench.wait_for_files(*KINDS)
    os.kill(bench.of(Forked)[0].pid, signal.SIGSTOP)
    bench.launcher.close()
    assert not any(is_alive(pid) for pid in pids)


def test_a_keeper_that_stays_stopped_is_killed_and_its_job_has_no_real_time(benches: Benches) -> None:
    bench = benches("zygote")
    bench.start("stops", "linger", folder=bench.folder)
    pids = bench.wait_for_files(*KINDS)
    bench.start("other", gate="never")
    bench.until(lambda: bench.of(Forked, "other"))
    keeper = bench.of(Forked, "stops")[0].pid
    os.kill(keeper, signal.SIGSTOP)
    end = bench.reaped("stops")
    assert (end.exit_code, end.signal, end.ended_monotonic) == (None, None, None)
    assert end.usage.real_time_seconds is None
    assert f"process {keeper}, which measures the job, was stopped" in bench.of(Failed, "stops")[0].sentence
    assert_gone([keeper, *pids])
    assert is_alive(bench.of(Forked, "other")[0].pid)


def test_a_keeper_that_was_stopped_for_a_moment_goes_on(benches: Benches) -> None:
    bench = benches("bare")
    bench.command("sleeps", "sleep", "8")  # longer than a keeper may be stopped
    bench.until(lambda: bench.of(Forked))
    keeper = bench.of(Forked)[0].pid
    for seconds in (0.0, 0.0, 3.5, 3.5):  # the last stop goes on 5 s after the first began
        os.kill(keeper, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(keeper, signal.SIGCONT)
    assert bench.reaped("sleeps").exit_code == 0


def test_a_launcher_that_does_not_answer_is_killed_with_its_jobs(benches: Benches) -> None:
    bench = benches("zygote")
    bench.start("lingers", "linger", folder=bench.folder)
    pids = bench.wait_for_files(*KINDS)
    os.kill(bench.launcher.pid, signal.SIGSTOP)
    bench.launcher.close(timeout_seconds=0.1)
    assert_gone(pids)


def test_a_launcher_that_is_stopped_counts_as_lost_and_its_jobs_end(
    benches: Benches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mawl.run.launch.client.STOPPED_SECONDS", 0.1)
    bench = benches("zygote")
    bench.start("lingers", "linger", folder=bench.folder)
    pids = bench.wait_for_files(*KINDS)
    assert bench.launcher.receive() is not None and bench.launcher.lost is None
    os.kill(bench.launcher.pid, signal.SIGSTOP)
    deadline = time.monotonic() + SURVIVAL_LIMIT_SECONDS
    while bench.launcher.lost is None and time.monotonic() < deadline:
        bench.launcher.receive()
        time.sleep(0.02)
    assert "was stopped by a signal" in (bench.launcher.lost or "")
    bench.launcher.close()
    assert_gone(pids)


def test_a_launcher_that_never_greets_counts_as_lost(
    benches: Benches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mawl.run.launch.client.GREETING_SECONDS", 0.0)
    bench = benches("bare")
    os.kill(bench.launcher.pid, signal.SIGSTOP)
    bench.launcher.receive()
    assert "was not ready after" in (bench.launcher.lost or "")


def test_descendants_are_the_same_with_and_without_children_files(monkeypatch: pytest.MonkeyPatch) -> None:
    command = "sleep 60 & sleep 60 & echo ready; wait"
    with subprocess.Popen(["sh", "-c", command], stdout=subprocess.PIPE, start_new_session=True) as shell:
        assert shell.stdout is not None
        shell.stdout.readline()
        with_files = descendants(shell.pid)
        monkeypatch.setattr("mawl.measure.processes._has_children_files", lambda: False)
        assert sorted(descendants(shell.pid)) == sorted(with_files)
        assert len(with_files) == 2
        assert descendants(shell.pid, spare=frozenset(with_files[:1])) == with_files[1:]
        os.killpg(shell.pid, signal.SIGKILL)


def test_a_process_is_never_its_own_sweeps_prey() -> None:
    # The mark that /proc shows is the one a process had when it was exec'ed: so a new interpreter.
    imports = "from mawl.run.launch.setup import kill_run, live_runs"
    code = f"{imports}; print(kill_run('own'), live_runs().get('own'))"
    environment = {**os.environ, "MAWL_RUN_ID": "own"}
    printed = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
    assert printed.split() == ["0", "None"]
