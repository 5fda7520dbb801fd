"""random_access: indexes beyond their memory, and wrong answers planted in each of its parts."""

from __future__ import annotations

import errno
import hashlib
import os
import threading
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from mawl.base.errors import DamagedTableError
from mawl.plan.programs import OwnRows
from mawl.programs import random_access
from mawl.programs.declarations import random_access as declared
from mawl.programs.random_access import PAGE_WORDS, Lane, Lanes, PageFile, _Table
from mawl.programs.tables.direct import DirectIo
from mawl.records.spec.program_options import MIB, Options
from tests.contract.jobs import Job, assign, run_here
from tests.programs.faults import Fault, given, instead, result
from tests.programs.planted import OPTIONS

SCALE = 0.0001


def quicken(monkeypatch: pytest.MonkeyPatch) -> None:
    few = msgspec.structs.replace(declared.PROGRAM, own_rows=OwnRows(full_rows=1, minimum_rows=1500))
    monkeypatch.setattr(random_access, "PROGRAM", few)


def job(place: Path, options: Options = OPTIONS) -> Job:
    return run_here(assign("random_access", SCALE, options, {}, place))


def test_rows_of_a_page_lie_within_its_blocks() -> None:
    assert [table.rows_per_page for table in declared.TABLES] == [68, 8, 2]


def test_an_index_beyond_its_memory_holds_some_keys(tmp_path: Path) -> None:
    whole = job(tmp_path / "whole")
    some = job(tmp_path / "some", Options(memsize_bytes=100_000, sortsize_bytes=4 * MIB))
    assert whole.failed is None and some.failed is None
    assert whole.answer is not None and some.answer is not None
    assert some.answer["wide_word_sum"] == whole.answer["wide_word_sum"]
    assert some.answer["wide_balances_read"] != whole.answer["wide_balances_read"]


def test_rows_are_the_same_on_every_machine() -> None:
    digest = hashlib.blake2b(digest_size=8)

    class Made(_Table):
        def __init__(self, name: str, words: int) -> None:
            self.words, self._source = words, (1, 0, "random_access", name)

    for table in declared.TABLES:
        made = Made(table.name, table.row_bytes // 8)
        for start in (0, 2**31 - 20, 2**32):
            rows = made.make(start, 40)
            assert np.array_equal(rows[13:20], made.make(start + 13, 7))
            digest.update(rows.tobytes())
    assert digest.hexdigest() == "eff438976379e0c5"


def _after(change: Any) -> Any:
    """A step of a table after which something in it is changed."""

    def wrong(right: Any) -> Any:
        def run(self: _Table, *given: Any) -> None:
            right(self, *given)
            change(self)

        return run

    return wrong


def _shift_places(table: _Table) -> None:
    table._places = np.roll(table._places, 1)


def _repeat_key(table: _Table) -> None:
    table._keys[1] = table._keys[0]


def _written(change: Any) -> Any:
    """Rows that are changed while they are written, though not where they are made again."""

    def wrong(write: Any) -> Any:
        def run(self: _Table) -> None:
            right = self.make
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(self, "make", lambda start, count: change(right(start, count)))
                write(self)

        return run

    return wrong


def _other_text(rows: Any) -> Any:
    rows[:, 4:] = rows[:, 4:] ^ np.uint64(1)
    return rows


def _next_keys(rows: Any) -> Any:
    rows[:, 0] = np.roll(rows[:, 0], 1)
    return rows


def _next_numbers(rows: Any) -> Any:
    rows[:, 1] += np.uint64(1)
    return rows


def _from_next_page(read: Any) -> Any:
    return lambda self, number: read(self, min(number + 1, self._file.pages - 1))


def _not_found(search: Any) -> Any:
    return lambda keys, wanted: (search(keys, wanted) + 1) % len(keys)


FAULTS = {
    "updates are not written": Fault(Lane, "write_block", instead(lambda *_: None), "word sum"),
    "another block of the page is written": Fault(
        Lane, "write_block", given(lambda file, number, _: (file, number, 0)), "is wrong"
    ),
    "blocks are written to another page of the lane": Fault(
        Lane, "write_block", given(lambda file, number, word: (file, number ^ 8, word)), "another row"
    ),
    "another page is read": Fault(Lane, "read", _from_next_page, "another row"),
    "only the first lane updates": Fault(Lanes, "run", instead(lambda _, work: work(0)), "word sum"),
    "every lane does the work of the first": Fault(
        Lanes, "run", lambda right: lambda self, work: right(self, lambda _: work(0)), "is wrong"
    ),
    "pages come in another order": Fault(
        PageFile, "read_many", result(lambda pages: np.roll(pages, 1, axis=0)), "those asked for"
    ),
    "most pages are left out": Fault(
        PageFile, "chunks", result(lambda found: iter([next(found)])), "word sum"
    ),
    "places are those of other keys": Fault(_Table, "build_index", _after(_shift_places), "those asked for"),
    "a key is there twice": Fault(_Table, "build_index", _after(_repeat_key), "is wrong"),
    "the next key is found": Fault(np, "searchsorted", _not_found, "those asked for"),
    "texts are written otherwise": Fault(_Table, "write", _written(_other_text), "as made again"),
    "keys are written with other rows": Fault(_Table, "write", _written(_next_keys), "as made again"),
    "rows are numbered from one": Fault(_Table, "write", _written(_next_numbers), "another row"),
    "rows are updated twice": Fault(
        _Table,
        "update",
        lambda right: lambda self, lanes: (right(self, lanes), right(self, lanes))[0],
        "is wrong",
    ),
    "amounts are added twice": Fault(
        _Table,
        "update",
        lambda right: lambda self, lanes: _with_twice_the_amounts(self, right, lanes),
        "word sum",
    ),
}


def _with_twice_the_amounts(table: _Table, update: Any, lanes: Lanes) -> None:
    right = table._chosen
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "_chosen", lambda: (right()[0], 2 * right()[1]))
        update(table, lanes)


@pytest.mark.parametrize("depth", [1, 2, 8])
def test_every_lane_works_at_the_same_time_and_the_first_is_the_caller(depth: int) -> None:
    together = threading.Barrier(depth, timeout=30)
    seen: dict[int, int] = {}

    def work(lane: int) -> None:
        together.wait()
        seen[lane] = threading.get_ident()

    with Lanes(depth) as lanes:
        lanes.run(work)
        lanes.run(work)
    assert sorted(seen) == list(range(depth))
    assert seen[0] == threading.get_ident()
    assert len(set(seen.values())) == depth


@pytest.mark.parametrize("failing", [0, 2])
def test_an_error_of_a_lane_is_raised_when_all_have_ended(failing: int) -> None:
    ended = []

    def work(lane: int) -> None:
        if lane == failing:
            raise ValueError(f"lane {lane}")
        ended.append(lane)

    with Lanes(3) as lanes, pytest.raises(ValueError, match=f"lane {failing}"):
        lanes.run(work)
    assert sorted(ended) == [lane for lane in range(3) if lane != failing]


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
