"""The steps of a run as Parquet: columns without a value cost next to nothing."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from mawl.errors import UnreadableRunError
from mawl.model.records import SampleRecord, StepRecord
from mawl.model.step_notes import StepNotes, TableNote
from mawl.model.usage import Usage
from mawl.store.budget import Budget
from mawl.store.columns import plain_steps, to_table, whole_steps
from mawl.store.parquet import parquet_parts, read_parquet, write_parquet

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
    table = read_parquet(tmp_path, "steps", [])
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
    assert read_parquet(tmp_path, "steps", []).num_rows == 0


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
    monkeypatch.setattr("mawl.store.parquet._PART_ROWS", 30)
    write_parquet(tmp_path / "samples.parquet", iter([samples(0, 70), samples(70, 20)]), "samples")
    parts = list(parquet_parts(tmp_path, "samples", []))
    assert [len(part) for part in parts] == [30, 30, 10, 20]
    assert pa.concat_tables(parts) == read_parquet(tmp_path, "samples", [])


def test_a_table_without_rows_has_parts_of_its_columns_or_is_refused(tmp_path: Path) -> None:
    write_parquet(tmp_path / "samples.parquet", iter([]), "samples")
    assert [len(part) for part in parquet_parts(tmp_path, "samples", [])] == [0]
    parquet.write_table(pa.table({"node": pa.array([], pa.string())}), tmp_path / "samples.parquet")
    with pytest.raises(UnreadableRunError, match="is missing or there twice"):
        list(parquet_parts(tmp_path, "samples", []))


def test_the_damaged_part_is_the_one_that_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "samples.parquet"
    write_parquet(path, iter([samples(0, 500), samples(500, 500)]), "samples")
    column = parquet.read_metadata(path).row_group(1).column(3)
    content = bytearray(path.read_bytes())
    start = column.dictionary_page_offset or column.data_page_offset
    content[start : start + column.total_compressed_size] = bytes(column.total_compressed_size)
    path.write_bytes(content)
    parts = parquet_parts(tmp_path, "samples", [])
    assert len(next(parts)) == 500
    with pytest.raises(UnreadableRunError, match=r"samples\.parquet.*is not a table of a run"):
        next(parts)


def test_texts_of_all_parts_count_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mawl.store.parquet._PART_ROWS", 100)
    monkeypatch.setattr(
        "mawl.store.parquet.budget_of", lambda *_: Budget(rows=1000, memory_bytes=40_000, cpu_seconds=1.0)
    )
    long = [SampleRecord(node="n", sampled_at=float(row), series="s" * 60, value=0.0) for row in range(800)]
    write_parquet(tmp_path / "samples.parquet", iter([to_table("samples", long)]), "samples")
    parts = parquet_parts(tmp_path, "samples", [])
    assert len(next(parts)) == 100
    with pytest.raises(UnreadableRunError, match="its texts need"):
        list(parts)
