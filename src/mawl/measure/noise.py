"""What else the machine does: the load that would disturb a run, over a short look.

From ``/proc/stat`` (CPU time by kind) and ``/proc/PID/stat`` (CPU time of each process), proc(5).
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec

HEAVY_CORES = 0.2
"""A process that used this share of a core during the look is named."""

_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


class HeavyProcess(msgspec.Struct, frozen=True):
    """A process that used ``cores`` CPU seconds per second."""

    pid: int
    name: str
    cores: float


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """Shares of all CPU time since the watch began; ``heavy`` has the heaviest first.

    ``busy_ratio`` counts all but idle, iowait and steal; ``steal_ratio`` is time the hypervisor gave
    to others.  Both are None when no tick went by.
    """

    seconds: float
    busy_ratio: float | None
    steal_ratio: float | None
    heavy: list[HeavyProcess]


class NoiseWatch:
    """Begins a look when it is made; :meth:`look` ends it.  This process is left out of ``heavy``."""

    def __init__(self, proc: Path = Path("/proc"), ticks_per_second: int | None = None) -> None:
        self._proc = proc
        self._ticks = ticks_per_second or os.sysconf("SC_CLK_TCK")
        self._began_at = time.monotonic()
        self._cpu = _cpu_ticks(proc)
        self._processes = _process_ticks(proc)

    def look(self, seconds: float | None = None) -> Noise:
        """What ran since the watch was made; ``seconds`` stands in for the clock in tests."""
        elapsed = time.monotonic() - self._began_at if seconds is None else seconds
        spent = {name: ticks - self._cpu[name] for name, ticks in _cpu_ticks(self._proc).items()}
        total = sum(spent.values())
        idle = spent["idle"] + spent["iowait"] + spent["steal"]
        heavy = []
        for pid, (name, ticks) in _process_ticks(self._proc).items():
            before = self._processes.get(pid)
            if before is None or before[0] != name or pid == os.getpid() or elapsed <= 0:
                continue
            cores = (ticks - before[1]) / self._ticks / elapsed
            if cores >= HEAVY_CORES:
                heavy.append(HeavyProcess(pid, name, cores))
        return Noise(
            seconds=elapsed,
            busy_ratio=(total - idle) / total if total > 0 else None,
            steal_ratio=spent["steal"] / total if total > 0 else None,
            heavy=sorted(heavy, key=lambda process: -process.cores),
        )


def _cpu_ticks(proc: Path) -> dict[str, int]:
    """Ticks by kind of all CPUs; old kernels give fewer columns, which then count as 0."""
    words = (proc / "stat").read_text().splitlines()[0].split()[1:]
    figures = [int(word) for word in words[: len(_FIELDS)]]
    return dict(zip(_FIELDS, figures + [0] * (len(_FIELDS) - len(figures)), strict=True))


def _process_ticks(proc: Path) -> dict[int, tuple[str, int]]:
    """PID to name and ticks (user and system) of every process that is there."""
    found: dict[int, tuple[str, int]] = {}
    for entry in os.listdir(proc):
        if not entry.isdigit():
            continue
        try:
            text = (proc / entry / "stat").read_text(errors="replace")
        except OSError:
            continue
        # The name stands in parentheses and may itself hold blanks and parentheses.
        start, end = text.index("("), text.rindex(")")
        words = text[end + 2 :].split()
        found[int(entry)] = (text[start + 1 : end], int(words[11]) + int(words[12]))
    return found
