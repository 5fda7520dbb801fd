"""The notes of a SAS log that are no performance notes: rows, variables, banners, errors, look-alikes."""

from __future__ import annotations

import re

from mawl.formats.saslog_records import FactName

_READ = re.compile(r"NOTE: There (?:were|was) [0-9][0-9 ]*o")
_WRITTEN = re.compile(r"NOTE: (?:The data set \S+ has [0-9]|Table \S+ created, with [0-9])")

_FACTS: tuple[tuple[FactName, re.Pattern[str]], ...] = (
    ("begins", re.compile(r"NOTE: (?:Copyright \(c\) .*|Written by mawl .*)")),
    ("software", re.compile(r"NOTE: SAS \([rR]\) (?:Proprietary Software |(?=[0-9]))(?:Release )?(.*?)\s*")),
    ("platform", re.compile(r"NOTE: This session is executing on the (.*?) platform\.\s*")),
    ("identity", re.compile(r"NOTE: This is (job .*); all times are UTC\.\s*")),
    ("place", re.compile(r"(NOTE: It is stage .*)")),
    (
        "remote",
        re.compile(r"NOTE: Remote ((?:signon to|submit to|signoff from) \S+ (?:commencing|complete))\b.*"),
    ),
)
_ERROR = re.compile(r"ERROR(?: [0-9]{1,4}-[0-9]{1,4})?: ?(.*)")
_HEADER = re.compile(r"PASS HEADER ([a-z0-9]{1,10}=\S.*?)\s*")

OPENINGS = (
    "NOTE: DATA statement",
    "NOTE: PROCEDURE ",
    "NOTE: View ",
    "NOTE: SAS initialization",
    "NOTE: The SAS System",
    "NOTE: There were ",
    "NOTE: The data set ",
    "NOTE: Table ",
    "NOTE: The PROCEDURE ",
    "NOTE: The DATA ",
    "NOTE: This session is executing",
    "NOTE: This is job ",
    "NOTE: Remote ",
)
"""Notes of which a part may stand on the next line, where the lines of a log are short."""

_FIGURE_BELOW = re.compile(
    r"\s{2,}[^\s0-9][^0-9:]{0,40}?(?:\s{2,}|\s:\s+)"
    r"[0-9]{1,9}[.,:][0-9][0-9.,:]{0,20}(?:\s?[^\s0-9]{1,12})?\s*"
)
"""A time, with which performance notes begin; ``Levels:  2`` below a libref is none."""
_COLONS = (":", "：", "£º")
"""Also the wide colon of Chinese and Japanese logs, and its bytes read as cp1252."""


def fact(text: str) -> tuple[FactName, str] | None:
    """What a line tells of its session; None for most lines."""
    if text.startswith("ERROR"):
        match = _ERROR.fullmatch(text)
        return None if match is None else ("error", match[1].strip())
    if text.startswith("PASS HEADER "):
        match = _HEADER.fullmatch(text)
        return None if match is None else ("header", match[1])
    for name, pattern in _FACTS:
        if match := pattern.fullmatch(text):
            return name, match[1] if pattern.groups else ""
    return None


def damaged_rows(text: str) -> tuple[str, ...]:
    """The counts that a note on rows would tell, were it whole; none for any other note."""
    if _READ.match(text):
        return ("rows_read",)
    return ("rows_written", "variables_written") if _WRITTEN.match(text) else ()


def may_go_on(text: str) -> bool:
    """Whether a note begins as one that matters and may end on the next line."""
    return text.startswith(OPENINGS)


def like_a_heading(text: str) -> bool:
    """Whether a note that is none of SAS's own headings could be one of another language or vendor."""
    return text.rstrip().endswith(_COLONS)


def like_a_figure(text: str) -> bool:
    """Whether the line below such a note looks like a name and a figure; CAS begins that with NOTE:, too."""
    return _FIGURE_BELOW.fullmatch(text.strip("\r\n").removeprefix(" ").removeprefix("NOTE:")) is not None


def look_alike(text: str) -> str:
    """Why such a block is not read."""
    if re.match(r"NOTE: Action\b", text):
        return "metrics of a CAS action, no step of SAS"
    if not text.isascii() or not re.search(r"used \(Total process time\)|took :", text):
        return "a performance note in another language than English, or no note of SAS"
    if "took :" in text:
        return "a note of another vendor's software, no step of SAS"
    return "a performance note of something that is no DATA step and no procedure"
