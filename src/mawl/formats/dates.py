"""Dates and times of day as recorders of hosts write them: in many orders, clocks and languages.

A wall clock is seconds since the epoch as if it were UTC; what zone it was in, the reader must know.
"""

from __future__ import annotations

import re
from datetime import date

SECONDS_PER_DAY = 86400.0
EARLIEST_YEAR, LATEST_YEAR = 1990, 2099
"""A recording of another year is a damaged one."""

_EPOCH = date(1970, 1, 1).toordinal()
_TIME = re.compile(r"([0-9]{1,2})[:.]([0-9]{2})[:.]([0-9]{2}(?:[.,][0-9]{1,6})?)(?: ?([AaPp])\.?[Mm]\.?)?")
_ISO = re.compile(r"([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})")
_NAMED = re.compile(r"([0-9]{1,2})[-/. ]([^\W\d_]{3,9})\.?[-/. ]([0-9]{4}|[0-9]{2})")
_DOTTED = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})[-/.]([0-9]{4}|[0-9]{2})")
_ZONED = re.compile(r"(\S{8,10})[T ](\S{8,15}?)([+-][0-9]{2}:?[0-9]{2}|Z| UTC)?")

_MONTHS = (
    ("jan", "ene", "gen", "janv"),
    ("feb", "fév", "fev", "févr", "febr"),
    ("mar", "mär", "mrz", "mars", "mrt"),
    ("apr", "avr", "abr", "avril"),
    ("may", "mai", "mag", "mei", "maj"),
    ("jun", "juin", "giu", "juni"),
    ("jul", "juil", "lug", "juli"),
    ("aug", "aoû", "août", "ago", "aou"),
    ("sep", "set", "sept"),
    ("oct", "okt", "ott", "out"),
    ("nov",),
    ("dec", "déc", "dez", "dic"),
)
_MONTH_NUMBERS = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}


def time_of_day(text: str) -> float | None:
    """Seconds since midnight of ``23:14:18``, ``23.14.18``, ``11:14:18 PM``; None for what is no time."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        return None
    hours, minutes, seconds = int(match[1]), int(match[2]), float(match[3].replace(",", "."))
    if match[4]:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + (12 if match[4] in "pP" else 0)
    if hours > 23 or minutes > 59 or seconds >= 61:
        return None
    return hours * 3600.0 + minutes * 60.0 + seconds


def day(text: str) -> tuple[float, bool] | None:
    """The day's midnight as a wall clock, and whether its order is sure; None for what is no day.

    Of two numbers below 13 before a year with slashes the first is taken as the month, as the C locale
    has it (strftime's %x), and the day is not sure.
    """
    text = text.strip()
    if match := _ISO.fullmatch(text):
        return _midnight(int(match[1]), int(match[2]), int(match[3]), sure=True)
    if match := _NAMED.fullmatch(text):
        month = _month(match[2])
        return None if month is None else _midnight(_year(match[3]), month, int(match[1]), sure=True)
    if match := _DOTTED.fullmatch(text):
        first, second, year = int(match[1]), int(match[3]), _year(match[4])
        if match[2] != "/" or first > 12:
            return _midnight(year, second, first, sure=True)
        return _midnight(year, first, second, sure=second > 12 or first == second)
    return None


def moment(text: str) -> tuple[float, float | None, bool] | None:
    """Wall clock, seconds its zone is ahead of UTC (None without a zone), and whether the day is sure.

    Of ``2026-11-21 23:14:17 UTC``, ``2026-11-21T23:14:16+0100``, ``11/21/26 23:14:16``, the same with
    AM or PM; None for what is no point in time.
    """
    words = text.strip().split(maxsplit=1)
    if len(words) == 2 and (found := day(words[0])) and (clock := time_of_day(words[1])) is not None:
        return found[0] + clock, None, found[1]
    match = _ZONED.fullmatch(text.strip())
    if match is None or (found := day(match[1])) is None or (clock := time_of_day(match[2])) is None:
        return None
    return found[0] + clock, _ahead(match[3]), found[1]


def _ahead(zone: str | None) -> float | None:
    if zone is None:
        return None
    if zone in ("Z", " UTC"):
        return 0.0
    digits = zone[1:].replace(":", "")
    return (1 if zone[0] == "+" else -1) * (int(digits[:2]) * 3600.0 + int(digits[2:]) * 60.0)


def _year(text: str) -> int:
    """Two digits are of this century: the recorders read here are younger than the last one."""
    return int(text) + (2000 if len(text) == 2 else 0)


def _month(name: str) -> int | None:
    low = name.lower()
    return _MONTH_NUMBERS.get(low) or _MONTH_NUMBERS.get(low[:4]) or _MONTH_NUMBERS.get(low[:3])


def _midnight(year: int, month: int, of_month: int, *, sure: bool) -> tuple[float, bool] | None:
    if not EARLIEST_YEAR <= year <= LATEST_YEAR:
        return None
    try:
        return (date(year, month, of_month).toordinal() - _EPOCH) * SECONDS_PER_DAY, sure
    except ValueError:
        return None
