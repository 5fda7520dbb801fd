"""A folder that stands in for /proc, /sys or a whole machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def plant(root: Path, files: Mapping[str, str]) -> None:
    """Write files by their path below ``root``, with the directories on the way."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def plant_process(
    proc: Path,
    pid: int,
    name: str,
    *,
    user: int = 0,
    system: int = 0,
    reaped: int = 0,
    parent: int = 1,
    started: int = 0,
    flags: int = 0,
    moved: tuple[int, int] | None = None,
) -> None:
    """A process below a folder that stands in for ``/proc``, its times in clock ticks (proc(5)).

    ``moved`` are bytes read and written; without them its ``io`` may not be read.
    """
    times = f"{user} {system} {reaped} 0"
    stat = f"{pid} ({name}) R {parent} 1 1 0 -1 {flags} 0 0 0 0 {times} 20 0 1 0 {started} 0 0\n"
    files = {f"{pid}/stat": stat}
    if moved is not None:
        files[f"{pid}/io"] = (
            "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: {}\nwrite_bytes: {}\n".format(*moved)
        )
    plant(proc, files)
