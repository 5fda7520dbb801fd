"""Means, deviations, extremes, shape and correlation of every numeric by class, in one pass (DuckDB)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from mawl.programs.context import JobContext
from mawl.programs.duckdb_session import session

STATISTICS = ("count", "sum", "avg", "stddev_samp", "min", "max", "skewness", "kurtosis")

Class = Any
"""A value of a class column: bytes, or a number."""

Moments = dict[str, float | None]
"""Statistic to value; None where it is not defined (the skewness of a constant)."""


def moments_by(
    context: JobContext,
    batches: Iterator[pa.RecordBatch],
    schema: pa.Schema,
    *,
    by: Sequence[str],
    against: str,
) -> dict[str, dict[Class, dict[str, Moments]]]:
    """:data:`STATISTICS` of each numeric, and its correlation with ``against``, by each class column.

    ``by`` are columns with few values, none of them null, each on its own (one-way tables, all from the same
    pass); the result is by class column, then by its values, then by numeric.
    """
    kinds = (pa.float64(), pa.int64())
    numerics = [field.name for field in schema if field.type in kinds and field.name not in by]
    names = (*STATISTICS, "corr")
    figures = [
        f'corr("{numeric}", "{against}")' if statistic == "corr" else f'{statistic}("{numeric}")'
        for numeric in numerics
        for statistic in names
    ]
    classes = ", ".join(f'"{name}"' for name in by)
    sets = ", ".join(f'("{name}")' for name in by)
    source = pa.RecordBatchReader.from_batches(schema, batches)
    with session(context.options, context.util("duckdb")) as connection:
        connection.register("source", source)
        rows = connection.execute(
            f"SELECT {classes}, {', '.join(figures)} FROM source GROUP BY GROUPING SETS ({sets})"
        ).fetchall()
    found: dict[str, dict[Class, dict[str, Moments]]] = {name: {} for name in by}
    for row in rows:
        # Of the class columns only the one that the row is about has a value.
        name, value = next((name, value) for name, value in zip(by, row, strict=False) if value is not None)
        values = iter(row[len(by) :])
        found[name][value] = {numeric: {name: next(values) for name in names} for numeric in numerics}
    return found


def profile(columns: Sequence[str], against: str) -> str:
    """SQL for what an analyst asks of each measure: moments, extremes, correlation with one of them."""
    statistics = ("avg", "stddev_samp", "min", "max", "skewness", "kurtosis")
    moments = [f"{statistic}({column})" for column in columns for statistic in statistics]
    return ", ".join([*moments, *(f"corr({column}, {against})" for column in columns)])


def total(by_class: dict[Class, dict[str, Moments]], numeric: str) -> int:
    """The sum of a numeric of whole numbers over all classes of one column."""
    return sum(int(classes[numeric]["sum"] or 0) for classes in by_class.values())


def total_rows(by_class: dict[Class, dict[str, Moments]]) -> int:
    """Rows of all classes of one column."""
    return sum(int(next(iter(classes.values()))["count"] or 0) for classes in by_class.values())
