"""ledger_update: what stays afterwards, and wrong answers planted in each of its parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from mawl.programs import ledger_update
from mawl.programs.declarations.ledger_update import TABLE
from mawl.programs.ledger_update import CHUNK_ROWS, RowFile, _is_open, _LedgerUpdate, _open_rows, pass_over
from mawl.programs.tables.arrow import TableWriter
from tests.contract.planted_run import without_first_row
from tests.programs.faults import Fault, given, instead, result
from tests.programs.planted import job_runner

SCALE = 1e-6
TABLES = {TABLE.name: msgspec.structs.replace(TABLE, minimum_rows=6000)}


@pytest.mark.parametrize("rows", [0, 5, 64, 70, 304, 310, 10_000])
def test_open_entries_are_counted(rows: int) -> None:
    assert _open_rows(rows) == int(_is_open(np.arange(rows)).sum())


def test_only_the_published_table_stays(tmp_path: Path) -> None:
    found = job_runner("ledger_update", SCALE, tmp_path, tables=TABLES)()
    assert found.failed is None
    assert found.answer is not None
    assert found.answer["entries"] == 6300
    assert found.answer["published"] == _open_rows(6300)
    results = Path(found.assignment.results)
    assert [path.name for path in results.iterdir()] == ["open-vouchers.arrow"]
    assert results.stat().st_mode & 0o777 == 0o700


def _half(rows: Any) -> Any:
    return rows[: max(len(rows) // 2, 1)]


def _other_status(program: Any, rows: Any) -> None:
    program.records.numbers(rows, "status")[...] = 8.0


def _a_cent_more(settle: Any) -> Any:
    def settled(self: Any, rows: Any) -> None:
        settle(self, rows)
        self.records.numbers(rows, "amount_cents")[...] += 1.0

    return settled


FAULTS = {
    "corrections are not written": Fault(
        RowFile, "replace", instead(lambda *_: None), "word sum of the updated ledger"
    ),
    "corrections go to the next voucher": Fault(
        RowFile, "replace", given(lambda file, first, rows: (file, first + 16, rows)), "order of entries"
    ),
    "entries get another status": Fault(
        _LedgerUpdate, "_settle", instead(_other_status), "number of settled entries"
    ),
    "a cent is added to each": Fault(_LedgerUpdate, "_settle", _a_cent_more, "sum of amounts"),
    "an entry of each group has no voucher": Fault(
        _LedgerUpdate,
        "_write_small",
        given(lambda program, rows: (program, rows[1:])),
        "number of rows of the small files",
    ),
    "vouchers are written otherwise": Fault(
        _LedgerUpdate,
        "_write_small",
        given(lambda program, rows: (program, rows + 1)),
        "word sum of the small files",
    ),
    "other entries are open": Fault(
        ledger_update, "_is_open", given(lambda entries: (entries + 16 * 4,)), "number of open entries"
    ),
    "half of a voucher is read": Fault(
        ledger_update, "read_rows", result(_half), "number of rows of the small files"
    ),
    "amounts are a cent off": Fault(
        ledger_update, "total", result(lambda found: found + 1), "sum of amounts"
    ),
    "an entry has no kind": Fault(
        ledger_update, "total_rows", result(lambda found: found - 1), "number of entries by kind"
    ),
    "corrections are other entries'": Fault(
        ledger_update, "_correction", result(lambda found: found[::-1]), "sampled entries"
    ),
    "a row is lost": Fault(TableWriter, "write", without_first_row, "number of rows of the published table"),
}


def rows(count: int, first: int = 0) -> np.ndarray:
    return np.arange(first * 3, (first + count) * 3, dtype=np.uint64).reshape(count, 3)


def whole(path: Path) -> np.ndarray:
    return np.fromfile(path, np.uint64).reshape(-1, 3)


def test_rows_are_appended_also_when_the_file_is_opened_again(tmp_path: Path) -> None:
    with RowFile(tmp_path / "rows", 3, bufsize_bytes=100) as file:
        file.append(rows(50))
        file.append(rows(0))
        assert file.rows == 50
    with RowFile(tmp_path / "rows", 3, bufsize_bytes=1) as file:
        file.append(rows(3, first=50))
        assert file.rows == 3
    assert np.array_equal(whole(tmp_path / "rows"), rows(53))


def test_rows_are_replaced_in_place(tmp_path: Path) -> None:
    with RowFile(tmp_path / "rows", 3, bufsize_bytes=100) as file:
        file.append(rows(20))
    with RowFile(tmp_path / "rows", 3, bufsize_bytes=100) as file:
        file.replace(7, rows(2, first=100))
        file.sync()
    expected = rows(20)
    expected[7:9] = rows(2, first=100)
    assert np.array_equal(whole(tmp_path / "rows"), expected)


def test_a_pass_says_where_its_rows_begin(tmp_path: Path) -> None:
    with RowFile(tmp_path / "rows", 3, bufsize_bytes=2**18) as file:
        file.append(rows(CHUNK_ROWS + 5))
    found = [(start, some.copy()) for start, some in pass_over(tmp_path / "rows", 3, bufsize_bytes=1000)]
    assert [(start, len(some)) for start, some in found] == [(0, CHUNK_ROWS), (CHUNK_ROWS, 5)]
    assert np.array_equal(np.vstack([some for _, some in found]), rows(CHUNK_ROWS + 5))
