"""Which columns of an array's statistics hold which figure: a map, made of a preset and the user's file.

A regular expression must match the whole name of a column, in any case.  Several columns that it
matches are added up; latencies are weighted by the requests of their own column (``weights``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from mawl.errors import InvalidFileError

Text = Annotated[str, Meta(min_length=1, max_length=200)]
Layout = Literal["columns", "names", "counters"]
"""``columns``: one column for each figure; ``names``: one row for each, named in it; ``counters``: XML."""

ROLES = ("data", "work", "util")
UNITS: Mapping[str, float] = {
    "B/s": 1.0, "kB/s": 1e3, "KiB/s": 2.0**10, "MB/s": 1e6, "MiB/s": 2.0**20, "GB/s": 1e9,
    "1/s": 1.0, "us": 1e-6, "ms": 1e-3, "s": 1.0, "ratio": 1.0, "percent": 0.01,
}  # fmt: skip
RATES = ("B/s", "kB/s", "KiB/s", "MB/s", "MiB/s", "GB/s")
REQUESTS, TIMES, SHARES = ("1/s",), ("us", "ms", "s"), ("ratio", "percent")
FIGURES: Mapping[str, tuple[str, ...]] = {
    "read_bytes_per_second": RATES,
    "written_bytes_per_second": RATES,
    "reads_per_second": REQUESTS,
    "writes_per_second": REQUESTS,
    "read_latency_seconds": TIMES,
    "write_latency_seconds": TIMES,
    "hit_ratio": SHARES,
    "saved_ratio": SHARES,
}
"""Figure of an interval to the units that it can have."""


class ColumnMap(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Columns of one figure; ``weights`` is the column of requests of each, by its groups (``\\\\1``)."""

    columns: Text
    unit: Text
    weights: Text | None = None


class ArrayMap(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A map; ``files`` is a pattern of the names of its files, ``volume`` of the column with their names.

    ``volume_in_name`` finds the volume in the name of a file, by its first group.  ``interval_seconds`` is
    the interval of rows; without it the time from the row before.
    """

    preset: Text | None = None
    array: Text = "array"
    files: Text = "*.csv"
    layout: Layout = "columns"
    separator: Annotated[str, Meta(min_length=1, max_length=1)] = ","
    timezone: Text = "UTC"
    time: Text = "time"
    volume: Text | None = None
    volume_in_name: Text | None = None
    named: Text | None = None
    value: Text | None = None
    interval_seconds: Annotated[float, Meta(gt=0, le=86400)] | None = None
    figures: dict[str, ColumnMap] = {}
    roles: dict[str, Text] = {}


def checked(held: ArrayMap, where: str) -> ArrayMap:
    """The map, or :class:`~mawl.errors.InvalidFileError` with the key that is wrong."""
    for key, problem in _problems(held):
        raise InvalidFileError(f"key {key}: {problem}", where=where)
    return held


def _problems(held: ArrayMap) -> Iterator[tuple[str, str]]:
    patterns = {f"roles.{role}": pattern for role, pattern in held.roles.items()}
    patterns |= {"time": held.time, "volume": held.volume or "", "volume_in_name": held.volume_in_name or ""}
    for role in held.roles:
        if role not in ROLES:
            yield f"roles.{role}", f"no such role; one of {', '.join(ROLES)}"
    for name, column in held.figures.items():
        patterns[f"figures.{name}.columns"] = column.columns
        allowed = FIGURES.get(name)
        if allowed is None:
            yield f"figures.{name}", f"no such figure; one of {', '.join(FIGURES)}"
        elif column.unit not in allowed:
            yield f"figures.{name}.unit", f"{column.unit} is not one of {', '.join(allowed)}"
    for key, pattern in patterns.items():
        try:
            re.compile(pattern)
        except re.error as error:
            yield key, f"not a regular expression: {error}"
    if held.layout == "columns" and not held.figures:
        yield "figures", "no figure is mapped"
    if held.layout == "names" and not (held.named and held.value):
        yield "named", "rows that name their figure need the columns named and value"


class ArrayColumns:
    """A map applied to the heading of one table."""

    def __init__(self, held: ArrayMap, heading: Sequence[str]) -> None:
        """``heading`` has the names of the columns in their order."""
        self._names = [name.strip() for name in heading]
        self.time = self._only(held.time)
        self.volume = self._only(held.volume) if held.volume else None
        self._held = held
        self._places = {name: self._of(column) for name, column in held.figures.items()}
        self._drop_partial()

    @property
    def found(self) -> list[str]:
        """Figures that the table has."""
        return [name for name, places in self._places.items() if places]

    def _drop_partial(self) -> None:
        """Drop figures that lack some kinds of requests, so that a part never passes for the sum.

        The kinds of reads are all those that any figure of reads has (``Read Hit Large - IOps``,
        ``Read Miss - Throughput``); those of writes likewise.
        """
        for way in ("read", "writ"):
            kinds = {
                name: {self._names[place].rpartition(" - ")[0].lower() for place, _ in places}
                for name, places in self._places.items()
                if name.startswith(way) and places
            }
            if any(len(held) > 1 for held in kinds.values()):
                every = set[str]().union(*kinds.values())
                for name, held in kinds.items():
                    if held != every:
                        self._places[name] = []

    def _only(self, pattern: str) -> int | None:
        fits = [place for place, name in enumerate(self._names) if fits_whole(pattern, name)]
        return fits[0] if len(fits) == 1 else None

    def _of(self, column: ColumnMap) -> list[tuple[int, int | None]]:
        places: list[tuple[int, int | None]] = []
        for place, name in enumerate(self._names):
            match = re.fullmatch(column.columns, name, re.IGNORECASE)
            if match is None:
                continue
            weight = match.expand(column.weights) if column.weights else None
            at = [other for other, text in enumerate(self._names) if text == weight]
            if weight is None or len(at) == 1:
                places.append((place, at[0] if weight is not None else None))
        return places

    def figures(self, row: Sequence[str]) -> dict[str, float | None]:
        """Each figure of a row in base units; None where one of its columns has no number."""
        return {name: self._figure(name, places, row) for name, places in self._places.items() if places}

    def _figure(self, name: str, places: list[tuple[int, int | None]], row: Sequence[str]) -> float | None:
        values = [number(row[place]) for place, _ in places]
        weights = [1.0 if at is None else number(row[at]) for _, at in places]
        factor = UNITS[self._held.figures[name].unit]
        known = [
            (value, weight)
            for value, weight in zip(values, weights, strict=True)
            if None not in (value, weight)
        ]
        if len(known) < len(places):
            return None
        total = sum(weight or 0.0 for _, weight in known)
        weighted = sum((value or 0.0) * (weight or 0.0) for value, weight in known)
        if places[0][1] is None:
            return weighted * factor
        return weighted / total * factor if total else None


def fits_whole(pattern: str, name: str) -> bool:
    """Whether a pattern matches a whole name, in any case."""
    return re.fullmatch(pattern, name, re.IGNORECASE) is not None


_NUMBER = re.compile(r"\s*(-?[0-9]{1,18}(?:\.[0-9]{1,12})?(?:[eE][+-]?[0-9]{1,2})?)\s*")


def number(text: str) -> float | None:
    """A number as machines write it; None for a word, a decimal comma, a negative one."""
    match = _NUMBER.fullmatch(text)
    value = float(match[1]) if match else None
    return value if value is not None and 0 <= value <= 1e15 else None
