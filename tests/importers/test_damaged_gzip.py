"""gzip that was cut or damaged gives all that stands before the damage."""

from __future__ import annotations

import gzip
import random
import subprocess
from pathlib import Path

import pytest

from mawl.importers.sources import FileStream

TEXT = b"".join(b"line %d of a log: %d\n" % (n, random.Random(n).getrandbits(40)) for n in range(40_000))
PACKED = gzip.compress(TEXT, mtime=0)


def source_of(path: Path, content: bytes, size: int = 262_144) -> tuple[bytes, list[str]]:
    """All bytes that a source gives, and what it told."""
    path.write_bytes(content)
    told: list[str] = []
    with FileStream(path, told.append) as source:
        source.first(65536)
        parts = []
        while part := source.read(size):
            assert len(part) <= size or told
            parts.append(part)
    return b"".join(parts), told


def outside(path: Path) -> bytes:
    """What gzip itself gives."""
    return subprocess.run(["gzip", "-dc", str(path)], capture_output=True, check=False).stdout


@pytest.mark.parametrize("share", [0.01, 1 / 3, 0.9, 0.9999])
def test_a_cut_file_gives_all_before_the_cut(tmp_path: Path, share: float) -> None:
    path = tmp_path / "log.gz"
    found, told = source_of(path, PACKED[: int(len(PACKED) * share)])
    assert TEXT.startswith(found)
    assert len(found) >= len(outside(path))
    assert len(found) > len(TEXT) * share * 0.9 - 20_000
    assert [text.startswith(f"damaged after {len(found)} bytes") for text in told] == [True]


def test_a_flipped_byte_costs_nothing_before_it(tmp_path: Path) -> None:
    content = bytearray(PACKED)
    at = len(content) // 2
    content[at] ^= 0xFF
    path = tmp_path / "log.gz"
    found, told = source_of(path, bytes(content))
    before = len(source_of(tmp_path / "cut.gz", bytes(content[:at]))[0])
    assert found[:before] == TEXT[:before]
    assert before > len(TEXT) * 0.4
    assert len(found) >= len(outside(path))
    assert len(told) == 1


@pytest.mark.parametrize("size", [1000, 262_144])
@pytest.mark.parametrize("between", [b"", bytes(40_000)])
def test_members_and_padding_are_one_stream(tmp_path: Path, size: int, between: bytes) -> None:
    found, told = source_of(tmp_path / "log.gz", PACKED + between + PACKED + between, size)
    assert found == TEXT * 2
    assert told == []
