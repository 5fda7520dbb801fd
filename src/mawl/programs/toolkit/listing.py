"""What a procedure prints: plain tables on standard output, which is the log of the job."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Class = Any
"""A value of a class column (bytes or a number), or a tuple of such values."""

Moments = Mapping[str, Any]
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


def print_moments(by: str, found: Mapping[Class, Mapping[str, Moments]]) -> None:
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


def _print_extremes(by: str, found: Mapping[Class, Mapping[str, Moments]]) -> None:
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


def _names(variables: Mapping[str, Moments]) -> list[str]:
    """The statistics that any variable has, in order, without the number of rows."""
    return list(dict.fromkeys(name for of in variables.values() for name in of if name != "count"))


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1").rstrip()
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, tuple):
        return "/".join(map(_text, value))
    return "." if value is None else str(value)
