"""Recordings of nmon, AIX (also topas_nmon) and Linux: lines to records, in the order of the file.

A line is ``SECTION,TAG,values``; the tag ``T0001`` names the snapshot whose time is on its line
``ZZZZ,T0001,time,date``.  A section's header has a title of several words in the place of the tag.
Sources: IBM, "Format of recording files" (AIX Performance Tools), and ``lmon16n.c`` of nmon for Linux.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import msgspec

from mawl.importers.formats.text import SECONDS_PER_DAY, day_of, on_its_day, time_of_day

Values = list[float | None]

LONGEST_GAP_SECONDS = SECONDS_PER_DAY
"""A clock that jumps ahead by more than this and by more than GAP_INTERVALS is a damaged line."""
GAP_INTERVALS = 100.0

_TAG = re.compile(r"T[0-9]{4,9}")
_NUMBER = re.compile(r"-?[0-9.]*")
_SECTION = re.compile(r"[A-Z][A-Za-z0-9_]{1,31}")
_FIGURES = msgspec.json.Decoder(list[float])
"""Nearly all rows are numbers as JSON writes them, and its reader is several times as quick as float()."""


class Fact(NamedTuple):
    """A line ``AAA``: what the recording says of itself."""

    line: int
    name: str
    value: str


class NmonText(NamedTuple):
    """A line of ``BBBP`` and the like: settings as commands printed them, under the command's name."""

    line: int
    section: str
    name: str
    text: str


class Header(NamedTuple):
    """The columns of a section."""

    line: int
    section: str
    title: str
    columns: list[str]


class Clock(NamedTuple):
    """When a snapshot was taken, as a wall clock; ``tag`` is ``T0001`` and on."""

    line: int
    tag: str
    at: float


class NmonRow(NamedTuple):
    """A section's figures in one snapshot; None for a field that is empty or below 0 (not available)."""

    line: int
    section: str
    tag: str
    values: Values


class NmonDoubt(NamedTuple):
    """A line that was left out, and why."""

    line: int
    reason: str
    text: str


class Unread(NamedTuple):
    """A line of a section that is not wanted."""

    line: int
    section: str


Record = Fact | NmonText | Header | Clock | NmonRow | NmonDoubt | Unread


def read_records(lines: Iterable[tuple[int, str]], wanted: Callable[[str], bool]) -> Iterator[Record]:
    """The records of a recording's whole lines (number from 1, text); figures of ``wanted`` sections only."""
    clock = _Clocks()
    delimiter = ","
    for number, line in lines:
        if line.startswith("AAA;"):
            delimiter = ";"
        parts = line.rstrip().split(delimiter, 2)
        section = parts[0]
        if len(parts) < 2 or not _SECTION.fullmatch(section):
            if line.strip():
                yield NmonDoubt(number, "no line of an nmon recording", line)
            continue
        if section == "AAA":
            value = parts[2] if len(parts) > 2 else ""
            clock.fact(parts[1], value)
            yield Fact(number, parts[1], value)
        elif section.startswith("BBB"):
            yield from _text(number, section, parts)
        elif section == "ZZZZ":
            yield clock.read(number, line, line.rstrip().split(delimiter))
        elif not wanted(section):
            yield Unread(number, section)
        elif len(parts) < 3:
            yield NmonDoubt(number, f"a line of {section} without figures", line)
        elif not _TAG.fullmatch(parts[1]):
            yield _header(number, section, parts, delimiter)
        else:
            yield _row(number, section, parts, delimiter, line)


def _text(number: int, section: str, parts: list[str]) -> Iterator[Record]:
    """``BBBP,031,lscpu,"Thread(s) per core: 1"``; a line with the command alone opens its part."""
    name, _, text = (parts[2] if len(parts) > 2 else "").partition(",")
    if text:
        yield NmonText(number, section, name, text.strip().removeprefix('"').removesuffix('"'))


def _header(number: int, section: str, parts: list[str], delimiter: str) -> Record:
    columns = [name.strip() for name in parts[2].split(delimiter)]
    if " " not in parts[1].strip() or all(_NUMBER.fullmatch(name) for name in columns):
        return NmonDoubt(number, f"a line of {section} with neither a snapshot's tag nor a title", "")
    return Header(number, section, parts[1], columns)


def _row(number: int, section: str, parts: list[str], delimiter: str, line: str) -> Record:
    if delimiter == ",":
        try:
            figures = _FIGURES.decode(f"[{parts[2]}]")
        except msgspec.DecodeError:
            figures = []
        if figures and min(figures) >= 0 and sum(figures) < math.inf:
            return NmonRow(number, section, parts[1], figures)  # type: ignore[arg-type]
    return _odd_row(number, section, parts, delimiter, line)


def _odd_row(number: int, section: str, parts: list[str], delimiter: str, line: str) -> Record:
    """A row that is not all plain numbers: fields left empty, decimal commas, figures below 0, damage."""
    fields = parts[2].split(delimiter)
    if delimiter == ";":
        fields = [field.replace(",", ".") for field in fields]
    values: Values = []
    for field in fields:
        try:
            values.append(float(field) if field.strip() else None)
        except ValueError:
            return NmonDoubt(number, f"a line of {section} with {field[:20]!r}, which is no number", line)
    if "_" in parts[2]:
        return NmonDoubt(number, f"a line of {section} with what is no number", line)
    known = [value for value in values if value is not None]
    if known and (min(known) < 0 or not math.isfinite(sum(known))):
        if not all(map(math.isfinite, known)):
            return NmonDoubt(number, f"a line of {section} with what is no number", line)
        values = [None if value is None or value < 0 else value for value in values]
    return NmonRow(number, section, parts[1], values)


class _Clocks:
    """The times of snapshots: of one recording they go on, and never far at once."""

    def __init__(self) -> None:
        self._date: float | None = None
        self._interval = 0.0
        self._last: float | None = None

    def fact(self, name: str, value: str) -> None:
        if name == "progname":
            self._date = self._last = None
        elif name == "date" and (found := day_of(value)):
            self._date = found[0]
        elif name == "interval":
            try:
                self._interval = min(max(float(value), 0.0), SECONDS_PER_DAY)
            except ValueError:
                self._interval = 0.0

    def read(self, number: int, line: str, parts: list[str]) -> Record:
        """The line ``ZZZZ``; one without a date is on the recording's, or on the days after it."""
        seconds = time_of_day(parts[2]) if len(parts) > 2 and _TAG.fullmatch(parts[1]) else None
        if seconds is None:
            return NmonDoubt(number, "a line ZZZZ without the tag or the time of a snapshot", line)
        at = None
        if len(parts) > 3:
            found = day_of(parts[3])
            at = None if found is None else found[0] + seconds
        elif self._date is not None:
            at = on_its_day(self._date, seconds, self._last)
        if at is None:
            return NmonDoubt(number, "a line ZZZZ without a date that can be read", line)
        if parts[1] == "T0001":
            self._last = None  # a recording of its own, where several were put into one file
        if self._last is not None:
            if at <= self._last:
                return NmonDoubt(number, "the clock did not go on: the snapshot is left out", line)
            if at - self._last > max(LONGEST_GAP_SECONDS, GAP_INTERVALS * self._interval):
                return NmonDoubt(number, "the clock jumped far ahead: the snapshot is left out", line)
        self._last = at
        return Clock(number, parts[1], at)
