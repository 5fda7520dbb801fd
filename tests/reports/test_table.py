"""Tables of a run: stated once, and the same in every format."""

from __future__ import annotations

import csv as standard
import io
from pathlib import Path

import msgspec
import pytest

from mawl.advice.judge import judged
from mawl.base.units import format_bytes, format_joules, format_seconds
from mawl.figures.job_sums import generalised
from mawl.figures.view import StoredView
from mawl.records.model.summary.summary import Judged
from mawl.records.store import open_run
from mawl.reports.csv import csv_table, written
from mawl.reports.html.figures import ShownFigures, html_table, registry, tables_in
from mawl.reports.markdown import markdown_table
from mawl.reports.run_tables import RUN_TABLES
from mawl.reports.run_tables.nodes import NODES
from mawl.reports.tables import EVERY, HTML, SHOWN, TEXT, Note, Row, RunColumn, RunTable, shown, table_lines
from tests.fakes.altered_runs import array_statistics, capped_run, client, fabric_summary, server
from tests.fakes.host_run import host_facts
from tests.fakes.measured_run import IDLE, four_jobs, samples
from tests.fakes.stored_run import facts, write_run
from tests.fakes.views import BARE, as_summary, summary_of, typed
from tests.reports.test_probe import probed_summary

EVIL = "=x | <b>y</b>\n@team"

TABLE = RunTable(
    name="planted",
    caption="A planted table",
    section="host",
    first="program",
    code=True,
    block=("programs", "*"),
    rows=lambda _, summary: [Row(name, ("programs", name)) for name in summary.programs],
    columns=(
        RunColumn(
            label="longest", title="longest job", path=("real_time_seconds", "max"), form=format_seconds
        ),
        RunColumn(label="energy", path=("joules_per_job",), form=format_joules),
        RunColumn(
            label="moved", value=lambda one: one.application_read_bytes, form=format_bytes, formats=TEXT
        ),
    ),
    formats=EVERY,
    notes=lambda _, __: [Note(f"said of {EVIL}")],
)


@pytest.fixture
def view(tmp_path: Path) -> StoredView:
    """The stored run."""
    write_run(tmp_path / "run").finish(facts())
    return StoredView(open_run(tmp_path / "run"))


@pytest.fixture
def summary(view: StoredView) -> Judged:
    """Its summary, one of its programs with a hostile name."""
    found = judged(view)
    return msgspec.structs.replace(found, programs={EVIL: found.programs["wide_sort"]})


@pytest.mark.parametrize("table", RUN_TABLES, ids=[table.name for table in RUN_TABLES])
def test_every_figure_of_a_table_has_its_definition(table: RunTable) -> None:
    names = [table.definition(column) for column in table.columns]
    assert [name for name in names if name is not None and name not in registry()] == []


def test_names_of_tables_are_unique() -> None:
    names = [table.name for table in RUN_TABLES]
    assert len(set(names)) == len(names)


def test_the_figures_of_a_column_are_what_its_head_defines(view: StoredView) -> None:
    fabric = fabric_summary({"n1": client(9e6), "n2": client(9e6), "sto": server(18e6)})
    held = set()
    attached = as_summary(summary_of(facts(), view.jobs, arrays=array_statistics()))
    counted = as_summary(
        summary_of(
            host_facts(), four_jobs(60), samples=samples(60, IDLE | {"energy.package-0.joules": 100.0})
        )
    )
    waited = [msgspec.structs.replace(job, submitted_at=1e9, queue_seconds=60.0) for job in view.jobs]
    queued = as_summary(summary_of(facts(), waited))
    others = (typed(fabric), typed(probed_summary()), attached, counted, queued, capped_run(4e7))
    for summary in (judged(view), *others):
        for table in RUN_TABLES:
            for row in table.rows(view, summary):
                for column in table.columns:
                    defined = table.definition(column)
                    if defined is None or column.of(summary, row) is msgspec.UNSET:
                        continue
                    own = registry()[".".join(generalised(tuple(map(str, column.path_of(row)))))]
                    assert (own.unit, own.type) == (registry()[defined].unit, registry()[defined].type)
                    held.add(table.name)
    assert held == {table.name for table in RUN_TABLES} - {"periods", "role_devices"}


def test_a_table_is_text_markdown_html_and_csv(view: StoredView, summary: Judged) -> None:
    head, row, *notes = table_lines(TABLE, view, summary)
    assert head.split() == ["program", "longest", "energy", "moved"]
    assert row.split()[-5:] == ["40.0", "s", "-", "2.40", "GB"] and "\n" not in row
    assert notes == ["said of =x | <b>y</b> @team"]
    marked = markdown_table(TABLE, view, summary)
    assert marked[0] == "| program | longest | energy |"
    assert marked[2:] == [
        "| `=x &#124; <b>y</b> @team` | 40.0 s | - |",
        "",
        "- said of =x \\| &lt;b&gt;y&lt;/b&gt; &#64;team",
    ]
    page = "".join(html_table(TABLE, ShownFigures(summary), view))
    assert "<b>" not in page and "moved" not in page
    assert 'href="#def-programs.*.real_time_seconds.max">longest job</a>' in page
    assert "Not known: energy (the run&#39;s energy is not known)." in page
    (row_of_csv,) = standard.DictReader(io.StringIO(written(csv_table(TABLE)(view, summary)), newline=""))
    assert row_of_csv["program"] == "'=x | <b>y</b> @team"
    assert float(row_of_csv["real_time_seconds_max"]) == 40.0 and row_of_csv["joules_per_job"] == ""


def test_of_an_import_only_what_its_files_contain(view: StoredView, summary: Judged) -> None:
    imported = msgspec.structs.replace(summary, kind="imported")
    assert table_lines(TABLE, view, imported)[0].split() == ["program", "longest", "moved"]
    page = "".join(html_table(TABLE, ShownFigures(imported), view))
    assert "Not known (imported): energy." in page
    unknown = msgspec.structs.replace(TABLE, columns=TABLE.columns[1:2])
    assert shown(unknown, view, imported, "html").rows == []


def test_a_format_shows_what_is_meant_for_it(view: StoredView, summary: Judged) -> None:
    table = msgspec.structs.replace(
        TABLE,
        formats=SHOWN,
        fold="{rows} rows",
        folded=HTML,
        lead=lambda _, __: [Note("processors", TEXT, "host")],
        named=TEXT,
    )
    assert table_lines(table, view, summary)[0] == "host      processors"
    assert markdown_table(table, view, summary)[0] == "| longest | energy |"
    page = "".join(html_table(table, ShownFigures(summary), view))
    assert "<summary>1 rows</summary>" in page and "processors" not in page
    assert csv_table(table)(view, summary).rows == []
    assert table_lines(msgspec.structs.replace(table, formats=HTML), view, summary) == []


def test_a_row_without_some_figure_has_an_empty_cell_for_it() -> None:
    found = typed(fabric_summary({"n1": client(9e6), "n2": client(9e6), "sto": server(18e6)}))
    mean = Row("mean", ("cluster", "mean"))
    cells = {column.label: column.text(found, mean) for column in NODES.columns}
    assert cells["ended"] == cells["lost"] == "" and cells["real time"].endswith("s")
    parts = tables_in("nodes", ShownFigures(found), BARE)
    captions = [part.split("<caption>")[1].split("<")[0] for part in parts if "<caption>" in part]
    assert captions == ["Nodes", "Storage servers"]
