"""The check sum that cksum(1) prints: POSIX.1, cksum, CRC-32 with the length of the file after its bytes."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_ROW = re.compile(rb"(?P<sum>[0-9]{1,10}) +(?P<size>[0-9]{1,12}) +(?P<name>[^/\x00-\x1f]{1,255})")


def check_sum(content: bytes) -> int:
    """As the first number of cksum(1); zlib counts the bits of a byte the other way round."""
    size = len(content)
    length = size.to_bytes((size.bit_length() + 7) // 8, "little")
    other_way = zlib.crc32((content + length).translate(_REVERSED), 0xFFFFFFFF)
    return int(f"{other_way:032b}"[::-1], 2)


def rows(content: bytes) -> Iterator[tuple[str, int, int]]:
    """File, sum and size of each line of cksum's output; what is no such line is left out."""
    for line in content.replace(b"\r\n", b"\n").split(b"\n"):
        if match := _ROW.fullmatch(line):
            yield match["name"].decode(errors="surrogateescape"), int(match["sum"]), int(match["size"])
