"""The tables of a paper, with the figures of runs in the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from mawl.figures.comparison.sides import Side, at, centre
from mawl.figures.job_sums import reason_of
from mawl.records.model.published import Paper, PaperRange, PaperRow, PaperTable, PublishedFigures, RowUnit

NOT_PRINTED = "the paper does not print it"
NOT_MEASURED = "the run has no such figure"


class PartFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of a cell; ``part`` (a role, say) is empty where the cell holds one figure."""

    part: str
    value: float


class TableCell(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of a paper (a range where ``low`` and ``high`` are given) or of a run; without one, why."""

    figures: list[PartFigure] = []
    low: float | None = None
    high: float | None = None
    reason: str | None = None


class TableColumn(msgspec.Struct, frozen=True, kw_only=True):
    """A result of the paper, or a side of runs."""

    name: str
    published: bool
    runs: int = 0


class TableRow(msgspec.Struct, frozen=True, kw_only=True):
    """One figure over all columns."""

    title: str
    unit: RowUnit
    figure: str
    cells: list[TableCell]


class FilledTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table of the paper with the columns of runs."""

    exhibit: str
    title: str
    columns: list[TableColumn]
    rows: list[TableRow]


def fill_tables(
    paper: Paper, results: Mapping[str, PublishedFigures], sides: Sequence[Side]
) -> list[FilledTable]:
    """Every table of a paper; ``results`` are its results by id.

    Where there are as many sides as columns, the first is next to the first column, and so on; otherwise all
    sides follow the columns.
    """
    return [_fill_table(table, [results[name] for name in table.columns], sides) for table in paper.tables]


def _fill_table(table: PaperTable, results: Sequence[PublishedFigures], sides: Sequence[Side]) -> FilledTable:
    order: list[PublishedFigures | Side] = [*results, *sides]
    if len(sides) == len(results):
        order = [one for pair in zip(results, sides, strict=True) for one in pair]
    return FilledTable(
        exhibit=table.exhibit,
        title=table.title,
        columns=[
            TableColumn(name=one.label, published=False, runs=len(one.runs))
            if isinstance(one, Side)
            else TableColumn(name=one.id, published=True)
            for one in order
        ],
        rows=[
            TableRow(
                title=row.title,
                unit=row.unit,
                figure=row.figure,
                cells=[_of_runs(row, one) if isinstance(one, Side) else _printed(row, one) for one in order],
            )
            for row in table.rows
        ],
    )


def _printed(row: PaperRow, result: PublishedFigures) -> TableCell:
    value = at(result, row.figure)
    if isinstance(value, PaperRange):
        return TableCell(low=value.low, high=value.high)
    if value is None:
        return TableCell(reason=NOT_PRINTED)
    return TableCell(figures=[PartFigure(part="", value=float(value))])


def _of_runs(row: PaperRow, side: Side) -> TableCell:
    """The figure of a side: of several runs the mean (geometric where all are above 0)."""
    if row.not_of_runs is not None:
        return TableCell(reason=row.not_of_runs)
    paths = row.run or {"": row.figure}
    found = [
        PartFigure(part=part, value=value)
        for part, path in paths.items()
        if (value := _centre(side.values(path))) is not None
    ]
    return TableCell(figures=found, reason=None if found else _reason(side, list(paths.values())))


def _centre(values: Sequence[float]) -> float | None:
    return values[0] if len(values) == 1 else centre(values)


def _reason(side: Side, paths: Sequence[str]) -> str:
    found = (reason_of(run.summary.missing, tuple(path.split("."))) for run in side.runs for path in paths)
    return next((reason for reason in found if reason is not None), NOT_MEASURED)
