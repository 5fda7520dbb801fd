"""The tables of the papers, of a pair: a row a side, their difference and ratio, in the papers' units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mawl.base.units import format_plain
from mawl.figures.comparison.compare import Comparison
from mawl.figures.comparison.rows import FigureChange
from mawl.importers.formats.text import one_line
from mawl.reports.document import Table
from mawl.reports.layout import ABSENT, figure

SECONDS, MINUTES, GB = (1.0, "s"), (60.0, "min"), (1e9, "GB")
MB_PER_SECOND, GB_PER_SECOND = (1e6, "MB/s"), (1e9, "GB/s")
LONG_SECONDS = 600.0
"""Times are in minutes where the longest of a table is at least this."""

FAST = 1e9
"""Rates are in GB/s where the highest of a table is at least this many bytes per second."""


class PairTable(NamedTuple):
    """A table: anchor, title, the papers that print it, and a short head for each figure (path to head)."""

    name: str
    title: str
    source: str
    heads: dict[str, str]


TABLES = (
    PairTable(
        "paper-times",
        "time and memory",
        "as Table 2 of dl980-ioscale-2014 and Table 1 of power-e880-2016: sums over the jobs",
        {
            "time.real_time_seconds": "real time",
            "time.user_cpu_seconds": "user CPU",
            "time.system_cpu_seconds": "system CPU",
            "time.memory_bytes": "memory",
        },
    ),
    PairTable(
        "paper-ratios",
        "CPU over real time of the jobs",
        "as Table 3 of dl980-ioscale-2014",
        {
            "cpu_real_ratio.mean": "mean",
            "cpu_real_ratio.stddev": "standard deviation",
            "cpu_real_ratio.range": "range",
        },
    ),
    PairTable(
        "paper-throughput",
        "elapsed time and device throughput",
        "as the results of power-s822-2015 and power-e880-2017",
        {
            "time.elapsed_seconds": "elapsed",
            "io.device.peak.total_bytes_per_second": "peak",
            "io.device.sustained.total_bytes_per_second": "sustained",
            "io.device.sustained_bytes_per_second_per_core": "sustained per core",
        },
    ),
)


def paper_tables(comparison: Comparison) -> list[Table]:
    """The tables of which a figure is known; means over the runs of a side."""
    figures = {row.name: row for row in comparison.figures}
    return [_table(table, figures, comparison) for table in TABLES if set(table.heads) & set(figures)]


def _table(of: PairTable, figures: dict[str, FigureChange], comparison: Comparison) -> Table:
    shown = [figures[path] for path in of.heads if path in figures]
    units = [unit_of(row, shown) for row in shown]
    sides: Sequence[tuple[str, Callable[[FigureChange], float | None]]] = (
        (one_line(comparison.reference.label), lambda row: row.reference),
        (one_line(comparison.candidate.label), lambda row: row.candidate),
    )
    rows = [
        (label, *(figure(_over(value(row), unit[0]), _plain) for row, unit in zip(shown, units, strict=True)))
        for label, value in sides
    ]
    rows.append(("difference", *(_difference(row, unit[0]) for row, unit in zip(shown, units, strict=True))))
    rows.append(("ratio", *(_ratio(row) for row in shown)))
    heads = [
        f"{of.heads[row.name]} ({unit[1]})" if unit[1] else of.heads[row.name]
        for row, unit in zip(shown, units, strict=True)
    ]
    reasons = dict.fromkeys(row.reason for row in shown if row.reason)
    note = "; ".join([f"{of.source}; means over runs", *(reason for reason in reasons if reason)])
    return Table(
        name=of.name,
        title=of.title,
        head=(of.title, *heads),
        rows=rows,
        note=note,
        head_figures=("", *(row.name for row in shown)),
    )


def unit_of(row: FigureChange, shown: Sequence[FigureChange]) -> tuple[float, str]:
    """Factor and name of the unit: one for all times, and one for all rates, of a table."""
    alike = [one for one in shown if one.unit == row.unit]
    most = max((value for one in alike for value in (one.reference, one.candidate) if value), default=0.0)
    match row.unit:
        case "seconds":
            return MINUTES if most >= LONG_SECONDS else SECONDS
        case "bytes per second":
            return GB_PER_SECOND if most >= FAST else MB_PER_SECOND
        case "bytes":
            return GB
    return 1.0, ""


def _over(value: float | None, factor: float) -> float | None:
    return None if value is None else value / factor


def _difference(row: FigureChange, factor: float) -> str:
    if row.change_ratio is None or row.reference is None or row.candidate is None:
        return ABSENT
    return f"{'+' if row.candidate > row.reference else ''}{_plain((row.candidate - row.reference) / factor)}"


def _ratio(row: FigureChange) -> str:
    return figure(None if row.change_ratio is None else row.change_ratio + 1.0, lambda ratio: f"{ratio:.2f}")


def _plain(value: float) -> str:
    """A figure without its unit, in three digits and more, as the papers print them; below 0.1, where two
    decimals would make it 0.00, in three significant digits."""
    if 0 < abs(value) < 0.1:
        return format_plain(value)
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
