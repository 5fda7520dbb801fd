"""A job's figures as the sum of its steps, where its log has no total of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any

from mawl.formats.saslog_write import COUNTS
from mawl.model.usage import PEAKS, Usage

FIELDS = (
    *("real_time_seconds", "user_cpu_seconds", "system_cpu_seconds", "memory_bytes", "os_memory_bytes"),
    *(field for _, field in COUNTS),
)
"""Figures of a step that a log can have; a CPU time without user and system is apart."""

TIMES = frozenset({"real_time_seconds", "user_cpu_seconds", "system_cpu_seconds"})
"""Added up in whole microseconds, the finest that a log can write: the order of the steps changes nothing."""
MICROSECONDS = 1_000_000


FOLD = 500
"""How many steps wait until they are added, column by column."""

_COLUMNS = tuple((name, attrgetter(name)) for name in FIELDS)


class StepSums:
    """Adds up usages: a figure that one step lacks has no sum, and peaks are the largest."""

    def __init__(self) -> None:
        self._waiting: list[Usage] = []
        self._lacking: set[str] = set()
        self._sums: dict[str, int] = {}
        self._cpu: int | None = 0
        self._any = False

    def add(self, usage: Usage) -> None:
        """One step."""
        self._waiting.append(usage)
        if len(self._waiting) >= FOLD:
            self._fold()

    def add_sums(self, sums: Mapping[str, int | None], cpu: int | None) -> None:
        """Sums of several steps by the names of :data:`FIELDS`: times and ``cpu`` in microseconds.

        For a peak, the value is the largest; None if one of the steps lacks the figure.
        """
        self._any = True
        for name in FIELDS:
            value = sums[name]
            if value is None:
                self._lacking.add(name)
            elif name in PEAKS:
                self._sums[name] = max(self._sums.get(name, 0), value)
            else:
                self._sums[name] = self._sums.get(name, 0) + value
        self._cpu = None if self._cpu is None or cpu is None else self._cpu + cpu

    def _fold(self) -> None:
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        sums = {name: _sum(name, list(map(of, waiting))) for name, of in _COLUMNS}
        user, system = sums["user_cpu_seconds"], sums["system_cpu_seconds"]
        self.add_sums(sums, _cpu(waiting) if user is None or system is None else user + system)

    def usage(self, startup: Usage | None = None) -> Usage:
        """The sums; of CPU time only the whole where some steps do not tell user and system apart.

        ``startup`` is SAS's initialization, which session totals include.  Releases that write no memory of
        it leave the peak to the steps.
        """
        self._fold()
        if startup is not None:
            known = (PEAKS & self._sums.keys()) - self._lacking
            self.add(startup)
            self._fold()
            self._lacking -= known
        whole: dict[str, float] = {
            name: value / MICROSECONDS if name in TIMES else value
            for name, value in self._sums.items()
            if name not in self._lacking
        }
        if not {"user_cpu_seconds", "system_cpu_seconds"} <= set(whole):
            whole.pop("user_cpu_seconds", None)
            whole.pop("system_cpu_seconds", None)
            if self._any and self._cpu is not None:
                whole["unsplit_cpu_seconds"] = self._cpu / MICROSECONDS
        return Usage(**whole)  # type: ignore[arg-type]


def microseconds(seconds: float) -> int:
    """Seconds as whole microseconds."""
    return round(seconds * MICROSECONDS)


def _sum(name: str, values: list[Any]) -> int | None:
    """The sum of a column, or the largest of a peak; None if one is missing."""
    if None in values:
        return None
    if name in PEAKS:
        return max(values)  # type: ignore[no-any-return]
    return sum(map(microseconds, values)) if name in TIMES else sum(values)


def _cpu(usages: Iterable[Usage]) -> int | None:
    """The CPU time of steps in microseconds; None if one of them has no CPU time."""
    cpu = 0
    for usage in usages:
        if usage.user_cpu_seconds is not None and usage.system_cpu_seconds is not None:
            cpu += microseconds(usage.user_cpu_seconds) + microseconds(usage.system_cpu_seconds)
        elif usage.unsplit_cpu_seconds is not None:
            cpu += microseconds(usage.unsplit_cpu_seconds)
        else:
            return None
    return cpu
