"""A gzip file as a stream that loses nothing before its damage, as :class:`gzip.GzipFile` does."""

from __future__ import annotations

import zlib
from typing import BinaryIO

INPUT_BYTES = 16 * 1024
"""Read at once; what one such part expands to (a thousandfold at most) bounds the memory."""
_GZIP = 31
"""zlib's window bits for gzip's header and checksum."""


class Gzipped:
    """The members of a gzip file one after another, decompressed; zeros behind a member are padding."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._unpacker = zlib.decompressobj(_GZIP)
        self._packed = b""
        self._damage: EOFError | zlib.error | None = None

    def read(self, size: int) -> bytes:
        """``size`` bytes, fewer before an end or damage; EOFError or zlib.error once all is read."""
        if self._damage is not None:
            raise self._damage
        found = bytearray()
        while len(found) < size and self._damage is None:
            packed, self._packed = self._packed or self._file.read(INPUT_BYTES), b""
            if self._unpacker.eof:
                packed = packed.lstrip(b"\0")
                if packed:
                    self._unpacker = zlib.decompressobj(_GZIP)
                elif not self._file.peek(1):  # type: ignore[attr-defined]
                    break
                else:
                    continue
            if packed:
                found += self._unpacked(packed, size - len(found))
            else:
                self._damage = EOFError("the file ends before its end was marked")
        if self._damage is not None and not found:
            raise self._damage
        return bytes(found)

    def _unpacked(self, packed: bytes, most: int) -> bytes:
        before = self._unpacker.copy()
        try:
            part = self._unpacker.decompress(packed, most)
        except zlib.error as error:
            self._damage = error
            return _up_to_damage(before, packed)
        self._packed = self._unpacker.unused_data if self._unpacker.eof else self._unpacker.unconsumed_tail
        return part


def _up_to_damage(unpacker: zlib._Decompress, packed: bytes) -> bytes:
    """What zlib gives of a part byte by byte: of the whole part it gives nothing where it is damaged."""
    found = bytearray()
    try:
        for at in range(len(packed)):
            found += unpacker.decompress(packed[at : at + 1])
    except zlib.error:
        pass
    return bytes(found)
