"""A job's figures as the sum of its steps, where its log has no total of its own."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from mawl.formats.saslog_write import COUNTS
from mawl.model.usage import PEAKS, Usage

FIELDS = (
    *("real_time_seconds", "user_cpu_seconds", "system_cpu_seconds", "memory_bytes", "os_memory_bytes"),
    *(field for _, field in COUNTS),
)
"""What a log can tell of a step, beside an unsplit CPU time."""


FOLD = 500
"""How many steps wait until they are added, column by column."""

_COLUMNS = tuple((name, attrgetter(name)) for name in FIELDS)


class StepSums:
    """Adds up usages: a figure that one step lacks has no sum, and peaks are the largest."""

    def __init__(self) -> None:
        self._waiting: list[Usage] = []
        self._lacking: set[str] = set()
        self._sums: dict[str, float] = {}
        self._cpu: float | None = 0.0
        self._any = False

    def add(self, usage: Usage) -> None:
        """One step."""
        self._waiting.append(usage)
        if len(self._waiting) >= FOLD:
            self._fold()

    def _fold(self) -> None:
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        self._any = True
        for name, of in _COLUMNS:
            values = list(map(of, waiting))
            if name in self._lacking or None in values:
                self._lacking.add(name)
            elif name in PEAKS:
                self._sums[name] = max(self._sums.get(name, 0), *values)
            else:
                self._sums[name] = self._sums.get(name, 0) + sum(values)
        if "user_cpu_seconds" in self._lacking or "system_cpu_seconds" in self._lacking or self._cpu is None:
            self._cpu = _added(self._cpu, waiting)
        else:
            self._cpu = self._sums["user_cpu_seconds"] + self._sums["system_cpu_seconds"]

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
        whole = {name: value for name, value in self._sums.items() if name not in self._lacking}
        if not {"user_cpu_seconds", "system_cpu_seconds"} <= set(whole):
            whole.pop("user_cpu_seconds", None)
            whole.pop("system_cpu_seconds", None)
            if self._any and self._cpu is not None:
                whole["unsplit_cpu_seconds"] = self._cpu
        return Usage(**whole)  # type: ignore[arg-type]


def _added(cpu: float | None, usages: Sequence[Usage]) -> float | None:
    """CPU time so far and that of more steps; None where it is not known of one of them."""
    for usage in usages:
        more = usage.cpu_seconds
        if cpu is None or more is None:
            return None
        cpu += more
    return cpu
