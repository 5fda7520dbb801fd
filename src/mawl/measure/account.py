"""Processes looked at one by one: usage records from the kernel's own accounts.

Sources: ``getrusage(2)``, ``wait4(2)``, ``/proc/PID/io``, ``/proc/PID/stat`` (proc(5)).
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
from collections.abc import Sequence
from pathlib import Path

from mawl.model.usage import Usage

IO_FIELDS = (
    "application_read_bytes",
    "application_written_bytes",
    "read_calls",
    "write_calls",
    "own_read_bytes",
    "charged_written_bytes",
    "cancelled_written_bytes",
)
"""Fields of :class:`~mawl.model.usage.Usage` in the order of the lines of ``/proc/PID/io``."""

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_MOST_BYTES = 16384
_PEAK = b"\nVmHWM:"


class OwnIo:
    """``/proc/self/io`` of the process that made it, through a kept descriptor.

    Make a new one after a fork: the descriptor belongs to the process that opened it.
    """

    def __init__(self) -> None:
        self._descriptor: int | None = None
        with contextlib.suppress(OSError):  # a kernel without task I/O accounting has no such file
            self._descriptor = os.open("/proc/self/io", os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> bytes | None:
        """The file's text, or None where the kernel does not count."""
        return None if self._descriptor is None else os.pread(self._descriptor, 512, 0)

    def close(self) -> None:
        """Give the descriptor back."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def io_between(before: bytes | None, after: bytes | None) -> list[int] | None:
    """Counters of ``/proc/PID/io`` (order of :data:`IO_FIELDS`) from one reading to the next.

    The first reading is itself one read call of its own length, counted by the second: taken out.
    """
    if before is None or after is None:
        return None
    counts = [last - first for first, last in zip(_io_counts(before), _io_counts(after), strict=True)]
    counts[0] -= len(before)
    counts[2] -= 1
    return counts


def usage_of(
    usage: resource.struct_rusage, io: Sequence[int] | None = None, real_time_seconds: float | None = None
) -> Usage:
    """A usage record from a kernel's ``struct rusage`` and counters in the order of :data:`IO_FIELDS`.

    ``page_swaps`` stays None: Linux keeps ``ru_nswap`` at zero without counting.
    """
    counts: dict[str, int] = {} if io is None else dict(zip(IO_FIELDS, io, strict=True))
    return Usage(
        real_time_seconds=real_time_seconds,
        user_cpu_seconds=usage.ru_utime,
        system_cpu_seconds=usage.ru_stime,
        os_memory_bytes=usage.ru_maxrss * 1024,
        page_faults=usage.ru_majflt,
        page_reclaims=usage.ru_minflt,
        voluntary_context_switches=usage.ru_nvcsw,
        involuntary_context_switches=usage.ru_nivcsw,
        block_input_operations=usage.ru_inblock,
        block_output_operations=usage.ru_oublock,
        **counts,
    )


def own_usage(real_time_seconds: float | None = None) -> Usage:
    """What the calling process (all threads, no children) used since it began."""
    io = OwnIo()
    text = io.read()
    io.close()
    return usage_of(
        resource.getrusage(resource.RUSAGE_SELF),
        None if text is None else _io_counts(text),
        real_time_seconds,
    )


def usage_of_process(pid: int, proc: Path = Path("/proc")) -> Usage | None:
    """CPU (in ticks of 10 ms), faults and peak memory of a process alone; None when it is gone."""
    try:
        stat, status = _text(f"{proc}/{pid}/stat"), _text(f"{proc}/{pid}/status")
    except OSError:
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()
    place = status.find(_PEAK)
    peak = None if place < 0 else status[place + len(_PEAK) : place + len(_PEAK) + 32].split(None, 1)[0]
    return Usage(
        user_cpu_seconds=int(fields[11]) / _TICKS_PER_SECOND,
        system_cpu_seconds=int(fields[12]) / _TICKS_PER_SECOND,
        page_reclaims=int(fields[7]),
        page_faults=int(fields[9]),
        os_memory_bytes=None if peak is None else int(peak) * 1024,
    )


def _text(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _MOST_BYTES)
    finally:
        os.close(descriptor)


def resident_bytes() -> int:
    """Resident size of the calling process now (``VmRSS``)."""
    return int(Path("/proc/self/statm").read_bytes().split()[1]) * _PAGE_BYTES


def address_space_bytes() -> int:
    """Address space of the calling process now (``VmSize``)."""
    return int(Path("/proc/self/statm").read_bytes().split()[0]) * _PAGE_BYTES


def address_space_limit() -> int | None:
    """Bytes of address space that this process may have (``ulimit -v``); None where nothing limits it."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def shared_bytes() -> int | None:
    """Of the resident size of the calling process: all but pages that it alone holds and has written.

    ``Rss`` less ``Private_Dirty`` of smaps_rollup (proc_pid_smaps(5), since Linux 4.14); about 1 ms.
    """
    sizes = _own_sizes()
    return None if sizes is None else sizes[0] - sizes[1]


def private_peak_bytes() -> int | None:
    """The most memory that the calling process held for itself alone, estimated.

    ``Private_Dirty`` of smaps_rollup, and what the resident size has fallen since its peak (``VmHWM`` of
    proc_pid_status(5) less ``Rss``).  None where the kernel has no smaps_rollup.
    """
    sizes = _own_sizes()
    if sizes is None:
        return None
    peak = re.search(rb"VmHWM:\s+(\d+) kB", _text("/proc/self/status"))
    given_back = 0 if peak is None else max(int(peak[1]) * 1024 - sizes[0], 0)
    return sizes[1] + given_back


def _own_sizes() -> tuple[int, int] | None:
    """``Rss`` and ``Private_Dirty`` of the calling process."""
    try:
        text = Path("/proc/self/smaps_rollup").read_text()
    except OSError:
        return None
    sizes = dict(re.findall(r"^(Rss|Private_Dirty):\s+(\d+) kB", text, re.MULTILINE))
    if len(sizes) != 2:
        return None
    return int(sizes["Rss"]) * 1024, int(sizes["Private_Dirty"]) * 1024


def _io_counts(text: bytes) -> list[int]:
    return [int(count) for count in text.split()[1::2]]
