"""Memory, paging and swap, from ``/proc/meminfo`` and ``/proc/vmstat`` (proc(5))."""

from __future__ import annotations

import os
from pathlib import Path

from mawl.measure.host.files import Figures, FileSource, number_after

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

_GAUGES = (
    ("host.memory_available_bytes", b"\nMemAvailable:"),
    ("host.memory_cached_bytes", b"\nCached:"),
    ("host.memory_dirty_bytes", b"\nDirty:"),
    ("host.memory_writeback_bytes", b"\nWriteback:"),
)
_COUNTERS = (
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
    found = ((name, number_after(text, key)) for name, key in _GAUGES)
    return {name: value * 1024 for name, value in found if value is not None}


def parse_vmstat(text: bytes, page_bytes: int = PAGE_BYTES) -> Figures:
    """Cumulative paging since the machine started; swap and cache are in pages there, bytes here."""
    figures: Figures = {}
    for name, key, unit in _COUNTERS:
        value = number_after(text, key)
        if value is not None:
            figures[name] = value * (page_bytes if unit is None else unit)
    return figures


def memory_sources(proc: Path) -> list[FileSource]:
    """Both files."""
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
