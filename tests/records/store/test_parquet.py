"""The steps of a run as Parquet: columns without a value cost next to nothing.

The one budget of a table: rows, memory and CPU time, by the size of its file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from mawl.base.errors import UnreadableRunError
from mawl.records.model.records import SampleRecord, StepNotes, StepRecord, TableNote, Usage
from mawl.records.store import open_run, rows
from mawl.records.store.columns import plain_steps, to_table, whole_steps
from mawl.records.store.parquet import (
    Budget,
    OverBudgetError,
    budget_of,
    in_time,
    parquet_parts,
    read_parquet,
    write_parquet,
)
from tests.fakes.stored_run import facts, write_run


def clock(step_seconds: float) -> Iterator[float]:
    """CPU time as a thread would have used it: so much more at each look."""
    used = 100.0
    while True:
        yield used
        used += step_seconds


def test_the_budget_grows_with_the_file() -> None:
    small, large = budget_of("jobs", 1000), budget_of("jobs", 100 * 2**20)
    assert (small.rows, small.memory_bytes, round(small.cpu_seconds)) == (10**6, 2**27, 30)
    assert (large.rows, large.memory_bytes, large.cpu_seconds) == (10**6, 8 * 2**30, 330.0)
    assert str(small) == (
        "mawl reads at most 1000000 rows, 128 MiB of memory and 30 s of CPU time from a file of this size"
    )


def test_reading_ends_when_its_time_is_used_up() -> None:
    budget = Budget(10, 2**20, 5.0)
    assert list(in_time("abcde", budget, clock(1.0).__next__)) == list("abcde")
    parts = in_time("abcdef", budget, clock(1.0).__next__)
    assert [next(parts) for _ in range(5)] == list("abcde")
    with pytest.raises(OverBudgetError, match=r"takes more than 5 s of CPU time; mawl reads at most 10 rows"):
        next(parts)


def test_a_table_that_takes_too_long_is_refused_by_the_whole_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "runs" / "one"
    folder.parent.mkdir()
    write_run(folder, runs=folder.parent).finish(facts())
    slow = clock(31.0)
    monkeypatch.setattr(rows, "in_time", lambda parts, budget: in_time(parts, budget, slow.__next__))
    with pytest.raises(UnreadableRunError) as raised:
        open_run(folder).job_records()
    assert str(raised.value) == (
        f"{folder}: holds too many jobs: reading it takes more than 30 s of CPU time; mawl reads at most "
        "1000000 rows, 128 MiB of memory and 30 s of CPU time from a file of this size; copy it again from "
        "where it was made"
    )


ROWS = 5000
GROUPS = 8


def steps(group: int) -> list[StepRecord]:
    notes = StepNotes(tables=(TableNote(direction="read", name="WORK.A", rows=group),)) if group % 2 else None
    return [
        StepRecord(
            job=f"j{group}",
            number=number + 1,
            name="SORT",
            kind="procedure",
            started_at=None,
            ended_at=float(number),
            usage=Usage(real_time_seconds=1.5 if group else None, user_cpu_seconds=float(number)),
            notes=notes,
        )
        for number in range(ROWS)
    ]


def test_many_groups_of_rows_are_the_table_and_share_what_has_no_value(tmp_path: Path) -> None:
    parts = [whole_steps(plain_steps(steps(group))) for group in range(GROUPS)]
    write_parquet(tmp_path / "steps.parquet", iter(parts), "steps")
    table = read_parquet(tmp_path, "steps")
    whole = pa.concat_tables(parts)
    assert parquet.read_metadata(tmp_path / "steps.parquet").num_row_groups == GROUPS
    assert table.num_rows == GROUPS * ROWS
    assert all(
        table.column(name).cast(whole.column(name).type).equals(whole.column(name))
        for name in whole.schema.names
    )
    kept = {
        buffer.address: buffer.size
        for column in table.columns
        for chunk in column.chunks
        for buffer in chunk.buffers()
        if buffer is not None
    }
    assert sum(kept.values()) < 0.3 * whole.nbytes


def test_a_table_without_steps_reads(tmp_path: Path) -> None:
    write_parquet(tmp_path / "steps.parquet", iter([]), "steps")
    assert read_parquet(tmp_path, "steps").num_rows == 0


def samples(start: int, count: int) -> pa.Table:
    return to_table(
        "samples",
        [
            SampleRecord(node="n", sampled_at=float(row), series=f"s{row % 7}", value=float(row))
            for row in range(start, start + count)
        ],
    )


def test_parts_are_the_table_in_order_and_no_larger_than_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mawl.records.store.parquet._PART_ROWS", 30)
    write_parquet(tmp_path / "samples.parquet", iter([samples(0, 70), samples(70, 20)]), "samples")
    parts = list(parquet_parts(tmp_path, "samples"))
    assert [len(part) for part in parts] == [30, 30, 10, 20]
    assert pa.concat_tables(parts) == read_parquet(tmp_path, "samples")


def test_a_table_without_rows_has_parts_of_its_columns_or_is_refused(tmp_path: Path) -> None:
    write_parquet(tmp_path / "samples.parquet", iter([]), "samples")
    assert [len(part) for part in parquet_parts(tmp_path, "samples")] == [0]
    parquet.write_table(pa.table({"node": pa.array([], pa.string())}), tmp_path / "samples.parquet")
    with pytest.raises(UnreadableRunError, match="is missing or there twice"):
        list(parquet_parts(tmp_path, "samples"))


def test_the_damaged_part_is_the_one_that_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "samples.parquet"
    write_parquet(path, iter([samples(0, 500), samples(500, 500)]), "samples")
    column = parquet.read_metadata(path).row_group(1).column(3)
    content = bytearray(path.read_bytes())
    start = column.dictionary_page_offset or column.data_page_offset
    content[start : start + column.total_compressed_size] = bytes(column.total_compressed_size)
    path.write_bytes(content)
    parts = parquet_parts(tmp_path, "samples")
    assert len(next(parts)) == 500
    with pytest.raises(UnreadableRunError, match=r"samples\.parquet.*is not a table of a run"):
        next(parts)


def test_texts_of_all_parts_count_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mawl.records.store.parquet._PART_ROWS", 100)
    monkeypatch.setattr(
        "mawl.records.store.parquet.budget_of",
        lambda *_: Budget(rows=1000, memory_bytes=40_000, cpu_seconds=1.0),
    )
    long = [SampleRecord(node="n", sampled_at=float(row), series="s" * 60, value=0.0) for row in range(800)]
    write_parquet(tmp_path / "samples.parquet", iter([to_table("samples", long)]), "samples")
    parts = parquet_parts(tmp_path, "samples")
    assert len(next(parts)) == 100
    with pytest.raises(UnreadableRunError, match="its texts need"):
        list(parts)
