"""Day and month of the timestamps in SAS logs: the locale of the session says which of them comes first.

FULLSTIMER writes ``11/20/2026 10:15:00 PM`` in a session of the United States, and ``20/11/2026 10:15:00 PM``
in most others.  A log shows which by a number above 12, or by the head of a page, which names the month.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from typing import Literal

from mawl.formats.decoding import LONGEST_LINE_BYTES, text_of
from mawl.formats.saslog_records import page_instant

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
    """Whether nothing but blanks is before it on its line."""
    content = match.string
    return not content[content.rfind(b"\n", 0, match.start()) + 1 : match.start()].strip()


def _days_of_heads(content: bytes) -> Iterator[date]:
    """The days that the heads of pages name."""
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
