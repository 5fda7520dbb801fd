"""Text of unknown origin: its encoding and lines, and dates and times of day in many orders and languages.

A wall clock is seconds since the epoch as if it were UTC; what zone it was in, the reader must know.
A line longer than LONGEST_LINE_BYTES is cut there, and the rest of it is not read into memory.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from functools import lru_cache
from typing import BinaryIO

LONGEST_LINE_BYTES = 64 * 1024
LONGEST_MOMENT = 80
"""Characters of a point in time."""
CHUNK_BYTES = 256 * 1024

Skip = Callable[[int, str, str], None]
"""Told of a line that was cut or left out: number from 1, reason, text."""


def encoding_of(first: bytes) -> str:
    """``utf-16``, ``utf-8`` or ``cp1252``, by the mark at the start or what the first bytes can be.

    UTF-16 without a byte order mark is recognised by the zero bytes of its ASCII letters: nearly all are at
    odd places, or nearly all at even ones (letters such as U+4E00 have theirs at the others).  Text that is
    not UTF-8 is cp1252, in which every byte is some letter.
    """
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    head = first[:4096]
    if len(head) >= 16 and b"\0" in head:
        odd, even = head[1::2].count(0) / len(head), head[::2].count(0) / len(head)
        if odd > 0.4 and even < 0.1:
            return "utf-16-le"
        if even > 0.4 and odd < 0.1:
            return "utf-16-be"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(first)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def byte_chunks(stream: BinaryIO) -> Iterator[bytes]:
    """The stream in chunks, as UTF-8 or cp1252 bytes without a mark, with ``\\n`` for every line end."""
    first = stream.read(CHUNK_BYTES)
    encoding = encoding_of(first)
    recode = codecs.getincrementaldecoder(encoding)(errors="replace") if "16" in encoding else None
    chunk = first.removeprefix(codecs.BOM_UTF8)
    pending_return = False
    while chunk:
        text = recode.decode(chunk).encode("utf-8", "replace") if recode else chunk
        if pending_return:
            text = b"\r" + text
        pending_return = text.endswith(b"\r")
        if pending_return:
            text = text[:-1]
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        yield text
        chunk = stream.read(CHUNK_BYTES)
    if pending_return:
        yield b"\n"


def whole_of(chunks: Iterable[bytes], most_bytes: int) -> bytearray | None:
    """The chunks as one document; None, without reading on, if they are more than ``most_bytes``."""
    content = bytearray()
    for chunk in chunks:
        content += chunk
        if len(content) > most_bytes:
            return None
    return content


def text_of(line: bytes) -> str:
    """A line as text: UTF-8, or cp1252 where it is none."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace")


def numbered_lines(stream: BinaryIO, skip: Skip) -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of each line, without its end; a line too long is cut and told ``skip``."""
    rest, number, dropping = b"", 1, False
    for chunk in byte_chunks(stream):
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        for line in lines:
            if not dropping:
                yield number, text_of(line[:LONGEST_LINE_BYTES])
                if len(line) > LONGEST_LINE_BYTES:
                    skip(number, f"longer than {LONGEST_LINE_BYTES} bytes: the rest of it is not read", "")
            dropping = False
            number += 1
        if len(rest) > LONGEST_LINE_BYTES:
            if not dropping:
                skip(number, f"longer than {LONGEST_LINE_BYTES} bytes: the rest of it is not read", "")
                yield number, text_of(rest[:LONGEST_LINE_BYTES])
            dropping, rest = True, b""
    if rest and not dropping:
        yield number, text_of(rest)


SECONDS_PER_DAY = 86400.0
EARLIEST_YEAR, LATEST_YEAR = 1990, 2099
"""A recording of another year is a damaged one."""

_EPOCH = date(1970, 1, 1).toordinal()
_TIME = re.compile(r"([0-9]{1,2})[:.]([0-9]{2})[:.]([0-9]{2}(?:[.,][0-9]{1,6})?)(?: ?([AaPp])\.?[Mm]\.?)?")
_ISO = re.compile(r"([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})")
_NAMED = re.compile(r"([0-9]{1,2})[-/. ]([^\W\d_]{3,9})\.?[-/. ]([0-9]{4}|[0-9]{2})")
_DOTTED = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})[-/.]([0-9]{4}|[0-9]{2})")
_ZONE = r"[A-Z]{1,5}|[+-][0-9]{2}(?::?[0-9]{2})?"
_ZONED = re.compile(rf"(\S{{8,10}})[T ](\S{{7,15}}?)(?: ?({_ZONE}))?")
_DATE_OUTPUT = re.compile(
    r"(?:[^\W\d_]{2,12}\.?,? +)?(?:([0-9]{1,2})\.? +([^\W\d_]{3,9})\.?|([^\W\d_]{3,9})\.? +([0-9]{1,2}))"
    rf"(?:,? ([0-9]{{4}}))?,? +([0-9:]{{7,8}}(?: [AP]M)?)(?: +({_ZONE}))?(?: +([0-9]{{4}}))?"
)
"""What date(1) prints: ``Wed Mar  4 10:00:01 CET 2026``, ``mer. 4 mars 2026 10:00:01 CET``."""

ZONES: dict[str, float] = {
    **dict.fromkeys(("UTC", "GMT", "WET", "Z"), 0.0),
    **dict.fromkeys(("CET", "MEZ", "WEST", "WAT"), 1.0),
    **dict.fromkeys(("CEST", "MESZ", "EET", "SAST", "CAT"), 2.0),
    **dict.fromkeys(("EEST", "MSK", "EAT"), 3.0),
    **dict.fromkeys(("HKT", "AWST"), 8.0),
    **dict.fromkeys(("JST", "KST"), 9.0),
    "ACST": 9.5,
    "ACDT": 10.5,
    "AEST": 10.0,
    "AEDT": 11.0,
    "NZST": 12.0,
    "NZDT": 13.0,
    "EST": -5.0,
    "EDT": -4.0,
    "CDT": -5.0,
    "MST": -7.0,
    "MDT": -6.0,
    "PST": -8.0,
    "PDT": -7.0,
    "AKST": -9.0,
    "AKDT": -8.0,
    "HST": -10.0,
}
"""Hours that a zone is ahead of UTC, by the names that mean one zone alone (tz database 2024); IST, CST and
BST are of several."""

_FAR_EAST = (
    (re.compile(r"([0-9]{4})[年년] {0,2}([0-9]{1,2})[月월] {0,2}([0-9]{1,2})[日일]"), r"\1-\2-\3"),
    (re.compile(r" (?:星期.|.曜日|.요일)"), ""),
    (re.compile(r"([0-9]{1,2})[时時시] ?([0-9]{2})[分분] ?([0-9]{2})[秒초]"), r"\1:\2:\3"),
    (re.compile(r"(?:上午|午前|오전) ?([0-9]{1,2}:[0-9:]{2,5})"), r"\1 AM"),
    (re.compile(r"(?:下午|午後|오후) ?([0-9]{1,2}:[0-9:]{2,5})"), r"\1 PM"),
    (re.compile(r"(?<=[0-9])\s(?:πμ|π\.μ\.)"), " AM"),
    (re.compile(r"(?<=[0-9])\s(?:μμ|μ\.μ\.)"), " PM"),
)
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")
"""Dates and clocks of Chinese, Japanese, Korean and Greek locales (glibc), and how others write them."""


def western(line: str) -> str:
    """The line with its date and clock in digits alone: ``10时00分00秒`` is 10:00:00; without colours."""
    if "\x1b" in line:
        line = _COLOUR.sub("", line)
    if not line.isascii():
        for pattern, replacement in _FAR_EAST:
            line = pattern.sub(replacement, line, count=1)
    return line


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


def on_its_day(midnight: float, seconds: float, latest: float | None) -> float:
    """A time of day on the day of ``midnight``, or on one after it where the clock began again since
    ``latest``."""
    at = midnight + seconds
    while latest is not None and at < latest - SECONDS_PER_DAY / 2:
        at += SECONDS_PER_DAY
    return at


@lru_cache(maxsize=4096)
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


def day_of(text: str) -> tuple[float, bool] | None:
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
    AM or PM, and of what date(1) prints; None for what is no point in time.
    """
    text = text.strip()
    words = text.split(maxsplit=1)
    if len(words) == 2 and (found := day_of(words[0])) and (clock := time_of_day(words[1])) is not None:
        return found[0] + clock, None, found[1]
    if (match := _ZONED.fullmatch(text)) and (found := day_of(match[1])):
        clock = time_of_day(match[2])
        return None if clock is None else (found[0] + clock, zone_ahead(match[3]), found[1])
    if len(text) > LONGEST_MOMENT or (match := _DATE_OUTPUT.fullmatch(text)) is None:
        return None
    month, clock = _month(match[2] or match[3]), time_of_day(match[6])
    year = match[5] or match[8]
    if month is None or clock is None or year is None:
        return None
    found = _midnight(int(year), month, int(match[1] or match[4]), sure=True)
    return None if found is None else (found[0] + clock, zone_ahead(match[7]), True)


def zone_ahead(zone: str | None) -> float | None:
    """The seconds that ``+0100``, ``Z`` or a name of ``ZONES`` is ahead of UTC; None for other names."""
    if zone is None or zone in ZONES or zone[0] not in "+-":
        return ZONES[zone] * 3600.0 if zone in ZONES else None
    digits = zone[1:].replace(":", "")
    return (1 if zone[0] == "+" else -1) * (int(digits[:2]) * 3600.0 + int(digits[2:] or 0) * 60.0)


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


def one_line(text: str) -> str:
    """The text without anything that could end the line or steer a terminal."""
    if not text.isprintable():
        text = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(text.split())
