"""A file with the content of an earlier one counts once: packed, in another folder, or named twice.

gzip that was cut or damaged gives all that stands before the damage.
"""

from __future__ import annotations

import gzip
import random
import re
import subprocess
from pathlib import Path

import pytest

from mawl.importers import items
from mawl.importers.import_files import Imported, ImportRequest, import_files
from mawl.importers.interface import FIRST_BYTES
from mawl.importers.items import Copies
from mawl.importers.sources import FileStream
from mawl.records.store import open_run
from tests.importers.test_import import EIGHT, log


def imported(place: Path, *paths: Path) -> Imported:
    return import_files(
        ImportRequest(paths=[str(path) for path in paths], folder=place / "run", run_id="copies")
    )


def test_a_packed_copy_a_copy_elsewhere_and_a_file_named_twice_count_once(tmp_path: Path) -> None:
    text = log(EIGHT, 600.0)
    own, other = tmp_path / "logs", tmp_path / "copied"
    for folder in (own, other):
        folder.mkdir()
        (folder / "night.log").write_text(text)
    (own / "night_alt.log").write_text(text)
    (own / "night.log.gz").write_bytes(gzip.compress(text.encode()))
    found = imported(tmp_path, own, other, own / "night.log")
    assert (found.jobs, found.files) == (1, 1)
    why = "the same content as night.log, which was read: it counts once"
    assert [(one.file, one.reason) for one in found.skipped] == [
        ("night.log.gz", why),
        ("night_alt.log", why),
        ("night.log", why),
        ("night.log", why),
    ]
    [job] = open_run(tmp_path / "run").job_records()
    assert job.usage.real_time_seconds == 600.0


def test_short_jobs_without_timestamps_may_have_the_same_log(tmp_path: Path) -> None:
    text = re.sub(r" +Timestamp .*\n", "", log(EIGHT, 0.02))
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(text)
    assert imported(tmp_path, tmp_path / "a.log", tmp_path / "b.log").jobs == 2


def test_files_that_begin_alike_and_differ_later_all_count(tmp_path: Path) -> None:
    begin = log(EIGHT, 60.0) + "NOTE: a line of the log\n" * (FIRST_BYTES // 20)
    for number in range(3):
        (tmp_path / f"{number}.log").write_text(begin + log(EIGHT, 60.0 * (number + 1)))
    found = imported(tmp_path, *(tmp_path / f"{number}.log" for number in (0, 1, 2, 1)))
    assert found.jobs == 6
    assert [one.file for one in found.skipped] == ["1.log"]


def test_only_files_that_begin_alike_are_read_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def content(path: Path) -> bytes:
        read.append(path.name)
        return path.read_bytes()

    monkeypatch.setattr(items, "_content_sum", content)
    met = Copies()
    for name, text in (("a", b"one"), ("b", b"two"), ("c", b"one"), ("d", b"one")):
        (tmp_path / name).write_bytes(text)
        assert met.earlier(tmp_path / name, name, text) == ("a" if name in "cd" else None)
    assert read == ["a", "c", "d"]


def test_a_file_that_is_gone_is_no_copy(tmp_path: Path) -> None:
    met = Copies()
    for name in ("gone", "there"):
        assert met.earlier(tmp_path / name, name, b"the same") is None
        (tmp_path / "there").write_bytes(b"the same")
    assert met.earlier(tmp_path / "there", "again", b"the same") == "there"


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
