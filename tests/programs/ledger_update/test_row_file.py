"""Files of rows: appended to in requests, passed over, changed in place."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mawl.programs.ledger_update.run import CHUNK_ROWS, RowFile, pass_over


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
