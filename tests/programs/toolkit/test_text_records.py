"""Fixed-width text in, record batches out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mawl.base.errors import DamagedTableError
from mawl.plan.columns import Code, Column, RowNumber, Uniform, lay_out
from mawl.programs.toolkit.text_records import RecordParser, read_records

LAYOUT = lay_out(
    "P",
    1,
    32,
    (
        (Column("serial", RowNumber()), 12),
        (Column("age", Uniform(0, 99)), 2),
        (Column("state", Code(("AB",)), 8), 8),
    ),
    "filler",
)
LINE = b"P%012d%02dNY      ~~~~~~~~\n"


def text(*rows: tuple[int, int]) -> np.ndarray:
    return np.frombuffer(b"".join(LINE % row for row in rows), np.uint8).reshape(-1, 32)


def test_numbers_are_whole_and_characters_as_they_are() -> None:
    batch = RecordParser(LAYOUT).parse(text((1, 7), (999_999_999_999, 99), (2**33, 0)))
    assert batch.to_pydict() == {
        "serial": [1, 999_999_999_999, 2**33],
        "age": [7, 99, 0],
        "state": [b"NY      "] * 3,
    }


def test_no_records_are_an_empty_batch() -> None:
    assert RecordParser(LAYOUT).parse(text((1, 1))[:0]).num_rows == 0


@pytest.mark.parametrize("wrong", [b" ", b"-", b"A", b"\x00", b"/", b":"])
def test_anything_but_a_digit_in_a_number_is_damage(wrong: bytes) -> None:
    damaged = text((1, 7)).copy()
    damaged[0, 14] = wrong[0]
    with pytest.raises(DamagedTableError, match="field age"):
        RecordParser(LAYOUT).parse(damaged)


def test_another_letter_is_damage() -> None:
    damaged = text((1, 7), (2, 8)).copy()
    damaged[1, 0] = ord("Q")
    assert RecordParser(LAYOUT).owns(damaged).tolist() == [True, False]
    with pytest.raises(DamagedTableError, match="kind P"):
        RecordParser(LAYOUT).parse(damaged)


@pytest.mark.parametrize("bufsize", [7, 64, 2**20])
def test_a_file_is_read_in_whole_records(tmp_path: Path, bufsize: int) -> None:
    path = tmp_path / "state"
    rows = [(number, number % 100) for number in range(1000)]
    path.write_bytes(text(*rows).tobytes())
    found = np.concatenate(list(read_records(path, 32, bufsize_bytes=bufsize)))
    assert np.array_equal(found, text(*rows))


def test_a_large_file_is_read_piece_by_piece(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.write_bytes(text((1, 1)).tobytes() * 100_000)
    pieces = [len(piece) for piece in read_records(path, 32, bufsize_bytes=2**18)]
    assert sum(pieces) == 100_000
    assert max(pieces) == 2**20 // 32


def test_an_empty_file_has_no_records(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert list(read_records(tmp_path / "empty", 32, bufsize_bytes=64)) == []


def test_a_cut_record_or_a_missing_newline_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "state"
    whole = text((1, 1), (2, 2)).tobytes()
    path.write_bytes(whole[:-5])
    with pytest.raises(DamagedTableError, match="ends inside a record"):
        list(read_records(path, 32, bufsize_bytes=64))
    path.write_bytes(whole[:-1] + b" ")
    with pytest.raises(DamagedTableError, match="without its newline"):
        list(read_records(path, 32, bufsize_bytes=64))
