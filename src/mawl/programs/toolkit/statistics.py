"""Statistics of numerics by class in one pass (DuckDB), printed as a procedure prints them.

They go to standard output, which is the log of the job.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pyarrow as pa

from mawl.programs.context import JobContext
from mawl.programs.toolkit.partitions import read_ahead
from mawl.records.spec.program_options import MIB, Options

THREAD_BYTES = 64 * MIB
"""For each thread: moments and frequencies by class over 25 to 45 numerics fill 64 MiB at two threads."""


@contextmanager
def session(options: Options, spill: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """An in-memory database held to ``memsize`` and ``cpucount`` threads.

    There are no more threads than memory for them (``THREAD_BYTES`` each).  It spills to the
    directory ``spill``.  ``async_threads=0``: DuckDB 2.0 starts eight more threads otherwise, whatever
    ``threads`` says.
    """
    spill.mkdir(mode=0o700, exist_ok=True)
    limit = options.memsize_bytes
    connection = duckdb.connect(
        ":memory:",
        config={
            "memory_limit": f"{limit}B",
            "threads": min(options.cpucount, max(limit // THREAD_BYTES, 1)),
            "async_threads": 0,
            "temp_directory": str(spill),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        },
    )
    try:
        connection.execute("SET enable_progress_bar = false")
        yield connection
    finally:
        connection.close()


Class = Any
"""A value of a class column (bytes or a number), or a tuple of such values."""

ListedMoments = Mapping[str, Any]
"""Statistic to value; None where it is not defined (the skewness of a constant)."""

MOST_CLASSES = 10
"""More classes than these are summed up by their extremes: so a listing is short at any scale."""


def print_table(title: str, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A title, a line of names and a line for each row, in columns; written at once."""
    cells = [[*names], *([_text(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        " ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in cells
    ]
    sys.stdout.write("\n".join(["", title, *lines, ""]))
    sys.stdout.flush()


def print_moments(by: str, found: Mapping[Class, Mapping[str, ListedMoments]]) -> None:
    """Moments of each variable by class: a table for each, or of many the least and the greatest figures."""
    if len(found) > MOST_CLASSES:
        _print_extremes(by, found)
        return
    for value in sorted(found):
        variables = found[value]
        names = _names(variables)
        # The same for all variables, since none has missing values.
        counts = [str(of["count"]) for of in variables.values() if "count" in of]
        print_table(
            ", ".join([f"{by} {_text(value)}", *(f"{count} rows" for count in counts[:1])]),
            ("variable", *names),
            ([variable, *(of.get(name, "") for name in names)] for variable, of in variables.items()),
        )


def print_frequencies(by: str, found: Mapping[Class, Mapping[str, Mapping[Any, int]]]) -> None:
    """Counts of each value of each code, a column for each class."""
    classes = sorted(found)
    values = sorted(
        {(code, value) for codes in found.values() for code, counts in codes.items() for value in counts}
    )
    print_table(
        f"frequencies by {by}",
        ("code", "value", *map(_text, classes)),
        ([code, value, *(found[of][code].get(value, 0) for of in classes)] for code, value in values),
    )


def _print_extremes(by: str, found: Mapping[Class, Mapping[str, ListedMoments]]) -> None:
    classes = list(found.values())
    names = _names(classes[0])
    rows = []
    for variable in classes[0]:
        row: list[Any] = [variable]
        for name in names:
            values = [of[variable][name] for of in classes if of[variable].get(name) is not None]
            row += [min(values), max(values)] if values else ["", ""]
        rows.append(row)
    headings = [f"{name} {end}" for name in names for end in ("from", "to")]
    print_table(f"{len(found)} values of {by}", ("variable", *headings), rows)


def _names(variables: Mapping[str, ListedMoments]) -> list[str]:
    return list(dict.fromkeys(name for of in variables.values() for name in of if name != "count"))


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1").rstrip()
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, tuple):
        return "/".join(map(_text, value))
    return "." if value is None else str(value)


_SHAPE = ("avg", "stddev_samp", "min", "max", "skewness", "kurtosis")
STATISTICS = ("count", "sum", *_SHAPE)

Moments = dict[str, float | None]


def moments_by(
    context: JobContext,
    batches: Iterator[pa.RecordBatch],
    schema: pa.Schema,
    *,
    by: Sequence[str],
    against: str,
    keys: Collection[str] = (),
) -> dict[str, dict[Class, dict[str, Moments]]]:
    """``STATISTICS`` of each numeric, and its correlation with ``against``, by each class column.

    ``by`` are columns with few values, none of them null, each on its own (one-way tables, all from the
    same pass); the result is by class column, then by its values, then by numeric, and is printed.
    ``keys`` are numerics that only name rows: they have no moments.
    """
    kinds = (pa.float64(), pa.int64())
    left_out = {*by, *keys}
    figures = [
        (field.name, statistic, call)
        for field in schema
        if field.type in kinds and field.name not in left_out
        for statistic, call in _calls(field.name, STATISTICS, against)
    ]
    classes = ", ".join(f'"{name}"' for name in by)
    sets = ", ".join(f'("{name}")' for name in by)
    calls = ", ".join(call for *_, call in figures)
    source = pa.RecordBatchReader.from_batches(schema, read_ahead(context, batches))
    with session(context.options, context.util("duckdb")) as connection:
        connection.register("source", source)
        rows = connection.execute(
            f"SELECT {classes}, {calls} FROM source GROUP BY GROUPING SETS ({sets})"
        ).fetchall()
    found: dict[str, dict[Class, dict[str, Moments]]] = {name: {} for name in by}
    for row in rows:
        # Of the class columns only the one that the row is about has a value.
        name, value = next((name, value) for name, value in zip(by, row, strict=False) if value is not None)
        of = found[name][value] = {}
        for (numeric, statistic, _), figure in zip(figures, row[len(by) :], strict=True):
            of.setdefault(numeric, {})[statistic] = figure
    for name in by:
        print_moments(name, found[name])
    return found


class ClassProfile(msgspec.Struct, frozen=True):
    """What an analyst asks of each class of rows, as SQL to put behind the class columns of a query.

    Moments of ``measures``, their correlation with one of them, their means by ``weight``, quartiles of
    some (approximate), and frequencies of ``codes``.
    """

    measures: tuple[str, ...]
    against: str
    codes: tuple[str, ...] = ()
    weight: str = ""
    quartiles: tuple[str, ...] = ()

    @property
    def sql(self) -> str:
        """The expressions, with commas between them."""
        return ", ".join([*(call for *_, call in self._figures()), *map("histogram({})".format, self.codes)])

    def show(self, by: str, rows: Mapping[Class, Sequence[Any]]) -> None:
        figures = list(self._figures())
        moments: dict[Class, dict[str, dict[str, Any]]] = {}
        frequencies: dict[Class, dict[str, dict[Any, int]]] = {}
        for of, values in rows.items():
            moments[of] = {}
            for (measure, statistic, _), value in zip(figures, values, strict=False):
                moments[of].setdefault(measure, {})[statistic] = value
            counts = values[len(figures) :]
            # Of no rows there is no histogram.
            frequencies[of] = {code: some or {} for code, some in zip(self.codes, counts, strict=True)}
        print_moments(by, moments)
        if self.codes:
            print_frequencies(by, frequencies)

    def _figures(self) -> Iterator[tuple[str, str, str]]:
        for measure in self.measures:
            for statistic, call in _calls(measure, _SHAPE, self.against):
                yield measure, statistic, call
            if self.weight:
                yield measure, "weighted", f'sum("{measure}" * "{self.weight}") / sum("{self.weight}")'
            if measure in self.quartiles:
                # One sketch serves all three.
                sketch = f'approx_quantile("{measure}", [0.25, 0.5, 0.75])'
                yield from ((measure, f"p{25 * place}", f"{sketch}[{place}]") for place in (1, 2, 3))


def _calls(numeric: str, statistics: Sequence[str], against: str) -> Iterator[tuple[str, str]]:
    """Statistics of a numeric as SQL; its correlation with itself is none."""
    for statistic in statistics:
        yield statistic, f'{statistic}("{numeric}")'
    if numeric != against:
        yield "corr", f'corr("{numeric}", "{against}")'


def total(by_class: dict[Class, dict[str, Moments]], numeric: str) -> int:
    """The sum of a numeric of whole numbers over all classes of one column."""
    return sum(int(classes[numeric]["sum"] or 0) for classes in by_class.values())


def class_rows(of_class: dict[str, Moments]) -> int:
    """Rows of one class."""
    return int(next(iter(of_class.values()))["count"] or 0)


def total_rows(by_class: dict[Class, dict[str, Moments]]) -> int:
    """Rows of all classes of one column."""
    return sum(map(class_rows, by_class.values()))
