"""Processor time by kind, busy cores, run queue and context switches, from ``/proc/stat`` (proc_stat(5))."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import prod
from pathlib import Path

from mawl.measure.host.files import Figures, KeptFile, number_after
from mawl.measure.topology import core_siblings

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")

PATHS = (
    *(f"cpu_{kind}_ratio" for kind in ("busy", "user", "system", "interrupt", "iowait", "steal")),
    *("cpu_busy_seconds", "core_busy_seconds", "core_busy_ratio", "core_busy_basis"),
    *("core_busy_least_seconds", "core_busy_most_seconds"),
)


def parse_totals(text: bytes, ticks_per_second: int = TICKS_PER_SECOND) -> Figures:
    """Seconds of all processors together, and the gauges of the scheduler.

    ``user`` is user and nice (time of guests is in it already), ``interrupt`` irq and softirq.
    Kernels before 2.6.11 have no steal, which then is left out.
    """
    words = text[: text.index(b"\n")].split()[1:]
    ticks = [int(word) for word in words[:8]]
    seconds = [tick / ticks_per_second for tick in ticks]
    figures = {
        "host.cpu_user_seconds": (ticks[0] + ticks[1]) / ticks_per_second,
        "host.cpu_system_seconds": seconds[2],
        "host.cpu_idle_seconds": seconds[3],
        "host.cpu_iowait_seconds": seconds[4],
        "host.cpu_interrupt_seconds": (ticks[5] + ticks[6]) / ticks_per_second,
    }
    if len(seconds) > 7:
        figures["host.cpu_steal_seconds"] = seconds[7]
    for name, key in (
        ("host.context_switches", b"\nctxt "),
        ("host.runnable", b"\nprocs_running "),
        ("host.blocked_processes", b"\nprocs_blocked "),
    ):
        value = number_after(text, key)
        if value is not None:
            figures[name] = value
    return figures


def parse_processors(text: bytes) -> dict[int, tuple[int, int]]:
    """Number of each processor that is on to its ticks: busy, and all.

    Busy is user, nice, system, irq and softirq: neither idle nor iowait nor steal.
    """
    found = {}
    for line in text[: text.find(b"\nintr")].split(b"\n")[1:]:
        words = line.split()
        user, nice, system, idle, iowait, interrupt, soft, *steal = map(int, words[1:9])
        busy = user + nice + system + interrupt + soft
        found[int(words[0][3:])] = busy, busy + idle + iowait + sum(steal)
    return found


class BusyCores:
    """Seconds during which a physical core was busy, that is any of its threads was; cumulative.

    The kernel counts each thread alone and does not say when two of a core were busy together, so that
    only bounds are known: within an interval a core was busy for at least the longest time of one of its
    threads, and at most for the sum of all, never longer than the interval.  ``seconds`` is the estimate
    between them that takes threads as independent: shares p and q count as 1 - (1 - p)(1 - q).
    """

    def __init__(self, siblings: Sequence[Sequence[int]], ticks_per_second: int = TICKS_PER_SECOND) -> None:
        self._siblings, self._ticks = siblings, ticks_per_second
        self._last: dict[int, tuple[int, int]] = {}
        self.seconds = self.least_seconds = self.most_seconds = 0.0

    def add(self, processors: dict[int, tuple[int, int]]) -> Figures:
        """The series so far (estimate and both bounds), after one more look at all processors."""
        for core in self._siblings:
            shares, longest = [], 0
            for number in core:
                now, last = processors.get(number), self._last.get(number)
                if now is None or last is None or now[1] <= last[1]:
                    continue
                whole = now[1] - last[1]
                shares.append(min(max((now[0] - last[0]) / whole, 0.0), 1.0))
                longest = max(longest, whole)
            whole_seconds = longest / self._ticks
            self.seconds += (1.0 - prod(1.0 - share for share in shares)) * whole_seconds
            self.least_seconds += max(shares, default=0.0) * whole_seconds
            self.most_seconds += min(sum(shares), 1.0) * whole_seconds
        self._last = processors
        return {
            "host.core_busy_seconds": self.seconds,
            "host.core_busy_least_seconds": self.least_seconds,
            "host.core_busy_most_seconds": self.most_seconds,
        }


class Cpu:
    """The source."""

    def __init__(self, proc: Path, sys: Path) -> None:
        self._file = KeptFile(proc / "stat")
        siblings = core_siblings(sys)
        threaded = any(len(core) > 1 for core in siblings)
        self._cores = BusyCores(siblings) if threaded else None

    def read(self, into: Figures) -> None:
        """Totals, and the busy cores: where no core has two threads simply the busy time."""
        text = self._file.read()
        if text is None:
            return
        figures = parse_totals(text)
        if self._cores is not None:
            figures |= self._cores.add(parse_processors(text))
        else:
            figures["host.core_busy_seconds"] = sum(
                figures[f"host.cpu_{kind}_seconds"] for kind in ("user", "system", "interrupt")
            )
        into.update(figures)

    def reasons(self) -> dict[str, str]:
        """Without ``/proc/stat`` there is no processor time."""
        return {f"host.{name}": self._file.reason for name in PATHS} if self._file.reason else {}

    def close(self) -> None:
        """Give the descriptor back."""
        self._file.close()
