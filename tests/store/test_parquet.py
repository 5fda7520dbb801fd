"""The steps of a run as Parquet: columns without a value cost next to nothing."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from mawl.model.records import StepRecord
from mawl.model.step_notes import StepNotes, TableNote
from mawl.model.usage import Usage
from mawl.store.columns import plain_steps, whole_steps
from mawl.store.parquet import read_parquet, write_parquet

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
