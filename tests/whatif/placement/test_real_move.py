"""The advice on a real run over a slow device, against a real run with the roles moved: about a minute."""

from __future__ import annotations

import json
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mawl.records.spec.program_options import ROLES
from tests import needs
from tests.advice.limit.beds import Volume, command, lacking
from tests.advice.limit.draws import sessions

pytestmark = [pytest.mark.lab, pytest.mark.long(minutes=3), pytest.mark.measured]

SLOW_BYTES_PER_SECOND, FAST_BYTES_PER_SECOND = 40 * 10**6, 200 * 10**6
MAWL = (sys.executable, "-m", "mawl")
SLACK_RATIO = 0.05
"""Two runs of the same placement differ by so much of their summed real time."""

PROBE = (
    *("--patterns", "sequential-read,sequential-write,sequential-mixed,random-read,random-write"),
    *("--sizes", "256KiB", "--streams", "1", "--seconds", "2", "--file-size", "128MiB"),
)
"""Ten tests of two seconds."""


@pytest.fixture
def volumes(tmp_path: Path) -> Iterator[tuple[Volume, Volume]]:
    """A slow device and one five times as fast; both caps hold for each direction."""
    if why := lacking("fio"):
        needs.skip(why)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    slow, fast = Volume(tmp_path, "data"), Volume(tmp_path, "work")
    try:
        for volume, rate in ((slow, SLOW_BYTES_PER_SECOND), (fast, FAST_BYTES_PER_SECOND)):
            volume.open()
            volume.cap(rate)
        yield slow, fast
    finally:
        try:
            slow.close()
        finally:
            fast.close()
        signal.signal(signal.SIGTERM, before)


def real_time(directory: Path, *words: str) -> tuple[float, dict[str, Any]]:
    """The summed real time of a run, and its summary."""
    command(sys.executable, "-m", *words, directory=directory)
    text = command(*MAWL, "report", "--format", "json", directory=directory)
    summary: dict[str, Any] = json.loads(text)
    return summary["time"]["real_time_seconds"], summary


def test_work_and_util_move_first_and_the_run_is_as_much_faster_as_was_said(
    volumes: tuple[Volume, Volume], tmp_path: Path
) -> None:
    slow, fast = volumes
    command(*MAWL, "probe", str(slow.place), str(fast.place), *PROBE, directory=tmp_path)
    (tmp_path / "drawn.toml").write_text(sessions(0.002, ["customer_profile"] * 3))
    places = [word for role in ROLES for word in (f"--{role}", str(slow.place / f"mawl-{role}"))]
    command(*MAWL, "generate", "drawn.toml", *places[:2], directory=tmp_path)
    before, summary = real_time(tmp_path, "mawl", "run", "drawn.toml", "--cache", "cold", *places)
    assert summary["limit"]["verdict"] == "storage"
    advised = (*MAWL, "placement", "latest", "probe.json")
    advice = json.loads(command(*advised, "--json", directory=tmp_path))
    sys.stdout.write(command(*advised, directory=tmp_path))
    assert set(advice["best"]["moves"][:2]) == {"work", "util"}
    assert advice["best"]["fits"] is True
    change = advice["best"]["change"]
    after, _ = real_time(tmp_path, *shlex.split(advice["proof"]["run"]))
    sys.stdout.write(f"real time {before:.1f} s, then {after:.1f} s; said {change}\n")
    slack = SLACK_RATIO * before
    assert change["high_seconds"] < 0, "the direction is sure"
    assert change["low_seconds"] - slack <= after - before <= change["high_seconds"] + slack
