"""Recordings of hosts as tables with a map: those of dool, pmrep, perfmon, Prometheus and others.

A preset is a map (``map_presets``); a user's map (``--array-map``) is read alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from mawl.base.errors import InvalidFileError
from mawl.importers.clock import Clocks, parse_zones
from mawl.importers.formats.table_map import (
    IDLE,
    LATENCIES,
    Meaning,
    TableColumns,
    TableMap,
    checked,
    fits_whole,
)
from mawl.importers.formats.tables import (
    MOST_DOCUMENT_BYTES,
    MOST_NAMED_COLUMNS,
    HeadFacts,
    Row,
    RowClock,
    Series,
    document_series,
    series_rows,
    table_rows,
    unknown_table,
    unsummed,
)
from mawl.importers.formats.text import byte_chunks, text_of, whole_of
from mawl.importers.hosts import Cores
from mawl.importers.interface import Context, HostFigures, Importer, Item
from mawl.importers.nmon_snapshot import name_of
from mawl.importers.recording import Recording, whole_lines
from mawl.records.model.run import NodeFacts
from mawl.records.spec import toml

PRESETS = Path(__file__).with_name("map_presets")
BITS = 8.0
LONGER_RATIO = 1.5
"""A gap beyond this many usual intervals has lost rows: a rate is of the last interval alone."""


_name_of = lru_cache(maxsize=65536)(name_of)
"""Names come again in every row."""


def presets() -> list[str]:
    """Names of the shipped presets."""
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def array_presets() -> list[str]:
    """Those of storage arrays."""
    return [name for name in presets() if preset(name).of == "array"]


@cache
def preset(name: str) -> TableMap:
    return toml.converted(_shipped(name), TableMap, where=name)


def _shipped(name: str) -> dict[str, Any]:
    return toml.load(PRESETS / f"{name}.toml", dict[str, Any])


def load_map(path: Path) -> TableMap:
    """A user's map with what its preset says; ``InvalidFileError`` names the key."""
    own = toml.load(path, dict[str, Any])
    name = own.get("preset")
    if name is None:
        return checked(toml.converted(own, TableMap, where=str(path)), str(path))
    if name not in presets():
        raise InvalidFileError(f"key preset: {name!r} is not one of {', '.join(presets())}", where=str(path))
    shipped = _shipped(name)
    for table in ("figures", "roles", "head", "lines", "words"):
        if isinstance(own.get(table, {}), dict):
            own[table] = {**shipped.get(table, {}), **own.get(table, {})}
    return checked(toml.converted({**shipped, **own}, TableMap, where=str(path)), str(path))


Key = tuple[str, str]
"""A figure and its item, empty of a host."""


class Moment(NamedTuple):
    """The figures of a node at one time, in base units: by figure and item."""

    node: str
    at: float
    seconds: float | None
    """The interval, where the row says it."""
    figures: dict[Key, float | None]


class HostTables:
    """Files of one map."""

    def __init__(self, kind: str, held: TableMap) -> None:
        self.kind, self.title, self.map = kind, held.title, held
        self._head = re.compile(held.recognise) if held.recognise else None

    def recognises(self, first: bytes, name: str) -> float:  # noqa: ARG002
        return 0.95 if self._head is not None and self._head.search(text_of(first)) else 0.0

    def read(self, stream: BinaryIO, context: Context) -> Iterator[Item]:
        """Samples in the order of their times, then the nodes."""
        reading = _Reading(self.map, context)
        chunks = byte_chunks(stream)
        if self.map.layout == "series":
            yield from _document(self.map, whole_of(chunks, MOST_DOCUMENT_BYTES), reading, context)
        else:
            lines = whole_lines(stream, context.skip)
            rows = table_rows(self.map, lines, reading.head, lambda line, why: context.skip(line, why))
            yield from reading.items(rows, self.map.interval_seconds)
        yield from reading.end()


def _document(
    held: TableMap, content: bytearray | None, reading: _Reading, context: Context
) -> Iterator[Item]:
    if content is None:
        context.skip(None, f"longer than {MOST_DOCUMENT_BYTES} bytes: ask for a shorter time")
        return
    try:
        series = document_series(content)
    except ValueError as error:
        context.skip(None, f"cannot be read: {error}")
        return
    for name in unsummed(series) if held.stamps == "begin" else ():
        context.skip(
            None, f"{name}: its label does not end with Sum, so that its values may be means: left out"
        )
    rows, step = series_rows(held, series)
    own = [_step(one) if held.stamps == "begin" else None for one in series]
    for one, gap in zip(series, own, strict=True):
        if gap is not None and gap != step:
            context.skip(
                None, f"{one.name}: its points are {gap:g} s apart, those of others {step:g} s: left out"
            )
    if any(gap not in (None, step) for gap in own):
        alike = [one for one, gap in zip(series, own, strict=True) if gap in (None, step)]
        rows, step = series_rows(held, alike)
    yield from reading.items(rows, held.interval_seconds or (step if held.stamps == "begin" else None))


def _step(series: Series) -> float | None:
    gaps = [later - earlier for earlier, later in zip(series.times, series.times[1:], strict=False)]
    return min((abs(gap) for gap in gaps if gap), default=None)


class _Reading:
    """What one file says so far."""

    def __init__(self, held: TableMap, context: Context) -> None:
        self._map, self._context = held, context
        self.head = HeadFacts(held.head)
        self._clock = RowClock(held, self.head)
        self._to_utc: Callable[[float], float] | None = None
        if held.timezone is not None:
            self._to_utc = Clocks(parse_zones([f"x={held.timezone}"], ("x",))).to_utc("x")
        self._nodes: dict[str, _Node] = {}
        self._rows = 0
        self._begun: dict[int, TableColumns] = {}
        """Headings whose first row went by."""
        self._raw = self._busy_alone = False

    def items(self, rows: Iterator[Row], seconds: float | None) -> Iterator[Item]:
        for moment in _apart(self._moments(rows), seconds, begin=self._map.stamps == "begin"):
            own = self._nodes.setdefault(moment.node, _Node(moment.node, self._map, self._context.cores))
            if own.cpus is None and (cpus := self.head.found.get("cpus")):
                own.cpus = int(cpus)
            yield from own.interval(moment, seconds or self.head.interval)

    def _moments(self, rows: Iterator[Row]) -> Iterator[Moment]:
        """Rows of one node and time together."""
        held: Moment | None = None
        for row in rows:
            for one in self._of(row):
                if held is None or (held.node, held.at) != (one.node, one.at):
                    if held is not None:
                        yield held
                    held = one
                    continue
                for key, value in one.figures.items():
                    held.figures[key] = value if held.figures.get(key, value) == value else None
        if held is not None:
            yield held

    def _of(self, row: Row) -> Iterator[Moment]:
        columns, cells = row.columns, row.cells
        at = self._time(row)
        if at is None:
            return
        self._context.blocks += 1
        told = cells[columns.node].strip() if columns.node is not None else None
        item = _name_of(cells[columns.item]) if columns.item is not None else ""
        if item and self._map.ignored is not None and fits_whole(self._map.ignored, item):
            return
        seconds = columns.number(cells[columns.interval]) if columns.interval is not None else None
        fallback = told or self.head.found.get("node")
        figures: dict[str, dict[Key, float | None]] = {}
        for node, figure, own, value in self._values(row, self._is_first(columns)):
            meaning = self._map.meanings[figure]
            if figure == "cpu_busy":
                self._busy_alone = True
                continue
            part = "" if meaning.of == "host" else own or item or "all"
            found = figures.setdefault(self._node(node or fallback), {})
            found[figure, part] = (
                None if value is None else _in_base(value, meaning, self._map.figures[figure].unit)
            )
        for node, number in columns.cpus.items():
            figures.setdefault(self._node(node or fallback), {})["cpus", ""] = float(number)
        for node, own_figures in figures.items():
            yield Moment(node, at, seconds, own_figures)

    def _node(self, name: str | None) -> str:
        return self._context.node_of(_name_of(name) if name else None)

    def _is_first(self, columns: TableColumns) -> bool:
        new = id(columns) not in self._begun
        self._begun[id(columns)] = columns
        return new and self._map.first_row is not None

    def _values(self, row: Row, first: bool) -> Iterator[tuple[str | None, str, str, float | None]]:
        """Node, figure, item and value of each figure of a row."""
        columns, cells = row.columns, row.cells
        if columns.named is not None:
            one = columns.named_figure(self._map, cells)
            if one is not None:
                yield None, one[0], _name_of(one[1] or ""), one[2]
            return
        for place in columns.places:
            value = columns.value(place, cells)
            meaning, figure = self._map.meanings[place.figure], self._map.figures[place.figure]
            if value is not None and figure.in_bits and self.head.in_bits:
                value /= BITS
            if first and value is not None and (figure.kind or meaning.kind) != "gauge":
                if self._map.first_row == "no rates":
                    self._raw = True
                value = None
            if not self._raw or (figure.kind or meaning.kind) == "gauge":
                yield place.node, place.figure, _name_of(place.item or ""), value

    def _time(self, row: Row) -> float | None:
        """Seconds since the epoch; None, with the reason, for a row without a time."""
        columns, cells = row.columns, row.cells
        self._rows += 1
        if columns.time is None:
            untimed = self._context.untimed
            if untimed is None:
                if self._rows == 1:
                    self._context.skip(
                        row.line,
                        f"no column {self._map.time}: record with times, or say --start and --interval",
                    )
                return None
            at, ahead = untimed.at(self._rows - 1), untimed.ahead
        else:
            text = cells[columns.time].strip()
            if columns.clock is not None:
                text += f" {cells[columns.clock].strip()}"
            found = self._clock.moment(text)
            if found is None:
                self._context.skip(row.line, f"no time: {text[:40]}")
                return None
            at, ahead = found
        if ahead is None:
            ahead = self.head.ahead
        if ahead is not None:
            return self._context.absolute(at - ahead)
        return self._to_utc(at) if self._to_utc is not None else self._context.local(at)

    def _knows_any(self) -> bool:
        return any(columns.places or columns.named is not None for columns in self._begun.values())

    def end(self) -> Iterator[NodeFacts]:
        if not self._context.blocks:
            self._context.skip(None, "no row with a time was found")
        if self._context.blocks and not self._knows_any():
            names = [name for columns in self._begun.values() for name in columns.names][:MOST_NAMED_COLUMNS]
            self._context.skip(
                None,
                f"no column of {self._map.title} that mawl reads, such as {', '.join(names)[:300]}: "
                "a map can name them (--array-map)",
            )
        if self._raw:
            self._context.skip(None, "its first row has rates: these are raw counters (-r); record rates")
        if self._busy_alone and not any(node.has_shares for node in self._nodes.values()):
            self._context.skip(None, "says how busy the processors were, and not their user and system time")
        for name, node in sorted(self._nodes.items()):
            yield NodeFacts(name=name, logical_cpus=node.cpus or self._context.cores.known(name))


def _in_base(value: float, meaning: Meaning, unit: str) -> float:
    scaled = value * meaning.units[unit]
    return max(1.0 + scaled, 0.0) if unit in IDLE else scaled


def _apart(moments: Iterator[Moment], seconds: float | None, *, begin: bool) -> Iterator[Moment]:
    """Moments at the end of their interval; where times are its beginning, the next one tells how long."""
    if not begin:
        yield from moments
        return
    last: dict[str, tuple[Moment, float | None]] = {}
    for moment in moments:
        if moment.node in last:
            before, usual = last[moment.node]
            gap = moment.at - before.at
            length = seconds or min(gap, usual or gap)
            yield before._replace(at=before.at + length, seconds=before.seconds or length)
            last[moment.node] = moment, length
        else:
            last[moment.node] = moment, seconds
    for moment, usual in last.values():
        if usual:
            yield moment._replace(at=moment.at + usual, seconds=moment.seconds or usual)


class _Node:
    """The recording of one node."""

    def __init__(self, name: str, held: TableMap, cores: Cores) -> None:
        self.name, self._map, self._cores = name, held, cores
        self._recording = Recording(name)
        self._at: float | None = None
        self._usual: float | None = None
        self._counted: dict[Key, float] = {}
        self._devices: set[str] = set()
        """Series of devices so far, and since when any of them is known."""
        self._began: float | None = None
        self.cpus: int | None = None
        self.has_shares = False

    def interval(self, moment: Moment, seconds: float | None) -> Iterator[HostFigures]:
        gap = None if self._at is None else moment.at - self._at
        if gap is not None and gap <= 0:
            return
        if gap is not None:
            self._usual = gap if self._usual is None else min(gap, self._usual)
        length = moment.seconds or seconds
        if length is None and gap is not None:
            length = gap if gap <= LONGER_RATIO * (self._usual or gap) else self._usual
        since = None if length is None else moment.at - length
        if since is not None and self._at is not None and since < self._at:
            since = self._at
        number = moment.figures.get(("cpus", ""))
        self.cpus = int(number) if number else self.cpus
        grown, means, gauges = self._sorted(moment, gap, length)
        if grown:
            yield from self._recording.interval(self._at, moment.at, self._series(grown), {})
        rates = self._series(means)
        if self._map.absent == "idle" and since is not None:
            yield from self._come(since, rates)
            rates = dict.fromkeys(self._devices, 0.0) | rates if self._devices & rates.keys() else rates
        yield from self._recording.interval(since, moment.at, rates, gauges)
        self._at = moment.at

    def _come(self, since: float, rates: Mapping[str, float]) -> Iterator[HostFigures]:
        """Devices that were not there before moved nothing since the first of them was."""
        new = {name for name in rates if name.startswith("device.")} - self._devices
        if new and self._began is not None and self._began < since:
            yield from self._recording.interval(self._began, since, dict.fromkeys(new, 0.0), {})
        if new and self._began is None:
            self._began = since
        self._devices |= new

    def _sorted(
        self, moment: Moment, gap: float | None, length: float | None
    ) -> tuple[dict[Key, float], dict[Key, float], dict[str, float]]:
        """Rates of what grew since the time before, rates of the interval, and gauges by series."""
        grown: dict[Key, float] = {}
        means: dict[Key, float] = {}
        gauges: dict[str, float] = {}
        counted: dict[Key, float] = {}
        for key, value in moment.figures.items():
            if value is None or key[0] == "cpus":
                continue
            meaning, figure = self._map.meanings[key[0]], self._map.figures[key[0]]
            kind = figure.kind or meaning.kind
            if kind == "gauge":
                gauges[_name(meaning, key)] = value
            elif kind == "counter":
                counted[key] = value
                before = self._counted.get(key)
                if before is not None and gap and value >= before:
                    grown[key] = (value - before) / gap
            elif kind == "interval":
                if length:
                    means[key] = value / length
            else:
                means[key] = value
        self._counted = counted
        return grown, means, gauges

    def _series(self, rates: Mapping[Key, float]) -> dict[str, float]:
        found: dict[str, float] = {}
        for key, rate in rates.items():
            meaning, figure = self._map.meanings[key[0]], self._map.figures[key[0]]
            name = _name(meaning, key)
            if key[0] in LATENCIES:
                requests = _requests(rates, key)
                if requests is not None:
                    found[name] = rate * requests
            elif key[0].startswith("cpu_") and figure.unit in ("ratio", "percent"):
                self.has_shares = True
                found[name] = rate * self._cores.of(self.name, self.cpus)
            elif key[0].startswith("cpu_") and self.cpus is not None:
                found[name] = rate * self._cores.of(self.name, self.cpus) / self.cpus
            else:
                found[name] = rate
        return found


def _requests(rates: Mapping[Key, float], key: Key) -> float | None:
    figure = f"{LATENCIES[key[0]]}_per_second"
    return rates.get((figure, key[1]))


def _name(meaning: Meaning, key: Key) -> str:
    return meaning.series if meaning.of == "host" else f"{meaning.of}.{key[1]}.{meaning.series}"


EVERY: tuple[Importer, ...] = tuple(
    HostTables(name, held) for name in presets() if (held := preset(name)).of == "host"
)


def table_reason(first: bytes) -> str | None:
    """What to do about a table that begins so and is of no known kind; None for all other files."""
    names = unknown_table(first)
    if not names:
        return None
    more = f" and {len(names) - MOST_NAMED_COLUMNS} more" if len(names) > MOST_NAMED_COLUMNS else ""
    return (
        f"a table that mawl does not know, with the columns {', '.join(names[:MOST_NAMED_COLUMNS])}{more}: "
        "write a map that says what they are (--array-map; mawl help import)"
    )


def prometheus_query() -> str:
    """The query whose answer is read."""
    return (PRESETS / "prometheus.promql").read_text("utf-8")
