"""Processor time by kind, busy cores, run queue and context switches, from ``/proc/stat`` (proc_stat(5))."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mawl.measure.host.files import Figures, KeptFile, number_after
from mawl.measure.topology import core_siblings

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")

PATHS = (
    *(f"cpu_{kind}_ratio" for kind in ("busy", "user", "system", "interrupt", "iowait", "steal")),
    *("cpu_busy_seconds", "core_busy_seconds", "core_busy_ratio"),
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

    The kernel does not say when two threads of a core are busy together.  Within each interval they
    are taken as independent: a core whose threads were busy for the shares p and q counts as
    1 - (1 - p)(1 - q), which lies between the largest share and the sum of the shares.
    """

    def __init__(self, siblings: Sequence[Sequence[int]], ticks_per_second: int = TICKS_PER_SECOND) -> None:
        self._siblings, self._ticks = siblings, ticks_per_second
        self._last: dict[int, tuple[int, int]] = {}
        self.seconds = 0.0

    def add(self, processors: dict[int, tuple[int, int]]) -> float:
        """The seconds so far, after one more look at all processors."""
        for core in self._siblings:
            idle, longest = 1.0, 0
            for number in core:
                now, last = processors.get(number), self._last.get(number)
                if now is None or last is None or now[1] <= last[1]:
                    continue
                whole = now[1] - last[1]
                idle *= 1.0 - min(max((now[0] - last[0]) / whole, 0.0), 1.0)
                longest = max(longest, whole)
            self.seconds += (1.0 - idle) * longest / self._ticks
        self._last = processors
        return self.seconds


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
            figures["host.core_busy_seconds"] = self._cores.add(parse_processors(text))
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
