"""random_access: indexes beyond their memory, and wrong answers planted in each of its parts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from mawl.model.options import MIB, Options
from mawl.plan.catalogue import random_access as declared
from mawl.plan.programs import OwnRows
from mawl.programs import random_access
from mawl.programs.pages import PageFile
from mawl.programs.random_access import _Table
from tests.contract.jobs import Job, assign, run_here

OPTIONS = Options(memsize_bytes=64 * MIB, sortsize_bytes=4 * MIB)


@pytest.fixture(autouse=True)
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    few = msgspec.structs.replace(declared.PROGRAM, own_rows=OwnRows(full_rows=1, minimum_rows=1500))
    monkeypatch.setattr(random_access, "PROGRAM", few)


def job(place: Path, options: Options = OPTIONS) -> Job:
    return run_here(assign("random_access", 0.0001, options, {}, place))


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


def _replaced(owner: Any, name: str, wrong: Callable[..., Any]) -> Callable[[pytest.MonkeyPatch], None]:
    """``wrong`` gets the right function, then its arguments."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = getattr(owner, name)
        patch.setattr(owner, name, lambda *arguments: wrong(right, *arguments))

    return plant


def _changed(place: int) -> Callable[..., Any]:
    """Rows made otherwise when they are made again one by one."""

    def wrong(right: Callable[..., Any], table: _Table, start: int, count: int) -> Any:
        made = right(table, start, count)
        if count == 1:
            made[:, place] += np.uint64(1)
        return made

    return wrong


def _shifted(right: Callable[..., Any], table: Any) -> None:
    right(table)
    table._places = np.roll(table._places, 1)


def _repeated_key(right: Callable[..., Any], table: Any) -> None:
    right(table)
    table._keys[1] = table._keys[0]


def _miscounted(right: Callable[..., Any], table: Any) -> None:
    right(table)
    table.versions += 1


def _first_only(right: Callable[..., Any], file: PageFile) -> Any:
    return list(right(file))[:1]


@pytest.mark.parametrize(
    "plant",
    [
        _replaced(PageFile, "write_block", lambda *_: None),
        _replaced(PageFile, "write_block", lambda right, file, number, _: right(file, number, 0)),
        _replaced(PageFile, "read", lambda right, file, number: right(file, max(number - 1, 0))),
        _replaced(PageFile, "chunks", _first_only),
        _replaced(_Table, "build_index", _shifted),
        _replaced(_Table, "build_index", _repeated_key),
        _replaced(_Table, "build_index", _miscounted),
        _replaced(_Table, "make", _changed(0)),
        _replaced(_Table, "make", _changed(1)),
        _replaced(_Table, "make", _changed(4)),
    ],
)
def test_a_planted_wrong_answer_is_rejected(
    plant: Callable[[pytest.MonkeyPatch], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    found = job(tmp_path)
    assert found.failed is not None
    assert found.failed.wrong_answer, found.failed.sentence
    assert found.answer is None
