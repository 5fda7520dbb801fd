"""Text of ``sar``, ``mpstat``, ``sadf -d``, ``iostat`` and ``vmstat``: lines to reports, by names of columns.

One reader has them all.  A heading says what its table is of and which column names the item
(``host_tables``).  The time of a row is before it (sar, mpstat), in fields of its own (sadf -d), on a line
above its table (iostat; vmstat below what date(1) prints) or behind it (vmstat -t).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from mawl.importers.formats.host_tables import HeadedTable, amount, number, vmstat_columns
from mawl.importers.formats.sysstat_reports import (
    MOST_TABLES,
    NO_TIMES,
    Banner,
    Report,
    ReportTime,
    SysstatDoubt,
    Untimed,
    banner_of,
    passed_over,
    swapped,
    unsure,
)
from mawl.importers.formats.text import moment, on_its_day, time_of_day, western, zone_ahead

Found = Iterator[Report | SysstatDoubt]
Moment = tuple[float, float | None, bool]

SADF_HEADING = "# hostname;interval;timestamp"
LONGEST_INTERVAL_SECONDS = 7 * 86400.0
EARLIEST_EPOCH, LATEST_EPOCH = 631152000.0, 4102444800.0
ONE_TIME = (
    "a line with a time is above several reports, of which only the first has it: say how far they lie apart "
    "(--interval SECONDS)"
)

_AVERAGE = re.compile(r"[^\d:：]{2,30}[:：](?:\s|$)")
"""``Average:``, ``Moyenne :``, ``平均時間：``: rows that are of no interval."""
_TIME_PREFIX = re.compile(r"[^\W\d]{3,10}[:：] ? ?(?=[0-9])")
"""Before the time of day in iostat of sysstat up to 7 (RHEL 5), whose banner alone has the date."""


class _Course:
    """How far the time of a table has come; its next interval begins there if ``known``."""

    def __init__(self) -> None:
        self.latest: float | None = None
        self.since: float | None = None
        self.known = False


def read_tables(
    lines: Iterable[tuple[int, str]], untimed: Untimed | None = None, *, day_first: bool = False
) -> Found:
    """The reports in lines (number from 1, text) of any of the tools.

    ``untimed`` says when reports without times were written; with ``day_first`` a date that could be read
    both ways has the day first.  Tables that are not read are named at the end.
    """
    reader = _Reader(untimed, day_first=day_first)
    for line_number, line in lines:
        yield from reader.line(line_number, line)
    yield from reader.end()


class _Reader:
    """What the lines above the current one say: banner, time, heading."""

    def __init__(self, untimed: Untimed | None, *, day_first: bool) -> None:
        self._untimed = untimed if untimed is not None and untimed.start is not None else None
        self._step = untimed.interval_seconds if untimed is not None else None
        self._day_first = day_first
        self._passed: Counter[str] = Counter()
        self._told: set[str] = set()
        self._reports = 0
        self._opens: tuple[str, ...] = ()
        """The heading that begins each report of a recording without times."""
        self._begin(None)

    def _begin(self, banner: Banner | None) -> None:
        self._banner = banner
        self._banner_line = (0, "")
        self._layout = ""
        """Where times are: ``row``, ``fields``, ``block`` or ``vmstat``; empty before any heading."""
        self._table: HeadedTable | None = None
        self._courses: dict[tuple[str, ...], _Course] = {}
        self._at: float | None = None
        self._ahead: float | None = None
        self._since: float | None = None
        self._headings: set[tuple[str, ...]] = set()
        self._lost = self._left_out = False
        self._rows = 0
        """Rows of vmstat since the time above them."""
        self._zone: float | None = None
        self._vmstat = _Course()

    def end(self) -> Found:
        """Which tables with figures were passed over."""
        yield from passed_over(self._passed)

    def line(self, line_number: int, line: str) -> Found:
        line = western(line)
        words = line.split()
        if not words:
            if self._layout == "block" and self._table is not None and self._table.place is None:
                self._table = None
            return
        if words[0] == "Linux" and (banner := banner_of(line)) is not None:
            self._new_banner(line_number, banner, line)
        elif self._layout == "fields" or line.startswith("# hostname;") or ";LINUX-RESTART" in line:
            yield from self._fields(line_number, line)
        elif self._layout == "vmstat" and words[0].isdecimal() and len(words) > 10:
            yield from self._vmstat_row(line_number, words, line)
        elif line[0].isdigit() and (clocked := _clocked(words)) is not None:
            yield from self._clocked_line(line_number, *clocked, line)
        elif (":" in line or len(words) == 1) and (when := self._moment(line)) is not None:
            yield from self._block(line_number, when, line)
        elif (table := self._heading(words, line)) is not None:
            yield from self._block_heading(line_number, table)
        else:
            yield from self._row(line_number, words, line)

    def _new_banner(self, line_number: int, banner: Banner, line: str) -> None:
        if self._reports:
            self._untimed = None  # another recording: --start was given for the first
        if not banner.sure and banner.midnight is not None and self._day_first:
            banner = banner._replace(midnight=swapped(banner.midnight), sure=True)
        self._begin(banner)
        self._banner_line = line_number, line

    def _doubted_date(self) -> Iterator[SysstatDoubt]:
        """What is wrong with the banner's date, once it is needed."""
        (line_number, line), self._banner_line = self._banner_line, (0, "")
        if self._banner is None or not line:
            return
        if self._banner.midnight is None:
            yield SysstatDoubt(line_number, "the date of this recording cannot be read: it is left out", line)
        elif not self._banner.sure:
            self._told.add("date")
            yield unsure(line_number, line.partition(")")[2].strip())

    def _report(
        self, line_number: int, words: list[str], line: str, time: ReportTime
    ) -> Report | SysstatDoubt:
        """The report of a row; a figure that is no number costs the line: sums would be wrong."""
        table = self._table
        assert table is not None
        if len(words) != len(table.columns):
            whole = table.aligned(line) if self._layout == "row" else None
            if whole is None:
                reason = f"{len(words)} figures, where the heading has {len(table.columns)}"
                return SysstatDoubt(line_number, reason, line)
            words = whole
        values = table.values(words)
        if values is None:
            return SysstatDoubt(line_number, "a line with a figure that is no number", line)
        item = "all" if table.place is None and table.kind == "CPU" else ""
        if table.place is not None:
            item = words[table.place]
        return Report(line_number, *time, table.kind, item, values)

    def _pass_over(self, table: HeadedTable) -> None:
        if table.title in self._passed or len(self._passed) < MOST_TABLES:
            self._passed[table.title] += 1

    # Rows that begin with their time: sar and mpstat.  Each table has its own course of time, since
    # ``sar -f`` prints one after another.  A heading's time is where the first interval below it begins.

    def _clocked_line(self, line_number: int, clock: float, rest: list[str], line: str) -> Found:
        if not rest or rest[0] == "COM":
            return
        if "RESTART" in rest[:3]:
            self._restart(rest)
        elif number(rest[-2:][0]) is None and all(amount(word) is None for word in rest):
            self._layout = "row"
            yield from self._doubted_date()
            table = self._table = HeadedTable(rest, line)
            table.skip(len(line.split()) - len(rest))
            at = self._instant(table.columns, clock)
            course = self._courses.setdefault(table.columns, _Course())
            if at is not None and not course.known:
                course.latest, course.known = at, True
        elif self._table is None or self._layout != "row":
            yield SysstatDoubt(line_number, "figures before the heading of their table", line)
        elif self._table.is_read:
            yield from self._clocked_row(line_number, clock, rest, line)
        else:
            self._pass_over(self._table)

    def _restart(self, rest: list[str]) -> None:
        """The machine went down: nothing is known of the time until the next heading."""
        for course in self._courses.values():
            course.known = False
        self._table = None
        count = rest[-2].strip("(") if len(rest) > 1 else ""
        if self._banner is not None and count.isdecimal() and len(count) < 6:
            self._banner = self._banner._replace(cpus=int(count))

    def _instant(self, columns: tuple[str, ...], clock: float) -> float | None:
        """A time of day on its day: the banner's, else that of ``--start``, or those after it where the clock
        begins again."""
        if clock >= EARLIEST_EPOCH:
            return clock
        midnight = self._banner.midnight if self._banner is not None else None
        if self._banner is None and self._untimed is not None:
            midnight = self._untimed.midnight
        if midnight is None:
            return None
        course = self._courses.get(columns)
        return on_its_day(midnight, clock, course.latest if course else None)

    def _clocked_row(self, line_number: int, clock: float, rest: list[str], line: str) -> Found:
        assert self._table is not None
        columns = self._table.columns
        at = self._instant(columns, clock)
        if at is None:
            if self._banner is None:
                yield SysstatDoubt(line_number, "no line above gives the date", line)
            return
        course = self._courses.setdefault(columns, _Course())
        if course.latest is not None and at < course.latest:
            yield SysstatDoubt(line_number, "the clock went back: the line is left out", line)
            return
        if at != course.latest:
            course.since = course.latest if course.known else None
            course.latest, course.known = at, True
        ahead = 0.0 if clock >= EARLIEST_EPOCH else None
        yield self._report(line_number, rest, line, (self._banner, at, ahead, course.since))

    # Rows with fields for host, interval and time: sadf -d.

    def _fields(self, line_number: int, line: str) -> Found:
        host, *fields = (field.strip() for field in line.strip().split(";"))
        if line.startswith("#"):
            self._layout = "fields"
            self._table = (
                HeadedTable(fields[2:], line) if line.startswith(SADF_HEADING) and fields[2:] else None
            )
            if "[...]" in line:
                self._table = None
                self._told.add("[...]")
                yield SysstatDoubt(
                    line_number, "sadf -h prints all items in one line: print it without -h", line
                )
        elif len(fields) < 3 or self._table is None:
            if not ("[...]" in self._told or _is_event(fields)):
                yield SysstatDoubt(line_number, "no line of sadf -d", line)
        elif _is_event(fields):
            return
        elif self._table.is_read:
            interval, when = number(fields[0]), _sadf_time(fields[1])
            if when is None or interval is None:
                yield SysstatDoubt(line_number, "a line without an interval or a time", line)
                return
            since = when[0] - interval if 0 < interval <= LONGEST_INTERVAL_SECONDS else None
            if self._banner is None or self._banner.host != host:
                self._banner = Banner("", host, None, True, None, None)
            yield self._report(line_number, fields[2:], line, (self._banner, *when, since))
        else:
            self._pass_over(self._table)

    # Rows below a line with their time: iostat.  The first report is of the time since the machine started:
    # its interval is not known here, and with ``iostat -y``, which leaves it out, the first interval's is not
    # told either.

    def _moment(self, line: str) -> Moment | None:
        """A line that is a point in time, or ``Time: 20:44:30`` on the banner's day or one after it."""
        if (at := _epoch(line.strip())) is not None:
            return at, 0.0, True
        when = moment(line)
        if when is not None:
            return (swapped(when[0]), when[1], True) if not when[2] and self._day_first else when
        if self._banner is None or self._banner.midnight is None or not (found := _TIME_PREFIX.match(line)):
            return None
        clock = time_of_day(line[found.end() :])
        return None if clock is None else (
            on_its_day(self._banner.midnight, clock, self._at), None, self._banner.sure
        )  # fmt: skip

    def _block(self, line_number: int, when: Moment, line: str) -> Iterator[SysstatDoubt]:
        at, ahead, sure = when
        self._untimed = None
        if not sure and "date" not in self._told:
            self._told.add("date")
            yield unsure(line_number, line)
        if self._at is not None and at <= self._at:
            yield SysstatDoubt(line_number, "the clock did not go on: the report is left out", line)
            self._left_out = True
            return
        self._begin_block(at, ahead)
        if self._layout != "vmstat":
            self._table = None

    def _begin_block(self, at: float, ahead: float | None) -> None:
        self._since, self._at, self._ahead = None if self._lost else self._at, at, ahead
        self._headings.clear()
        self._lost = self._left_out = False
        self._rows = 0

    def _heading(self, words: list[str], line: str) -> HeadedTable | None:
        """The table of a heading without a time: iostat's or vmstat's."""
        if words[0] == "avg-cpu:":
            return HeadedTable(words[1:], line, kind="CPU")
        if "Device" in (words[0].rstrip(":"), words[-1]):
            return HeadedTable(words, line)
        if len(words) > 12 and (names := vmstat_columns(words)) is not None:
            self._zone = zone_ahead(words[-1]) if len(words) > len(names) else None
            return HeadedTable(names, "", kind="VM")
        return None

    def _block_heading(self, line_number: int, table: HeadedTable) -> Iterator[SysstatDoubt]:
        """A heading; one that comes twice under one time is of a report whose time was lost."""
        self._table = table
        if table.kind == "VM":
            self._layout = "vmstat"
            if self._at is not None and self._rows == 0:
                self._vmstat.known = False  # another vmstat: its first report is of the time since the start
            return
        self._layout = "block"
        if self._untimed is not None:
            self._opens = self._opens or table.columns
            if table.columns == self._opens:
                self._begin_block(self._untimed.at(self._reports), self._untimed.ahead)
            if table.columns == self._opens or table.columns in self._headings:
                self._reports += 1
        if self._at is not None and (self._lost or table.columns in self._headings):
            if not self._lost:
                yield SysstatDoubt(line_number, "a report without a time is left out")
            self._lost = self._left_out = True
        self._headings.add(table.columns)

    def _row(self, line_number: int, words: list[str], line: str) -> Found:
        """A line without a time that is no heading."""
        if self._layout in ("", "row") and (_AVERAGE.match(line) or line.count("--") > 3):
            return
        if self._layout == "row":
            yield SysstatDoubt(line_number, "a line without a time", line)
            if self._table is not None and self._table.columns in self._courses:
                self._courses[
                    self._table.columns
                ].known = False  # where the next interval begins is lost with it
            if all(number(word) is None for word in words):
                self._table = None  # a heading, perhaps
        elif self._layout == "vmstat":
            if line.count("--") < 4:
                yield from self._vmstat_row(line_number, words, line)
        elif self._table is None:
            yield SysstatDoubt(line_number, "figures before a heading", line)
        elif self._left_out or (self._table.kind == "DEV" and self._table.place == 0 and line[0] == " "):
            return  # an indented row is the sum of a group of devices (iostat -g)
        elif not self._table.is_read:
            self._pass_over(self._table)
        elif self._at is None:
            yield from self._untold("iostat -t", line_number, line)
        else:
            time = (self._banner, self._at, self._ahead, self._since)
            yield self._report(line_number, words, line, time)

    def _untold(self, command: str, line_number: int, line: str) -> Iterator[SysstatDoubt]:
        if command not in self._told:
            self._told.add(command)
            cure = (
                ONE_TIME if self._at is not None else f"the reports have no times: {NO_TIMES.format(command)}"
            )
            yield SysstatDoubt(line_number, cure, line)

    # Rows with their time behind them, or below one line for several: vmstat.  The first is of the time since
    # the machine started.

    def _vmstat_row(self, line_number: int, words: list[str], line: str) -> Found:
        table = self._table
        assert table is not None
        count = len(table.columns)
        values = table.values(words[:count]) if len(words) >= count else None
        self._reports += 1
        if values is None:
            yield SysstatDoubt(line_number, "no line of vmstat", line)
            self._vmstat.known = False
            if len(words) != count:
                self._untimed = None  # perhaps no report, and perhaps several
            return
        course = self._vmstat
        when = self._vmstat_time(" ".join(words[count:]))
        self._rows += 1
        if when is None:
            course.known = False
            yield from self._untold("vmstat -t", line_number, line)
            return
        at, ahead = when
        if course.latest is not None and at <= course.latest:
            yield SysstatDoubt(line_number, "the clock did not go on: the line is left out", line)
            return
        since = course.latest if course.known else None
        course.latest, course.known = at, True
        yield Report(line_number, self._banner, at, ahead, since, "VM", "", values)

    def _vmstat_time(self, text: str) -> tuple[float, float | None] | None:
        """Wall clock and zone of a row: its own, that of the line above it, or that of ``--start``."""
        if text:
            found = moment(text)
            return None if found is None else (found[0], found[1] if self._zone is None else self._zone)
        if self._at is not None:
            if self._rows and self._step is None:
                return None
            return self._at + self._rows * (self._step or 0.0), self._ahead
        if self._untimed is None:
            return None
        return self._untimed.at(self._reports - 1), self._untimed.ahead


_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\s[0-9:]{8}")


def looks_whole(before: str, last: str) -> bool:
    """Whether a last line without an end is whole, by the row before it: its last figure has as many
    decimals, or it ends with a whole time, or all its figures end where those above do."""
    if len(before.split()) != len(last.split()) or len(before.split(";")) != len(last.split(";")):
        return False
    if _STAMP.fullmatch(last[-19:]):
        return True
    above, own = (re.search(r"[0-9][.,]([0-9]{1,3})%?$", line.rstrip()) for line in (before, last))
    if above or own:
        return above is not None and own is not None and len(above[1]) == len(own[1])
    ends = [[match.end() for match in re.finditer(r"\S+", line)] for line in (before, last)]
    return last[-1:].isdecimal() and ";" not in last and ends[0] == ends[1]


def _clocked(words: list[str]) -> tuple[float, list[str]] | None:
    """The time at the start of a line, on a clock of 24 or 12 hours, and the words after it."""
    if len(words) > 1 and words[1].upper() in ("AM", "PM"):
        clock = time_of_day(f"{words[0]} {words[1]}")
        return None if clock is None else (clock, words[2:])
    clock = _epoch(words[0]) or time_of_day(words[0])
    return None if clock is None else (clock, words[1:])


def _epoch(text: str) -> float | None:
    """Seconds since the epoch, of 1990 to 2099 (``-U`` of sysstat 12.7)."""
    return at if text.isdecimal() and EARLIEST_EPOCH <= (at := float(text[:18])) < LATEST_EPOCH else None


def _is_event(fields: list[str]) -> bool:
    """Whether a line of sadf -d is of a restart or a comment."""
    return len(fields) > 2 and ("LINUX-RESTART" in fields[2] or fields[2].startswith("COM "))


def _sadf_time(text: str) -> tuple[float, float | None] | None:
    """``2026-11-21 23:14:17 UTC``, or seconds since the epoch (``sadf -U``)."""
    if (at := _epoch(text)) is not None:
        return at, 0.0
    found = moment(text)
    if found is None:
        return None
    # With -T sadf names the zone without summer time, also in summer: only UTC and offsets are sure.
    return found[0], None if text[-1:].isalpha() and not text.endswith(("UTC", "Z")) else found[1]
