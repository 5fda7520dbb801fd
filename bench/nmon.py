"""``mawl import`` of a day of nmon: 24 h of 300 devices at 60 s, and how time and memory grow with either."""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from bench.harness import Result, at_most, cpu_seconds, sized, spread
from mawl.base.units import format_bytes, format_memory
from tests.fakes.recorded_host import aix_recording

NAME = "nmon"

DEVICES, SNAPSHOTS = sized((300, 1440), (3, 15))
MOST_SECONDS = 5.0
TIMES = sized(3, 1)
GROWTH = 4


def run() -> list[Result]:
    """The day itself, four times the snapshots, and four times the devices."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as directory:
        day = _import(Path(directory, "day"), DEVICES, SNAPSHOTS, TIMES)
        longer = _import(Path(directory, "longer"), DEVICES, SNAPSHOTS * GROWTH, 1)
        wider = _import(Path(directory, "wider"), DEVICES * GROWTH, SNAPSHOTS, 1)
    seconds = statistics.median(day.seconds)
    return [
        at_most(
            "nmon, 24 h x 300 devices",
            seconds,
            "CPU s",
            MOST_SECONDS,
            f"mawl import from start to end, {format_bytes(day.size)}: {spread(day.seconds, 'CPU s')}; "
            f"by the clock {spread(day.elapsed, 's')}; {format_memory(day.memory)} at most",
        ),
        *(
            Result(
                f"nmon, {GROWTH} times the {what}",
                found.seconds[0] / seconds,
                "x CPU",
                "",
                None,
                f"{found.seconds[0]:.1f} CPU s for {format_bytes(found.size)}, {format_memory(found.memory)}",
            )
            for what, found in (("snapshots", longer), ("devices", wider))
        ),
    ]


class _Imports:
    """CPU seconds of each import, peak memory of any so far in bytes, size of the file."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.elapsed: list[float] = []
        self.memory = 0
        self.size = 0


def _import(folder: Path, devices: int, snapshots: int, times: int) -> _Imports:
    folder.mkdir()
    path = folder / "aix1.nmon"
    with path.open("w") as file:
        file.writelines(aix_recording(devices, snapshots))
    found = _Imports()
    found.size = path.stat().st_size
    for number in range(times):
        command = [
            sys.executable,
            "-m",
            "mawl",
            "import",
            str(path),
            "--output",
            str(folder / f"run{number}"),
        ]
        began = time.monotonic()
        found.seconds.append(cpu_seconds(command))
        found.elapsed.append(time.monotonic() - began)
    found.memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    path.unlink()
    return found
