"""Arrow tables written and read back: values, sums, request sizes, damage."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from mawl.base.errors import DamagedTableError
from mawl.programs.tables import arrow
from mawl.programs.tables.arrow import (
    TableWriter,
    add_sums,
    array,
    batch_rows,
    column_sums,
    read_batches,
    read_schema,
    values,
    word_sum,
)

NUMBERS = np.array([1.5, -2.0, 2.0**40])
TEXTS = np.array([b"one     two     ", b"three           ", b"                "], dtype="S16")


@pytest.fixture
def batch() -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([array(NUMBERS), array(TEXTS)], names=["number", "text"])


def write(path: Path, *batches: pa.RecordBatch) -> TableWriter:
    with TableWriter(path, batches[0].schema, bufsize_bytes=4096, checksum=True) as writer:
        for batch in batches:
            writer.write(batch)
    return writer


def test_what_is_written_is_read_back(batch: pa.RecordBatch, tmp_path: Path) -> None:
    writer = write(tmp_path / "part-00000.arrow", batch, batch)
    found = list(read_batches(tmp_path, bufsize_bytes=4096))
    assert found == [batch, batch]
    assert writer.rows == 6
    assert writer.bytes == (tmp_path / "part-00000.arrow").stat().st_size
    assert read_schema(tmp_path) == batch.schema
    assert values(found[0].column(0)).tolist() == NUMBERS.tolist()
    assert values(found[0].column(1)).tobytes() == TEXTS.tobytes()


def test_sums_are_of_words_and_do_not_depend_on_order(batch: pa.RecordBatch, tmp_path: Path) -> None:
    writer = write(tmp_path / "part-00000.arrow", batch.slice(2), batch.slice(0, 2))
    expected = {"number": word_sum(NUMBERS), "text": word_sum(TEXTS)}
    assert writer.sums == column_sums(batch) == expected
    words = [int.from_bytes(TEXTS.tobytes()[at : at + 8], "little") for at in range(0, 48, 8)]
    assert expected["text"] == sum(words) % 2**64


def test_sums_wrap() -> None:
    sums = {"x": 2**64 - 1}
    add_sums(sums, {"x": 2, "y": 5})
    assert sums == {"x": 1, "y": 5}


@pytest.mark.parametrize("row_bytes", [120, 640, 10**7])
def test_batches_are_about_a_mebibyte_of_whole_eights(row_bytes: int) -> None:
    rows = batch_rows(row_bytes)
    assert rows % 8 == 0
    assert rows == 8 or 0.95 * 2**20 < rows * row_bytes <= 2**20


def test_a_truncated_file_is_damage_and_an_empty_directory_too(batch: pa.RecordBatch, tmp_path: Path) -> None:
    path = tmp_path / "part-00000.arrow"
    with pytest.raises(DamagedTableError, match="no parts; run mawl generate"):
        list(read_batches(tmp_path, bufsize_bytes=4096))
    write(path, batch)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DamagedTableError, match="cannot be read as an Arrow file"):
        list(read_batches(tmp_path, bufsize_bytes=4096))


@pytest.mark.parametrize("rows", [1, 7, 1001])
@pytest.mark.parametrize("bufsize", [4099, 2**13, 2**18])
def test_sums_are_those_of_the_columns(tmp_path: Path, rows: int, bufsize: int) -> None:
    chance = np.random.default_rng(rows)
    columns = [arrow.array(chance.random(rows)) for _ in range(9)]
    columns.append(arrow.array(chance.integers(65, 90, rows * 24, dtype=np.uint8).view("S24")))
    batch = pa.RecordBatch.from_arrays(columns, [f"c{place}" for place in range(10)])
    with arrow.TableWriter(
        tmp_path / "t.arrow", batch.schema, bufsize_bytes=bufsize, checksum=True
    ) as writer:
        writer.write(batch)
        writer.write(batch.slice(0, rows // 2 + 1))
    found: list[tuple[int, int]] = []
    read = list(
        arrow.read_batches(
            tmp_path / "t.arrow", bufsize_bytes=bufsize, total=lambda rows, value: found.append((rows, value))
        )
    )
    expected = [(one.num_rows, sum(arrow.column_sums(one).values()) % 2**64) for one in read]
    assert found == expected
    assert sum(value for _, value in found) % 2**64 == sum(writer.sums.values()) % 2**64


def test_sampled_batches_read_their_columns_only(tmp_path: Path) -> None:
    numbers = np.arange(100_000.0)
    batch = pa.RecordBatch.from_arrays(
        [arrow.array(numbers * place) for place in range(1, 9)], list("abcdefgh")
    )
    with arrow.TableWriter(tmp_path / "t.arrow", batch.schema, bufsize_bytes=2**18) as writer:
        for start in range(0, 100_000, 1000):
            writer.write(batch.slice(start, 1000))
    before = _read_so_far()
    sampled = list(arrow.sample_batches(tmp_path / "t.arrow", ["c", "a"], 10, bufsize_bytes=2**18))
    read = _read_so_far() - before
    assert [one.schema.names for one in sampled] == [["a", "c"]] * 10
    starts = [float(arrow.numbers(one.column("a"))[0]) for one in sampled]
    assert starts == [5000.0 + 10_000.0 * place for place in range(10)]
    values = 10 * 1000 * 2 * 8
    assert values <= read < values + 100_000


def _read_so_far() -> int:
    return int(Path("/proc/self/io").read_text().split()[1])
