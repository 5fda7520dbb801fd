"""What belongs to one process in /proc."""

from __future__ import annotations

import os
import subprocess
import time

import pytest

from mawl.measure.processes import PROC, WatchedProcess, children
from tests import needs


def test_children_of_a_process_and_of_none() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        assert process.pid in children(os.getpid())
        process.kill()
    assert children(2**22 + 1) == []


@pytest.mark.parametrize(
    ("command", "place", "on_timer"), [("sleep 60", "sleep", True), ("cat", "read", False)]
)
def test_a_sleep_that_only_a_timer_ends_is_told_apart(command: str, place: str, on_timer: bool) -> None:
    with subprocess.Popen(command.split(), stdin=subprocess.PIPE) as process:
        watched, deadline = WatchedProcess(process.pid, PROC), time.monotonic() + 20.0
        while place not in (PROC / str(process.pid) / "wchan").read_text() and time.monotonic() < deadline:
            time.sleep(0.02)
        there, found = place in (PROC / str(process.pid) / "wchan").read_text(), watched.sleeps_on_timer()
        watched.close()
        process.kill()
    if not there:
        needs.skip("the kernel does not say where a process sleeps")
    assert found == on_timer
