"""Real qualifications on this machine, stopped and killed, and continued."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mawl.records.model.qualification import Qualification
from mawl.records.store.campaign import read_qualification

MOMENTS = 20
SEED = 23
ROLES = ("--data=d", "--work=w", "--util=u", "--output=q")


def begun(folder: Path, *words: str) -> subprocess.Popen[str]:
    """The command in a directory of its own, in the background."""
    return subprocess.Popen(
        [sys.executable, "-m", "mawl", "qualify", "--anyway", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def made(record: Qualification) -> dict[tuple[str, int], str | None]:
    """The finished runs: purpose and position, and the run's own id."""
    return {(run.purpose, run.position): run.run_id for run in record.runs if run.state == "finished"}


def until(folder: Path, phase: str, process: subprocess.Popen[str], seconds: float = 300.0) -> None:
    """Wait until a phase is under way."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        assert process.poll() is None, process.communicate()[0]
        record = folder / "qualify.json"
        if record.exists() and read_qualification(folder).phase(phase).state == "running":  # type: ignore[arg-type]
            return
        time.sleep(0.1)
    raise AssertionError(f"{phase} did not begin in {seconds:g} s")


@pytest.mark.lab
@pytest.mark.long(minutes=3)
def test_a_stop_says_how_to_go_on_and_the_plan_is_made_then(tmp_path: Path) -> None:
    stopped = begun(tmp_path, *ROLES, "--minutes=5", "--plan")
    until(tmp_path / "q", "calibration", stopped)
    time.sleep(1.0)
    stopped.send_signal(signal.SIGINT)
    said = stopped.communicate(timeout=60)[0]
    assert stopped.returncode == 130
    assert said.splitlines()[-1] == "mawl qualify: interrupted; mawl qualify --continue q goes on"
    again = begun(tmp_path, "--continue=q", "--plan")
    said = again.communicate(timeout=400)[0]
    assert again.returncode == 0, said
    assert "what will be run" in said
    record = read_qualification(tmp_path / "q")
    assert (record.outcome, record.phase("choice").state) == ("planned", "done")
    assert list(made(record)) == [("calibration", 1), ("calibration-mix", 1)]


@pytest.mark.long(minutes=60)
def test_killed_at_random_moments_it_makes_nothing_twice_and_answers(tmp_path: Path) -> None:
    draw = random.Random(SEED)
    folder, kept = tmp_path / "q", dict[tuple[str, int], str | None]()
    process = begun(tmp_path, *ROLES, "--minutes=10", "--yes")
    until(folder, "doctor", process)
    for _ in range(MOMENTS):
        time.sleep(draw.uniform(1.0, 45.0))
        if process.poll() is not None:
            break
        process.kill()
        process.communicate()
        record = read_qualification(folder)
        assert record.outcome == "interrupted"
        assert {place: made(record).get(place) for place in kept} == kept, "a finished run was made again"
        kept = made(record)
        process = begun(tmp_path, "--continue=q", "--yes")
    said = process.communicate(timeout=3000)[0]
    assert process.returncode in (0, 3, 4), said
    record = read_qualification(folder)
    assert record.answer is not None
    assert {place: made(record).get(place) for place in kept} == kept
    again = begun(tmp_path, "--continue=q")
    assert again.communicate(timeout=60)[0].startswith(record.answer.sentence[:40])
