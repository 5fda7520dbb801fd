"""The rows of a table in any of the layouts of a map, one after another, with the columns that they have.

Sources of the layouts: dool's and dstat's ``--output``; atop(1), Parseable output; Prometheus, HTTP API,
Range queries; AWS, GetMetricData and GetMetricStatistics; Azure Monitor, Metrics - List.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import chain, pairwise
from typing import Any, NamedTuple
from unicodedata import combining, normalize

import numpy as np

from mawl.base.foreign import json_record
from mawl.importers.formats.table_map import Head, TableColumns, TableMap, fits_whole, number
from mawl.importers.formats.text import moment, one_line, text_of

Skip = Callable[[int, str], None]
"""Called for each row that is left out, with its number from 1 and the reason."""
Cells = Sequence[str]
MOST_DOCUMENT_BYTES = 256 * 2**20
MOST_DOCUMENT_PARTS = 20_000_000
MOST_COLUMNS = 20_000
LONGEST_INTERVAL_SECONDS = 86400.0
LEAST_COLUMNS = 3
MOST_HEAD_LINES = 200
SEPARATORS = (",", ";", "\t", " ")
HEAD_LINES = 50
FIRST_LINES_BYTES = 16384


class Row(NamedTuple):
    """A row under its heading; ``line`` from 1."""

    line: int
    columns: TableColumns
    cells: Cells


class HeadFacts:
    """What the lines before a table say of its host and clock."""

    def __init__(self, head: Head) -> None:
        named = {key: getattr(head, key) for key in Head.__struct_fields__}
        self._patterns = {key: re.compile(pattern) for key, pattern in named.items() if pattern}
        self.found: dict[str, str] = {}

    def look(self, cells: Cells) -> None:
        text = " ".join(cells) if cells and cells[0].startswith("#") else ",".join(cells)
        for key, pattern in self._patterns.items():
            match = pattern.search(text)
            if match is not None:
                self.found[key] = match[1]

    @property
    def in_bits(self) -> bool:
        return "bits" in self.found and "bytes" not in self.found

    @property
    def interval(self) -> float | None:
        found = self.found.get("interval")
        return float(found) if found and 0 < float(found) <= LONGEST_INTERVAL_SECONDS else None

    @property
    def ahead(self) -> float | None:
        """Seconds that the clock is ahead of UTC, where the head says so."""
        if west := self.found.get("minutes_west"):
            return -60.0 * float(west)
        zone = self.found.get("zone", "")
        if zone in ("UTC", "GMT", "Z"):
            return 0.0
        match = re.fullmatch(r"([+-])([0-9]{2}):?([0-9]{2})", zone)
        return float(f"{match[1]}{int(match[2]) * 3600 + int(match[3]) * 60}") if match else None


def table_rows(
    held: TableMap, lines: Iterable[tuple[int, str]], head: HeadFacts, skip: Skip
) -> Iterator[Row]:
    """Every row of figures in lines that have their number."""
    if held.rows == "json":
        yield from _json_rows(held, lines, skip)
    elif held.layout == "lines":
        yield from _labelled_rows(held, lines)
    else:
        yield from _separated_rows(held, lines, head, skip)


def _separated_rows(
    held: TableMap, lines: Iterable[tuple[int, str]], head: HeadFacts, skip: Skip
) -> Iterator[Row]:
    columns: TableColumns | None = None
    before: Cells = ()
    for line, row in _split(held, lines, skip):
        names = _heading(held, before, row)
        before = row
        if names is not None:
            head.look(row)
            columns = (
                TableColumns(held, translated(held.words, names)) if len(names) <= MOST_COLUMNS else None
            )
            if columns is None:
                skip(line, f"more than {MOST_COLUMNS} columns")
        elif columns is None or not any(row) or not _has_number(row):
            head.look(row)
        elif len(row) != columns.width:
            skip(line, f"{len(row)} columns, expected {columns.width}")
        else:
            yield Row(line, columns, row)
    if columns is None:
        skip(1, f"no heading with a column {held.time}")


def _split(held: TableMap, lines: Iterable[tuple[int, str]], skip: Skip) -> Iterator[tuple[int, Cells]]:
    """Cells of each line; a row that is no CSV ends them."""
    at = 0

    def texts() -> Iterator[str]:
        nonlocal at
        for line, text in lines:
            at = line
            yield text

    if held.separator == "any":
        delimiter, lines = _found_separator(held, lines)
    else:
        delimiter = held.delimiter
    if delimiter == " ":
        yield from ((line, text.split()) for line, text in lines)
        return
    reader = csv.reader(texts(), delimiter=delimiter, skipinitialspace=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            skip(at + 1, f"no row of CSV: {error}")
            return
        yield at, row


def _found_separator(
    held: TableMap, lines: Iterable[tuple[int, str]]
) -> tuple[str, Iterator[tuple[int, str]]]:
    """The separator under which a line is a heading, and all lines."""
    read: list[tuple[int, str]] = []
    every = iter(lines)
    for line in every:
        read.append(line)
        for sign in SEPARATORS:
            cells = line[1].split() if sign == " " else [one.strip(' "') for one in line[1].split(sign)]
            if len(cells) > 1 and any(fits_whole(held.time, cell) for cell in cells):
                return sign, chain(read, every)
        if len(read) >= MOST_HEAD_LINES:
            break
    return ",", chain(read, every)


def _heading(held: TableMap, before: Cells, row: Cells) -> list[str] | None:
    """The names of the columns, where a row is a heading (of two rows: the second of them)."""
    if held.layout != "blocks":
        return [*row] if any(fits_whole(held.time, one.strip()) for one in row) else None
    named = (before, row)
    if not all(_are_names(cells) for cells in named):
        return None
    names: list[str] = []
    group = ""
    for place, name in enumerate(row):
        group = (before[place] if place < len(before) else "") or group
        names.append(name if ":" in name else f"{group}:{name}")
    return names


def _are_names(cells: Cells) -> bool:
    """Whether most cells are words: interrupts are columns with a number for a name."""
    filled = [cell for cell in cells if cell]
    numbers = sum(number(cell) is not None for cell in filled)
    return bool(filled) and not cells[0].lower().endswith((":", "output")) and numbers * 2 < len(filled)


def _has_number(row: Cells) -> bool:
    return any(cell[:1].isdigit() or cell[:1] in ("-", ".") for cell in row if cell)


def _labelled_rows(held: TableMap, lines: Iterable[tuple[int, str]]) -> Iterator[Row]:
    """Lines whose first word names their fields; a sample of the time since boot is left out."""
    first = ("label", "node", "time", "date", "clock", "interval")
    since_boot = False

    @cache
    def columns(label: str) -> TableColumns:
        return TableColumns(held, [*first, *(f"{label}/{name}" for name in held.lines[label])])

    for line, text in lines:
        words = text.split()
        if words in (["RESET"], ["SEP"]):
            since_boot = words == ["RESET"]
        elif words and not since_boot and words[0] in held.lines:
            own = columns(words[0])
            cells = words[: own.width]
            yield Row(line, own, cells + [""] * (own.width - len(cells)))


def _json_rows(held: TableMap, lines: Iterable[tuple[int, str]], skip: Skip) -> Iterator[Row]:
    """Objects, one a line; an object in one of them has its names behind the other's and a point."""

    @cache
    def columns(names: tuple[str, ...]) -> TableColumns:
        return TableColumns(held, names)

    for line, text in lines:
        if not text.strip():
            continue
        try:
            plain = json_record(text, dict[str, Any])
        except ValueError as error:
            skip(line, f"no object of JSON: {error}")
            continue
        flat = dict(_flat("", plain))
        own = columns(tuple(flat))
        if own.time is None:
            skip(line, f"no member {held.time}")
        else:
            yield Row(line, own, [*flat.values()])


def _flat(prefix: str, plain: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in plain.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{name}.", value)
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            yield f"{prefix}{name}", str(value)


def folded(text: str) -> str:
    """A name in lower case without accents, in which tables of names of Windows are compared."""
    plain = "".join(sign for sign in normalize("NFKD", text) if not combining(sign))
    return plain.lower().replace("ı", "i").replace("ł", "l").replace("’", "'").strip()


_COUNTER = re.compile(r"\\\\([^\\]*)\\([^\\]*?)(\([^\\]*\))?\\([^\\]*)")


def translated(words: Mapping[str, Mapping[str, Sequence[str]]], names: Sequence[str]) -> list[str]:
    """Names of Windows counters in English; ``words`` has by object and counter what other languages call
    them, with the object's own names under ``object``."""
    if not words:
        return [*names]
    objects = {folded(other): name for name, own in words.items() for other in (name, *own.get("object", ()))}
    counters = {
        (name, folded(other)): english
        for name, own in words.items()
        for english, others in own.items()
        for other in (english, *others)
    }
    found = []
    for name in names:
        match = _COUNTER.fullmatch(name.strip())
        if match is not None and (thing := objects.get(folded(match[2]))) is not None:
            counter = counters.get((thing, folded(match[4])), match[4])
            name = rf"\\{match[1]}\{thing}{match[3] or ''}\{counter}"
        found.append(name)
    return found


_POSIX_ZONE = re.compile(r"(.{8,26}[0-9]) [A-Z]{2,5}([+-]?[0-9]{1,2})")


class RowClock:
    """Times of rows as a map has them: seconds of a wall clock, and how far it is ahead of UTC."""

    def __init__(self, held: TableMap, head: HeadFacts) -> None:
        self._format, self._head = held.time_format, head
        self._before = 0.0
        self._later_years = 0

    def moment(self, text: str) -> tuple[float, float | None] | None:
        """None for what is no time, or for an ambiguous day (``03/04/15``)."""
        if self._format is None:
            found = moment(text)
            return (found[0], found[1]) if found and found[2] else None
        if self._format in ("epoch", "epoch-ms"):
            try:
                return float(text) / (1000.0 if self._format == "epoch-ms" else 1.0), 0.0
            except ValueError:
                return None
        if re.fullmatch(r"[0-9]{9,11}(\.[0-9]+)?", text):
            return float(text), 0.0
        zone = _POSIX_ZONE.fullmatch(text)
        if zone is not None:  # pmrep -k; the sign of POSIX counts westwards
            found = moment(zone[1])
            return None if found is None else (found[0], -3600.0 * float(zone[2]))
        for form in self._format.split("|"):
            at = self._of_form(text, form)
            if at is not None:
                return at, self._head.ahead
        found = moment(text)
        return (found[0], found[1]) if found and found[2] else None

    def _of_form(self, text: str, form: str) -> float | None:
        year = self._head.found.get("year")
        whole = "%y" in form.lower()
        if not whole and year is None:
            return None
        try:
            at = datetime.strptime(text if whole else f"{year} {text}", form if whole else f"%Y {form}")
        except ValueError:
            return None
        if not whole:
            at = at.replace(year=at.year + self._later_years)
            if at.replace(tzinfo=UTC).timestamp() < self._before - 180 * 86400:  # the year ended meanwhile
                self._later_years += 1
                at = at.replace(year=at.year + 1)
        self._before = at.replace(tzinfo=UTC).timestamp()
        return self._before


Times = np.ndarray[Any, np.dtype[np.float64]]


class Series(NamedTuple):
    """One figure of a document with its times (seconds since the epoch, UTC), by the name of its column."""

    name: str
    times: Times
    values: Times


def document_series(content: bytes | bytearray) -> list[Series]:
    """The series of an answer of Prometheus, CloudWatch or Azure Monitor; ValueError for any other."""
    plain = json_record(
        content, dict[str, Any], most_bytes=MOST_DOCUMENT_BYTES, most_parts=MOST_DOCUMENT_PARTS
    )
    for key, read in (
        ("data", _of_prometheus),
        ("MetricDataResults", _of_metric_data),
        ("Datapoints", _of_statistics),
        ("value", _of_azure),
    ):
        if key in plain:
            try:
                return list(read(plain))
            except (KeyError, TypeError, AttributeError) as error:
                raise ValueError(f"{type(error).__name__} {error}") from None
    raise ValueError("no answer of Prometheus, CloudWatch or Azure Monitor")


def _series(name: str, points: Iterable[tuple[float | None, Any]]) -> Series:
    known = [(at, float("nan") if value is None else float(value)) for at, value in points if at is not None]
    times, values = zip(*known, strict=True) if known else ((), ())
    return Series(name, np.array(times, np.float64), np.array(values, np.float64))


def _of_prometheus(plain: Mapping[str, Any]) -> Iterator[Series]:
    if plain["data"]["resultType"] != "matrix":
        raise ValueError(f"a {plain['data']['resultType']}, not a range of times: ask query_range")
    for one in plain["data"]["result"]:
        labels = dict(one["metric"])
        name = labels.pop("__name__", "")
        words = ",".join(f'{key}="{value}"' for key, value in sorted(labels.items()))
        yield _series(f"{name}{{{words}}}", [(float(at), value) for at, value in one["values"]])


def _instant(text: Any) -> float | None:
    if isinstance(text, int | float):
        return float(text)
    found = moment(re.sub(r"\.[0-9]+", "", str(text)))
    return None if found is None else found[0] - (found[1] or 0.0)


def _of_metric_data(plain: Mapping[str, Any]) -> Iterator[Series]:
    for one in plain["MetricDataResults"]:
        points = zip(map(_instant, one["Timestamps"]), one["Values"], strict=True)
        yield _series(str(one.get("Label") or one.get("Id")), points)


def _of_statistics(plain: Mapping[str, Any]) -> Iterator[Series]:
    for statistic in ("Sum", "Average"):
        points = [
            (_instant(one["Timestamp"]), one[statistic]) for one in plain["Datapoints"] if statistic in one
        ]
        if points:
            yield _series(f"{plain.get('Label', '')} {statistic}", points)


def _of_azure(plain: Mapping[str, Any]) -> Iterator[Series]:
    for metric in plain["value"]:
        for line in metric["timeseries"]:
            parts = [f"{one['name']['value']} {one['value']}" for one in line.get("metadatavalues") or ()]
            owner = str(metric.get("id", "")).partition("/providers/Microsoft.Insights")[0]
            for statistic in ("total", "average"):
                points = [(_instant(one["timeStamp"]), one.get(statistic)) for one in line["data"]]
                if any(value is not None for _, value in points):
                    name = f"{owner.rpartition('/')[2]}/{metric['name']['value']}"
                    yield _series(f"{name}[{' '.join(parts)}] {statistic}", points)


_AMOUNT = re.compile(
    r"(?:\S+ )?((?:Volume|EBS|Data)(?:Read|Write)(?:Bytes|Ops|Operations)|Network(?:In|Out))"
)


def unsummed(series: Sequence[Series]) -> list[str]:
    """Series of CloudWatch whose name does not say that its values are sums."""
    return [one.name for one in series if _AMOUNT.fullmatch(one.name)]


def series_rows(held: TableMap, series: Sequence[Series]) -> tuple[Iterator[Row], float | None]:
    """Rows by time, a cell for each series; and the step: the shortest time between two points of one."""
    series = [one for one in series if len(one.times)]
    names = [one.name for one in series]
    own = TableColumns(held, [held.time, *names])
    times = np.unique(np.concatenate([one.times for one in series])) if series else np.empty(0)
    gaps = [gap for one in series for gap in np.diff(np.unique(one.times))[:1000].tolist() if gap > 0]
    wanted = {at - 1 for place in own.places for at, _ in place.columns}

    def rows() -> Iterator[Row]:
        orders = {at: np.argsort(series[at].times, kind="stable") for at in wanted}
        ordered = {at: (series[at].times[order], series[at].values[order]) for at, order in orders.items()}
        places = {at: np.searchsorted(found, times) for at, (found, _) in ordered.items()}
        for row, at in enumerate(times.tolist()):
            cells = [""] * (len(series) + 1)
            cells[0] = repr(at)
            for column, (found, values) in ordered.items():
                place = places[column][row]
                if place < len(found) and found[place] == at and values[place] == values[place]:
                    cells[column + 1] = repr(float(values[place]))
            yield Row(0, own, cells)

    return rows(), min(gaps, default=None)


MOST_NAMED_COLUMNS = 12


def unknown_table(first: bytes) -> list[str]:
    """The columns of a table that begins so: two lines of as many cells, the second with numbers."""
    lines = [line for line in text_of(first[:FIRST_LINES_BYTES]).splitlines() if line.strip()]
    for sign in SEPARATORS[:3]:
        rows = list(csv.reader(lines[:HEAD_LINES], delimiter=sign))
        for names, row in pairwise(rows):
            if len(row) == len(names) >= LEAST_COLUMNS and _has_number(row) and not _has_number(names[1:]):
                return [one_line(name)[:40] for name in names]
    return []
