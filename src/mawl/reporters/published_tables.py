"""The tables of a paper with the figures of runs, as text and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mawl.analysis.published_tables import NOT_PRINTED, FilledTable, TableCell, TableColumn
from mawl.formats.lines import one_line
from mawl.model.published import Paper, RowUnit
from mawl.reporters import markup
from mawl.reporters.columns import LINE_WIDTH, stacked, wrapped
from mawl.reporters.figure import ABSENT, Form, format_count
from mawl.reporters.markup import escaped
from mawl.units import (
    counted_noun,
    format_bytes,
    format_latency,
    format_memory,
    format_percent,
    format_rate,
    format_ratio,
    format_seconds,
)

FORMS: dict[RowUnit, Form] = {
    "seconds": format_seconds,
    "latency": format_latency,
    "rate": format_rate,
    "memory": format_memory,
    "storage": format_bytes,
    "share": format_percent,
    "ratio": format_ratio,
    "count": format_count,
}

LEGEND = (
    "Columns of the paper have its ids. Machines differ, so totals are shown and not judged; mawl compare ID "
    "RUN compares per core and in shape. Throughput of a run is that of the host's devices; mawl published "
    "ID says where the paper measured its own. -: the reason is below the table, or the paper has no figure."
)


def text(paper: Paper, tables: Sequence[FilledTable], width: int = LINE_WIDTH) -> str:
    """Every table, with the reasons for what runs lack, for a terminal of ``width`` columns."""
    parts = [wrapped(str(paper.source), width, "  ")]
    for table in tables:
        reasons = [line for why in _reasons(table) for line in wrapped(why, width, "  ")]
        title = wrapped(f"{table.exhibit}: {table.title}", width, "  ")
        parts.append([*title, *stacked(_rows(table), width), *reasons])
    parts.append(wrapped(LEGEND, width, ""))
    return "\n\n".join("\n".join(part) for part in parts)


def markdown(paper: Paper, tables: Sequence[FilledTable]) -> str:
    """The same for a ticket."""
    parts = [f"# {escaped(str(paper.source))}"]
    for table in tables:
        head, *rows = ([escaped(text) for text in row] for row in _rows(table))
        parts += [
            f"## {escaped(table.exhibit)}: {escaped(table.title)}",
            "\n".join(markup.table(head, rows)),
            *([f"- {escaped(why)}" for why in _reasons(table)]),
        ]
    return "\n\n".join([*parts, escaped(LEGEND)])


def cell(one: TableCell, unit: RowUnit) -> str:
    """``4.50 GB/s``, ``90 % to 91 %``, or a figure for each part."""
    form = FORMS[unit]
    if one.low is not None and one.high is not None:
        return f"{form(one.low)} to {form(one.high)}"
    if not one.figures:
        return ABSENT
    return ", ".join(f"{figure.part} {form(figure.value)}".strip() for figure in one.figures)


def _rows(table: FilledTable) -> list[tuple[str, ...]]:
    """The names of the columns, and below them a row for each of the table."""
    head = ("", *(_column(one) for one in table.columns))
    return [head, *((row.title, *(cell(one, row.unit) for one in row.cells)) for row in table.rows)]


def _column(one: TableColumn) -> str:
    name = one_line(one.name)
    return f"{name} (mean of {counted_noun(one.runs, 'run')})" if one.runs > 1 else name


def _reasons(table: FilledTable) -> Iterator[str]:
    """Each reason once, with the rows that it is of."""
    rows: dict[str, dict[str, None]] = {}
    for row in table.rows:
        for one in row.cells:
            if one.reason is not None and one.reason != NOT_PRINTED:
                rows.setdefault(one.reason, {})[row.title] = None
    for why, titles in rows.items():
        yield f"{'; '.join(titles)}: {why}"
