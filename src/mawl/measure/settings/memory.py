"""Virtual memory, huge pages, NUMA (Documentation/admin-guide/sysctl/vm.rst, mm/transhuge.rst)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mawl.measure.settings.reading import KIB, Subject
from mawl.measure.topology import parse_cpu_list

SYSCTLS = {
    "swappiness": "swappiness",
    "dirty_ratio": "dirty_ratio",
    "dirty_background_ratio": "dirty_background_ratio",
    "dirty_bytes": "dirty_bytes",
    "dirty_background_bytes": "dirty_background_bytes",
    "vfs_cache_pressure": "vfs_cache_pressure",
    "watermark_scale_factor": "watermark_scale_factor",
    "overcommit_memory": "overcommit_memory",
    "zone_reclaim_mode": "zone_reclaim_mode",
    "max_map_count": "max_map_count",
    "huge_pages": "nr_hugepages",
}


def read(proc: Path, sys: Path) -> Iterator[Subject]:
    """The machine's."""
    found = Subject("memory")
    for figure, name in SYSCTLS.items():
        found.number(figure, proc / "sys/vm" / name)
    found.number("min_free_bytes", proc / "sys/vm/min_free_kbytes", KIB)
    found.seconds("dirty_expire_seconds", proc / "sys/vm/dirty_expire_centisecs", 100)
    found.seconds("dirty_writeback_seconds", proc / "sys/vm/dirty_writeback_centisecs", 100)
    pages = sys / "kernel/mm/transparent_hugepage"
    found.chosen("transparent_huge_pages", pages / "enabled")
    found.chosen("transparent_huge_page_defrag", pages / "defrag")
    found.read("swap_bytes", proc / "meminfo", _swap)
    found.read("nodes", sys / "devices/system/node/online", lambda text: len(parse_cpu_list(text)))
    found.number("numa_balancing", proc / "sys/kernel/numa_balancing")
    found.number("ksm", sys / "kernel/mm/ksm/run")
    yield found


def _swap(text: str) -> int | None:
    match = re.search(r"^SwapTotal:\s+([0-9]+) kB", text, re.M)
    return None if match is None else int(match[1]) * KIB
