"""ledger_update: what stays afterwards, and wrong answers planted in each of its parts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from mawl.datagen.generate import TableRequest, generate
from mawl.model.options import MIB, Options
from mawl.plan.inputs.ledger import TABLE
from mawl.programs import ledger_update
from mawl.programs.ledger_update import _is_open, _LedgerUpdate, _open_rows
from mawl.programs.row_file import RowFile
from tests.contract.jobs import Job, assign, run_here

OPTIONS = Options(memsize_bytes=64 * MIB, sortsize_bytes=4 * MIB)
FEW = msgspec.structs.replace(TABLE, minimum_rows=6000)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    request = TableRequest(table=TABLE.name, scale=1e-6, seed=7)
    place = tmp_path_factory.mktemp("inputs")
    (made,) = generate([request], place, processes=1, bufsize_bytes=2**18, tables={TABLE.name: FEW})
    return made.directory


def job(ledger: Path, place: Path) -> Job:
    return run_here(assign("ledger_update", 1e-6, OPTIONS, {TABLE.name: ledger}, place))


@pytest.mark.parametrize("rows", [0, 5, 64, 70, 304, 310, 10_000])
def test_open_entries_are_counted(rows: int) -> None:
    assert _open_rows(rows) == int(_is_open(np.arange(rows)).sum())


def test_only_the_published_table_stays(ledger: Path, tmp_path: Path) -> None:
    found = job(ledger, tmp_path)
    assert found.failed is None
    assert found.answer is not None
    assert found.answer["entries"] == 6300
    assert found.answer["published"] == _open_rows(6300)
    results = Path(found.assignment.results)
    assert [path.name for path in results.iterdir()] == ["open-vouchers.arrow"]
    assert results.stat().st_mode & 0o777 == 0o700


def _replaced(owner: Any, name: str, wrong: Callable[..., Any]) -> Callable[[pytest.MonkeyPatch], None]:
    """``wrong`` gets the right function, then its arguments."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = getattr(owner, name)
        patch.setattr(owner, name, lambda *arguments, **named: wrong(right, *arguments, **named))

    return plant


def _next_voucher(right: Callable[..., Any], file: RowFile, first: int, rows: np.ndarray) -> None:
    right(file, first + 16, rows)


def _half(right: Callable[..., Any], path: Path, into: np.ndarray, *, bufsize_bytes: int) -> Any:
    rows = right(path, into, bufsize_bytes=bufsize_bytes)
    return rows[: max(len(rows) // 2, 1)]


def _other_status(_: Callable[..., Any], program: Any, rows: np.ndarray) -> None:
    program.records.numbers(rows, "status")[...] = 8.0


def _wrong_amount(right: Callable[..., Any], program: Any, rows: np.ndarray) -> None:
    right(program, rows)
    program.records.numbers(rows, "amount_cents")[...] += 1.0


@pytest.mark.parametrize(
    "plant",
    [
        _replaced(RowFile, "replace", lambda *_: None),
        _replaced(RowFile, "replace", _next_voucher),
        _replaced(_LedgerUpdate, "_settle", _other_status),
        _replaced(_LedgerUpdate, "_settle", _wrong_amount),
        _replaced(_LedgerUpdate, "_write_small", lambda right, program, rows: right(program, rows[1:])),
        _replaced(_LedgerUpdate, "_write_small", lambda right, program, rows: right(program, rows + 1)),
        _replaced(ledger_update, "_is_open", lambda right, entries: right(entries + 16 * 4)),
        _replaced(ledger_update, "read_rows", _half),
        _replaced(ledger_update, "total", lambda right, *arguments: right(*arguments) + 1),
        _replaced(ledger_update, "total_rows", lambda right, *arguments: right(*arguments) - 1),
        _replaced(ledger_update, "_correction", lambda right, entries: right(entries)[::-1]),
    ],
)
def test_a_planted_wrong_answer_is_rejected(
    plant: Callable[[pytest.MonkeyPatch], None], ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    found = job(ledger, tmp_path)
    assert found.failed is not None
    assert found.failed.wrong_answer, found.failed.sentence
    assert not Path(found.assignment.results).exists()
