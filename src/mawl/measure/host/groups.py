"""The control groups that hold the jobs: memory in use, hits of its limit, CPU throttling.

Sources: Linux Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst, scheduler/sched-bwc.rst.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from mawl.measure.host.files import Figures, KeptFile, number_after


def parse_cpu_stat(text: bytes) -> Figures:
    """Periods in which the quota ran out, and time spent waiting for the next (both versions)."""
    figures: Figures = {}
    lines = b"\n" + text
    periods = number_after(lines, b"\nnr_throttled ")
    microseconds = number_after(lines, b"\nthrottled_usec ")
    nanoseconds = number_after(lines, b"\nthrottled_time ")
    if periods is not None:
        figures["group.cpu_throttled_periods"] = periods
    if microseconds is not None:
        figures["group.cpu_throttled_seconds"] = microseconds / 1e6
    elif nanoseconds is not None:
        figures["group.cpu_throttled_seconds"] = nanoseconds / 1e9
    return figures


def parse_memory_events(text: bytes) -> Figures:
    """How often the limit was hit (version 2)."""
    hits = number_after(b"\n" + text, b"\nmax ")
    return {} if hits is None else {"group.memory_limit_hits": hits}


def _memory_in_use(text: bytes) -> Figures:
    return {"group.memory_bytes": int(text)}


def _limit_hits(text: bytes) -> Figures:
    return {"group.memory_limit_hits": int(text)}


FILES: tuple[tuple[str, Callable[[bytes], Figures]], ...] = (
    ("memory.current", _memory_in_use),
    ("memory.usage_in_bytes", _memory_in_use),
    ("memory.events", parse_memory_events),
    ("memory.failcnt", _limit_hits),
    ("cpu.stat", parse_cpu_stat),
)


class Groups:
    """The source; ``directories`` are the groups, of either version, that hold the jobs.

    Where two of them count the same figure, the later one's stands."""

    def __init__(self, directories: Sequence[Path]) -> None:
        self._files = [
            (KeptFile(directory / name), parse)
            for directory in directories
            for name, parse in FILES
            if (directory / name).exists()
        ]

    def read(self, into: Figures) -> None:
        """Whatever the groups have."""
        for file, parse in self._files:
            text = file.read()
            into.update(parse(text) if text is not None else {})

    def reasons(self) -> dict[str, str]:
        """No group is nothing missing."""
        return {}

    def close(self) -> None:
        """Give the descriptors back."""
        for file, _ in self._files:
            file.close()
