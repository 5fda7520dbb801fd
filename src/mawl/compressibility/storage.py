"""How storage keeps a compressed block: as it is (plain), as btrfs, or as zram does.

``btrfs`` (Linux fs/btrfs/compression.c, inode.c, lzo.c): extents of at most 128 KiB, kept in sectors
of 4 KiB, raw unless at least one sector is saved; its lzo compresses each sector alone, with four
bytes before each and before the whole.  ``zram`` (drivers/block/zram/zram_drv.c, mm/zsmalloc.c):
pages of 4 KiB; one that repeats a single machine word takes nothing; one whose compressed size would
not fit the largest class of the allocator below a page is kept raw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mawl.compressibility.codecs import LZ4, LZO, ZSTD_1, ZSTD_3, Codec, CodecKey, CompressedBytes
from mawl.model.compressibility import STORAGE_MODELS, StorageModel

KIB = 1024
SECTOR_BYTES = 4 * KIB
BTRFS_EXTENT_BYTES = 128 * KIB
LZO_HEADER_BYTES = 4
INLINE_BYTES = 2 * KIB
"""max_inline of btrfs: a file of a sector or less lies in metadata, to the byte, if it takes no more."""
HUGE_BYTES = 3625
"""zsmalloc's huge_class_size with chains of 8 pages, the default since Linux 6.3: 3632 less 7."""
WORD_BYTES = 8

DEFAULT_BLOCKS = tuple(size * KIB for size in (4, 32, 128, 256, 1024))

SavedShare = Callable[[bytes, bool], float]
"""The saving of one block, 0 to 1: 1 - stored/original; and whether the block is all of its file."""


class EstimateRequest(NamedTuple):
    """One estimate to make."""

    storage: StorageModel
    codec: CodecKey
    block_bytes: int


def figures(
    storages: Sequence[StorageModel], codecs: Sequence[CodecKey], blocks: Sequence[int]
) -> list[EstimateRequest]:
    """Every estimate that is asked for; a storage model has a block of its own, and codecs it knows."""
    found = []
    for storage in STORAGE_MODELS:
        if storage not in storages:
            continue
        own = {"plain": blocks, "btrfs": (BTRFS_EXTENT_BYTES,), "zram": (SECTOR_BYTES,)}[storage]
        known = {"plain": tuple(codecs), "btrfs": (LZO, ZSTD_1, ZSTD_3), "zram": (LZ4, LZO)}[storage]
        found += [EstimateRequest(storage, codec, size) for codec in codecs if codec in known for size in own]
    return found


def saved_share(figure: EstimateRequest, codec: Codec) -> SavedShare:
    """The function that gives a block's saving for a figure; ``codec`` must be there."""
    if codec.compressed_bytes is None:
        raise ValueError(f"{codec.key.label} is not there: {codec.reason}")
    return {"plain": _plain, "btrfs": _btrfs, "zram": _zram}[figure.storage](
        codec.compressed_bytes, figure.codec
    )


def _plain(compressed_bytes: CompressedBytes, _: CodecKey) -> SavedShare:
    def saved(block: bytes, _: bool) -> float:
        return max(1.0 - compressed_bytes(block) / len(block), 0.0)

    return saved


def _btrfs(compressed_bytes: CompressedBytes, key: CodecKey) -> SavedShare:
    def by_sector(extent: bytes) -> int:
        sizes = [
            compressed_bytes(extent[at : at + SECTOR_BYTES]) for at in range(0, len(extent), SECTOR_BYTES)
        ]
        return LZO_HEADER_BYTES + sum(LZO_HEADER_BYTES + size for size in sizes)

    whole = by_sector if key == LZO else compressed_bytes

    def saved(block: bytes, whole_file: bool) -> float:
        original = original_bytes("btrfs", len(block), whole_file)
        size = whole(block)
        if whole_file and len(block) <= SECTOR_BYTES and size <= INLINE_BYTES:
            return max(len(block) - size, 0) / original
        return max(1.0 - _sectors(size) / original, 0.0)

    return saved


def _zram(compressed_bytes: CompressedBytes, _: CodecKey) -> SavedShare:
    def saved(block: bytes, _: bool) -> float:
        page = block.ljust(SECTOR_BYTES, b"\0")
        if page == page[:WORD_BYTES] * (SECTOR_BYTES // WORD_BYTES):
            return 1.0
        size = compressed_bytes(page)
        return 0.0 if size >= HUGE_BYTES else 1.0 - size / SECTOR_BYTES

    return saved


def original_bytes(storage: StorageModel, length: int, whole_file: bool) -> int:
    """What data of ``length`` bytes takes there before compression, which is what its saving is of.

    btrfs counts as ``compsize`` does: sectors, and bytes for a file of up to :data:`INLINE_BYTES`, which
    lies in metadata.  A larger one up to a sector lies there only if it compresses; it counts as a sector.
    """
    if storage == "plain" or (storage == "btrfs" and whole_file and length <= INLINE_BYTES):
        return length
    return _sectors(length)


def _sectors(size: int) -> int:
    """Whole sectors, in bytes."""
    return -(-size // SECTOR_BYTES) * SECTOR_BYTES
