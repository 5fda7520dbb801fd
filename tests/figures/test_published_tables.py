"""Tables of papers with runs in the same rows."""

from __future__ import annotations

import pytest

from mawl.base.errors import UsageError
from mawl.commands.compare import as_block
from mawl.figures.comparison.sides import Side, at
from mawl.figures.published_tables import NOT_MEASURED, NOT_PRINTED, FilledTable, fill_tables
from mawl.records.model.metrics import METRICS
from mawl.records.model.published import Paper, PaperTable, paper_named, papers
from mawl.records.spec.program_options import ROLES
from mawl.reports.document import rendered
from mawl.reports.published import cell, tables_document
from tests.fakes.compared_runs import compared

PRINTED = {
    "dl980-ioscale-2014": {
        "Table 1": ["32,324", "8.47 GB/s", "20.0 ms", "12,851", "3.37 GB/s", "20.0 ms"],
        "Table 2": ["51 h 06 min", "52.2 GiB", "30 h 41 min", "15 h 05 min"],
        "Table 3": ["0.79", "0.31", "2.60"],
    },
    "power-e880-2016": {"Table 1": ["28 h 35 min", "23 h 14 min", "50 min 00 s"]},
}
"""First column of tables whose figures the paper prints in a table: 3,066 min are 51 h 06 min."""

TABLES = [(paper, table) for paper in papers() for table in paper.tables]


def tables_of(paper: Paper, *sides: Side) -> list[FilledTable]:
    return fill_tables(paper, {result.id: as_block(result) for result in paper.results}, sides)


def test_every_paper_has_its_tables() -> None:
    assert {paper.source.key for paper in papers() if paper.tables} == {p.source.key for p in papers()}


@pytest.mark.parametrize(("paper", "table"), TABLES, ids=[f"{p.source.key} {t.exhibit}" for p, t in TABLES])
def test_each_row_is_a_figure_of_the_paper_and_one_of_runs(paper: Paper, table: PaperTable) -> None:
    results = {result.id: as_block(result) for result in paper.results}
    known = {metric.name for metric in METRICS}
    assert set(table.columns) <= set(results)
    for row in table.rows:
        assert any(at(results[name], row.figure) is not None for name in table.columns) or row.figure in known
        paths = list(row.run.values()) or [row.figure]
        for path in [] if row.not_of_runs else paths:
            general = ".".join("*" if part in ROLES else part for part in path.split("."))
            assert path in known or general in known, path


@pytest.mark.parametrize("key", PRINTED)
def test_the_cells_are_what_the_paper_prints(key: str) -> None:
    found = {table.exhibit: table for table in tables_of(paper_named(key))}
    for exhibit, printed in PRINTED[key].items():
        assert [cell(row.cells[0], row.unit) for row in found[exhibit].rows] == printed


def test_runs_stand_next_to_the_columns_where_there_are_as_many() -> None:
    paper = paper_named("power-e880-2016")
    one, other = (
        Side(label=name, runs=(compared(number, {"wide_sort": factor}),))
        for number, (name, factor) in enumerate((("off", 1.0), ("on", 2.0)))
    )
    table = tables_of(paper, one, other)[0]
    assert [column.name for column in table.columns] == [
        *("e880-xiv-plain-30", "off"),
        *("e880-xiv-compressed-30", "on"),
    ]
    row = table.rows[0]
    assert [figure.value for number in (1, 3) for figure in row.cells[number].figures] == [
        side.runs[0].summary.time.real_time_seconds for side in (one, other)
    ]
    alone = tables_of(paper, one)[0]
    assert [column.name for column in alone.columns] == [
        *("e880-xiv-plain-30", "e880-xiv-compressed-30"),
        "off",
    ]


def test_a_gap_has_its_reason() -> None:
    paper = paper_named("s822-xiv-20")
    table = tables_of(paper, Side(label="mine", runs=(compared(),)))[0]
    by_title = {row.title: row for row in table.rows}
    assert by_title["real time, sum of all jobs"].cells[1].reason == NOT_PRINTED
    latency = by_title["latency at the array, mean"].cells[-1]
    assert latency.figures == [] and latency.reason is not None
    for form in ("text", "markdown"):
        said = " ".join(rendered(tables_document(paper, [table]), form).split())
        assert latency.reason.split(" (")[0] in said.replace("\\", "") and NOT_PRINTED not in said
    (storage,) = [one for one in tables_of(paper_named("dl980-ioscale-2014")) if one.exhibit == "Table 1"]
    assert storage.rows[0].cells[0].reason is None
    paper = paper_named("dl980-ioscale-2014")
    assert NOT_MEASURED not in rendered(tables_document(paper, [storage]), "text")


def test_a_gap_of_every_role_has_the_reason_of_all_roles() -> None:
    run = compared()
    reason = "no device of the role is known"
    run.summary.missing["arrays.by_role.*.host.mean_latency_seconds"] = reason
    table = tables_of(paper_named("s822-xiv-20"), Side(label="mine", runs=(run,)))[0]
    (row,) = (row for row in table.rows if row.title == "host latency, mean")
    assert row.cells[-1].reason == reason


def test_a_paper_is_named_by_its_key_or_by_a_result() -> None:
    assert paper_named("s822-xiv-20") is paper_named("power-s822-2015")
    with pytest.raises(UsageError, match="is no paper and no result of one"):
        paper_named("s822")
