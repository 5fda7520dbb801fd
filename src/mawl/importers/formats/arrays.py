"""Statistics of storage arrays as administrators export them (rows of text, or counters in XML), to records.

A map, made of a preset and the user's file, says which columns hold which figure.  A regular expression must
match the whole name of a column, in any case.  Several columns that it matches are added up; latencies are
weighted by the requests of their own column (``weights``).

Sources: IBM XIV, XCLI reference: statistics_get (latencies in microseconds, throughput in KB/s, by hit and
miss and by size of the request); IBM Spectrum Virtualize, Starting statistics collection (volumes, Nv_stats:
``ro`` and ``wo`` operations, ``rb`` and ``wb`` blocks of 512 bytes, ``rl`` and ``wl`` milliseconds, all
counters since the node started) and lssystemstats; IBM Spectrum Control, Exporting performance data.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple
from xml.etree import ElementTree

import msgspec
from msgspec import Meta

from mawl.base.errors import InvalidFileError
from mawl.importers.formats.text import moment

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
    """The map, or ``InvalidFileError`` with the key that is wrong."""
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
        self._names = [name.strip() for name in heading]
        self.time = self._only(held.time)
        self.volume = self._only(held.volume) if held.volume else None
        self._held = held
        self._places = {name: self._of(column) for name, column in held.figures.items()}
        self._drop_partial()

    @property
    def found(self) -> list[str]:
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


BLOCK_BYTES = 512
LONGEST_INTERVAL_SECONDS = 86400.0
_TIGHT = re.compile(r"([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})")

Skip = Callable[[int, str], None]
"""Called for each row that is left out, with its number from 1 and the reason."""


class ArrayRow(NamedTuple):
    """Figures of a volume at a moment of the array's wall clock (seconds as if it were UTC).

    ``ahead`` is how far its zone is ahead of UTC, None where the row does not say.  If ``counters`` is true,
    the figures are counters of one ``node`` that only grow: two rows make an interval.
    """

    at: float
    ahead: float | None
    volume: str
    figures: dict[str, float | None]
    node: str = ""
    counters: bool = False


def rows(held: ArrayMap, name: str, text: str, skip: Skip) -> Iterator[ArrayRow]:
    """What a file says, row by row."""
    if held.layout == "counters":
        yield from _counters(text, skip)
        return
    reader = csv.reader(text.splitlines(), delimiter=held.separator, skipinitialspace=True)
    columns: ArrayColumns | None = None
    found = re.search(held.volume_in_name, name) if held.volume_in_name else None
    volume = found[1] if found and found.groups() and found[1] else ""
    heading: Sequence[str] = ()
    for place, row in enumerate(_safe(reader, skip), 1):
        if any(fits_whole(held.time, one.strip()) for one in row):
            columns, heading = ArrayColumns(held, row), row
        elif columns is None or columns.time is None:
            continue
        elif len(row) != len(heading):
            skip(place, f"{len(row)} columns, expected {len(heading)}")
        else:
            yield from _row(held, columns, heading, row, volume, lambda why, place=place: skip(place, why))  # type: ignore[misc]
    if columns is None:
        skip(1, f"no heading with a column {held.time}")


def _safe(reader: Iterator[list[str]], skip: Skip) -> Iterator[list[str]]:
    """The rows; a row that is no CSV ends them."""
    place = 0
    while True:
        place += 1
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            skip(place, f"no row of CSV: {error}")
            return


def _row(
    held: ArrayMap, columns: ArrayColumns, heading: Sequence[str], row: Sequence[str], volume: str,
    skip: Callable[[str], None],
) -> Iterator[ArrayRow]:  # fmt: skip
    assert columns.time is not None
    when = _moment(row[columns.time].strip())
    if when is None:
        skip(f"no time: {row[columns.time][:40]}")
        return
    named = row[columns.volume].strip() if columns.volume is not None else volume
    if held.layout == "names":
        figures = _named(held, heading, row)
        if figures:
            yield ArrayRow(*when, named, figures)
        return
    figures = columns.figures(row)
    if any(value is not None for value in figures.values()):
        yield ArrayRow(*when, named, figures)
    else:
        skip("no number in the columns of the map")


def _named(held: ArrayMap, heading: Sequence[str], row: Sequence[str]) -> dict[str, float | None]:
    cells = {title.strip().lower(): cell.strip() for title, cell in zip(heading, row, strict=True)}
    name, value = cells.get(str(held.named).lower(), ""), number(cells.get(str(held.value).lower(), ""))
    found: dict[str, float | None] = {}
    for figure, column in held.figures.items():
        if fits_whole(column.columns, name):
            found[figure] = None if value is None else value * UNITS[column.unit]
    return found


def _moment(text: str) -> tuple[float, float | None] | None:
    """A point in time; None for an ambiguous day (``03/04/15``)."""
    match = _TIGHT.fullmatch(text)
    if match:
        text = "20{}-{}-{} {}:{}:{}".format(*match.groups())
    found = moment(text)
    return (found[0], found[1]) if found and found[2] else None


_STAMP = re.compile(r"GMT([+-])([0-9]{1,2}):([0-9]{2})")
_COUNTED = {
    "ro": ("reads_per_second", 1.0),
    "wo": ("writes_per_second", 1.0),
    "rb": ("read_bytes_per_second", float(BLOCK_BYTES)),
    "wb": ("written_bytes_per_second", float(BLOCK_BYTES)),
    "rl": ("read_latency_seconds", 1e-3),
    "wl": ("write_latency_seconds", 1e-3),
}
"""Counter of a volume to the figure that its growth makes, and base units of one."""


_UNITS = {"sizeUnits": "512B", "timeUnits": "msec"}
"""Units of the counters; files of older versions do not name them."""


def _counters(text: str, skip: Skip) -> Iterator[ArrayRow]:
    """A file of Spectrum Virtualize: the counters of each volume at its time."""
    if "<!" in text.replace("<!--", ""):
        skip(1, "XML with declarations of types or entities is not read")
        return
    try:
        root = ElementTree.fromstring(text.encode())
    except (ElementTree.ParseError, ValueError) as error:
        skip(1, f"no XML: {error}")
        return
    for name, unit in _UNITS.items():
        if root.get(name, unit).lower() != unit.lower():
            skip(1, f"counts in {root.get(name)}, expected {unit}")
            return
    zone = _STAMP.fullmatch(root.get("timezone", ""))
    when = moment(root.get("timestamp", ""))
    if when is None:
        skip(1, "no timestamp")
        return
    ahead = None if zone is None else int(f"{zone[1]}1") * (int(zone[2]) * 3600.0 + int(zone[3]) * 60.0)
    for element in root.iter():
        volume = element.get("id")
        if element.tag.rpartition("}")[2] != "vdsk" or not volume:
            continue
        counts = {key: number(element.get(key, "")) for key in _COUNTED}
        figures = {
            _COUNTED[key][0]: None if count is None else count * _COUNTED[key][1]
            for key, count in counts.items()
        }
        yield ArrayRow(when[0], ahead, volume, figures, node=root.get("id", ""), counters=True)
