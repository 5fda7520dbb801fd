"""The map of a table: which columns hold which figure of volumes at an array, or of a host and its devices.

A map is made of a preset and the user's file.  A regular expression must match the whole name of a column,
in any case; its group ``item`` is the device, ``cpu`` the processor and ``node`` the host.  Several columns
that it matches for one item are added up; latencies are weighted by the requests of their own column
(``weights``).  An expression has numbers, names of columns (in backquotes, where they are no plain words),
and ``+ - * / ( )``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from mawl.base.errors import InvalidFileError

Text = Annotated[str, Meta(min_length=1, max_length=1000)]
Layout = Literal["columns", "names", "counters", "blocks", "lines", "series"]
"""``columns``: a column for each figure; ``names``: a row for each, named in it; ``counters``: XML of IBM;
``blocks``: columns under two rows of headings; ``lines``: the first word of a line says what its fields are;
``series``: JSON that has each figure with its times."""
Kind = Literal["rate", "counter", "interval", "gauge"]
"""A mean over the interval; what grows for ever; what went by in the interval; what holds at the moment."""

ROLES = ("data", "work", "util")
AMOUNTS: dict[str, float] = {
    "B": 1.0, "kB": 1e3, "KiB": 2.0**10, "MB": 1e6, "MiB": 2.0**20, "GB": 1e9, "GiB": 2.0**30,
    "sectors": 512.0,
}  # fmt: skip
TIMES: dict[str, float] = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
SHARES: dict[str, float] = {"ratio": 1.0, "percent": 0.01}
IDLE: dict[str, float] = {"percent-idle": -0.01}
"""What is left of 100 is the figure."""
COUNTS: dict[str, float] = {"1": 1.0}
RATES = {f"{name}/s": factor for name, factor in AMOUNTS.items()} | AMOUNTS
REQUESTS = {"1/s": 1.0} | COUNTS


class Meaning(NamedTuple):
    """What a figure of a map is: its units, the series that it makes, and its usual kind."""

    units: Mapping[str, float]
    series: str
    kind: Kind = "rate"
    of: Literal["volume", "device", "network", "host"] = "device"


_BOTH: Mapping[str, Meaning] = {
    "read_bytes_per_second": Meaning(RATES, "read_bytes"),
    "written_bytes_per_second": Meaning(RATES, "written_bytes"),
    "reads_per_second": Meaning(REQUESTS, "reads"),
    "writes_per_second": Meaning(REQUESTS, "writes"),
    "read_latency_seconds": Meaning(TIMES, "read_seconds"),
    "write_latency_seconds": Meaning(TIMES, "write_seconds"),
}
ARRAY_FIGURES: Mapping[str, Meaning] = {
    **_BOTH,
    "hit_ratio": Meaning(SHARES, "", of="volume"),
    "saved_ratio": Meaning(SHARES, "", of="volume"),
}
LATENCIES = {
    "read_latency_seconds": "reads",
    "write_latency_seconds": "writes",
    "latency_seconds": "requests",
}
"""Mean time of a request, to the series with their number: together they are the time of all."""
HOST_FIGURES: Mapping[str, Meaning] = {
    **_BOTH,
    "requests_per_second": Meaning(REQUESTS, "requests"),
    "latency_seconds": Meaning(TIMES, "request_seconds"),
    "read_seconds": Meaning(TIMES, "read_seconds", "counter"),
    "write_seconds": Meaning(TIMES, "write_seconds", "counter"),
    "busy_ratio": Meaning(SHARES | TIMES | IDLE, "busy_seconds"),
    "queue_length": Meaning(COUNTS | TIMES, "queue_seconds"),
    "in_flight": Meaning(COUNTS, "in_flight", "gauge"),
    **{
        f"{way}_bytes_per_second": Meaning(RATES, f"{way}_bytes", of="network")
        for way in ("received", "sent")
    },
    **{
        f"cpu_{kind}": Meaning(SHARES | TIMES, f"host.cpu_{kind}_seconds", of="host")
        for kind in ("user", "system", "iowait", "idle", "steal", "interrupt")
    },
    "cpu_busy": Meaning(SHARES, "", of="host"),
    "cpus": Meaning(COUNTS, "", "gauge", "host"),
    **{
        f"memory_{name}_bytes": Meaning(AMOUNTS, f"host.memory_{name}_bytes", "gauge", "host")
        for name in ("available", "free", "cached", "dirty")
    },
    "runnable": Meaning(COUNTS, "host.runnable", "gauge", "host"),
    "blocked_processes": Meaning(COUNTS, "host.blocked_processes", "gauge", "host"),
    "context_switches_per_second": Meaning(REQUESTS, "host.context_switches", of="host"),
    "major_faults_per_second": Meaning(REQUESTS, "host.major_faults", of="host"),
    **{
        f"{name}_bytes_per_second": Meaning(RATES, f"host.{name}_bytes", of="host")
        for name in ("page_ins", "page_outs", "swap_read", "swap_written")
    },
}
"""Figures that a map can name, of an array and of a host."""


class FigureMap(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Columns of one figure, or an expression; ``weights`` is the column of requests of each (``\\\\1``).

    ``value`` is the column of the value, where rows name their figure and it is not that of the map."""

    unit: Text
    columns: Text | None = None
    expression: Text | None = None
    weights: Text | None = None
    value: Text | None = None
    in_bits: bool = False
    kind: Kind | None = None


class Head(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Regular expressions with one group for what lines before the table say; ``minutes_west`` is of UTC.

    Where ``bits`` is found and ``bytes`` is not, figures that are ``in_bits`` have bits, not bytes.
    """

    node: Text | None = None
    cpus: Text | None = None
    zone: Text | None = None
    minutes_west: Text | None = None
    interval: Text | None = None
    bits: Text | None = None
    bytes: Text | None = None
    year: Text | None = None


class TableMap(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A map; ``files`` is a pattern of the names of its files, ``volume`` of the column with their names.

    ``of`` says whose figures they are.  ``volume_in_name`` finds the volume in the name of a file, by its
    first group.  ``interval_seconds`` is the interval of rows; without it the time from the row before.
    ``time`` may be two columns (``clock``: the time of day).  ``stamps``: whether a time is the end or the
    beginning of its interval.  ``totals`` are items that are the sum of others, and count only alone; rows of
    items that are ``ignored`` do not count.  ``first_row``: what is special about the first row of a table;
    ``absent``: what a device did that has no value while others have one.
    """

    preset: Text | None = None
    title: Text = "a table with a map"
    recognise: Text | None = None
    of: Literal["array", "host"] = "array"
    array: Text = "array"
    files: Text = "*.csv"
    layout: Layout = "columns"
    rows: Literal["separated", "json"] = "separated"
    separator: Annotated[str, Meta(min_length=1, max_length=6)] = ","
    decimal: Literal[".", ","] = "."
    timezone: Text | None = None
    time: Text = "time"
    clock: Text | None = None
    time_format: Text | None = None
    stamps: Literal["end", "begin"] = "end"
    interval: Text | None = None
    absent: Literal["unknown", "idle"] = "unknown"
    first_row: Literal["since boot", "no rates"] | None = None
    volume: Text | None = None
    device: Text | None = None
    node: Text | None = None
    volume_in_name: Text | None = None
    named: Text | None = None
    value: Text | None = None
    totals: Text | None = None
    ignored: Text | None = None
    interval_seconds: Annotated[float, Meta(gt=0, le=86400)] | None = None
    cpus: Text | None = None
    head: Head = Head()
    lines: dict[str, list[Text]] = {}
    words: dict[str, dict[str, list[Text]]] = {}
    lacks: list[Text] = []
    figures: dict[str, FigureMap] = {}
    roles: dict[str, Text] = {}

    @property
    def delimiter(self) -> str:
        return {"tab": "\t", "blanks": " "}.get(self.separator, self.separator)

    @property
    def meanings(self) -> Mapping[str, Meaning]:
        return ARRAY_FIGURES if self.of == "array" else HOST_FIGURES


def checked(held: TableMap, where: str) -> TableMap:
    """The map, or ``InvalidFileError`` with the key that is wrong."""
    for key, problem in _problems(held):
        raise InvalidFileError(f"key {key}: {problem}", where=where)
    return held


def _problems(held: TableMap) -> Iterator[tuple[str, str]]:
    for role in held.roles:
        if role not in ROLES:
            yield f"roles.{role}", f"no such role; one of {', '.join(ROLES)}"
    for name, figure in held.figures.items():
        yield from _figure_problems(held, name, figure)
    for key, pattern in _patterns(held).items():
        try:
            re.compile(pattern)
        except re.error as error:
            yield key, f"not a regular expression: {error}"
    if len(held.separator) > 1 and held.separator not in ("tab", "blanks", "any"):
        yield "separator", "expected one sign, tab, blanks or any"
    if held.layout != "counters" and not held.figures:
        yield "figures", "no figure is mapped"
    if held.layout == "names" and not (held.named and held.value):
        yield "named", "rows that name their figure need the columns named and value"


def _figure_problems(held: TableMap, name: str, figure: FigureMap) -> Iterator[tuple[str, str]]:
    meaning = held.meanings.get(name)
    if meaning is None:
        yield f"figures.{name}", f"no such figure; one of {', '.join(held.meanings)}"
    elif figure.unit not in meaning.units:
        yield f"figures.{name}.unit", f"{figure.unit} is not one of {', '.join(meaning.units)}"
    if (figure.columns is None) == (figure.expression is None):
        yield f"figures.{name}", "expected either columns or an expression"
    if held.of == "array" and figure.kind not in (None, "rate"):
        yield f"figures.{name}.kind", 'figures of an array are rates; of = "host" has the other kinds'
    if figure.expression is not None:
        try:
            parse(figure.expression)
        except ValueError as error:
            yield f"figures.{name}.expression", str(error)


def _patterns(held: TableMap) -> dict[str, str]:
    keys = ("time", "clock", "interval", "volume", "device", "node", "volume_in_name", "totals", "ignored")
    return {
        **{f"roles.{role}": pattern for role, pattern in held.roles.items()},
        **{key: getattr(held, key) or "" for key in (*keys, "cpus", "named", "value", "recognise")},
        **{f"head.{key}": getattr(held.head, key) or "" for key in Head.__struct_fields__},
        **{f"figures.{name}.columns": figure.columns or "" for name, figure in held.figures.items()},
    }


_TOKEN = re.compile(r"\s*(?:([0-9]+(?:\.[0-9]+)?)|`([^`]{1,200})`|([A-Za-z_][\w.]{0,99})|([-+*/()]))\s*")
_SIGNS: Mapping[str, Callable[[float, float], float | None]] = {
    "+": lambda one, other: one + other,
    "-": lambda one, other: one - other,
    "*": lambda one, other: one * other,
    "/": lambda one, other: one / other if other else None,
}
_STRENGTH = {"+": 1, "-": 1, "*": 2, "/": 2}
MOST_TOKENS = 100

Steps = tuple[float | str, ...]
"""An expression in the order of its computing: numbers, names of columns (``=name``) and signs."""


def parse(text: str) -> Steps:
    """An expression as steps; ValueError says what is wrong with it."""
    found: list[float | str] = []
    signs: list[str] = []
    at, operand_next, count = 0, True, 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        count += 1
        if token is None or count > MOST_TOKENS:
            raise ValueError(
                f"expected numbers, names of columns, + - * / and brackets, found {text[at:][:20]!r}"
            )
        at = token.end()
        number, quoted, word, sign = token.groups()
        if sign is None or sign == "(":
            if not operand_next:
                raise ValueError(f"expected + - * or / before {token[0].strip()!r}")
            if sign == "(":
                signs.append(sign)
                continue
            found.append(float(number) if number else f"={quoted or word}")
            operand_next = False
            continue
        if operand_next:
            raise ValueError(f"expected a number or a column before {sign!r}")
        while signs and signs[-1] != "(" and (sign == ")" or _STRENGTH[signs[-1]] >= _STRENGTH[sign]):
            found.append(signs.pop())
        if sign == ")":
            if not signs:
                raise ValueError("a bracket is closed that was not opened")
            signs.pop()
        else:
            signs.append(sign)
            operand_next = True
    if operand_next or "(" in signs:
        raise ValueError("it ends too early")
    return (*found, *reversed(signs))


def computed(steps: Steps, column: Callable[[str], float | None]) -> float | None:
    """The value of an expression; None where a column has no number, or for a division by 0."""
    held: list[float | None] = []
    for step in steps:
        if isinstance(step, float):
            held.append(step)
        elif step.startswith("="):
            held.append(column(step[1:]))
        else:
            other, one = held.pop(), held.pop()
            held.append(None if one is None or other is None else _SIGNS[step](one, other))
    return held[0]


_NUMBER = re.compile(r"\s*(-?[0-9]{1,18}(?:\.[0-9]{0,40})?(?:[eE][+-]?[0-9]{1,2})?)\s*")


def number(text: str) -> float | None:
    """A number as machines write it; None for a word, a decimal comma, a negative one."""
    match = _NUMBER.fullmatch(text)
    value = float(match[1]) if match else None
    return value if value is not None and 0 <= value <= 1e15 else None


def fits_whole(pattern: str, name: str) -> bool:
    """Whether a pattern matches a whole name, in any case."""
    return re.fullmatch(pattern, name, re.IGNORECASE) is not None


class Place(NamedTuple):
    """Where a figure of an item stands: its columns with those of their weights, or an expression."""

    figure: str
    node: str | None
    item: str | None
    columns: tuple[tuple[int, int | None], ...]
    steps: Steps | None = None


class TableColumns:
    """A map applied to the heading of one table."""

    def __init__(self, held: TableMap, heading: Sequence[str]) -> None:
        self.names = [name.strip() for name in heading]
        self.width = len(self.names)
        self.time, self.clock, self.interval = (
            self._only(pattern) for pattern in (held.time, held.clock, held.interval)
        )
        self.item = self._only(held.volume or held.device)
        self.named = self._only(held.named)
        self.values = {
            name: self._only(figure.value or held.value)
            for name, figure in (held.figures.items() if held.named else ())
        }
        self.node = self._only(held.node)
        self._decimal = held.decimal
        self._by_name = {name: place for place, name in enumerate(self.names)}
        places = [place for name, figure in held.figures.items() for place in self._of(name, figure)]
        self.places = places if held.of == "host" else self._whole(places)
        if held.ignored is not None:
            ignored = held.ignored
            self.places = [one for one in self.places if not one.item or not fits_whole(ignored, one.item)]
        if held.totals is not None:
            self.places = _without_totals(self.places, held.totals)
        self.cpus = self._processors(held.cpus)
        """Processors by node, where columns of each of them are there."""

    def _only(self, pattern: str | None) -> int | None:
        fits = [place for place, name in enumerate(self.names) if pattern and fits_whole(pattern, name)]
        return fits[0] if len(fits) == 1 else None

    def _of(self, name: str, figure: FigureMap) -> Iterator[Place]:
        if self.named is not None:
            return
        if figure.expression is not None:
            steps = parse(figure.expression)
            if all(step[1:] in self._by_name for step in steps if isinstance(step, str) and step[0] == "="):
                yield Place(name, None, None, (), steps)
            return
        found: dict[tuple[str | None, str | None], list[tuple[int, int | None]]] = {}
        for place, title in enumerate(self.names):
            match = re.fullmatch(figure.columns or "", title, re.IGNORECASE)
            if match is None:
                continue
            groups = match.groupdict()
            weight = match.expand(figure.weights) if figure.weights else None
            at = [other for other, text in enumerate(self.names) if text == weight]
            if weight is None or len(at) == 1:
                own = found.setdefault((groups.get("node"), groups.get("item")), [])
                own.append((place, at[0] if weight is not None else None))
        for (node, item), columns in found.items():
            yield Place(name, node, item, tuple(columns))

    def _whole(self, places: list[Place]) -> list[Place]:
        """Figures that have all kinds of requests, so that a part never passes for the sum.

        The kinds of reads are all those that any figure of reads has (``Read Hit Large - IOps``,
        ``Read Miss - Throughput``); those of writes likewise.
        """
        dropped: set[str] = set()
        for way in ("read", "writ"):
            kinds = {
                one.figure: {self.names[place].rpartition(" - ")[0].lower() for place, _ in one.columns}
                for one in places
                if one.figure.startswith(way)
            }
            if any(len(held) > 1 for held in kinds.values()):
                every = set[str]().union(*kinds.values())
                dropped |= {name for name, held in kinds.items() if held != every}
        return [one for one in places if one.figure not in dropped]

    def _processors(self, pattern: str | None) -> dict[str | None, int]:
        found: dict[str | None, set[str]] = {}
        for name in self.names if pattern else ():
            match = re.fullmatch(pattern or "", name, re.IGNORECASE)
            if match is not None:
                groups = match.groupdict()
                found.setdefault(groups.get("node"), set()).add(groups["cpu"])
        return {node: len(numbers) for node, numbers in found.items()}

    def named_figure(self, held: TableMap, row: Sequence[str]) -> tuple[str, str | None, float | None] | None:
        """Figure, item and value of a row that names its figure."""
        name = row[self.named].strip() if self.named is not None else ""
        for figure, own in held.figures.items():
            match = re.fullmatch(own.columns or "", name, re.IGNORECASE)
            place = self.values.get(figure)
            if match is not None and place is not None:
                return figure, match.groupdict().get("item"), self.number(row[place])
        return None

    def number(self, cell: str) -> float | None:
        return number(cell.replace(",", ".") if self._decimal == "," else cell)

    def value(self, place: Place, row: Sequence[str]) -> float | None:
        """A figure of a row, in the unit of its columns; None where one of them has no number."""
        if place.steps is not None:
            return computed(place.steps, lambda name: self.number(row[self._by_name[name]]))
        values = [self.number(row[at]) for at, _ in place.columns]
        if all(weight is None for _, weight in place.columns):
            known = [value for value in values if value is not None]
            return sum(known) if len(known) == len(values) else None
        weights = [None if at is None else self.number(row[at]) for _, at in place.columns]
        pairs = [
            (value, weight)
            for value, weight in zip(values, weights, strict=True)
            if value is not None and weight is not None
        ]
        whole = sum(weight for _, weight in pairs)
        if len(pairs) < len(values) or not whole:
            return None
        return sum(value * weight for value, weight in pairs) / whole


def _without_totals(places: list[Place], totals: str) -> list[Place]:
    """Places without those of an item that is the sum of others, where others are there."""
    alone = {
        (one.figure, one.node) for one in places if one.item is not None and not fits_whole(totals, one.item)
    }
    return [
        one
        for one in places
        if one.item is None or not fits_whole(totals, one.item) or (one.figure, one.node) not in alone
    ]
