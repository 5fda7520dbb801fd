"""The clocks of foreign files: zones and shifts that a user names, and the order of day and month in logs.

Where no zone is named, the overlap of jobs and host recordings shows whether their clocks agree.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec

from mawl.base.errors import UsageError
from mawl.base.foreign import open_regular
from mawl.base.units import counted_noun
from mawl.importers.formats.host_tables import number
from mawl.importers.formats.saslog_records import DateOrder, orders_shown
from mawl.importers.formats.sysstat_reports import Untimed
from mawl.importers.formats.text import byte_chunks, encoding_of, moment
from mawl.importers.recording import ChunkStream
from mawl.importers.sources import FileStream, find_files

_OFFSET = re.compile(r"([+-])([0-9]{2}):?([0-9]{2})")
QUARTER_SECONDS = 900
"""How long one offset of a zone is used: clocks change where a quarter of an hour begins.

Since 1990 four zones changed a minute later: St. John's until 2011, Gaza and Hebron in 2011, Casey in 2022
(tz database 2026).  Their times from there to the next quarter are an hour or more off.
"""
HALF_HOUR = 1800.0
MOST_HALF_HOURS = 28
"""Zones differ by at most 26 hours; two recordings of one shop by at most 14."""
ODD_ZONES_HOURS = (2.5, 3.5, 4.5, 5.5, 6.5, 9.5, 10.5)
"""How far zones of half hours lie from UTC (tz database 2024, summer time with them)."""
ENOUGH_OVERLAP_RATIO = 0.5
WHOLE_OVERLAP_RATIO = 0.95

Span = tuple[float, float]


class Clocks(msgspec.Struct, frozen=True):
    """``zones`` by kind of file (``""`` for all others), ``shifts`` in seconds by kind or node."""

    zones: Mapping[str, tzinfo] = {}
    shifts: Mapping[str, float] = {}

    def zone_of(self, kind: str) -> tzinfo | None:
        """The zone of a kind's wall clocks; None where the user named none."""
        return self.zones.get(kind, self.zones.get(""))

    def to_utc(self, kind: str) -> Callable[[float], float]:
        """From seconds of a wall clock to seconds since the epoch; UTC is taken where no zone was named.

        An hour that a clock showed twice is taken as the first of the two.
        """
        zone, shift = self.zone_of(kind), self.shifts.get(kind, 0.0)
        quarters: dict[float, float] = {}

        def converted(seconds: float) -> float:
            if zone is None:
                return seconds + shift
            quarter = seconds // QUARTER_SECONDS
            offset = quarters.get(quarter)
            if offset is None:
                if len(quarters) > 100_000:
                    quarters.clear()
                moment = datetime.fromtimestamp(quarter * QUARTER_SECONDS, UTC).replace(tzinfo=zone)
                offset = (moment.utcoffset() or timedelta()).total_seconds()
                quarters[quarter] = offset
            return seconds - offset + shift

        return converted

    def shift_of_node(self, node: str) -> float:
        """What ``--shift NODE=SECONDS`` adds to a recording of that node."""
        return self.shifts.get(node, 0.0)


def parse_zones(given: Sequence[str], kinds: Sequence[str]) -> dict[str, tzinfo]:
    """``[KIND=]Area/City`` or ``[KIND=]+HH:MM``; ``UsageError`` for anything else."""
    zones: dict[str, tzinfo] = {}
    for text in given:
        kind, separator, name = text.rpartition("=")
        if separator and kind not in kinds:
            raise UsageError(
                f"--timezone {text}: no kind of file is named {kind!r}; kinds: {', '.join(kinds)}"
            )
        zones[kind] = _zone(name)
    return zones


def _zone(name: str) -> tzinfo:
    if match := _OFFSET.fullmatch(name):
        minutes = int(match[2]) * 60 + int(match[3])
        if minutes <= 14 * 60:
            return timezone(timedelta(minutes=minutes if match[1] == "+" else -minutes))
    elif name in ("UTC", "Z"):
        return UTC
    elif re.fullmatch(r"[A-Za-z]\w*(?:/[\w+-]+){0,2}", name):
        try:
            return ZoneInfo(name)
        except (KeyError, OSError, ValueError):
            pass
    raise UsageError(
        f"--timezone {name}: expected a zone that this machine knows, such as Europe/Berlin, or +01:00"
    )


def parse_shifts(given: Sequence[str]) -> dict[str, float]:
    """``NAME=SECONDS``, NAME a node or a kind of file."""
    shifts = {}
    for text in given:
        name, separator, seconds = text.rpartition("=")
        if not (name and separator and re.fullmatch(r"[+-]?[0-9]{1,10}(?:\.[0-9]{1,6})?", seconds)):
            raise UsageError(f"--shift {text}: expected NODE=SECONDS, such as db1=3600 or saslog=-7200")
        shifts[name] = float(seconds)
    return shifts


def parse_untimed(start: str | None, interval: str | None) -> Untimed | None:
    """``--start TIME`` and ``--interval SECONDS`` for recordings without times; None without either.

    An interval alone is for recordings of which only some reports have a time.
    """
    if interval is None:
        if start is None:
            return None
        raise UsageError("--start and --interval go together: a recording without times needs both")
    when = (None, None) if start is None else moment(start)
    if when is None:
        raise UsageError(
            f"--start {start}: expected a time such as 2026-11-21T20:44:30, with or without +01:00"
        )
    seconds = number(interval)
    if not seconds:
        raise UsageError(f"--interval {interval}: expected the seconds between two reports, such as 10")
    return Untimed(when[0], when[1], seconds)


def overlap_ratio(jobs: Span, host: Span) -> float:
    """The share of the jobs' span that the host's covers; 1 for a span of no length inside it."""
    length = jobs[1] - jobs[0]
    shared = min(jobs[1], host[1]) - max(jobs[0], host[0])
    return float(shared >= 0) if length <= 0 else max(shared, 0.0) / length


def zone_difference(jobs: Span, host: Span) -> float | None:
    """The seconds, a difference of zones, by which the jobs must move to lie within the host's recording.

    None where they lie there already to a half, or where no such move brings them in.  Zones differ by
    whole hours, and from UTC some by ``ODD_ZONES_HOURS``; any other half hour would be chance, which
    brings short jobs into most recordings.  Of several the smallest: two recordings of one afternoon,
    not of two days.
    """
    if overlap_ratio(jobs, host) >= ENOUGH_OVERLAP_RATIO:
        return None
    for count in range(1, MOST_HALF_HOURS + 1):
        if count % 2 and count / 2 not in ODD_ZONES_HOURS:
            continue
        for move in (count * HALF_HOUR, -count * HALF_HOUR):
            if overlap_ratio((jobs[0] + move, jobs[1] + move), host) >= WHOLE_OVERLAP_RATIO:
                return move
    return None


LOOK_BYTES = 256 * 1024
"""How much of the beginning and of the end of a log is looked at."""

OWN_MARK = b"in the layout of a SAS log"
"""In the first lines of mawl's own logs."""
MARK_BYTES = 4096


def is_own(first: bytes) -> bool:
    """Whether a file begins as mawl's own logs do."""
    return OWN_MARK in first[:MARK_BYTES]


class DateOrders:
    """The order of each log by what it shows; one that shows none, or both, has the order of all others.

    Where some of these show the one and some the other, or none shows any, it has the month first.
    """

    def __init__(self, paths: Sequence[str], asked: DateOrder | None) -> None:
        """With an order that the user ``asked`` for no log is looked at."""
        self._shown: dict[Path, DateOrder] = {}
        self._mixed = 0
        if asked is not None:
            self._others: DateOrder = asked
            return
        for path, _ in find_files(list(paths), lambda *_: None):
            shown = _looked_at(path)
            self._mixed += len(shown) > 1
            if len(shown) == 1:
                self._shown[path] = shown.pop()
        orders = set(self._shown.values())
        self._others = orders.pop() if len(orders) == 1 else "month-first"

    def of(self, path: Path, first: bytes) -> DateOrder:
        """The order of a log that begins so; mawl's own logs have the month first."""
        if is_own(first):
            return "month-first"
        return self._shown.get(path, self._others)

    @property
    def remarks(self) -> list[str]:
        """That logs have the day first, and what was taken for those whose dates read both ways."""
        counts = Counter(self._shown.values())
        if not counts["day-first"]:
            return []
        return [
            f"timestamps with the day first in {counted_noun(counts['day-first'], 'log')}, with the month "
            f"first in {counts['month-first']}; dates that read both ways are taken {self._others} (--dates)"
        ]

    @property
    def warnings(self) -> list[str]:
        if not self._mixed:
            return []
        return [
            f"timestamps in both orders of day and month in {counted_noun(self._mixed, 'log')}, taken "
            f"{self._others} (--dates)"
        ]


def _looked_at(path: Path) -> set[DateOrder]:
    """The orders that the beginning and the end of a file show.

    mawl's own logs, and files that cannot be read, show no order.
    """
    with contextlib.suppress(OSError), FileStream(path, lambda _: None) as source:
        first = source.first(LOOK_BYTES)
        if is_own(first):
            return set()
        wide = "16" in encoding_of(first)
        parts = [b"".join(byte_chunks(ChunkStream(first, iter(())))) if wide else first]  # type: ignore[arg-type]
        if source.is_plain and not wide and source.size_bytes > LOOK_BYTES:
            parts.append(_end_of(path, source.size_bytes))
        return set().union(*map(orders_shown, parts))
    return set()


def _end_of(path: Path, size_bytes: int) -> bytes:
    with open_regular(path) as file:
        file.seek(max(size_bytes - LOOK_BYTES, 0), os.SEEK_SET)
        return file.read(LOOK_BYTES)
