"""Performance notes of SAS logs: what :mod:`mawl.formats.saslog_write` writes, and plain 9.x logs.

Reads STIMER and FULLSTIMER blocks of SAS 9.x (and 8.2 headings): any line but the first may be
absent; page headers, blank lines and notes may stand between any two lines.  The two-column
layout of 6.12 and the headings of z/OS are not read here.  What is absent is None, never 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Literal

import msgspec

from mawl.formats.saslog_write import COUNTS
from mawl.model.usage import Usage

NoteKind = Literal["data", "procedure", "initialization", "session", "view"]

_HEADING = re.compile(
    r" ?NOTE: (?:(?P<data>DATA statement)|PROCEDURE (?P<procedure>\S+)|(?P<initialization>SAS initialization)"
    r"|(?P<session>The SAS System)|View (?P<view>\S+)) used(?: \(Total process time\))?:\s*"
)
_TIME = re.compile(r"\s*(real time|user cpu time|system cpu time|cpu time)\s+([0-9:.]{1,20})( seconds)?\s*")
_MEMORY = re.compile(r"\s*([Mm]emory|OS Memory)\s+([0-9]{1,18}(?:\.[0-9]{1,9})?)k\s*")
_TIMESTAMP = re.compile(r"\s*Timestamp\s+([0-9]{2}/[0-9]{2}/[0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} [AP]M)\s*")
_STEP_COUNT = re.compile(r"\s*Step Count\s+([0-9]{1,18})  Switch Count\s+([0-9]{1,18})\s*")
_COUNT = re.compile(r"\s*(" + "|".join(name for name, _ in COUNTS) + r")\s+([0-9]{1,18})\s*")
_OBSERVATIONS = re.compile(r" ?NOTE: There were ([0-9]{1,18}) observations read from the data set .*")
_RECORDS = re.compile(r" ?NOTE: ([0-9]{1,18}) records were written to the file .*")
_COUNT_FIELDS = dict(COUNTS)
_TIME_FIELDS = {
    "real time": "real_time_seconds",
    "user cpu time": "user_cpu_seconds",
    "system cpu time": "system_cpu_seconds",
}


class PerformanceNote(msgspec.Struct, frozen=True, kw_only=True):
    """One block: ``name`` is the procedure's or view's; ``line`` that of the heading, from 1.

    ``cpu_seconds`` stands where the log gives only the sum (STIMER).  ``ended_at`` takes the log's
    time as UTC: a SAS log does not name its zone, mawl's are UTC.
    """

    line: int
    kind: NoteKind
    usage: Usage
    name: str | None = None
    cpu_seconds: float | None = None
    ended_at: float | None = None
    step_count: int | None = None
    switch_count: int | None = None
    rows_read: int | None = None
    rows_written: int | None = None


class _Open:
    """A block that is being read."""

    def __init__(self, line: int, heading: re.Match[str], rows: dict[str, int]) -> None:
        kind = next(name for name, text in heading.groupdict().items() if text)
        self.figures: dict[str, float] = {}
        self.more: dict[str, object] = {"line": line, "kind": kind, **rows}
        if kind in ("procedure", "view"):
            self.more["name"] = heading[kind]

    def take(self, line: str) -> None:
        """Take one line's figure, if it is one that this block does not have yet."""
        if match := _TIME.fullmatch(line):
            self._time(match[1], _seconds(match[2]))
        elif not self.figures:
            return
        elif match := _MEMORY.fullmatch(line):
            field = "os_memory_bytes" if match[1] == "OS Memory" else "memory_bytes"
            self.figures.setdefault(field, round(float(match[2]) * 1024))
        elif match := _COUNT.fullmatch(line):
            self.figures.setdefault(_COUNT_FIELDS[match[1]], int(match[2]))
        elif match := _STEP_COUNT.fullmatch(line):
            self.more.setdefault("step_count", int(match[1]))
            self.more.setdefault("switch_count", int(match[2]))
        elif match := _TIMESTAMP.fullmatch(line):
            self.more.setdefault("ended_at", _instant(match[1]))

    def _time(self, name: str, seconds: float | None) -> None:
        if seconds is None:
            return
        if name == "cpu time":
            self.more.setdefault("cpu_seconds", seconds)
        else:
            self.figures.setdefault(_TIME_FIELDS[name], seconds)

    def note(self) -> PerformanceNote:
        """The block as a record."""
        return PerformanceNote(usage=Usage(**self.figures), **self.more)  # type: ignore[arg-type]


def read_notes(lines: Iterable[str]) -> Iterator[PerformanceNote]:
    """The performance notes of a log, in order; a heading without a figure is none.

    Row counts of the notes above a block belong to it.
    """
    current: _Open | None = None
    rows: dict[str, int] = {}
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip("\r\n")
        heading = _HEADING.fullmatch(line)
        if heading is not None:
            if current is not None and current.figures:
                yield current.note()
            current, rows = _Open(number, heading, rows), {}
        elif match := _OBSERVATIONS.fullmatch(line):
            rows["rows_read"] = rows.get("rows_read", 0) + int(match[1])
        elif match := _RECORDS.fullmatch(line):
            rows["rows_written"] = rows.get("rows_written", 0) + int(match[1])
        elif current is not None:
            current.take(line)
    if current is not None and current.figures:
        yield current.note()


def _seconds(text: str) -> float | None:
    """Seconds from ``0.01``, ``1:02.24`` or ``9:28:12.90``; None for what is none of them."""
    try:
        parts = [float(part) for part in text.split(":")]
    except ValueError:
        return None
    if len(parts) > 3:
        return None
    hundredths = 0
    for part in parts:
        hundredths = hundredths * 60 + round(part * 100)
    return hundredths / 100


def _instant(text: str) -> float | None:
    try:
        return datetime.strptime(text, "%m/%d/%Y %I:%M:%S %p").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
