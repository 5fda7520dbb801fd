"""Reports of sysstat: their banner, numbers and intervals, and the JSON of sadf, iostat and mpstat.

The JSON (``sadf -j``, ``iostat -o JSON``, ``mpstat -o JSON``) is ``{"sysstat": {"hosts": [{...,
"statistics": [{...}, ...]}]}}``.  A recording of a day is one document; only one member of ``statistics`` is
held at once, and of a document that is cut short the whole members are read.

Sources: sysstat 12 (sar(1), sadf(1), iostat(1), mpstat(1)), vmstat(8).
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from mawl.base.foreign import json_tree
from mawl.importers.formats.host_tables import USED, Values, number, plain
from mawl.importers.formats.text import SECONDS_PER_DAY, day_of, moment, on_its_day, time_of_day, western

_BANNER = re.compile(r"Linux (\S+) \(([^)]{1,200})\)\s+(\S+)(?:\s+(_\S+_))?(?:\s+\((\d{1,5}) CPU\))?\s*")


class Banner(NamedTuple):
    """The first line: ``Linux RELEASE (HOST) DATE _ARCHITECTURE_ (N CPU)``.

    ``midnight`` is the date as a wall clock, None where it cannot be read; ``sure`` says that day and
    month are told apart.
    """

    release: str
    host: str
    midnight: float | None
    sure: bool
    architecture: str | None
    cpus: int | None


class Report(NamedTuple):
    """One line's figures of one interval, by the tool's own column names.

    ``at`` is a wall clock, ``ahead`` what its zone is ahead of UTC (None without a zone).  ``since`` is
    where the interval begins, None where that is not known.  ``kind`` is the heading of what the line
    is of (CPU, DEV, IFACE, FCHOST), empty for the machine; ``item`` its name.
    """

    line: int
    banner: Banner | None
    at: float
    ahead: float | None
    since: float | None
    kind: str
    item: str
    values: Values


class SysstatDoubt(NamedTuple):
    """A line that was left out or is doubtful, and why; None for the whole file."""

    line: int | None
    reason: str
    text: str = ""


class Untimed(NamedTuple):
    """When the reports of a recording without times were written, as its user says.

    ``start`` is the wall clock of the first report (None where the recording has times of some of them),
    ``ahead`` what its zone is ahead of UTC (None without a zone), ``interval_seconds`` how far reports lie
    apart.
    """

    start: float | None
    ahead: float | None
    interval_seconds: float

    def at(self, number: int) -> float:
        """The wall clock of a report, counted from 0."""
        return (self.start or 0.0) + number * self.interval_seconds

    @property
    def midnight(self) -> float | None:
        """The beginning of the first report's day, as a wall clock."""
        return None if self.start is None else self.start - self.start % SECONDS_PER_DAY


DATE_TAKEN = "the date "
NO_TIMES = "record them with {}, or import with --start TIME and --interval SECONDS"
"""What to do about reports that have no times, by the command that writes them."""


def banner_of(line: str) -> Banner | None:
    """The banner, if the line is one."""
    match = _BANNER.fullmatch(line.rstrip())
    if match is None:
        return None
    found = day_of(match[3])
    midnight, sure = found if found else (None, False)
    architecture = match[4].strip("_") if match[4] else None
    return Banner(match[1], match[2], midnight, sure, architecture, int(match[5]) if match[5] else None)


def unsure(line: int | None, text: str) -> SysstatDoubt:
    """Said once of a date whose order only the locale tells."""
    date = text.partition(" ")[0].partition("\t")[0]
    return SysstatDoubt(
        line, f"{DATE_TAKEN}{date!r} is taken as month/day/year, as in the C locale (--dates)"
    )


def swapped(at: float) -> float:
    """The wall clock with day and month of its date exchanged; both are below 13."""
    return datetime.fromtimestamp(at, UTC).replace(
        month=(day := datetime.fromtimestamp(at, UTC)).day, day=day.month
    ).timestamp()  # fmt: skip


MOST_NAMED, MOST_TABLES = 12, 200


def passed_over(rows: Counter[str]) -> Iterator[SysstatDoubt]:
    """Which tables with figures were passed over, by their names; nothing where none was."""
    if rows:
        some = [f"{name} ({count})" for name, count in rows.most_common(MOST_NAMED)]
        more = f" and {len(rows) - MOST_NAMED} more" if len(rows) > MOST_NAMED else ""
        reason = f"tables that mawl does not take over, with their rows: {', '.join(some)}{more}"
        yield SysstatDoubt(None, reason)


ReportTime = tuple[Banner | None, float, float | None, float | None]
"""The fields banner, at, ahead and since of a report."""


LARGEST_MEMBER = 4 * 2**20
"""Characters of one statistic, and of what stands above them of a host."""

DEEPEST = 40
"""Brackets within brackets; the tools need nine."""

Plain = dict[str, Any]

_STRUCTURE = re.compile(r'["{}\[\]]')
_STRING_END = re.compile(r'["\\]')
_OPENING = re.compile(r'"statistics"\s*:\s*\Z')


class Statistic:
    """A member of ``statistics``, with what its host says above it."""

    def __init__(self, host: Plain, values: Plain) -> None:
        self.host, self.values = host, values


def statistics(chunks: Iterable[bytes]) -> Iterator[Statistic | SysstatDoubt]:
    """The members of every host's ``statistics``, in order; what is none is told."""
    scanner = _Scanner()
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    for chunk in chunks:
        yield from scanner.text(decoder.decode(chunk))
        if scanner.given_up:
            yield SysstatDoubt(
                None, "the document is not as any of the tools writes it: the rest is left out"
            )
            return
    if scanner.inside:
        yield SysstatDoubt(None, "the document ends within a statistic, which is left out")


class _Scanner:
    """Finds the members by their brackets alone; a string's brackets are none."""

    def __init__(self) -> None:
        self._text = ""
        self._at = 0
        self._in_string = False
        self._depth = 0
        self._array_depth: int | None = None
        self._start = 0
        self._host: Plain = {}
        self.given_up = False

    @property
    def inside(self) -> bool:
        return self._array_depth is not None and self._depth > self._array_depth

    def text(self, text: str) -> Iterator[Statistic | SysstatDoubt]:
        self._text += text
        while not self.given_up:
            if self._in_string:
                if not self._string():
                    break
                continue
            match = _STRUCTURE.search(self._text, self._at)
            if match is None:
                self._at = len(self._text)
                break
            self._at = match.end()
            yield from self._bracket(match.group(), match.start())
        if self._array_depth is not None and not self.inside:
            self._start = self._at
        self._text, self._at, self._start = self._text[self._start :], self._at - self._start, 0
        self.given_up = self.given_up or len(self._text) > LARGEST_MEMBER

    def _string(self) -> bool:
        match = _STRING_END.search(self._text, self._at)
        if match is None:
            self._at = len(self._text)
            return False
        if match.group() == '"':
            self._in_string = False
            self._at = match.end()
            return True
        if match.end() == len(self._text):
            self._at = match.start()
            return False
        self._at = match.end() + 1
        return True

    def _bracket(self, bracket: str, place: int) -> Iterator[Statistic | SysstatDoubt]:
        if bracket == '"':
            self._in_string = True
        elif bracket in "{[":
            if self._array_depth is None:
                if bracket == "[" and _OPENING.search(self._text, max(place - 80, self._start), place):
                    self._host = _members(self._text[self._start : place] + "null}")
                    self._array_depth = self._depth + 1
                elif bracket == "{":
                    self._start = place
            elif self._depth == self._array_depth:
                self._start = place
            self._depth += 1
            self.given_up = self._depth > DEEPEST
        else:
            self._depth -= 1
            if self._array_depth is not None:
                if self._depth == self._array_depth and bracket == "}":
                    yield self._member(self._text[self._start : self._at])
                    self._start = self._at
                elif self._depth < self._array_depth:
                    self._array_depth, self._start = None, self._at

    def _member(self, text: str) -> Statistic | SysstatDoubt:
        values = _members(text)
        if not values:
            return SysstatDoubt(None, "a statistic that is no JSON object is left out", text[:120])
        return Statistic(self._host, values)


def _members(text: str) -> Plain:
    """An object's members; none of what is no object."""
    try:
        found = json_tree(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def json_reports(chunks: Iterable[bytes], untimed: Untimed | None = None) -> Iterator[Report | SysstatDoubt]:
    """The reports of a document of any of the three tools; ``untimed`` is for one without times.

    sadf tells each interval; iostat's first is of the time since the machine started, mpstat's of a time
    that nobody knows.
    """
    latest: float | None = None
    before: float | None = None
    told = False
    host: Plain | None = None
    number_of = -1
    passed: Counter[str] = Counter()
    for found in statistics(chunks):
        number_of += 1
        if isinstance(found, SysstatDoubt):
            before = None
            yield found
            continue
        if found.host is not host:
            host, latest, before = found.host, None, None
        banner = _banner(found.host)
        when = _when(found.values.get("timestamp"), banner, latest)
        if (
            when is None
            and untimed is not None
            and untimed.start is not None
            and "timestamp" not in found.values
        ):
            when = untimed.at(number_of), untimed.ahead, True, None
        if when is None:
            before = None
            if not told:
                told = True
                yield SysstatDoubt(
                    None, f"statistics without a time are left out: {NO_TIMES.format('iostat -t')}"
                )
            continue
        at, ahead, sure, interval = when
        if not sure and not told:
            told = True
            yield unsure(None, str(found.host.get("date") or found.values.get("timestamp")))
        if latest is not None and at <= latest:
            yield SysstatDoubt(None, "the clock did not go on: a statistic is left out")
            continue
        since = before if interval is None else at - interval if interval > 0 else None
        latest = before = at
        for name, kind, item, values in _tables(found.values):
            if kind is not None and not USED[kind].isdisjoint(values):
                yield Report(0, banner, at, ahead, since, kind, item, values)
            elif name in passed or len(passed) < MOST_TABLES:
                passed[name] += 1
    yield from passed_over(passed)


def _banner(host: Plain) -> Banner:
    date = host.get("date") or host.get("file-date")
    found = day_of(western(date)) if isinstance(date, str) else None
    cpus = host.get("number-of-cpus")
    return Banner(
        str(host.get("release", "")),
        str(host.get("nodename", "")),
        found[0] if found else None,
        found[1] if found else False,
        str(host.get("machine", "")) or None,
        cpus if isinstance(cpus, int) and 0 < cpus < 100_000 else None,
    )


def _when(
    stamp: Any, banner: Banner, latest: float | None
) -> tuple[float, float | None, bool, float | None] | None:
    """Wall clock, zone, whether the day is sure, and the interval where it is told."""
    if isinstance(stamp, dict):
        found = moment(f"{stamp.get('date')} {stamp.get('time')}")
        interval = stamp.get("interval")
        if found is None or not isinstance(interval, int | float) or not interval <= 7 * 86400:
            return None
        return found[0], 0.0 if stamp.get("utc") == 1 else found[1], found[2], float(interval)
    if not isinstance(stamp, str):
        return None
    stamp = western(stamp)
    found = moment(stamp)
    if found is not None:
        return (*found, None)
    clock = time_of_day(stamp)
    if clock is None or banner.midnight is None:
        return None
    return on_its_day(banner.midnight, clock, latest), None, banner.sure, None


def _tables(values: Plain) -> Iterator[tuple[str, str | None, str, dict[str, float]]]:
    """Every object or list of objects, at any depth, as tables: name, kind of the text, item and figures.

    The kind is None of a list that is not read.
    """
    network = values.get("network")
    for name, part in {**values, **(network if isinstance(network, dict) else {})}.items():
        if name in ("timestamp", "network"):
            continue
        if name == "psi" and isinstance(part, dict):
            figures = {
                f"{kind[4:]}.{figure}": value
                for kind, own in part.items()
                if isinstance(own, dict)
                for figure, value in _figures(own).items()
            }
            yield name, "", "", figures
        elif isinstance(part, dict):
            kind, item = ("CPU", "all") if name == "avg-cpu" else ("", "")
            yield name, kind, item, _figures(part)
        elif isinstance(part, list):
            known, keys = _LISTS.get(name, (None, ()))
            for row in part:
                if isinstance(row, dict):
                    item = next((str(row[key]) for key in keys if key in row), "")
                    yield name, known, item, _figures(row)


_LISTS = {
    "cpu-load": ("CPU", ("cpu",)),
    "cpu-load-all": ("CPU", ("cpu",)),
    "disk": ("DEV", ("disk-device", "disk_device")),
    "net-dev": ("IFACE", ("iface",)),
    "net-edev": ("IFACE", ("iface",)),
    "fchosts": ("FCHOST", ("fchost",)),
}


def _figures(part: Plain) -> dict[str, float]:
    found = {}
    for name, value in part.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            figure = number(str(value))
            if figure is not None:
                found[plain(name)] = figure
    return found
