"""What a SAS log holds, as records: performance notes, facts, timestamps and steps (docs/design/sas-log.md).

The locale of the session decides whether FULLSTIMER writes ``11/20/2026 10:15:00 PM`` (United States) or
``20/11/2026 10:15:00 PM`` (most others).  A number above 12 shows which, or the head of a page, which names
the month.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Literal, NamedTuple

import msgspec

from mawl.importers.formats.text import LONGEST_LINE_BYTES, text_of
from mawl.records.model.records import StepKind, StepNotes, StepRecord, Usage

MICROSECONDS = 1_000_000
"""In a second: the finest that a log can write."""

NoteKind = Literal["data", "procedure", "initialization", "session", "view"]

STAMP = r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{4} {1,4}[0-9]{1,2}:[0-9]{2}:[0-9]{2} [AP]M"
"""A time of day as FULLSTIMER writes it; releases before 9.4 leave leading zeros away."""

FIRST_YEAR, LAST_YEAR = 1960, 2100
"""Timestamps outside are damage, not dates of jobs: SAS counts from 1960."""


class PerformanceNote(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One block: ``name`` is the procedure's or view's; ``line`` that of the heading, from 1.

    STIMER gives only the sum of CPU times (``usage.unsplit_cpu_seconds``).  ``ended_at`` takes the log's
    time as UTC: a SAS log does not name its zone, mawl's are UTC.  Rows and variables are those of
    the notes above the block, and ``notes`` what else these tell; ``cut`` where the file ends within it.
    A ``nested`` one is of a step that ran within that of a later note, which has its rows and tables.
    """

    line: int
    kind: NoteKind
    usage: Usage
    name: str | None = None
    ended_at: float | None = None
    step_count: int | None = None
    switch_count: int | None = None
    rows_read: int | None = None
    rows_written: int | None = None
    variables_written: int | None = None
    notes: StepNotes | None = None
    cut: bool = False
    nested: bool = False


FactName = Literal[
    "begins",
    "software",
    "platform",
    "identity",
    "place",
    "error",
    "page",
    "header",
    "remote",
    "libref",
    "view",
    "unread",
]


class LogFact(NamedTuple):
    """A line that tells something of its session.

    ``begins``: the first line of a banner; ``software`` and ``platform``: the release and what it runs
    on; ``identity``: mawl's own line of job, program, session and outcome, ``place`` the one after it;
    ``error``: an ERROR line; ``page``: the time in a page header, when the session began to the minute;
    ``header``: a line of %PASSINFO (``host=...``); ``remote``: SAS/CONNECT goes to a session or comes back
    (``submit to TSK1 commencing``); ``libref``: a libref and its engine (``ORA ORACLE``);
    ``view``: the name of a view that was defined;
    ``unread``: figures of a step that are no note, told to ``skip``.
    """

    line: int
    name: FactName
    text: str


Entry = PerformanceNote | LogFact

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DATE = rf"(?:{'|'.join(DAYS)}), (?P<month>{'|'.join(MONTHS)})\s+(?P<day>[0-9]{{1,2}}), (?P<year>[0-9]{{4}})"
_PAGE = re.compile(
    rf"\f?\s?(?:[0-9]{{1,9}}\s.*?)?(?:\s|^)(?:(?P<hours>[0-9]{{1,2}}):(?P<minutes>[0-9]{{2}}) {_DATE}"
    rf"|{_DATE.replace('P<', 'P<long_')} (?P<long_hours>[0-9]{{1,2}}):(?P<long_minutes>[0-9]{{2}})"
    r":[0-9]{2} (?P<half>[AP])M)(?:\s+[0-9]{1,9})?\s*"
)
_FIRST_PAGE = re.compile(r"1\s|\D.*\s1$")
_NUMBERED = re.compile(r"\s?[0-9]{1,9}\s{2,}\S.*")
_TITLED = re.compile(r"\s*(?:[0-9]{1,9}\s+)?The SAS System(?:\s+[0-9]{1,9})?\s*")
_CENTRED = re.compile(r" {20,}\S.*")
"""A title without number and date (NONUMBER, NODATE)."""


def is_page_header(line: str, *, below_blank: bool) -> bool:
    """Whether a line is the head of a page: a form feed, a date, SAS's own title, or a number and a title.

    ``below_blank``: a number and text below a blank line are source, and centred text is output.
    """
    if line.startswith("\f") or _TITLED.fullmatch(line):
        return True
    if not below_blank and (_NUMBERED.fullmatch(line) or _CENTRED.fullmatch(line)):
        return True
    return "day, " in line and _PAGE.fullmatch(line) is not None


def is_first_page(text: str) -> bool:
    """Whether the head of a page, without blanks around it, is that of page 1: a session begins above it."""
    return _FIRST_PAGE.match(text) is not None


def page_instant(text: str) -> float | None:
    """Seconds since the epoch, taken as UTC, from the head of a page: ``10:00 Friday, November 20, 2026`` or
    ``Friday, November 20, 2026 10:00:00 AM``; None for any other line."""
    found = _PAGE.fullmatch(text)
    if found is None:
        return None
    kind = "long_" if found["long_day"] else ""
    day = _day(int(found[f"{kind}year"]), MONTHS.index(found[f"{kind}month"]) + 1, int(found[f"{kind}day"]))
    hours, minutes = int(found[f"{kind}hours"]), int(found[f"{kind}minutes"])
    if day is None or hours > 23 or minutes > 59:
        return None
    if kind:
        hours = hours % 12 + (12 if found["half"] == "P" else 0)
    return day + hours * 3600.0 + minutes * 60.0


def clock_seconds(text: str | bytes) -> float:
    """Seconds from ``0.01``, ``1:02.24``, ``02:03`` or ``9:28:12.90``: what the patterns here let through."""
    microseconds = 0
    separator = b":" if isinstance(text, bytes) else ":"
    for part in text.split(separator):  # type: ignore[arg-type]
        microseconds = microseconds * 60 + round(float(part) * MICROSECONDS)
    return microseconds / MICROSECONDS


def stamp_instant(text: str) -> float | None:
    """Seconds since the epoch, taken as UTC, from ``MM/DD/YYYY HH:MM:SS AM``; None for no such moment.

    Also ``M/D/YYYY  H:MM:SS AM``, as the SAS 9.2 Companion for UNIX, FULLSTIMER, shows it.
    """
    if len(text) != len("MM/DD/YYYY HH:MM:SS AM") or "  " in text:
        day, clock, half = text.split()
        month, day_of_month, year = day.split("/")
        text = f"{month:0>2}/{day_of_month:0>2}/{year} {clock:0>8} {half}"
    minute, seconds = _minute(text[:16], text[20]), int(text[17:19])
    return None if minute is None or seconds > 59 else minute + seconds


@lru_cache(maxsize=4096)
def _minute(text: str, half: str) -> float | None:
    """The beginning of a minute: ``MM/DD/YYYY HH:MM``, ``A`` or ``P``."""
    hours, minutes = int(text[11:13]), int(text[14:16])
    day = _day(int(text[6:10]), int(text[:2]), int(text[3:5]))
    if day is None or not 1 <= hours <= 12 or minutes > 59:
        return None
    return day + (hours % 12 + (12 if half == "P" else 0)) * 3600.0 + minutes * 60.0


def _day(year: int, month: int, day: int) -> float | None:
    if not FIRST_YEAR <= year <= LAST_YEAR:
        return None
    try:
        return (date(year, month, day).toordinal() - date(1970, 1, 1).toordinal()) * 86400.0
    except ValueError:
        return None


DateOrder = Literal["month-first", "day-first"]

MONTHS_OF_A_YEAR = 12
LONGEST_SESSION_DAYS = 2
"""A step ends at most so many days after the head of a page, which has the start of the session."""

_STAMP = re.compile(
    rb"Timestamp[ \t]+(?:- +)?([0-9]{1,2})/([0-9]{1,2})/([0-9]{4}) {1,4}[0-9]{1,2}:[0-9]{2}:[0-9]{2} [AP]M"
)
_DAY = b"day, "


def orders_shown(content: bytes) -> set[DateOrder]:
    """The orders that a part of a log shows: none where each date reads both ways, both where it has both."""
    stamps = {tuple(map(int, match.groups())) for match in _STAMP.finditer(content) if _begins_line(match)}
    found: set[DateOrder] = set()
    if any(first > MONTHS_OF_A_YEAR for first, _, _ in stamps):
        found.add("day-first")
    if any(second > MONTHS_OF_A_YEAR for _, second, _ in stamps):
        found.add("month-first")
    if found or not stamps:
        return found
    began = set(_days_of_heads(content))
    for first, second, year in stamps:
        month_first = _is_near(began, year, first, second)
        if month_first != _is_near(began, year, second, first):
            found.add("month-first" if month_first else "day-first")
    return found


def with_month_first(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The chunks of a log whose timestamps have the day first, as if they had the month first; lines stay."""
    rest = b""
    for chunk in chunks:
        content = rest + chunk
        end = content.rfind(b"\n") + 1
        if len(content) - end > LONGEST_LINE_BYTES:
            end = len(content)
        rest = content[end:]
        if end:
            yield _STAMP.sub(_exchanged, content[:end])
    if rest:
        yield _STAMP.sub(_exchanged, rest)


def _exchanged(match: re.Match[bytes]) -> bytes:
    if not _begins_line(match):
        return match[0]
    text, start = match[0], match.start()
    before, after = text[: match.start(1) - start], text[match.end(2) - start :]
    return b"%b%b/%b%b" % (before, match[2], match[1], after)


def _begins_line(match: re.Match[bytes]) -> bool:
    content = match.string
    return not content[content.rfind(b"\n", 0, match.start()) + 1 : match.start()].strip()


def _days_of_heads(content: bytes) -> Iterator[date]:
    at = content.find(_DAY)
    while at >= 0:
        start, end = content.rfind(b"\n", 0, at) + 1, content.find(b"\n", at)
        line = content[start : end if end >= 0 else len(content)]
        if len(line) <= LONGEST_LINE_BYTES:
            instant = page_instant(text_of(line).rstrip("\r"))
            if instant is not None:
                yield datetime.fromtimestamp(instant, UTC).date()
        at = content.find(_DAY, start + len(line))


def _is_near(began: Iterable[date], year: int, month: int, day: int) -> bool:
    """Whether a step that ended on a day can be of a session that began on one of these days."""
    try:
        ended = date(year, month, day)
    except ValueError:
        return False
    return any(0 <= (ended - start).days <= LONGEST_SESSION_DAYS for start in began)


STEP_KINDS: dict[NoteKind, StepKind] = {
    "data": "data",
    "procedure": "procedure",
    "view": "view",
    "initialization": "startup",
}
"""Notes that are steps; the session total is none."""


def step_of(
    note: PerformanceNote, job: str, number: int, started_at: float | None, ended_at: float | None
) -> StepRecord:
    """The step of a note, named as SAS names it: ``SORT``, ``DATA``; times in seconds since the epoch.

    That of a nested note is of kind ``nested``, whatever it is: its figures are in a step that follows.

    KeyError for the note of a session total.
    """
    return StepRecord(
        job=job,
        number=number,
        name=note.name or ("DATA" if note.kind == "data" else note.kind),
        kind="nested" if note.nested else STEP_KINDS[note.kind],
        started_at=started_at,
        ended_at=ended_at,
        usage=note.usage,
        rows_read=note.rows_read,
        rows_written=note.rows_written,
        variables_written=note.variables_written,
        notes=note.notes,
    )
