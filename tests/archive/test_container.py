"""The one form of a pack's bytes: equal contents are equal bytes, and nothing else is taken."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest

from mawl.archive.container import MOST_MEMBERS, extract, is_name, read_member, read_members, write_pack
from mawl.base.errors import UnreadableRunError, UsageError

MEMBERS: dict[str, bytes | Path] = {
    "runs/a/run.json": b"{}",
    "manifest.json": b"[]",
    "runs/a/logs/x.log": b"",
}


def written(members: dict[str, bytes | Path]) -> bytes:
    file = io.BytesIO()
    write_pack(file, members)
    return file.getvalue()


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    path = tmp_path / "x.mawl.zip"
    path.write_bytes(written(MEMBERS))
    return path


def test_any_zip_reader_reads_it(pack: Path) -> None:
    with zipfile.ZipFile(pack) as found:
        assert found.testzip() is None
        assert found.namelist() == ["manifest.json", "runs/a/logs/x.log", "runs/a/run.json"]
        assert found.read("runs/a/run.json") == b"{}"


def test_order_and_time_of_the_members_make_no_difference() -> None:
    assert written(MEMBERS) == written(dict(reversed(MEMBERS.items())))


def test_a_file_is_as_good_as_its_content(tmp_path: Path) -> None:
    (tmp_path / "facts").write_bytes(b"{}")
    assert written({**MEMBERS, "runs/a/run.json": tmp_path / "facts"}) == written(MEMBERS)


def test_what_was_written_is_read_and_extracted(pack: Path, tmp_path: Path) -> None:
    members = read_members(pack)
    assert {one.name: read_member(pack, one, 10) for one in members} == MEMBERS
    extract(pack, members, tmp_path / "out", lambda name: name if name.startswith("runs/") else None)
    assert (tmp_path / "out/runs/a/run.json").read_bytes() == b"{}"
    assert not (tmp_path / "out/manifest.json").exists()
    with pytest.raises(UnreadableRunError, match="larger than the 1"):
        read_member(pack, members[0], 1)


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "/x",
        "a//b",
        "a/../b",
        ".hidden",
        "a/.b",
        "a b",
        "a\\b",
        "a\0b",
        "é",
        "x" * 300,
        "a/" * 9 + "a",
        "",
    ],
)
def test_a_name_that_leads_elsewhere_is_none(name: str) -> None:
    assert not is_name(name)
    with pytest.raises(UsageError, match="cannot be put into a pack"):
        written({"manifest.json": b"", name: b""})


def test_every_byte_counts(pack: Path) -> None:
    good = pack.read_bytes()
    for place in range(len(good)):
        pack.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises(UnreadableRunError, match="is no pack of mawl, or was altered"):
            read_members(pack)


@pytest.mark.parametrize("cut", [0, 1, 30, 60, 100, -1, -22])
def test_a_cut_file_is_no_pack(pack: Path, cut: int) -> None:
    pack.write_bytes(pack.read_bytes()[:cut])
    with pytest.raises(UnreadableRunError):
        read_members(pack)


@pytest.mark.parametrize("more", [(b"#!/bin/sh\n", b""), (b"", b"x"), (b"", b"\0" * 100)])
def test_nothing_stands_before_or_behind(pack: Path, more: tuple[bytes, bytes]) -> None:
    pack.write_bytes(more[0] + pack.read_bytes() + more[1])
    with pytest.raises(UnreadableRunError):
        read_members(pack)


def _zip(names: list[str], compression: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as made:
        for name in names:
            made.writestr(zipfile.ZipInfo(name), b"0" * 1000, compression)
    return file.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        _zip(["manifest.json"], zipfile.ZIP_DEFLATED),
        _zip(["manifest.json", "../../etc/passwd"]),
        _zip(["manifest.json", "/etc/passwd"]),
        b"PK\x05\x06" + b"\0" * 18,
        b"",
        b"not a zip",
    ],
)
def test_another_zip_is_no_pack(pack: Path, content: bytes) -> None:
    pack.write_bytes(content)
    with pytest.raises(UnreadableRunError):
        read_members(pack)


def test_a_name_of_a_file_and_of_a_folder_is_refused(pack: Path) -> None:
    pack.write_bytes(written({"manifest.json": b"", "a": b"", "a/b/c": b""}))
    with pytest.raises(UnreadableRunError, match="of a file and of a folder"):
        read_members(pack)


def test_a_named_pipe_and_a_huge_sparse_file_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(2**40)
    for name, why in (("pipe", "not a regular file"), ("sparse", "larger than the")):
        with pytest.raises(UnreadableRunError, match=why):
            read_members(tmp_path / name)


def test_more_members_than_a_pack_holds_are_refused() -> None:
    with pytest.raises(UsageError, match="too large for one pack"):
        written({f"a{number}": b"" for number in range(MOST_MEMBERS + 1)})
