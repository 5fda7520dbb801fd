"""Day and month of the timestamps in SAS logs: the locale of the session says which of them comes first.

FULLSTIMER writes ``11/20/2026 10:15:00 PM`` in a session of the United States, and ``20/11/2026 10:15:00 PM``
in most others.  A log shows which by a number above 12, or by the head of a page, which names the month.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Literal

from mawl.formats.decoding import LONGEST_LINE_BYTES, text_of
from mawl.formats.saslog_records import page_instant

DateOrder = Literal["month-first", "day-first"]

MONTHS_OF_A_YEAR = 12

_STAMP = re.compile(rb"(\bTimestamp\s+(?:- +)?)([0-9]{1,2})/([0-9]{1,2})(/[0-9]{4} )")
_HEAD = re.compile(rb"[^\n]{0,400}day, [^\n]{0,400}")


def orders_shown(content: bytes) -> set[DateOrder]:
    """The orders that a part of a log shows: none where each date reads both ways, both where it has both."""
    dates = {(int(first), int(second)) for _, first, second, _ in _STAMP.findall(content)}
    found: set[DateOrder] = set()
    if any(first > MONTHS_OF_A_YEAR for first, _ in dates):
        found.add("day-first")
    if any(second > MONTHS_OF_A_YEAR for _, second in dates):
        found.add("month-first")
    if found or not dates:
        return found
    for head in _HEAD.findall(content):
        instant = page_instant(text_of(head).rstrip("\r"))
        if instant is None:
            continue
        began = datetime.fromtimestamp(instant, UTC)
        if began.month != began.day:
            if (began.day, began.month) in dates:
                found.add("day-first")
            if (began.month, began.day) in dates:
                found.add("month-first")
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
            yield _STAMP.sub(rb"\1\3/\2\4", content[:end])
    if rest:
        yield _STAMP.sub(rb"\1\3/\2\4", rest)
