"""Text of ``sar``, live or from its files, and of ``mpstat``, which has the same layout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from mawl.formats.dates import SECONDS_PER_DAY, time_of_day
from mawl.formats.sysstat import Banner, Report, SysstatDoubt, banner_of, figures_of, number, unsure

ITEMS = ("CPU", "DEV", "IFACE", "FCHOST")
"""Headings of tables with a line per item that are read; other tables with items are left alone."""

OTHER_ITEMS = ("INTR", "TTY", "BUS", "FILESYSTEM", "FAN", "TEMP", "IN", "MOUNTPOINT", "NODE", "BAT")


def read_reports(
    lines: Iterable[tuple[int, str]], wanted: Callable[[tuple[str, ...]], bool]
) -> Iterator[Report | SysstatDoubt]:
    """The reports of whole lines (number from 1, text), of tables whose columns are ``wanted``.

    A header's time is where the first interval below it begins.  Averages are not intervals.
    """
    reader = _SarReader(wanted)
    for line_number, line in lines:
        yield from reader.line(line_number, line)


class _SarReader:
    """The tables of one file; each has its own course of time, since ``sar -f`` prints one after another."""

    def __init__(self, wanted: Callable[[tuple[str, ...]], bool]) -> None:
        self._wanted = wanted
        self._banner: Banner | None = None
        self._begin()

    def _begin(self) -> None:
        self._columns: tuple[str, ...] | None = None
        self._reads = False
        self._latest: dict[tuple[str, ...], float] = {}
        self._since: dict[tuple[str, ...], float | None] = {}
        self._known: set[tuple[str, ...]] = set()

    def line(self, number_of: int, line: str) -> Iterator[Report | SysstatDoubt]:
        """One line."""
        banner = banner_of(line)
        if banner is not None:
            yield from self._banner_line(number_of, banner, line)
            return
        words = line.split()
        if not words:
            return
        clock, rest = _clock(words)
        if clock is None:
            if not (words[0].endswith(":") or (len(words) > 1 and words[1] == ":")):  # no average
                yield SysstatDoubt(number_of, "a line without a time", line)
                self._known.discard(self._columns or ())  # where the next interval begins is lost with it
                if all(number(word) is None for word in words):
                    self._columns = None  # a heading, perhaps
        elif "RESTART" in rest[:3]:
            self._restart(rest)
        elif rest[:1] == ["COM"] or not rest:
            return
        elif all(number(word) is None for word in rest):
            self._header(tuple(rest), clock)
        elif self._columns is None:
            yield SysstatDoubt(number_of, "figures before the heading of their table", line)
        elif self._reads:
            yield from self._row(number_of, clock, rest, line)

    def _banner_line(self, number_of: int, banner: Banner, line: str) -> Iterator[SysstatDoubt]:
        self._banner = banner
        self._begin()
        if banner.midnight is None:
            yield SysstatDoubt(number_of, "the date of this recording cannot be read: it is left out", line)
        elif not banner.sure:
            yield unsure(number_of, line.partition(")")[2].strip())

    def _header(self, columns: tuple[str, ...], clock: float) -> None:
        self._columns = columns
        self._reads = self._wanted(columns) and columns[0] not in OTHER_ITEMS
        at = self._instant(columns, clock)
        if at is not None and columns not in self._known:
            self._latest[columns] = at
            self._known.add(columns)

    def _restart(self, rest: list[str]) -> None:
        """The machine went down: nothing is known of the time until the next heading."""
        self._known.clear()
        self._columns = None
        count = rest[-2].strip("(") if len(rest) > 1 else ""
        if self._banner is not None and count.isdecimal() and len(count) < 6:
            self._banner = self._banner._replace(cpus=int(count))

    def _instant(self, columns: tuple[str, ...], clock: float) -> float | None:
        """A time of day on its day: the banner's, or those after it where the clock begins again."""
        if self._banner is None or self._banner.midnight is None:
            return None
        at = self._banner.midnight + clock
        latest = self._latest.get(columns)
        while latest is not None and at < latest - SECONDS_PER_DAY / 2:
            at += SECONDS_PER_DAY
        return at

    def _row(
        self, number_of: int, clock: float, rest: list[str], line: str
    ) -> Iterator[Report | SysstatDoubt]:
        columns = self._columns or ()
        at = self._instant(columns, clock)
        if at is None:
            if self._banner is None:
                yield SysstatDoubt(number_of, "no line above gives the date", line)
            return
        latest = self._latest.get(columns)
        if latest is not None and at < latest:
            yield SysstatDoubt(number_of, "the clock went back: the line is left out", line)
            return
        if at != latest:
            self._since[columns] = latest if columns in self._known else None
            self._known.add(columns)
            self._latest[columns] = at
        if len(rest) != len(columns):
            yield SysstatDoubt(number_of, f"{len(rest)} figures, where the heading has {len(columns)}", line)
            return
        item = columns[0] in ITEMS
        values = figures_of(columns[item:], rest[item:])
        if values is None:
            yield SysstatDoubt(number_of, "a line with a figure that is no number", line)
            return
        since = self._since.get(columns)
        kind, name = (columns[0], rest[0]) if item else ("", "")
        yield Report(number_of, self._banner, at, None, since, kind, name, values)


def _clock(words: list[str]) -> tuple[float | None, list[str]]:
    """The time at the start of a line, on a clock of 24 or 12 hours, and the words after it."""
    if len(words) > 1 and words[1].upper() in ("AM", "PM"):
        return time_of_day(f"{words[0]} {words[1]}"), words[2:]
    return time_of_day(words[0]), words[1:]
