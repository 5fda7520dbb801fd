"""A run as CSV: one tidy table at a time, units in the names of the columns, null an empty cell.

A row is a line: line breaks and other control characters of a text become blanks.  Cells of text that a
spreadsheet would take for a formula (they begin with ``=``, ``+``, ``-`` or ``@``) get an apostrophe in
front, as OWASP advises on CSV injection; numbers never do.
Histograms are in the Parquet tables of the run folder only: a cell holds one figure.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from mawl.figures.view import StoredView
from mawl.importers.formats.text import one_line
from mawl.records.definitions import Metric
from mawl.records.model.metrics import METRICS
from mawl.records.model.series_metrics import SERIES_METRICS, registry_name
from mawl.records.model.summary.summary import Summary
from mawl.reports.run_tables import RUN_TABLES
from mawl.reports.tables import CSV, RunTable, at, shown

FORMULA = ("=", "+", "-", "@")
"""First characters by which a spreadsheet takes text for a formula."""

UNITS = {metric.name: metric.unit for metric in (*METRICS, *SERIES_METRICS)}

Row = Mapping[str, object]


class CsvTable(NamedTuple):
    """Columns in order, and rows that hold some of them."""

    columns: Sequence[str]
    rows: Iterable[Row]


Table = Callable[[StoredView, Summary], CsvTable]
"""What makes a table of a run."""


def render(view: StoredView, summary: Summary, table: str) -> str:
    """One table (a key of ``TABLES``) with its heading; lines end in a line feed.

    Raises ``UnreadableRunError`` where a table of the run is damaged.
    """
    return written(TABLES[table](view, summary))


def written(table: CsvTable) -> str:
    """A table as CSV (RFC 4180, UTF-8); without rows the heading alone."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    for row in table.rows:
        writer.writerow([cell(row.get(name)) for name in table.columns])
    return text.getvalue().removesuffix("\n")


def cell(value: object) -> str:
    """A value as a cell: missing is empty, truth is ``true`` or ``false``, text cannot become a formula."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    if isinstance(value, int | float):
        return repr(value)
    text = str(value)
    if not text.isprintable():
        text = one_line(text)
    return f"'{text}" if text.lstrip().startswith(FORMULA) else text


def _stored(name: str) -> Table:
    """A table of the run folder without its maps (histograms, bytes by volume)."""

    def table(view: StoredView, _: Summary) -> CsvTable:
        held: pa.Table = getattr(view.run, name)
        plain = [field.name for field in held.schema if not pa.types.is_nested(field.type)]
        return CsvTable(["run_id", *plain], _rows(held.select(plain), view.facts.run_id))

    return table


def _rows(held: pa.Table, run_id: str) -> Iterator[Row]:
    for batch in held.to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            yield {"run_id": run_id, **row}


def _samples(view: StoredView, summary: Summary) -> CsvTable:
    """Samples with the unit of each series beside its name."""
    held = _stored("samples")(view, summary)
    units = {name: series_unit(name) for name in view.run.samples["series"].unique().to_pylist()}
    rows = ({**row, "unit": units[str(row["series"])]} for row in held.rows)
    return CsvTable([*held.columns[:-1], "unit", held.columns[-1]], rows)


def _summary(view: StoredView, summary: Summary) -> CsvTable:
    """A row per figure of the summary, with its unit, and the reason where it is null."""
    held = {name: part for name, part in msgspec.to_builtins(summary).items() if name not in APART}
    rows = (
        {
            "run_id": view.facts.run_id,
            "figure": path,
            "unit": unit_of(path),
            "value": value,
            "missing": _reason(summary.missing, path) if value is None else None,
        }
        for path, value in _figures(held)
    )
    return CsvTable(["run_id", "figure", "unit", "value", "missing"], rows)


def csv_table(of: RunTable) -> Table:
    """A row per row of a table of a run, with every figure of its block."""

    named = of.first.replace(" ", "_")

    def table(view: StoredView, summary: Summary) -> CsvTable:
        rows = [
            {
                "run_id": view.facts.run_id,
                named: row.name,
                **{
                    path.replace(".", "_"): value
                    for path, value in _figures(msgspec.to_builtins(at(summary, row.path)))
                },
            }
            for row in shown(of, view, summary, "csv").rows
        ]
        head = dict.fromkeys(["run_id", named, *(name for row in rows for name in row)])
        return CsvTable(list(head), rows)

    return table


BY_NAME = sorted(RUN_TABLES, key=attrgetter("name"))

TABLES: dict[str, Table] = {
    "summary": _summary,
    "jobs": _stored("jobs"),
    "steps": _stored("steps"),
    "events": _stored("events"),
    "samples": _samples,
    **{table.name: csv_table(table) for table in BY_NAME if table.formats >= CSV},
}
"""Name of a table to what makes it."""

APART = ("missing", "programs", "windows")
"""Blocks of the summary that are tables of their own, and the reasons, which stand beside their figures."""


def unit_of(path: str) -> str | None:
    """The unit of a path of the summary by the registry, ``*`` standing for any one part; None for none."""
    metric = _metric(path)
    return None if metric is None or metric.unit == "-" else metric.unit


def series_unit(series: str) -> str | None:
    """The unit of a series of the samples by the registry; None for a series that it does not know."""
    return UNITS.get(series) or UNITS.get(registry_name(series) or "")


def _metric(path: str) -> Metric | None:
    parts = path.split(".")
    for metric in METRICS:
        names = metric.name.split(".")
        if len(names) == len(parts) and all(a in (b, "*") for a, b in zip(names, parts, strict=True)):
            return metric
    return None


def _figures(tree: Any, path: str = "") -> Iterator[tuple[str, object]]:
    """Every leaf of a block with its path; lists of names are joined, others are numbered from 1."""
    if isinstance(tree, dict):
        for name, member in tree.items():
            yield from _figures(member, f"{path}.{name}" if path else name)
    elif isinstance(tree, list) and any(isinstance(member, dict) for member in tree):
        for number, member in enumerate(tree, start=1):
            yield from _figures(member, f"{path}.{number}")
    elif isinstance(tree, list):
        yield path, "; ".join(map(str, tree))
    else:
        yield path, tree


def _reason(missing: Mapping[str, str], path: str) -> str | None:
    """The reason of a null: its own, or that of the block that is null as a whole."""
    if path in missing:
        return missing[path]
    parts = path.split(".")
    for pattern, reason in missing.items():
        names = pattern.split(".")
        if len(names) == len(parts) and all(a in (b, "*") for a, b in zip(names, parts, strict=True)):
            return reason
    return None
