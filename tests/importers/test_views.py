"""Steps that read a view read the tables below it, in whichever note SAS names them, by both readers."""

from __future__ import annotations

import io

import msgspec
import pytest

from mawl.derive.steps import step_figures
from mawl.importers.formats import saslog, saslog_scan
from mawl.importers.interface import Context, StepColumns
from mawl.importers.sas_jobs import IMPORTER
from mawl.records.model.records import StepNotes, StepRecord, Usage

NOTE = (
    "NOTE: {what} used (Total process time):\n"
    "      real time           1.00 seconds\n"
    "      cpu time            1.00 seconds\n      \n"
)
READ = "NOTE: There were {rows} observations read from the data set {table}.\n"
WRITTEN = "NOTE: The data set {table} has {rows} observations and 2 variables.\n"
DEFINED = "NOTE: DATA STEP view saved on file WORK.V.\n" + NOTE.format(what="DATA statement")
USED = NOTE.format(what="View WORK.V.VIEW")
PLAIN = (READ.format(rows=5, table="A.B") + NOTE.format(what="PROCEDURE FREQ")) * 40
BASE, VIEW = READ.format(rows=1000, table="BIG.ALL"), READ.format(rows=10, table="WORK.V")

Read = list[tuple[str | None, int | None, bool]]


def steps(text: str, *, python: bool, monkeypatch: pytest.MonkeyPatch) -> list[StepRecord]:
    """The DATA and PROC steps of a log, large enough for the scanner."""
    if python:
        monkeypatch.setattr(saslog_scan, "scanner", lambda: None)
    else:
        monkeypatch.setattr(saslog, "LEAST_SCANNED_BYTES", 1)
    context = Context("x.log", "saslog", lambda seconds: seconds, lambda wanted: wanted)
    found: list[StepRecord] = []
    for item in IMPORTER.read(io.BytesIO(text.encode()), context):
        if isinstance(item, StepRecord):
            found.append(item)
        elif isinstance(item, StepColumns):
            found += [
                StepRecord(
                    job=row["job"], number=row["number"], name=row["name"], kind=row["kind"], started_at=None,
                    ended_at=None, usage=Usage(), rows_read=row["rows_read"],
                    notes=msgspec.json.decode(row["notes"], type=StepNotes),
                )
                for row in item.table.to_pylist()
            ]  # fmt: skip
    assert [one.reason for one in context.skipped] == []
    return [one for one in found if one.kind in ("data", "procedure")]


def reads(step: StepRecord) -> Read:
    return [
        (table.name, table.rows, table.filtered)
        for table in step_figures(step, "linux").tables
        if table.direction == "read"
    ]


@pytest.mark.parametrize("python", [True, False], ids=["Python", "C"])
@pytest.mark.parametrize(
    ("text", "read", "rows"),
    [
        pytest.param(DEFINED + USED + BASE + VIEW, [("BIG.ALL", 1000, False)], 1000, id="below its note"),
        pytest.param(DEFINED + BASE + USED + VIEW, [("BIG.ALL", 1000, False)], 1000, id="above its note"),
        pytest.param(
            DEFINED + BASE + USED + BASE + VIEW, [("BIG.ALL", 1000, False)], 1000, id="in both, counted once"
        ),
        pytest.param(
            "NOTE: SQL view WORK.V has been defined.\n" + NOTE.format(what="PROCEDURE SQL") + BASE + VIEW,
            [("BIG.ALL", 1000, False)], 1000, id="a view of SQL",
        ),
        pytest.param(
            DEFINED + USED + VIEW, [(None, 10, True)], 10, id="no note names the table"
        ),
        pytest.param(
            DEFINED + USED + BASE + VIEW + NOTE.format(what="PROCEDURE MEANS") + USED + VIEW,
            [("BIG.ALL", 10, True)], 10, id="a step before named it",
        ),
        pytest.param(
            DEFINED + WRITTEN.format(table="WORK.V", rows=10) + NOTE.format(what="DATA statement") + VIEW,
            [("WORK.V", 10, False)], 10, id="a table took the name",
        ),
        pytest.param(BASE + VIEW, [("BIG.ALL", 1000, False), ("WORK.V", 10, False)], 1010, id="no view"),
    ],
)  # fmt: skip
def test_a_step_that_reads_a_view_reads_the_tables_below_it(
    text: str, read: Read, rows: int, python: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = PLAIN + text + NOTE.format(what="PROCEDURE SORT") + PLAIN
    found = steps(log, python=python, monkeypatch=monkeypatch)
    assert [one.rows_read for one in found if one.name == "FREQ"] == [5] * 80
    [sort] = [one for one in found if one.name == "SORT"]
    assert (reads(sort), sort.rows_read) == (read, rows)
