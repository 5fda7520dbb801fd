"""What compressing storage prints of itself: compsize (btrfs), zram's mm_stat, zfs get."""

from __future__ import annotations

import re
from typing import NamedTuple

ZFS_PROPERTIES = ("used", "logicalused", "compressratio")
_ZFS_RATIO = re.compile(r"(\d+\.\d+)x?")
_COMPSIZE = re.compile(r"^TOTAL\s+\S+\s+(\d+)\s+(\d+)\s+(\d+)\s*$", re.MULTILINE)


class Stored(NamedTuple):
    """Bytes before and after compression; ``memory_bytes`` where the storage is memory.

    ``compression_ratio`` is the former over the latter where the storage states it itself.
    """

    original_bytes: int
    stored_bytes: int
    memory_bytes: int | None = None
    compression_ratio: float | None = None


def parse_compsize(text: str) -> Stored | None:
    """The row TOTAL of ``compsize -b``: disk usage and uncompressed; None where there is none."""
    match = _COMPSIZE.search(text)
    return None if match is None else Stored(int(match[2]), int(match[1]))


def parse_mm_stat(text: str) -> Stored | None:
    """The first three fields of ``/sys/block/zramN/mm_stat``: orig_data_size, compr_data_size,
    mem_used_total (Linux Documentation/admin-guide/blockdev/zram.rst)."""
    words = text.split()
    if len(words) < 3 or not all(word.isdigit() for word in words[:3]):
        return None
    return Stored(int(words[0]), int(words[1]), int(words[2]))


def parse_zfs_get(text: str) -> Stored | None:
    """``zfs get -Hp -o property,value`` of :data:`ZFS_PROPERTIES`; None without ``used`` or ``logicalused``.

    ``used`` counts metadata, copies and parity, too; ``compressratio`` is of the data alone, to two
    decimals, with an x at its end in releases before 2.0 (zfsprops(7)).
    """
    found = dict(line.split("\t", 1) for line in text.splitlines() if "\t" in line)
    used, logical, stated = (found.get(name, "").strip() for name in ZFS_PROPERTIES)
    if not (used.isdigit() and logical.isdigit()):
        return None
    ratio = _ZFS_RATIO.fullmatch(stated)
    return Stored(int(logical), int(used), compression_ratio=None if ratio is None else float(ratio[1]))
