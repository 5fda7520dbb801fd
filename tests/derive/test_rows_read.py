"""Rows of a note are the least that a step read: WHERE, OBS=, FIRSTOBS=, indexes, STOP, and files.

Each log is made by hand, and its truth is arithmetic: ``BIG.ALL`` has 1,000,000 rows of ten numbers, 80 MB.
"""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from mawl.derive.derive import DeriveRequest, derive
from mawl.derive.document import document
from mawl.derive.jobs import StepEvidence
from mawl.derive.tables import Ranged
from mawl.importers.import_files import ImportRequest, import_files
from mawl.records.store import open_run
from mawl.reports.document import rendered
from tests.derive.shop import NIGHT, block

MB = 10**6
TABLE = 80 * MB
BANNER = """\
1                                    The SAS System              20:00 Monday, March 2, 2026

NOTE: Copyright (c) 2002-2012 by SAS Institute Inc., Cary, NC, USA.
NOTE: This session is executing on the Linux 3.10.0-957.el7.x86_64 (LIN X64) platform.

"""
WROTE = "NOTE: The data set BIG.ALL has 1000000 observations and 10 variables.\n"
WHOLE = "NOTE: There were 1000000 observations read from the data set BIG.ALL.\n"
PASSED = "NOTE: There were 10 observations read from the data set BIG.ALL.\n      WHERE x<11;\n"
FEW = "NOTE: There were 10 observations read from the data set BIG.ALL.\n"
OUT = "NOTE: The data set WORK.FEW has 10 observations and 10 variables.\n"
OTHER_WROTE = "NOTE: The data set WORK.B has 100000 observations and 10 variables.\n"
OTHER = "NOTE: There were 100000 observations read from the data set WORK.B.\n"
CLOCK = "%m/%d/%Y %I:%M:%S %p"
STAMP = f"{NIGHT:{CLOCK}}"
"""The end of each step as ``step`` has it; a log has them a minute apart."""

INDEX = "INFO: Index X selected for WHERE clause optimization.\n"


def step(notes: str, heading: str = "DATA statement", *, read: int | None, written: int | None) -> str:
    """A step of 10 s; without block operations it has the figures of STIMER."""
    whole = block(heading, 10, 1, NIGHT, read or 0, written or 0)
    if read is None or written is None:
        lines = whole.splitlines(keepends=True)
        whole = f"{lines[0]}{lines[1]}      cpu time            1.00 seconds\n      \n"
    return f"{notes}{whole}\n"


def counted() -> str:
    """Steps that show that devices served all reads: WORK.B has 100,000 rows, 8 MB."""
    return step(OTHER_WROTE, read=0, written=8 * MB) + step(OTHER + OUT, read=8 * MB, written=4096)


def steps_of(folder: Path, *logs: str) -> list[list[StepEvidence]]:
    """The derived steps of each log."""
    place = folder / "logs"
    place.mkdir()
    for number, text in enumerate(logs):
        minutes = count(1)
        ended = re.sub(STAMP, lambda _: f"{NIGHT + timedelta(minutes=next(minutes)):{CLOCK}}", text)  # noqa: B023
        (place / f"log{number}.log").write_text(BANNER + ended)
    import_files(ImportRequest(paths=[str(place)], folder=folder / "run", run_id="run"))
    found = derive(open_run(folder / "run"), DeriveRequest(keep_names=True))
    jobs = sorted(found.evidence.jobs, key=lambda job: job.program)
    return [list(job.steps) for job in jobs]


def last(folder: Path, *steps: str) -> StepEvidence:
    return steps_of(folder, "".join(steps))[0][-1]


def assert_data(found: StepEvidence, value: float, rule: str, *truths: float) -> Ranged:
    """What the step read of permanent tables; nothing of utility files, which ten rows do not need."""
    part = found.read_bytes["data"]
    assert part.value == pytest.approx(value, rel=1e-3) and part.rule == rule, part
    for truth in truths:
        assert part.low <= truth <= part.high, part
    assert "util" not in found.read_bytes and "util" not in found.written_bytes
    return part


KNOWN = [
    ("written", step(WROTE, read=None, written=None)),
    ("read whole", step(WHOLE, read=None, written=None)),
]


@pytest.mark.parametrize(("known", "before"), KNOWN)
@pytest.mark.parametrize("procedure", ["DATA statement", "PROCEDURE SORT", "PROCEDURE PRINT"])
def test_a_where_reads_the_table_whose_size_the_night_tells(
    tmp_path: Path, known: str, before: str, procedure: str
) -> None:
    found = last(tmp_path, before, step(PASSED + OUT, procedure, read=None, written=None))
    assert_data(found, TABLE if known == "written" else 2 * TABLE, "where-whole", TABLE, 10 * 80)


def test_the_night_tells_it_in_any_log_also_of_jobs_that_are_left_out(tmp_path: Path) -> None:
    asked = step(PASSED + OUT, read=None, written=None)
    (first, *_), _ = steps_of(tmp_path, asked, step(WROTE, read=None, written=None))
    assert_data(first, 2 * TABLE, "where-whole", TABLE)
    run = open_run(tmp_path / "run")
    only = derive(run, DeriveRequest(keep_names=True, only=["log0"])).evidence.jobs
    assert [one.steps[0].read_bytes for one in only] == [first.read_bytes]


def test_block_operations_tell_how_much_of_a_table_of_unknown_size_was_read(tmp_path: Path) -> None:
    found = last(tmp_path, counted(), step(PASSED + OUT, read=TABLE, written=4096))
    part = assert_data(found, TABLE, "where-blocks", TABLE)
    assert part.high <= 1.2 * TABLE


def test_without_block_operations_the_time_closes_the_range(tmp_path: Path) -> None:
    part = assert_data(last(tmp_path, step(PASSED + OUT, read=None, written=None)), 1600, "where-open", TABLE)
    assert part.high == 10e9  # 10 s at 1 GB/s


def test_block_operations_that_memory_made_fewer_leave_the_range_open(tmp_path: Path) -> None:
    """The device served 4 of 8 MB of WORK.B, so it may have served a part of BIG.ALL, too."""
    made = step(OTHER_WROTE, read=0, written=8 * MB)
    cached = step(OTHER + OUT, read=4 * MB, written=4096)
    found = last(tmp_path, made, cached, step(PASSED + OUT, read=30 * MB, written=4096))
    part = assert_data(found, 30 * MB, "where-blocks", 30 * MB, TABLE)
    assert part.high == 10e9


def test_the_other_tables_of_a_step_keep_their_sizes(tmp_path: Path) -> None:
    made = counted()
    for folder, known in (("open", ""), ("known", step(WROTE, read=0, written=TABLE))):
        place = tmp_path / folder
        place.mkdir()
        both = last(place, made, known, step(OTHER + PASSED + OUT, read=TABLE + 8 * MB, written=4096))
        part = assert_data(both, TABLE, "where-blocks", TABLE)
        assert part.high <= 1.3 * TABLE
        assert both.read_bytes["work"].value == pytest.approx(8 * MB, rel=1e-3)


@pytest.mark.parametrize("read", [None, TABLE // 100])
def test_an_index_reads_a_part_of_the_table(tmp_path: Path, read: int | None) -> None:
    """The rows alone if nothing counts, else what the device served."""
    before = counted() + step(WROTE, read=0, written=TABLE)
    written = None if read is None else 4096
    found = last(tmp_path, before, step(INDEX + PASSED + OUT, read=read, written=written))
    rule = "where-index" if read is None else "where-blocks"
    part = assert_data(found, read or 10 * 80, rule, TABLE // 100)
    assert found.kernel == "look_up" and part.high <= (TABLE * 4 if read is None else 1.2 * read)


def test_an_index_that_no_line_names_reads_what_the_device_served(tmp_path: Path) -> None:
    """MSGLEVEL=N is the default: no line tells of the index."""
    before = counted() + step(WROTE, read=0, written=TABLE)
    found = last(tmp_path, before, step(PASSED + OUT, read=MB, written=4096))
    assert_data(found, MB, "where-blocks", MB)


@pytest.mark.parametrize("read", [None, MB, TABLE])
def test_obs_firstobs_and_stop_read_the_rows_at_least_and_the_table_at_most(
    tmp_path: Path, read: int | None
) -> None:
    """No line tells of them: fewer rows than the table has are the only sign."""
    before = counted() + step(WROTE, read=0, written=TABLE)
    written = None if read is None else 4096
    found = last(tmp_path, before, step(FEW + OUT, read=read, written=written))
    part = assert_data(found, read or 10 * 80, "part-of-table", read or 10 * 80)
    assert part.high >= TABLE if read is None else part.high <= 1.2 * read


def test_what_a_read_by_key_moves_is_of_its_table(tmp_path: Path) -> None:
    """SET ... KEY=: the note counts the rows that were found; each is a page of the table."""
    before = counted() + step(WROTE, read=0, written=TABLE)
    keyed = OTHER + "NOTE: There were 5000 observations read from the data set BIG.ALL.\n" + OUT
    found = last(tmp_path, before, step(keyed, read=48 * MB, written=4096))
    assert_data(found, 40 * MB, "part-of-table", 40 * MB)
    assert found.read_bytes["work"].value == pytest.approx(8 * MB, rel=1e-3)


def test_a_where_in_a_sort_or_a_summary_makes_no_utility_file(tmp_path: Path) -> None:
    """Ten rows fit into memory: neither the table nor whole pages around few rows are utility files."""
    for procedure in ("SORT", "MEANS", "SUMMARY"):
        place = tmp_path / procedure
        place.mkdir()
        asked = step(PASSED + OUT, f"PROCEDURE {procedure}", read=3 * TABLE, written=65536)
        found = last(place, counted(), step(WROTE, read=0, written=TABLE), asked)
        assert_data(found, 3 * TABLE, "where-blocks")


def test_a_sort_spills_what_a_where_lets_pass(tmp_path: Path) -> None:
    """60 of 80 MB pass, and the sort has 50 MiB."""
    many = PASSED.replace("10 obs", "750000 obs") + OUT.replace("10 obs", "750000 obs")
    asked = step(many, "PROCEDURE SORT", read=TABLE + 60 * MB, written=120 * MB)
    found = last(tmp_path, counted(), step(WROTE, read=0, written=TABLE), asked)
    assert found.read_bytes["util"].value == pytest.approx(60 * MB, rel=0.01)
    assert found.read_bytes["data"].value == pytest.approx(TABLE, rel=0.01)
    assert found.written_bytes["util"].value == pytest.approx(60 * MB, rel=0.01)


def test_rows_that_were_added_or_inserted_are_not_the_table(tmp_path: Path) -> None:
    added = "NOTE: 5 observations added.\n" + WROTE
    inserted = "NOTE: 7 rows were inserted into BIG.ALL.\n\n"
    whole = step(added, "PROCEDURE APPEND", read=None, written=None)
    asked = step(PASSED.replace("10 obs", "3 obs"), read=None, written=None)
    assert_data(last(tmp_path, whole, asked), TABLE, "where-whole", TABLE)
    other = tmp_path / "inserted"
    other.mkdir()
    some = step(inserted, "PROCEDURE SQL", read=None, written=None)
    assert last(other, some, asked).read_bytes["data"].rule == "where-open"


def test_a_table_of_work_with_inserted_rows_has_them_all(tmp_path: Path) -> None:
    made = step(OTHER_WROTE, read=None, written=None)
    some = step("NOTE: 900000 rows were inserted into WORK.B.\n\n", "PROCEDURE SQL", read=None, written=None)
    asked = step(PASSED.replace("BIG.ALL", "WORK.B"), read=None, written=None)
    part = last(tmp_path, made, some, asked).read_bytes["work"]
    assert (part.value, part.rule) == (TABLE, "where-whole")


def test_a_table_that_is_replaced_in_the_night_has_the_rows_of_then(tmp_path: Path) -> None:
    larger = step(WROTE.replace("1000000", "2000000"), read=None, written=None)
    asked = step(PASSED, read=None, written=None)
    part = assert_data(
        last(tmp_path, larger, step(WROTE, read=None, written=None), asked), TABLE, "where-whole", TABLE
    )
    assert part.high == 4 * 2 * TABLE


@pytest.mark.parametrize(
    ("records", "value", "high"), [(1000, 100_000, 10 * MB), (100_000, 10 * MB, 10 * MB)]
)
def test_fewer_records_than_a_file_has_are_a_part_of_it(
    tmp_path: Path, records: int, value: int, high: int
) -> None:
    """100 bytes a record with its end, in a file of 10 MB; OBS= and STOP end early, FIRSTOBS= skips lines."""
    notes = (
        "NOTE: The infile '/in/list.txt' is:\n"
        "      Filename=/in/list.txt,\n      File Size (bytes)=10000000\n\n"
        f"NOTE: {records} records were read from the infile '/in/list.txt'.\n"
        "      The minimum record length was 99.\n      The maximum record length was 99.\n"
    )
    found = last(tmp_path, step(notes + OUT, read=None, written=None)).read_bytes["data"]
    assert (found.value, found.high) == (value, high)
    assert found.rule == ("file" if records == 100_000 else "part-of-file")


def test_a_sort_without_figures_of_memory_holds_what_passed(tmp_path: Path) -> None:
    asked = step(PASSED + OUT, "PROCEDURE SORT", read=None, written=None)
    found = last(tmp_path, step(WROTE, read=None, written=None), asked)
    assert (found.memory_bytes.value, found.memory_bytes.rule) == (2**20, "memory-of-sort")


def test_derived_tables_are_as_large_as_what_was_read_of_each(tmp_path: Path) -> None:
    """Both tables are permanent: ten rows of one passed, and it is ten times as large as the other."""
    made = step(OTHER_WROTE.replace("WORK", "BIG"), read=0, written=8 * MB)
    asked = step(OTHER.replace("WORK", "BIG") + PASSED, read=TABLE + 8 * MB, written=0)
    steps_of(tmp_path, counted() + made + step(WROTE, read=0, written=TABLE) + asked)
    tables = derive(open_run(tmp_path / "run"), DeriveRequest(keep_names=True)).workload.tables
    assert {table.name: table.size_bytes for table in tables} == {
        "BIG.ALL": pytest.approx(TABLE, rel=1e-3), "BIG.B": pytest.approx(8 * MB, rel=1e-3)
    }  # fmt: skip


def test_the_page_of_the_evidence_says_rows_after_where(tmp_path: Path) -> None:
    for folder, read in (("stimer", None), ("fullstimer", TABLE)):
        place = tmp_path / folder
        place.mkdir()
        steps_of(place, step(PASSED + OUT, read=read, written=None if read is None else 4096))
        evidence = derive(open_run(place / "run"), DeriveRequest()).evidence
        assert "rows after WHERE" in " ".join(rendered(document(evidence, "shop"), "html").split())
