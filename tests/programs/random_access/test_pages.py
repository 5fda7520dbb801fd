"""Pages in a file: direct where the file system allows it, buffered elsewhere, the same content."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from mawl.base.errors import DamagedTableError
from mawl.programs.random_access.run import PAGE_WORDS, Lane, Lanes, PageFile
from mawl.programs.tables.direct import DirectIo

BUFSIZE = 3 * 8192 + 100


def write(path: Path, pages: int = 7) -> np.ndarray:
    content = np.arange(pages * PAGE_WORDS, dtype=np.uint64).reshape(pages, PAGE_WORDS)
    with PageFile(path, DirectIo("auto"), bufsize_bytes=BUFSIZE, create=True) as file:
        for start in range(0, pages, file.request_pages):
            some = content[start : start + file.request_pages]
            file.request(len(some))[...] = some
            file.append(len(some))
    return content


@pytest.fixture(params=["as the file system has it", "refused"])
def path(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if request.param == "refused":
        right = os.open

        def refuse(name: Path, flags: int, mode: int = 0o777) -> int:
            if flags & os.O_DIRECT:
                right(name, flags & ~os.O_DIRECT, mode)
                raise OSError(errno.EINVAL, "no direct requests here", str(name))
            return right(name, flags, mode)

        monkeypatch.setattr("mawl.programs.tables.direct.os.open", refuse)
    return tmp_path / "table.pages"


def test_pages_come_back_in_whole_requests(path: Path) -> None:
    content = write(path)
    with PageFile(path, DirectIo("auto"), bufsize_bytes=BUFSIZE) as file:
        chunks = [chunk.copy() for chunk in file.chunks()]
        assert [len(chunk) for chunk in chunks] == [3, 3, 1]
        assert np.array_equal(np.concatenate(chunks), content)
        assert np.array_equal(Lane(file).read(5), content[5])


def test_a_block_is_written_in_place_and_nothing_else(path: Path) -> None:
    content = write(path)
    with PageFile(path, DirectIo("auto"), bufsize_bytes=BUFSIZE) as file:
        lane = Lane(file)
        page = lane.read(4)
        page[10] = 99
        page[PAGE_WORDS // 2 + 7] = 98
        lane.write_block(4, PAGE_WORDS // 2 + 7)
    content[4, PAGE_WORDS // 2 + 7] = 98
    assert np.array_equal(np.fromfile(path, np.uint64).reshape(content.shape), content)


def test_a_refusal_is_known(path: Path, request: pytest.FixtureRequest) -> None:
    write(path)
    with PageFile(path, DirectIo("auto"), bufsize_bytes=BUFSIZE) as file:
        assert file.direct is False or "refused" not in request.node.name


def test_the_space_of_a_request_is_empty(tmp_path: Path) -> None:
    with PageFile(tmp_path / "t", DirectIo("auto"), bufsize_bytes=BUFSIZE, create=True) as file:
        file.request(2).fill(7)
        assert not file.request(3).any()


def test_a_page_that_is_not_there_is_a_damaged_table(path: Path) -> None:
    write(path)
    with (
        PageFile(path, DirectIo("auto"), bufsize_bytes=BUFSIZE) as file,
        pytest.raises(DamagedTableError, match="ends inside a page"),
    ):
        Lane(file).read(7)


def test_a_full_disk_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with PageFile(tmp_path / "t", DirectIo("auto"), bufsize_bytes=BUFSIZE, create=True) as file:
        file.request(1)

        def full(*_: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("mawl.programs.tables.direct.os.pwritev", full)
        with pytest.raises(OSError, match="No space") as raised:
            file.append(1)
    assert raised.value.filename == str(tmp_path / "t")


@pytest.mark.parametrize("depth", [1, 2, 8])
def test_many_pages_come_in_the_order_asked(path: Path, depth: int) -> None:
    content = write(path)
    io = DirectIo("auto")
    with PageFile(path, io, bufsize_bytes=BUFSIZE) as file, Lanes(depth) as lanes:
        numbers = [6, 0, 3, 3, 5, 1, 2, 4, 6, 6]
        assert np.array_equal(file.read_many(numbers, lanes), content[numbers])
        assert len(file.read_many([], lanes)) == 0
        assert io.read_bytes == (10 * 8192 if file.direct else 0)
        with pytest.raises(DamagedTableError, match="ends inside a page"):
            file.read_many([1, 7], lanes)
