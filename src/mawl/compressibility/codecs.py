"""The codecs of estimates, each there or with a reason: lz4, lzo (LZO1X-1), zstd at levels 1 and 3."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from mawl.compressibility import lzo
from mawl.model.compressibility import CodecName

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


def load(key: CodecKey) -> Codec:
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
        return Codec(key, None, f"{error}; {lzo.INSTALL}")


def _lz4(_: int | None) -> CompressedBytes:
    """One block of the LZ4 block format, acceleration 1, as kernels and file systems use it."""
    from lz4.block import compress

    return lambda block: len(compress(block, store_size=False))


def _lzo(_: int | None) -> CompressedBytes:
    return lzo.load()


def _zstd(level: int | None) -> CompressedBytes:
    """One frame per block, without checksum and stated size, which storage keeps elsewhere."""
    from zstandard import ZstdCompressor

    compressor = ZstdCompressor(level=level or 1, write_content_size=False, write_checksum=False)
    return lambda block: len(compressor.compress(block))


_LOADERS: dict[str, Callable[[int | None], CompressedBytes]] = {"lz4": _lz4, "lzo": _lzo, "zstd": _zstd}
