"""What sar, sadf, iostat, mpstat and vmstat have in common: a report, a banner, numbers.

Sources: sysstat 12 (sar(1), sadf(1), iostat(1), mpstat(1)), vmstat(8).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from mawl.formats.dates import day

Values = dict[str, float]

_BANNER = re.compile(r"Linux (\S+) \(([^)]{1,200})\)\s+(\S+)(?:\s+(_\S+_))?(?:\s+\((\d{1,5}) CPU\))?\s*")


class Banner(NamedTuple):
    """The first line: ``Linux RELEASE (HOST) DATE _ARCHITECTURE_ (N CPU)``.

    ``midnight`` is the date as a wall clock, None where it cannot be read; ``sure`` says that day and
    month are told apart.
    """

    release: str
    host: str
    midnight: float | None
    sure: bool
    architecture: str | None
    cpus: int | None


class Report(NamedTuple):
    """One line's figures of one interval, by the tool's own column names.

    ``at`` is a wall clock, ``ahead`` what its zone is ahead of UTC (None without a zone).  ``since`` is
    where the interval begins, None where that is not known.  ``kind`` is the heading of what the line
    is of (CPU, DEV, IFACE, FCHOST), empty for the machine; ``item`` its name.
    """

    line: int
    banner: Banner | None
    at: float
    ahead: float | None
    since: float | None
    kind: str
    item: str
    values: Values


class SysstatDoubt(NamedTuple):
    """A line that was left out or is doubtful, and why; None for the whole file."""

    line: int | None
    reason: str
    text: str = ""


class Untimed(NamedTuple):
    """When the reports of a recording without times were written, as its user says.

    ``start`` is the wall clock of the first report, ``ahead`` what its zone is ahead of UTC (None without a
    zone), ``interval_seconds`` how far reports lie apart.
    """

    start: float
    ahead: float | None
    interval_seconds: float

    def at(self, number: int) -> float:
        """The wall clock of a report, counted from 0."""
        return self.start + number * self.interval_seconds


NO_TIMES = "record them with {}, or import with --start TIME and --interval SECONDS"
"""What to do about reports that have no times, by the command that writes them."""


def banner_of(line: str) -> Banner | None:
    """The banner, if the line is one."""
    match = _BANNER.fullmatch(line.rstrip())
    if match is None:
        return None
    found = day(match[3])
    midnight, sure = found if found else (None, False)
    architecture = match[4].strip("_") if match[4] else None
    return Banner(match[1], match[2], midnight, sure, architecture, int(match[5]) if match[5] else None)


def unsure(line: int | None, text: str) -> SysstatDoubt:
    """Said once of a date whose order only the locale tells."""
    return SysstatDoubt(line, f"the date {text[:20]!r} is taken as month/day/year, as the C locale writes it")


def figures_of(columns: Sequence[str], words: Sequence[str]) -> Values | None:
    """A line's figures by column; None where one of them is no number: sums of the rest would be wrong."""
    values = {}
    for column, word in zip(columns, words, strict=True):
        value = number(word)
        if value is None:
            return None
        values[column] = value
    return values


def number(text: str) -> float | None:
    """A figure, also with a decimal comma; None for what is none, not finite, or below 0."""
    try:
        value = float(text.replace(",", ".") if "," in text else text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 and "_" not in text else None
