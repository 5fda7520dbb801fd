"""The checks that programs rely on must fail when they should."""

from __future__ import annotations

import msgspec
import numpy as np
import pyarrow as pa
import pytest

from mawl.base.errors import WrongAnswerError
from mawl.programs.declarations.stress_projection import TABLE
from mawl.programs.tables import arrow
from mawl.programs.tables.manifest import Manifest
from mawl.programs.toolkit.checks import RowSample, StrictOrder, TableSum, added_sums, regenerate
from mawl.programs.toolkit.rows import Records

ROWS = 4000
MANIFEST = Manifest(
    table=TABLE.name,
    layout="arrow",
    seed=3,
    replica=1,
    scale=0.0001,
    saving=0.8,
    declaration="",
    rows=ROWS,
    bytes=ROWS * TABLE.row_bytes,
    row_bytes=TABLE.row_bytes,
    sums={},
    parts=(),
)


@pytest.fixture(scope="module")
def rows() -> pa.RecordBatch:
    (whole,) = regenerate(TABLE, MANIFEST, [(0, ROWS)])
    return whole.take(pa.array(np.random.default_rng(1).permutation(ROWS)))


def check_rows(batch: pa.RecordBatch, manifest: Manifest = MANIFEST, step: int = 333) -> int:
    """Sample a table's rows as a pass would, and check them; how many were looked at."""
    sample = RowSample(Records(batch.schema), manifest, "policy")
    for start in range(0, batch.num_rows, step):
        some = batch.slice(start, step)
        sample.add(some, arrow.numbers(some.column("policy")))
    return sample.check("the copy", regenerate(TABLE, manifest, sample.blocks))


def changed(batch: pa.RecordBatch, name: str, value: float | bytes) -> pa.RecordBatch:
    """The batch with another value in every row of one column."""
    place = batch.schema.get_field_index(name)
    column = arrow.values(batch.column(name)).copy()
    column[:] = value
    return batch.set_column(place, batch.schema.field(place), arrow.array(column))


def test_sampled_rows_in_any_order_are_right(rows: pa.RecordBatch) -> None:
    assert check_rows(rows) > 100


def test_rows_of_a_table_smaller_than_the_sample_are_right(rows: pa.RecordBatch) -> None:
    few = msgspec.structs.replace(MANIFEST, rows=10)
    (whole,) = regenerate(TABLE, few, [(0, 10)])
    assert check_rows(whole, few) == 10


def test_a_projection_is_compared_in_its_columns(rows: pa.RecordBatch) -> None:
    assert check_rows(rows.select(["agent_note", "policy", "age"])) > 100


@pytest.mark.parametrize(("name", "value"), [("agent_note", b"x" * 56), ("age", 3.5)])
def test_a_changed_value_in_a_sampled_row_is_seen(
    rows: pa.RecordBatch, name: str, value: float | bytes
) -> None:
    with pytest.raises(WrongAnswerError, match=f"column {name} of the copy is wrong"):
        check_rows(changed(rows, name, value))


def test_rows_that_swapped_a_value_are_seen(rows: pa.RecordBatch) -> None:
    place = rows.schema.get_field_index("sum_assured")
    other = rows.set_column(
        place, rows.schema.field(place), rows.column(place).take(pa.array(np.arange(ROWS)[::-1]))
    )
    with pytest.raises(WrongAnswerError, match="column sum_assured"):
        check_rows(other)


def test_another_seed_is_another_table(rows: pa.RecordBatch) -> None:
    with pytest.raises(WrongAnswerError):
        check_rows(rows, msgspec.structs.replace(MANIFEST, seed=4))


def test_no_rows_at_all_is_wrong() -> None:
    schema = pa.schema([("policy", pa.float64())])
    with pytest.raises(WrongAnswerError, match="none of the sampled rows"):
        RowSample(Records(schema), MANIFEST, "policy").check("the copy", [])


def test_order_holds_across_batches_and_ties_go_to_the_unique_key() -> None:
    order = StrictOrder("the table", below=10)
    order.add(np.array([1.0, 1.0, 2.0]), np.array([1.0, 2.0, 0.0]), np.array([9.0, 8.0, 7.0]))
    order.add(np.array([]), np.array([]), np.array([]))
    order.add(np.array([2.0, 3.0]), np.array([0.0, 0.0]), np.array([8.0, 0.0]))
    order.close()
    turned = StrictOrder("the table", below=10)
    turned.add(np.array([1.0]), np.array([1.0]), np.array([9.0]))
    turned.add(np.array([1.0]), np.array([1.0]), np.array([8.0]))
    with pytest.raises(WrongAnswerError):
        turned.close()


def test_order_is_looked_at_also_across_many_rows() -> None:
    order = StrictOrder("the table", below=10)
    numbers = np.arange(40_000.0)
    order.add(numbers, np.zeros(40_000), numbers)
    # One more row that belongs between those already seen.
    order.add(np.array([39_998.0]), np.array([5.0]), np.array([1.0]))
    with pytest.raises(WrongAnswerError, match="the table is out of order"):
        order.close()


@pytest.mark.parametrize(
    ("first", "second", "unique"),
    [
        ([1.0, 0.0], [0.0, 1.0], [1.0, 2.0]),
        ([1.0, 1.0], [2.0, 1.0], [1.0, 2.0]),
        ([1.0, 1.0], [2.0, 2.0], [2.0, 2.0]),
        ([1.0, 1.0], [2.0, 2.0], [2.0, 1.0]),
        ([0.0, 1.0], [0.0, 0.0], [1.0, 2.0]),
    ],
)
def test_disorder_and_equals_are_seen(first: list[float], second: list[float], unique: list[float]) -> None:
    order = StrictOrder("the table", below=10)
    order.add(np.array([0.0]), np.array([5.0]), np.array([0.0]))
    order.close()
    order.add(np.array(first), np.array(second), np.array(unique))
    with pytest.raises(WrongAnswerError, match="out of order"):
        order.close()


def test_a_word_sum_is_of_every_column_and_wraps() -> None:
    column = pa.array(np.full(4, 2**62, np.int64))
    batch = pa.RecordBatch.from_arrays([column, pa.array(np.arange(4))], ["large", "small"])
    total = TableSum()
    total.add(batch.num_rows, arrow.body_sum(batch, 16))
    sums = arrow.column_sums(batch)
    assert sums == {"large": 0, "small": 6}
    total.check("the table", rows=4, value=added_sums(sums))
    assert added_sums(sums, ["large"]) == 0
    with pytest.raises(WrongAnswerError, match="number of rows"):
        total.check("the table", rows=5, value=6)
    with pytest.raises(WrongAnswerError, match="word sum of the table is wrong: found 6, expected 7"):
        total.check("the table", rows=4, value=7)
