"""Word sums taken while a table is read are those of its batches, however requests are cut."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from mawl.programs.tables import arrow


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
