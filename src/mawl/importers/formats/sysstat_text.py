"""Text of ``sar``, ``mpstat``, ``sadf -d``, ``iostat`` and ``vmstat -t``: lines to reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from mawl.importers.formats.sysstat_reports import (
    NO_TIMES,
    Banner,
    Report,
    SysstatDoubt,
    Untimed,
    banner_of,
    number,
    other_length,
    report_of,
    unsure,
)
from mawl.importers.formats.text import moment, on_its_day, time_of_day

OTHER_ITEMS = ("INTR", "TTY", "BUS", "FILESYSTEM", "FAN", "TEMP", "IN", "MOUNTPOINT", "NODE", "BAT")


def read_sar(
    lines: Iterable[tuple[int, str]], wanted: Callable[[tuple[str, ...]], bool]
) -> Iterator[Report | SysstatDoubt]:
    """The reports in lines (number from 1, text) of sar or mpstat, of tables whose columns are ``wanted``.

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

    def line(self, line_number: int, line: str) -> Iterator[Report | SysstatDoubt]:
        banner = banner_of(line)
        if banner is not None:
            yield from self._banner_line(line_number, banner, line)
            return
        words = line.split()
        if not words:
            return
        clock, rest = _clock(words)
        if clock is None:
            if not (words[0].endswith(":") or (len(words) > 1 and words[1] == ":")):  # no average
                yield SysstatDoubt(line_number, "a line without a time", line)
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
            yield SysstatDoubt(line_number, "figures before the heading of their table", line)
        elif self._reads:
            yield from self._row(line_number, clock, rest, line)

    def _banner_line(self, line_number: int, banner: Banner, line: str) -> Iterator[SysstatDoubt]:
        self._banner = banner
        self._begin()
        if banner.midnight is None:
            yield SysstatDoubt(line_number, "the date of this recording cannot be read: it is left out", line)
        elif not banner.sure:
            yield unsure(line_number, line.partition(")")[2].strip())

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
        return on_its_day(self._banner.midnight, clock, self._latest.get(columns))

    def _row(
        self, line_number: int, clock: float, rest: list[str], line: str
    ) -> Iterator[Report | SysstatDoubt]:
        columns = self._columns or ()
        at = self._instant(columns, clock)
        if at is None:
            if self._banner is None:
                yield SysstatDoubt(line_number, "no line above gives the date", line)
            return
        latest = self._latest.get(columns)
        if latest is not None and at < latest:
            yield SysstatDoubt(line_number, "the clock went back: the line is left out", line)
            return
        if at != latest:
            self._since[columns] = latest if columns in self._known else None
            self._known.add(columns)
            self._latest[columns] = at
        yield report_of(line_number, line, columns, rest, (self._banner, at, None, self._since.get(columns)))


def _clock(words: list[str]) -> tuple[float | None, list[str]]:
    """The time at the start of a line, on a clock of 24 or 12 hours, and the words after it."""
    if len(words) > 1 and words[1].upper() in ("AM", "PM"):
        return time_of_day(f"{words[0]} {words[1]}"), words[2:]
    return time_of_day(words[0]), words[1:]


SADF_HEADING = "# hostname;interval;timestamp"
LONGEST_INTERVAL_SECONDS = 7 * 86400.0


def read_sadf(
    lines: Iterable[tuple[int, str]], wanted: Callable[[tuple[str, ...]], bool]
) -> Iterator[Report | SysstatDoubt]:
    """The reports in lines (number from 1, text) of ``sadf -d``, of tables whose columns are ``wanted``.

    Each table has one heading; each line has the interval, and fields are separated by semicolons.
    """
    columns: tuple[str, ...] = ()
    reads = False
    for line_number, line in lines:
        fields = line.strip().split(";")
        if line.startswith("#"):
            columns = tuple(field.strip() for field in fields[3:])
            reads = line.startswith(SADF_HEADING) and wanted(columns) and columns[0] not in OTHER_ITEMS
        elif len(fields) >= 4 and "RESTART" in fields[3]:
            continue
        elif len(fields) < 4 or not columns:
            if line.strip():
                yield SysstatDoubt(line_number, "no line of sadf -d", line)
        elif reads:
            yield _sadf_report(line_number, columns, fields, line)


def _sadf_report(
    line_number: int, columns: tuple[str, ...], fields: list[str], line: str
) -> Report | SysstatDoubt:
    host, interval_text, time_text, *rest = fields
    if len(rest) != len(columns):
        return other_length(line_number, line, columns, rest)
    when, interval = _sadf_time(time_text), number(interval_text)
    if when is None or interval is None:
        return SysstatDoubt(line_number, "a line without an interval or a time", line)
    at, ahead = when
    since = at - interval if 0 < interval <= LONGEST_INTERVAL_SECONDS else None
    if columns[0] == "CPU" and rest[0] == "-1":
        rest[0] = "all"
    banner = Banner("", host, None, True, None, None)
    return report_of(line_number, line, columns, rest, (banner, at, ahead, since))


def _sadf_time(text: str) -> tuple[float, float | None] | None:
    """``2026-11-21 23:14:17 UTC``, or seconds since the epoch (``sadf -U``)."""
    if text.isdecimal():
        at = float(text[:18])
        return (at, 0.0) if 631152000.0 <= at < 4102444800.0 else None  # 1990 to 2099
    found = moment(text)
    return None if found is None else (found[0], found[1])


def read_vmstat(
    lines: Iterable[tuple[int, str]], untimed: Untimed | None = None
) -> Iterator[Report | SysstatDoubt]:
    """The reports in lines (number from 1, text) of ``vmstat -t``; the first is of the time since the start.

    ``untimed`` is for a recording without times.
    """
    columns: list[str] = []
    zone: str | None = None
    latest: float | None = None
    since: float | None = None
    told = False
    reports = 0
    for line_number, line in lines:
        words = line.split()
        if not words or words[0] == "procs" or words[0].startswith("-"):
            continue
        if words[:2] == ["r", "b"]:
            figures = [word for word in words if word.islower()]
            columns, zone = figures, words[-1] if len(words) > len(figures) else None
            continue
        reports += 1
        values = [number(word) for word in words[: len(columns)]]
        if not columns or None in values or len(values) < len(columns):
            yield SysstatDoubt(line_number, "no line of vmstat", line)
            since = None
            if len(words) != len(columns):
                untimed = None  # perhaps no report, and perhaps several
            continue
        when = moment(" ".join(words[len(columns) :]))
        if when is None and untimed is not None and len(words) == len(columns):
            when = untimed.at(reports - 1), untimed.ahead, True
        if when is None:
            since = None
            if not told:
                told = True
                yield SysstatDoubt(
                    line_number, f"the lines have no times: {NO_TIMES.format('vmstat -t')}", line
                )
            continue
        at = when[0]
        if latest is not None and at <= latest:
            yield SysstatDoubt(line_number, "the clock did not go on: the line is left out", line)
            continue
        found = {name: value for name, value in zip(columns, values, strict=True) if value is not None}
        yield Report(line_number, None, at, 0.0 if zone == "UTC" else when[1], since, "VM", "", found)
        latest = since = at


_TIME_PREFIX = "Time: "
"""Before the time of day in reports of sysstat up to 7 (RHEL 5), whose banner alone has the date."""

Moment = tuple[float, float | None, bool]


def read_iostat(
    lines: Iterable[tuple[int, str]], untimed: Untimed | None = None
) -> Iterator[Report | SysstatDoubt]:
    """The reports in lines (number from 1, text) of iostat; ``untimed`` is for a recording without times.

    The first of a recording is of the time since the machine started: its interval is not known here,
    and with ``iostat -y``, which leaves it out, the first interval's is not told either.
    """
    reader = _IostatReader(untimed)
    for line_number, line in lines:
        yield from reader.line(line_number, line.strip())


class _IostatReader:
    """What the lines above the current one say: banner, time, heading."""

    def __init__(self, untimed: Untimed | None) -> None:
        self._untimed = untimed
        self._reports = 0
        self._opens = ""
        """The heading that begins each report of a recording without times."""
        self._banner: Banner | None = None
        self._at: float | None = None
        self._ahead: float | None = None
        self._since: float | None = None
        self._columns: list[str] = []
        self._kind = ""
        self._told = False
        self._headings: set[str] = set()
        self._lost = False

    def line(self, line_number: int, line: str) -> Iterator[Report | SysstatDoubt]:
        if banner := banner_of(line):
            if self._reports:
                self._untimed = None  # another recording: --start was given for the first
            self._banner, self._at, self._since, self._kind = banner, None, None, ""
            self._headings.clear()
            return
        if (when := moment(line) or self._time_of_day(line)) is not None:
            self._untimed = None
            yield from self._time(line_number, when, line)
            return
        words = line.split()
        if not words:
            self._kind = "" if self._kind == "CPU" else self._kind
        elif words[0] == "avg-cpu:":
            yield from self._heading(line_number, "CPU", words[1:])
        elif words[0].rstrip(":") == "Device" or words[-1] == "Device":
            yield from self._heading(line_number, "DEV", words)
        elif self._kind:
            yield from self._row(line_number, words, line)
        else:
            yield SysstatDoubt(line_number, "figures before a heading", line)

    def _heading(self, line_number: int, kind: str, columns: list[str]) -> Iterator[SysstatDoubt]:
        """A heading; one that comes twice under one time is of a report whose time was lost."""
        self._kind, self._columns = kind, columns
        if self._untimed is not None:
            self._opens = self._opens or kind
            if kind == self._opens:
                self._begin(self._untimed.at(self._reports), self._untimed.ahead)
            if kind == self._opens or kind in self._headings:
                self._reports += 1
        if self._at is not None and (self._lost or kind in self._headings):
            if not self._lost:
                yield SysstatDoubt(line_number, "a report without a time is left out")
            self._lost, self._kind = True, "left out"
        self._headings.add(kind)

    def _time_of_day(self, line: str) -> Moment | None:
        """``Time: 20:44:30`` on the banner's day, or on one of the days after it."""
        seconds = time_of_day(line.removeprefix(_TIME_PREFIX)) if line.startswith(_TIME_PREFIX) else None
        if seconds is None or self._banner is None or self._banner.midnight is None:
            return None
        return on_its_day(self._banner.midnight, seconds, self._at), None, self._banner.sure

    def _time(self, line_number: int, when: Moment, line: str) -> Iterator[Report | SysstatDoubt]:
        at, ahead, sure = when
        if not sure and not self._told:
            self._told = True
            yield unsure(line_number, line)
        if self._at is not None and at <= self._at:
            yield SysstatDoubt(line_number, "the clock did not go on: the report is left out", line)
            self._kind = "left out"
            return
        self._begin(at, ahead)
        self._kind = ""

    def _begin(self, at: float, ahead: float | None) -> None:
        self._since, self._at, self._ahead = None if self._lost else self._at, at, ahead
        self._headings.clear()
        self._lost = False

    def _row(self, line_number: int, words: list[str], line: str) -> Iterator[Report | SysstatDoubt]:
        if self._kind == "left out":
            return
        if self._at is None:
            if not self._told:
                self._told = True
                yield SysstatDoubt(
                    line_number, f"the reports have no times: {NO_TIMES.format('iostat -t')}", line
                )
            return
        if len(words) != len(self._columns):
            yield other_length(line_number, line, self._columns, words)
            return
        columns, item = list(self._columns), "all"
        if self._kind == "DEV":
            place = next(at for at, column in enumerate(columns) if column.rstrip(":") == "Device")
            item = words.pop(place)
            del columns[place]
        time = (self._banner, self._at, self._ahead, self._since)
        yield report_of(line_number, line, (self._kind, *columns), (item, *words), time)
