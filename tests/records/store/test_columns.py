"""The columns of the tables, and the page that lists them.

A batch that is filled in anew holds what one made anew holds.
"""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest
from pyarrow import ipc

from mawl.records.model.records import FIELDS, EventRecord, JobRecord, SampleRecord, StepRecord
from mawl.records.model.role_io import FILE_ROLES, IO_FIELDS, WAIT_FIELDS, RoleIo, Waits
from mawl.records.store import open_run, rows
from mawl.records.store.columns import MOST_SERIES, PREFIXES, SCHEMAS, BatchForm, to_table
from mawl.records.store.files import FORMAT_VERSION
from mawl.records.store.journal import SampleAppender
from mawl.records.store.parquet import budget_of
from mawl.records.store.rows import in_parts, to_records
from mawl.run.runner.sampling import MOST_SELDOM_A_SECOND
from mawl.run.runner.sampling import MOST_SERIES as SERIES_A_SECOND
from tests.fakes.many_jobs import write_many_jobs
from tests.fakes.stored_run import events, jobs, steps


def stream(*batches: bytes) -> pa.Table:
    return ipc.open_stream(SCHEMAS["samples"].serialize().to_pybytes() + b"".join(batches)).read_all()


@pytest.mark.parametrize(
    "series",
    [
        (),
        ("one",),
        ("host.ä", "", "x" * 300),
        tuple(map(str, range(100))),
        tuple(map(str, range(MOST_SERIES))),
    ],
)
def test_it_can_be_filled_in_again_and_again(series: tuple[str, ...]) -> None:
    form = BatchForm("knöten", series)
    first = form.filled(1_000_000, [float(place) for place in range(len(series))])
    second = form.filled(2_500_000, [-1e300] * len(series))
    found = stream(first, second)
    found.validate(full=True)
    assert found["series"].to_pylist() == [*series, *series]
    assert found["value"].to_pylist() == [*map(float, range(len(series))), *[-1e300] * len(series)]
    moments = found["sampled_at"].cast(pa.int64()).to_pylist()
    assert moments == [1_000_000] * len(series) + [2_500_000] * len(series)
    assert set(found["node"].to_pylist()) <= {"knöten"}


def test_figures_and_rows_are_written_alike(tmp_path: Path) -> None:
    figures = {"host.runnable": 3, "host.page_ins_bytes": 2.0**63, "device.vda.reads": 1.5}
    rows = [
        SampleRecord(node="n", sampled_at=100.25, series=name, value=float(value))
        for name, value in figures.items()
    ]
    for name in ("figures", "rows"):
        appender = SampleAppender(tmp_path / name)
        if name == "rows":
            appender.samples(rows)
        else:
            appender.figures("n", 100.25, figures)
        appender.close()
    assert ipc.open_stream(tmp_path / "figures").read_all() == ipc.open_stream(tmp_path / "rows").read_all()


def test_more_series_than_a_batch_holds_are_written_at_once(tmp_path: Path) -> None:
    figures = {f"device.disk{number}.reads": float(number) for number in range(2 * MOST_SERIES + 3)}
    appender = SampleAppender(tmp_path / "many")
    appender.figures("n", 1.0, figures)
    appender.close()
    batches = list(ipc.open_stream(tmp_path / "many"))
    assert [len(batch) for batch in batches] == [MOST_SERIES, MOST_SERIES, 3]
    table = pa.Table.from_batches(batches)
    assert dict(zip(table["series"].to_pylist(), table["value"].to_pylist(), strict=True)) == figures


def test_ten_hours_of_four_nodes_with_all_series_of_the_budget_take_at_most_two_gigabytes(
    tmp_path: Path,
) -> None:
    """Counters of busy devices, all different, with what the series beyond the budget add in the mean."""
    nodes, seconds, looks, draw = 4, 36_000, 20, random.Random(1)
    kinds = {"reads": 2000.0, "writes": 2000.0, "read_bytes": 1e9, "written_bytes": 1e9, "busy_seconds": 1.0}
    figures = {
        f"device.nvme{disk}n1.{kind}": draw.uniform(0, 1e6) * most
        for disk in range(100)
        for kind, most in kinds.items()
    }
    assert len(figures) == SERIES_A_SECOND + MOST_SELDOM_A_SECOND
    appender = SampleAppender(tmp_path / "samples")
    before = (tmp_path / "samples").stat().st_size
    for look in range(looks):
        for name in figures:
            grown = figures[name] + draw.uniform(0, 1) * kinds[name.rpartition(".")[2]]
            figures[name] = round(grown, 3) if name.endswith("_seconds") else float(round(grown))
        appender.figures("storage-node-01", 1.0 + look, figures)
    appender.close()
    assert nodes * seconds * ((tmp_path / "samples").stat().st_size - before) / looks <= 2e9


AMPLE = budget_of("jobs", 0)

PAGE = (Path(__file__).parents[3] / "docs" / "design" / "run-folder.md").read_text()


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
