"""CPU time, clock rate and memory of the host and of the jobs' control groups, and the pressure on them.

Sources: ``/proc/stat`` (proc_stat(5)), cpufreq (Linux Documentation/admin-guide/pm/cpufreq.rst),
``/proc/meminfo`` and ``/proc/vmstat`` (proc(5)), ``/proc/pressure`` (accounting/psi.rst), and control groups
(admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst, scheduler/sched-bwc.rst).  Kernels without pressure stall
information have no such files; where it is switched off (psi=1 at boot switches it on), reading them fails
with EOPNOTSUPP.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from pathlib import Path

from mawl.measure.host.files import Figures, FileSource, KeptFile, number_after
from mawl.measure.machine import core_siblings, online_processors

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")

PROCESSOR_PATHS = (
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
    """Source of processor time, busy cores, run queue and context switches."""

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
        return {f"host.{name}": self._file.reason for name in PROCESSOR_PATHS} if self._file.reason else {}

    def close(self) -> None:
        self._file.close()


MOST_PROCESSORS = 16
"""Reading one may interrupt that processor, so a large machine is looked at in part."""

LOOKS_BETWEEN = 5


class Frequency:
    """Source of the clock rate: the mean of evenly spread processors, at every fifth reading."""

    def __init__(self, sys: Path) -> None:
        online = online_processors(sys)
        spread = online[:: max(len(online) // MOST_PROCESSORS, 1)][:MOST_PROCESSORS]
        self._files = [
            KeptFile(sys / f"devices/system/cpu/cpu{number}/cpufreq/scaling_cur_freq") for number in spread
        ]
        self._looks = 0

    def read(self, into: Figures) -> None:
        """cpufreq counts in kHz."""
        self._looks += 1
        if self._looks % LOOKS_BETWEEN != 1:
            return
        texts = [text for file in self._files if (text := file.read()) is not None]
        rates = [int(text) * 1000 for text in texts if text.strip().isdigit()]
        if rates:
            into["host.frequency_hertz"] = sum(rates) / len(rates)

    def reasons(self) -> dict[str, str]:
        """Why there is no frequency: most virtual machines have no cpufreq."""
        refused = [file.reason for file in self._files]
        if refused and all(refused):
            return {"host.frequency_hertz": f"the kernel does not say ({refused[0]})"}
        return {} if refused else {"host.frequency_hertz": "the kernel names no processors"}

    def close(self) -> None:
        for file in self._files:
            file.close()


PRESSURE_KINDS = {"cpu": ("some",), "io": ("some", "full"), "memory": ("some", "full")}
"""Of each resource what is meaningful for a whole machine: ``full`` of the CPU is not (psi.rst)."""

_PRESSURE_SERIES = {
    (resource, kind.encode()): f"host.pressure_{resource}_{kind}_seconds"
    for resource, kinds in PRESSURE_KINDS.items()
    for kind in kinds
}


def parse_pressure(text: bytes, resource: str) -> Figures:
    """Cumulative stall seconds: ``some`` task waited, ``full``: all that were not idle did."""
    figures: Figures = {}
    for line in text.splitlines():
        kind, _, rest = line.partition(b" ")
        series = _PRESSURE_SERIES.get((resource, kind))
        if series is not None:
            figures[series] = int(rest.rpartition(b"total=")[2]) / 1e6
    return figures


def pressure_sources(proc: Path) -> list[FileSource]:
    """A source for each of CPU, I/O and memory."""
    return [
        FileSource(
            proc / "pressure" / resource,
            partial(parse_pressure, resource=resource),
            tuple(f"host.pressure.{resource}_{kind}_ratio" for kind in kinds),
        )
        for resource, kinds in PRESSURE_KINDS.items()
    ]


PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

_MEMORY_GAUGES = (
    ("host.memory_available_bytes", b"\nMemAvailable:"),
    ("host.memory_free_bytes", b"\nMemFree:"),
    ("host.memory_cached_bytes", b"\nCached:"),
    ("host.memory_dirty_bytes", b"\nDirty:"),
    ("host.memory_writeback_bytes", b"\nWriteback:"),
)
_VMSTAT_COUNTERS = (
    # pgpgin and pgpgout count KiB although their names speak of pages.
    ("host.page_ins_bytes", b"\npgpgin ", 1024),
    ("host.page_outs_bytes", b"\npgpgout ", 1024),
    ("host.swap_read_bytes", b"\npswpin ", None),
    ("host.swap_written_bytes", b"\npswpout ", None),
    ("host.major_faults", b"\npgmajfault ", 1),
    # Both since Linux 5.9; reclaim inside control groups is in them, dropped caches are not.
    ("host.cache_evicted_bytes", b"\npgsteal_file ", None),
    ("host.cache_reread_bytes", b"\nworkingset_refault_file ", None),
)
"""Series, key, and what one of it is worth; None: a page."""


def parse_meminfo(text: bytes) -> Figures:
    """Gauges in bytes; a kernel without one of them (MemAvailable before 3.14) gives the others."""
    found = ((name, number_after(text, key)) for name, key in _MEMORY_GAUGES)
    return {name: value * 1024 for name, value in found if value is not None}


def parse_vmstat(text: bytes, page_bytes: int = PAGE_BYTES) -> Figures:
    """Cumulative paging since the machine started; swap and cache are in pages there, bytes here."""
    figures: Figures = {}
    for name, key, unit in _VMSTAT_COUNTERS:
        value = number_after(text, key)
        if value is not None:
            figures[name] = value * (page_bytes if unit is None else unit)
    return figures


def memory_sources(proc: Path) -> list[FileSource]:
    """Sources for ``/proc/meminfo`` and ``/proc/vmstat``."""
    return [
        FileSource(
            proc / "meminfo",
            parse_meminfo,
            ("host.least_memory_available_bytes", "host.most_memory_dirty_bytes"),
        ),
        FileSource(
            proc / "vmstat",
            parse_vmstat,
            (
                *("host.swap_read_bytes", "host.swap_written_bytes", "host.major_faults"),
                *("host.cache_evicted_bytes", "host.cache_reread_bytes"),
            ),
        ),
    ]


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


GROUP_FILES: tuple[tuple[str, Callable[[bytes], Figures]], ...] = (
    ("memory.current", _memory_in_use),
    ("memory.usage_in_bytes", _memory_in_use),
    ("memory.events", parse_memory_events),
    ("memory.failcnt", _limit_hits),
    ("cpu.stat", parse_cpu_stat),
)


class Groups:
    """Source of memory in use, hits of its limit and CPU throttling of control groups.

    ``directories`` are the groups, of either version, that hold the jobs.  Where two of them count the same
    figure, the later one's counts.
    """

    def __init__(self, directories: Sequence[Path]) -> None:
        self._files = [
            (KeptFile(directory / name), parse)
            for directory in directories
            for name, parse in GROUP_FILES
            if (directory / name).exists()
        ]

    def read(self, into: Figures) -> None:
        for file, parse in self._files:
            text = file.read()
            into.update(parse(text) if text is not None else {})

    def reasons(self) -> dict[str, str]:
        return {}

    def close(self) -> None:
        for file, _ in self._files:
            file.close()
