"""How btrfs and zram keep a block.

What compressing storage prints: recorded texts, and what is no such text.
"""

from __future__ import annotations

from random import Random

import pytest

from mawl.measure.compressibility.codecs import (
    LZ4,
    LZO,
    ZSTD_1,
    Codec,
    CodecKey,
    EstimateRequest,
    figures,
    original_bytes,
    saved_share,
)
from mawl.measure.compressibility.volumes import StorageSaving, parse_compsize, parse_mm_stat, parse_zfs_get
from tests.files import text_of

KIB = 1024


def saved(figure: EstimateRequest, compressed: int, block: bytes) -> float:
    """The saving of a block that a codec makes so small."""
    return saved_share(figure, Codec(figure.codec, lambda _: compressed))(block, False)


def figure(storage: str, codec: CodecKey, size: int) -> EstimateRequest:
    return EstimateRequest(storage, codec, size)  # type: ignore[arg-type]


BLOCK = Random(1).randbytes(128 * KIB)


@pytest.mark.parametrize(
    ("storage", "codec", "block", "compressed", "saving"),
    [
        ("plain", LZ4, BLOCK, 32 * KIB, 0.75),
        ("plain", LZ4, BLOCK, 129 * KIB, 0.0),
        ("btrfs", ZSTD_1, BLOCK, 30 * KIB, 0.75),
        ("btrfs", ZSTD_1, BLOCK, 124 * KIB, 1 / 32),
        ("btrfs", ZSTD_1, BLOCK, 124 * KIB + 1, 0.0),
        ("btrfs", ZSTD_1, BLOCK[:5000], 4000, 0.5),
        ("btrfs", LZO, BLOCK, 2044, 1 - 17 / 32),
        ("zram", LZ4, BLOCK[:4096], 1024, 0.75),
        ("zram", LZ4, BLOCK[:4096], 3625, 0.0),
        ("zram", LZ4, b"abcdefgh" * 512, 1024, 1.0),
        ("zram", LZ4, bytes(100), 1024, 1.0),
    ],
)
def test_a_block_is_kept_as_the_storage_keeps_it(
    storage: str, codec: CodecKey, block: bytes, compressed: int, saving: float
) -> None:
    found = saved(figure(storage, codec, 128 * KIB), compressed, block)
    assert found == pytest.approx(saving)


@pytest.mark.parametrize(
    ("length", "compressed", "whole_file", "original", "kept"),
    [
        (1000, 32, True, 1000, 32),
        (2048, 2060, True, 2048, 2048),
        (2049, 1400, True, 4096, 4096 - (2049 - 1400)),
        (3000, 2100, True, 4096, 4096),
        (4097, 32, True, 8192, 4096),
        (1000, 32, False, 4096, 4096),
    ],
)
def test_btrfs_counts_small_files_as_compsize_does(
    length: int, compressed: int, whole_file: bool, original: int, kept: int
) -> None:
    """Compare 100 files of each size on Linux 6.18: compsize's columns are these times 100, but for the
    third, of which it counts 2049 and 1400: as many bytes saved."""
    assert original_bytes("btrfs", length, whole_file) == original
    codec = Codec(ZSTD_1, lambda _: compressed)
    saving = saved_share(figure("btrfs", ZSTD_1, 128 * KIB), codec)(bytes(length), whole_file)
    assert saving == pytest.approx(1.0 - kept / original)


def test_each_storage_has_its_block_and_its_codecs() -> None:
    found = figures(["plain", "btrfs", "zram"], [LZ4, LZO, ZSTD_1], [4 * KIB, 1024 * KIB])
    assert [(one.storage, one.codec.label, one.block_bytes // KIB) for one in found] == [
        *(("plain", name, size) for name in ("lz4", "lzo", "zstd-1") for size in (4, 1024)),
        ("btrfs", "lzo", 128),
        ("btrfs", "zstd-1", 128),
        ("zram", "lz4", 4),
        ("zram", "lzo", 4),
    ]


def test_a_codec_that_is_absent_is_refused() -> None:
    with pytest.raises(ValueError, match="lz4 is not there: no package"):
        saved_share(EstimateRequest("plain", LZ4, 4096), Codec(LZ4, None, "no package"))


ZFS_ALL = text_of(__file__, "zfs_properties.txt")
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
    assert parse_zfs_get(ZFS_ALL) == StorageSaving(3874304, 4602880, compression_ratio=1.0)
    found = parse_zfs_get(ZFS_ASKED)
    assert found == StorageSaving(214748364800, 137438953472, compression_ratio=1.56)
    assert found is not None
    assert 1.0 - found.stored_bytes / found.original_bytes == pytest.approx(1.0 - 1.0 / 1.56, abs=0.002)


@pytest.mark.parametrize("text", ["", "used\t1000\n", "used\t-\nlogicalused\t-\n", "cannot open 'tank'\n"])
def test_zfs_without_bytes_is_nothing(text: str) -> None:
    assert parse_zfs_get(text) is None


def test_zfs_without_a_ratio_has_the_bytes() -> None:
    assert parse_zfs_get("used\t10\nlogicalused\t20\ncompressratio\t-\n") == StorageSaving(20, 10)


def test_compsize_has_its_total() -> None:
    assert parse_compsize(COMPSIZE) == StorageSaving(100663296, 45109248)
    assert parse_compsize("No files.\n") is None


def test_mm_stat_begins_with_original_compressed_and_memory() -> None:
    assert parse_mm_stat("  4096000 1200000 1400000 0 1400000 12 0 3 3\n") == StorageSaving(
        4096000, 1200000, 1400000
    )
    assert parse_mm_stat("4096000 x 1\n") is None
