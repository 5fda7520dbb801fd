"""Text of ``iostat``: a time, processors, devices, again and again; old and new column names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mawl.formats.dates import SECONDS_PER_DAY, moment, time_of_day
from mawl.formats.sysstat import (
    NO_TIMES,
    Banner,
    Report,
    SysstatDoubt,
    Untimed,
    banner_of,
    figures_of,
    unsure,
)

_TIME = "Time: "
"""Before the time of day in reports of sysstat up to 7 (RHEL 5), whose banner alone has the date."""

Moment = tuple[float, float | None, bool]


def read_reports(
    lines: Iterable[tuple[int, str]], untimed: Untimed | None = None
) -> Iterator[Report | SysstatDoubt]:
    """The reports of whole lines (number from 1, text); ``untimed`` is for a recording without times.

    The first of a recording is of the time since the machine started: its interval is not known here,
    and with ``iostat -y``, which leaves it out, the first interval's is not told either.
    """
    reader = _IostatReader(untimed)
    for line_number, line in lines:
        yield from reader.line(line_number, line.strip())


class _IostatReader:
    """What stands above the current line."""

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

    def line(self, number_of: int, line: str) -> Iterator[Report | SysstatDoubt]:
        """One line."""
        if banner := banner_of(line):
            if self._reports:
                self._untimed = None  # another recording: --start was given for the first
            self._banner, self._at, self._since, self._kind = banner, None, None, ""
            self._headings.clear()
            return
        if (when := moment(line) or self._time_of_day(line)) is not None:
            self._untimed = None
            yield from self._time(number_of, when, line)
            return
        words = line.split()
        if not words:
            self._kind = "" if self._kind == "CPU" else self._kind
        elif words[0] == "avg-cpu:":
            yield from self._heading(number_of, "CPU", words[1:])
        elif words[0].rstrip(":") == "Device" or words[-1] == "Device":
            yield from self._heading(number_of, "DEV", words)
        elif self._kind:
            yield from self._row(number_of, words, line)
        else:
            yield SysstatDoubt(number_of, "figures before a heading", line)

    def _heading(self, number_of: int, kind: str, columns: list[str]) -> Iterator[SysstatDoubt]:
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
                yield SysstatDoubt(number_of, "a report without a time is left out")
            self._lost, self._kind = True, "left out"
        self._headings.add(kind)

    def _time_of_day(self, line: str) -> Moment | None:
        """``Time: 20:44:30`` on the banner's day, or on one of the days after it."""
        seconds = time_of_day(line.removeprefix(_TIME)) if line.startswith(_TIME) else None
        if seconds is None or self._banner is None or self._banner.midnight is None:
            return None
        at = self._banner.midnight + seconds
        while self._at is not None and at < self._at - SECONDS_PER_DAY / 2:
            at += SECONDS_PER_DAY
        return at, None, self._banner.sure

    def _time(self, number_of: int, when: Moment, line: str) -> Iterator[Report | SysstatDoubt]:
        at, ahead, sure = when
        if not sure and not self._told:
            self._told = True
            yield unsure(number_of, line)
        if self._at is not None and at <= self._at:
            yield SysstatDoubt(number_of, "the clock did not go on: the report is left out", line)
            self._kind = "left out"
            return
        self._begin(at, ahead)
        self._kind = ""

    def _begin(self, at: float, ahead: float | None) -> None:
        """A report."""
        self._since, self._at, self._ahead = None if self._lost else self._at, at, ahead
        self._headings.clear()
        self._lost = False

    def _row(self, number_of: int, words: list[str], line: str) -> Iterator[Report | SysstatDoubt]:
        if self._kind == "left out":
            return
        if self._at is None:
            if not self._told:
                self._told = True
                yield SysstatDoubt(
                    number_of, f"the reports have no times: {NO_TIMES.format('iostat -t')}", line
                )
            return
        if len(words) != len(self._columns):
            yield SysstatDoubt(
                number_of, f"{len(words)} figures, where the heading has {len(self._columns)}", line
            )
            return
        pairs = list(zip(self._columns, words, strict=True))
        item = "all"
        if self._kind == "DEV":
            item = next(word for column, word in pairs if column.rstrip(":") == "Device")
            pairs = [(column, word) for column, word in pairs if column.rstrip(":") != "Device"]
        values = figures_of([column for column, _ in pairs], [word for _, word in pairs])
        if values is None:
            yield SysstatDoubt(number_of, "a line with a figure that is no number", line)
            return
        yield Report(number_of, self._banner, self._at, self._ahead, self._since, self._kind, item, values)
