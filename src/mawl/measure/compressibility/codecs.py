"""How small codecs make a block, and how much of that plain storage, btrfs and zram really save.

``btrfs`` (Linux fs/btrfs/compression.c, inode.c, lzo.c): extents of at most 128 KiB, kept in sectors
of 4 KiB, raw unless at least one sector is saved; its lzo compresses each sector alone, with four
bytes before each and before the whole.  ``zram`` (drivers/block/zram/zram_drv.c, mm/zsmalloc.c):
pages of 4 KiB; one that repeats a single machine word takes nothing; one whose compressed size would
not fit the largest class of the allocator below a page is kept raw.

LZO1X-1, the lzo of both, comes from the system's liblzo2, since no maintained Python package has it.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import NamedTuple

from mawl.records.model.compressibility import (
    STORAGE_MODELS,
    CodecName,
    Estimate,
    SampledShare,
    StorageModel,
)

LZO_LIBRARY = "liblzo2.so.2"
INSTALL_LZO = "apt-get install liblzo2-2 (or your system's package of liblzo2)"

_LZO_VERSION = 0x2060
_LZO_WORK_BYTES = 16384 * ctypes.sizeof(ctypes.c_void_p)


def load_lzo(library: str = LZO_LIBRARY) -> Callable[[bytes], int]:
    """A function that gives the compressed size of a block in bytes; one thread may use it.

    Raises OSError where the library is absent or refuses this machine.
    """
    lzo = ctypes.CDLL(library)
    pointer, integer = ctypes.c_void_p, ctypes.c_int
    sizes = [ctypes.sizeof(kind) for kind in (ctypes.c_short, integer, ctypes.c_long, ctypes.c_uint32)]
    sizes += [ctypes.sizeof(ctypes.c_size_t), *[ctypes.sizeof(pointer)] * 3, -1]
    if lzo.__lzo_init_v2(_LZO_VERSION, *sizes) != 0:
        raise OSError(f"{library} refuses this machine")
    compress = lzo.lzo1x_1_compress
    compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, pointer, ctypes.POINTER(ctypes.c_size_t), pointer]
    compress.restype = integer
    work = ctypes.create_string_buffer(_LZO_WORK_BYTES)
    length = ctypes.c_size_t()
    output = ctypes.create_string_buffer(0)

    def compressed_bytes(block: bytes) -> int:
        nonlocal output
        worst = len(block) + len(block) // 16 + 64 + 3
        if len(output) < worst:
            output = ctypes.create_string_buffer(worst)
        length.value = 0
        compress(block, len(block), output, ctypes.byref(length), work)
        return length.value

    return compressed_bytes


CompressedBytes = Callable[[bytes], int]
"""The size of a block after compression, in bytes; larger than the block where it does not compress."""


class CodecKey(NamedTuple):
    """A codec and its level; ``label`` as on the command line."""

    name: CodecName
    level: int | None

    @property
    def label(self) -> str:
        return self.name if self.level is None else f"{self.name}-{self.level}"


LZ4, LZO, ZSTD_1, ZSTD_3 = (
    CodecKey("lz4", None),
    CodecKey("lzo", None),
    CodecKey("zstd", 1),
    CodecKey("zstd", 3),
)
CODECS: dict[str, CodecKey] = {key.label: key for key in (LZ4, LZO, ZSTD_1, ZSTD_3)}


class Codec(NamedTuple):
    """One that can be used here, or ``compressed_bytes`` None and the reason."""

    key: CodecKey
    compressed_bytes: CompressedBytes | None
    reason: str | None = None


def load_codec(key: CodecKey) -> Codec:
    """The codec of a key; never raises: what is absent has a reason with its cure."""
    try:
        return Codec(key, _LOADERS[key.name](key.level))
    except ModuleNotFoundError as error:
        return Codec(
            key,
            None,
            f"needs the package {error.name}, which is not installed; pip install 'mawl[storage]'",
        )
    except OSError as error:
        return Codec(key, None, f"{error}; {INSTALL_LZO}")


def _lz4(_: int | None) -> CompressedBytes:
    """One block of the LZ4 block format, acceleration 1, as kernels and file systems use it."""
    from lz4.block import compress

    return lambda block: len(compress(block, store_size=False))


def _lzo(_: int | None) -> CompressedBytes:
    return load_lzo()


def _zstd(level: int | None) -> CompressedBytes:
    """One frame per block, without checksum and stated size, which storage keeps elsewhere."""
    from zstandard import ZstdCompressor

    compressor = ZstdCompressor(level=level or 1, write_content_size=False, write_checksum=False)
    return lambda block: len(compressor.compress(block))


_LOADERS: dict[str, Callable[[int | None], CompressedBytes]] = {"lz4": _lz4, "lzo": _lzo, "zstd": _zstd}


ENGINE_COMPRESSED = re.compile(r"duckdb_temp_(?:\d+_\d+_)?storage_S\d+K-\d+\.tmp")
"""DuckDB's temporary blocks that it compressed, by their size class; those it left raw are in
``..._storage_DEFAULT-N.tmp`` (DuckDB, src/storage/temporary_file_manager.cpp)."""


def engine_compressed(path: str) -> bool:
    """Whether a file holds what DuckDB compressed on its own account."""
    return ENGINE_COMPRESSED.fullmatch(PurePath(path).name) is not None


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

    def result(
        self,
        share: SampledShare,
        *,
        original_bytes: int | None,
        confidence: float,
        draws: int,
        reason: str | None,
    ) -> Estimate:
        """The estimate: its saving is ``share``."""
        return Estimate(
            codec=self.codec.name,
            level=self.codec.level,
            block_bytes=self.block_bytes,
            storage=self.storage,
            original_bytes=original_bytes,
            saving_ratio=share.ratio,
            half_width_ratio=share.half_width_ratio,
            confidence_ratio=confidence,
            draws=draws,
            reason=reason,
        )


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

    btrfs counts as ``compsize`` does: sectors, and bytes for a file of up to ``INLINE_BYTES``, which
    lies in metadata.  A larger one up to a sector lies there only if it compresses; it counts as a sector.
    """
    if storage == "plain" or (storage == "btrfs" and whole_file and length <= INLINE_BYTES):
        return length
    return _sectors(length)


def _sectors(size: int) -> int:
    """Whole sectors, in bytes."""
    return -(-size // SECTOR_BYTES) * SECTOR_BYTES
