"""What compressing storage prints: recorded texts, and what is no such text."""

from __future__ import annotations

import pytest

from mawl.measure.compressibility.reported import Stored, parse_compsize, parse_mm_stat, parse_zfs_get

ZFS_ALL = """type\tfilesystem
creation\t1412156944
used\t4602880
available\t21002432000
referenced\t4602880
compressratio\t1.00x
mounted\tno
recordsize\t131072
compression\toff
copies\t1
refcompressratio\t1.00x
written\t4602880
logicalused\t3874304
logicalreferenced\t3874304
"""
"""Of ``zfs get -Hp -o property,value all``, recorded on a pool of 2014 by the authors of IML (MIT licence):
nothing is compressed, and yet more is used than was written."""
ZFS_ASKED = "used\t137438953472\nlogicalused\t214748364800\ncompressratio\t1.56\n"
"""The layout of OpenZFS 2: no x where figures are exact."""

COMPSIZE = """Processed 14 files, 768 regular extents (768 refs), 2 inline.
Type       Perc     Disk Usage   Uncompressed Referenced
TOTAL       45%     45109248     100663296    100663296
none       100%     15204352     15204352     15204352
zstd        35%     29904896     85458944     85458944
"""


def test_zfs_states_its_ratio_beside_the_bytes() -> None:
    assert parse_zfs_get(ZFS_ALL) == Stored(3874304, 4602880, compression_ratio=1.0)
    found = parse_zfs_get(ZFS_ASKED)
    assert found == Stored(214748364800, 137438953472, compression_ratio=1.56)
    assert found is not None
    assert 1.0 - found.stored_bytes / found.original_bytes == pytest.approx(1.0 - 1.0 / 1.56, abs=0.002)


@pytest.mark.parametrize("text", ["", "used\t1000\n", "used\t-\nlogicalused\t-\n", "cannot open 'tank'\n"])
def test_zfs_without_bytes_is_nothing(text: str) -> None:
    assert parse_zfs_get(text) is None


def test_zfs_without_a_ratio_has_the_bytes() -> None:
    assert parse_zfs_get("used\t10\nlogicalused\t20\ncompressratio\t-\n") == Stored(20, 10)


def test_compsize_has_its_total() -> None:
    assert parse_compsize(COMPSIZE) == Stored(100663296, 45109248)
    assert parse_compsize("No files.\n") is None


def test_mm_stat_begins_with_original_compressed_and_memory() -> None:
    assert parse_mm_stat("  4096000 1200000 1400000 0 1400000 12 0 3 3\n") == Stored(
        4096000, 1200000, 1400000
    )
    assert parse_mm_stat("4096000 x 1\n") is None
