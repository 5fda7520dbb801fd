"""Records and batches are the same rows in two orders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mawl.base.errors import DamagedTableError
from mawl.plan.columns import Code, Column, RowNumber, Uniform, lay_out
from mawl.programs.tables import arrow
from mawl.programs.toolkit.rows import RecordParser, Records, memory, read_records

SCHEMA = pa.schema(
    [
        ("row", pa.float64()),
        ("name", pa.binary(24)),
        ("code", pa.binary(8)),
        ("first", pa.float64()),
        ("second", pa.float64()),
        ("count", pa.int64()),
    ]
)


def batch_of(rows: int, schema: pa.Schema = SCHEMA) -> pa.RecordBatch:
    chance = np.random.default_rng(rows)
    columns = []
    for kind in schema.types:
        words = chance.integers(0, 2**62, rows * kind.bit_width // 64, dtype=np.uint64)
        columns.append(pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(words)]))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


@settings(max_examples=30)
@given(rows=st.integers(0, 70), widths=st.lists(st.sampled_from([8, 16, 24, 64]), min_size=1, max_size=9))
def test_a_batch_becomes_records_and_a_batch_again(rows: int, widths: list[int]) -> None:
    schema = pa.schema([(f"c{place}", pa.binary(width)) for place, width in enumerate(widths)])
    batch = batch_of(rows, schema)
    records = Records(schema)
    space = memory(rows, records.words)
    records.fill(batch, space)
    assert records.batch(space).equals(batch)
    assert records.bytes == sum(widths)


def test_a_batch_read_from_a_file_in_one_piece_gives_the_same_records(tmp_path: Path) -> None:
    batch = batch_of(1001)
    with arrow.TableWriter(tmp_path / "t.arrow", SCHEMA, bufsize_bytes=4096) as writer:
        writer.write(batch)
    (read,) = arrow.read_batches(tmp_path / "t.arrow", bufsize_bytes=4096)
    records = Records(SCHEMA)
    assert arrow.body_words(read, records.bytes) is not None
    assert arrow.body_words(batch, records.bytes) is None
    assert arrow.body_words(read.slice(1), records.bytes) is None
    assert arrow.body_words(read.slice(0, 5), records.bytes) is None
    one, other = memory(1001, records.words), memory(1001, records.words)
    records.fill(batch, one)
    records.fill(read, other)
    assert np.array_equal(one, other)
    assert arrow.body_sum(read, records.bytes) == arrow.body_sum(batch, records.bytes)
    assert arrow.body_sum(read.slice(1), records.bytes) == arrow.body_sum(batch.slice(1), records.bytes)


def test_a_projection_takes_its_columns_from_wider_batches() -> None:
    batch = batch_of(10)
    narrow = Records(SCHEMA).project(["second", "name"])
    space = memory(10, narrow.words)
    narrow.fill(batch, space)
    assert narrow.batch(space).equals(batch.select(["second", "name"]))
    assert np.array_equal(narrow.numbers(space, "second"), arrow.numbers(batch.column("second")))


def test_what_a_batch_of_records_holds_is_in_one_piece() -> None:
    records = Records(SCHEMA)
    batch = records.batch(memory(17, records.words))
    assert arrow.body_words(batch, records.bytes) is not None


def test_memory_of_no_rows_is_empty() -> None:
    assert memory(0, 5).shape == (0, 5)


def test_a_column_that_is_no_whole_word_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\['odd'\] are no multiple of eight"):
        Records(pa.schema([("even", pa.binary(16)), ("odd", pa.binary(12))]))


def test_numbers_of_integers_and_floats_and_the_places_of_columns() -> None:
    records = Records(SCHEMA)
    space = memory(3, records.words)
    space[...] = 0
    space[:, records.starts["count"]] = np.array([1, 2**40, 7], np.uint64)
    space[:, records.starts["row"]] = np.array([0.5, -1.0, 3.0]).view(np.uint64)
    assert records.numbers(space, "count").tolist() == [1.0, 2.0**40, 7.0]
    assert records.numbers(space, "row").tolist() == [0.5, -1.0, 3.0]
    assert records.places(["count", "name"]).tolist() == [7, 1, 2, 3]


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
