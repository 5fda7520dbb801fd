"""A task in a process of its own: its answer, its error, and its end without an answer."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mawl.base.errors import InterruptedRunError, MawlError
from mawl.campaigns.process import run_task
from mawl.records.spec.run_spec import RunSpec
from mawl.records.spec.task import Task, TaskAnswer

SPEC = RunSpec(workload="nano", seed=7)


def child(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", f"import os, signal, sys, time\n{code}")


def test_the_spec_goes_there_and_the_answer_comes_back(tmp_path: Path) -> None:
    log = tmp_path / "log"
    echo = child('t = sys.stdin.read(); print(t, file=sys.stderr); print(\'{"status": 0, "run_id": "r"}\')')
    assert run_task(Task(spec=SPEC), log, program=echo) == TaskAnswer(status=0, run_id="r")
    assert '"seed":7' in log.read_text()


def test_an_error_of_the_real_process_is_data(tmp_path: Path) -> None:
    """Refused before anything is made: the workload has a scale of its own."""
    spec = RunSpec(workload="nano", scale="0.01", work=(str(tmp_path / "work"),))
    answer = run_task(Task(spec=spec), tmp_path / "log", directory=tmp_path)
    assert answer.failure is not None
    assert (answer.status, answer.failure.kind) == (2, "UsageError")
    assert answer.failure.what.startswith("workload nano fixes its scale")
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


@pytest.mark.parametrize(
    ("code", "kind", "sentence"),
    [
        ("sys.exit(3)", MawlError, "ended with status 3 and without an answer"),
        ("print('no JSON'); sys.exit(0)", MawlError, "ended with status 0 and without an answer"),
        ("os.kill(os.getpid(), signal.SIGKILL)", InterruptedRunError, "ended by SIGKILL"),
    ],
)
def test_an_end_without_an_answer_is_an_error(
    code: str, kind: type[MawlError], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(kind, match=sentence):
        run_task(Task(spec=SPEC), tmp_path / "log", program=child(code))


def test_what_the_look_raises_stops_the_process_and_waits_for_it(tmp_path: Path) -> None:
    ended = tmp_path / "ended"

    def look() -> None:
        if (tmp_path / "ready").exists():
            raise KeyboardInterrupt

    code = (
        f"def end(*_): open({str(ended)!r}, 'w').close(); sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, end)\n"
        f"open({str(tmp_path / 'ready')!r}, 'w').close()\ntime.sleep(60)"
    )
    with pytest.raises(KeyboardInterrupt):
        run_task(Task(spec=SPEC), tmp_path / "log", program=child(code), look=look)
    assert ended.exists()


def test_one_that_does_not_end_is_killed(tmp_path: Path) -> None:
    def look() -> None:
        if (tmp_path / "ready").exists():
            raise KeyboardInterrupt

    code = (
        f"signal.signal(signal.SIGTERM, signal.SIG_IGN)\nopen({str(tmp_path / 'ready')!r}, 'w').close()\n"
        "time.sleep(60)"
    )
    with pytest.raises(KeyboardInterrupt):
        run_task(Task(spec=SPEC), tmp_path / "log", program=child(code), look=look, patience=0.1)
    assert signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN


def test_an_interrupt_right_after_the_fork_is_not_lost(tmp_path: Path) -> None:
    """Functions of Python run then, and what is raised in them is printed and lost."""
    script = f"""
import os, signal, sys
from pathlib import Path
from mawl.campaigns.process import run_task
from mawl.records.spec.task import Task
from mawl.records.spec.run_spec import RunSpec
os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGINT))
sleeping = [sys.executable, "-c", "import time; time.sleep(60)"]
try:
    run_task(Task(spec=RunSpec()), Path({str(tmp_path / "log")!r}), program=sleeping)
except KeyboardInterrupt:
    sys.exit(7)
"""
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, timeout=50, check=False)
    assert (done.returncode, done.stderr) == (7, "")
