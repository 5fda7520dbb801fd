"""The columns of the tables, and the page that lists them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from mawl.model.records import EventRecord, JobRecord, StepRecord
from mawl.model.role_io import FILE_ROLES, IO_FIELDS, WAIT_FIELDS, RoleIo, Waits
from mawl.model.usage import FIELDS
from mawl.store import open_run, rows
from mawl.store.budget import budget_of
from mawl.store.columns import PREFIXES, SCHEMAS, to_table
from mawl.store.layout import FORMAT_VERSION
from mawl.store.rows import in_parts, to_records
from tests.fakes.many_jobs import write_many_jobs
from tests.fakes.stored_run import events, jobs, steps

AMPLE = budget_of("jobs", 0)

PAGE = (Path(__file__).parents[2] / "docs" / "design" / "run-folder.md").read_text()


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_page_lists_every_column_with_its_type(name: str) -> None:
    section = PAGE.split(f"### {name}\n")[1].split("##")[0]
    usages = {prefix + field for prefix in PREFIXES.values() for field in FIELDS}
    roles = {f"{role}_{figure}": figure for role in FILE_ROLES for figure in IO_FIELDS}
    for column in SCHEMAS[name]:
        if column.name in roles:
            assert f"| {roles[column.name]} | {column.type} |" in PAGE
        elif column.name not in usages:
            null = "may be" if column.nullable else "never"
            assert f"| {column.name} | {column.type} | {null} |" in section
    assert all(f"`{field}`" in PAGE for field in FIELDS)


def test_the_page_names_the_format_that_is_written() -> None:
    assert f"\nFormat {FORMAT_VERSION}; the history is in" in PAGE


def test_records_survive_a_table() -> None:
    assert list(to_records("jobs", [to_table("jobs", jobs())], JobRecord, AMPLE)) == jobs()
    assert list(to_records("steps", [to_table("steps", steps())], StepRecord, AMPLE)) == steps()
    measured = [
        msgspec.structs.replace(
            job,
            io={
                role: RoleIo(
                    reads=2, read_bytes=9, read_seconds=0.5, read_nanoseconds_histogram={16: 1, 40: 1}
                )
                for role in FILE_ROLES
            },
            waits=Waits(**dict.fromkeys(WAIT_FIELDS, 0.25)),
            volume_bytes={1: (5, 0), 3: (7, 2)},
        )
        for job in jobs()
    ]
    assert list(to_records("jobs", [to_table("jobs", measured)], JobRecord, AMPLE)) == measured
    assert list(to_records("events", [to_table("events", events())], EventRecord, AMPLE)) == events()


def test_every_field_of_a_record_has_a_column() -> None:
    for name, kind in (("jobs", JobRecord), ("steps", StepRecord), ("events", EventRecord)):
        apart = {"io", "waits", "volume_bytes"}
        plain = {field for field in kind.__struct_fields__ if field not in {*PREFIXES, *apart}}
        assert plain <= set(SCHEMAS[name].names)


def test_a_table_in_parts_gives_the_same_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "PART_ROWS", 2)
    table = to_table("jobs", jobs())
    parts = list(in_parts(table))
    assert [part.num_rows for part in parts[:-1]] == [2] * (len(parts) - 1)
    assert pa.concat_tables(parts).equals(table)
    assert list(to_records("jobs", parts, JobRecord, AMPLE)) == jobs()


def test_records_of_a_run_do_not_keep_its_table(tmp_path: Path) -> None:
    write_many_jobs(tmp_path / "run", 3)
    run = open_run(tmp_path / "run")
    assert len(run.job_records()) == 3 and "jobs" not in vars(run)
    assert run.rows("jobs") == 3


def test_a_bucket_without_calls_is_refused_by_its_row() -> None:
    table = to_table("jobs", jobs())
    place = table.schema.get_field_index("data_read_nanoseconds_histogram")
    damaged = pa.array([[(16, None)]] * table.num_rows, table.schema.field(place).type)
    parts = [table, table.set_column(place, table.schema.field(place), damaged)]
    sentence = f"row {table.num_rows + 1} of jobs: a bucket of read_nanoseconds_histogram has no calls"
    with pytest.raises(ValueError, match=sentence):
        list(to_records("jobs", parts, JobRecord, AMPLE))


def test_rows_with_equal_parts_share_them() -> None:
    """100,000 jobs that are much alike fit into memory: 0.6 GB for a report in text, which took 1.4 GB."""
    done = next(record for record in jobs() if record.io)
    other = msgspec.structs.replace(done, usage=msgspec.structs.replace(done.usage, page_faults=987_654))
    first, second, third = to_records("jobs", [to_table("jobs", [done, done, other])], JobRecord, AMPLE)
    assert [first, second, third] == [done, done, other]
    assert first.usage is second.usage is not third.usage
    assert first.io is not None and third.io is not None
    assert all(first.io[role] is third.io[role] for role in first.io)
