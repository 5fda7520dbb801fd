"""Generating processes: results come back, and none outlives what started it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.measure.processes import is_stopped
from mawl.programs.datagen.workers import in_processes, usual_processes

PARENT = """
import os, sys, time
from mawl.programs.datagen.workers import in_processes

def work(task):
    os.write(1, f"{task}\\n".encode())  # print writes the number and the newline apart
    time.sleep(0.05)

if __name__ == "__main__":
    try:
        for _ in in_processes(work, list(range(2000)), 2):
            pass
    except KeyboardInterrupt:
        print("stopped", flush=True)
"""


def identity(_: int) -> int:
    return os.getpid()


def kill_itself(_: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def interrupted(_: int) -> bool:
    os.kill(os.getpid(), signal.SIGINT)
    return signal.SIGINT in signal.sigpending()


def stop_itself(task: int) -> int:
    if task:
        os.kill(os.getpid(), signal.SIGSTOP)
    return 0


def test_as_many_processes_as_processors_and_one_where_they_share_no_memory(tmp_path: Path) -> None:
    assert usual_processes([0, 2, 5], tmp_path) == 3
    assert usual_processes(None, tmp_path) == len(os.sched_getaffinity(0))
    assert usual_processes([0, 2, 5], tmp_path / "absent") == 1


def test_one_process_is_this_one() -> None:
    assert list(in_processes(identity, [5, 6], 1)) == [(0, os.getpid()), (1, os.getpid())]


def test_several_processes_are_others_and_every_task_comes_back_once() -> None:
    found = dict(in_processes(identity, list(range(7)), 2))
    assert sorted(found) == list(range(7))
    assert os.getpid() not in found.values()


def test_ctrl_c_is_held_back_from_a_process_and_not_from_this_one() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert all(held_back for _, held_back in in_processes(interrupted, [0, 1], 2))
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


def test_a_killed_process_is_one_sentence() -> None:
    with pytest.raises(UnsuitableMachineError, match=r"generating process was killed: most often .* memory"):
        list(in_processes(kill_itself, [1, 2], 2))


def test_a_process_that_is_stopped_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mawl.programs.datagen.workers.STOPPED_SECONDS", 0.1)
    monkeypatch.setattr("mawl.programs.datagen.workers.LOOK_SECONDS", 0.05)
    with pytest.raises(UnsuitableMachineError, match=r"generating process \(\d+\) was stopped by a signal"):
        list(in_processes(stop_itself, [1, 2], 2))
    assert multiprocessing.active_children() == []


def test_a_caller_that_ends_early_wakes_a_process_that_is_stopped() -> None:
    tasks = in_processes(stop_itself, [0, 1], 2)
    assert next(tasks) == (0, 0)
    while not any(is_stopped(child.pid) for child in multiprocessing.active_children() if child.pid):
        time.sleep(0.01)
    tasks.close()
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_processes_end_with_their_parent(number: signal.Signals, tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert parent.stdout is not None
    assert parent.stdout.readline().strip() in ("0", "1")
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
    assert len(children) >= 2
    if number is signal.SIGKILL:
        parent.kill()
    else:
        # The terminal sends Ctrl-C to the whole group.
        os.killpg(parent.pid, number)
    said = parent.stdout.read()
    parent.stdout.close()
    status = parent.wait()
    assert (status == -signal.SIGKILL) if number is signal.SIGKILL else said.endswith("stopped\n")
    deadline = time.monotonic() + 5
    while any(alive(child) for child in children):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
