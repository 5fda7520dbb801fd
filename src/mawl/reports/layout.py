"""Text as reports lay it out: columns, figures, Markdown, sparklines and the colours of a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Literal

import msgspec

from mawl.importers.formats.text import one_line

if TYPE_CHECKING:  # every command imports this module, most without a summary
    from mawl.records.model.summary.time import Time

LINE_WIDTH = 110
"""Longest line of a report in a file, and on a terminal that is at least so wide."""
LEAST_WIDTH = 80
"""Narrower terminals get lines of this width."""
GAP = "  "

_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:%|[mun]?s|min|h|[kMGT]?i?B(?:/s)?)(?!\w))")
_TIE = "\x00"
_COMMAND = re.compile(r"(?<=: )(?:\S*/|\S+ -m )?mawl [a-z].*$")


def by_reason(named: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The names that share a reason, by this reason, in the order of ``named`` (pairs of name and reason)."""
    found: dict[str, list[str]] = {}
    for name, reason in named:
        found.setdefault(reason, []).append(name)
    return found


def wrapped(text: str, width: int, indent: str, *, whole_command: bool = False) -> list[str]:
    """Lines of a text, with an indent from the second on; a number and its unit stay in one line.

    With ``whole_command`` so does a command at its end, however long: a shell would take its first part.
    """
    command = _COMMAND.search(text) if whole_command and len(text) > width else None
    said = text[: command.start()] if command else text
    lines = wrap(_BEFORE_UNIT.sub(_TIE, said), width, subsequent_indent=indent, break_on_hyphens=False)
    return [line.replace(_TIE, " ") for line in lines] + ([indent + command[0]] if command else [])


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with the first column to the left and all others to the right, two blanks between."""
    widths = [
        max((len(row[index]) for row in rows), default=0) for index in range(max(map(len, rows), default=0))
    ]
    return [
        GAP.join(
            cell.ljust(width) if index == 0 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=False))
        ).rstrip()
        for row in rows
    ]


def stacked(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """``aligned`` lines of at most ``width``; columns that do not fit follow below.

    The first column begins each block.  No cell is cut, so a line may be longer where cells are wide.
    """
    lines: list[str] = []
    left = [list(row) for row in rows]
    while left:
        taken = max(map(len, left))
        while taken > 2 and max(map(len, aligned([row[:taken] for row in left]))) > width:
            taken -= 1
        lines += ([""] if lines else []) + aligned([row[:taken] for row in left])
        rest = [[*row[:1], *row[taken:]] for row in left]
        left = rest if max(map(len, rest)) > 1 else []
    return lines


def fitting(rows: Sequence[Sequence[str]], width: int, spare: Sequence[str]) -> list[Sequence[str]]:
    """Rows of which the columns ``spare`` are left out, as many as it takes for lines of ``width``.

    The first row has the names of the columns; the first of ``spare`` is left out first.
    """
    kept, waiting = list(rows), list(spare)
    while waiting and max(map(len, aligned(kept)), default=0) > width:
        name = waiting.pop(0)
        place = kept[0].index(name) if name in kept[0] else None
        if place is not None:
            kept = [[*row[:place], *row[place + 1 :]] for row in kept]
    return kept


ABSENT = "-"

Form = Callable[[float], str]


def figure(value: object, form: Form) -> str:
    """A figure as text; ``-`` when it is missing."""
    return form(value) if isinstance(value, int | float) else ABSENT


def figures(*cells: tuple[object, Form]) -> list[str]:
    """Several figures, each with its form."""
    return [figure(value, form) for value, form in cells]


def format_count(value: float) -> str:
    """A whole number, its digits in groups of three."""
    return f"{value:,.0f}"


def short_instant(instant: str | None) -> str:
    """An instant of ISO 8601 to the minute; ``-`` when it is missing."""
    return ABSENT if instant is None else f"{instant[:10]} {instant[11:16]}"


def splits_cpu(time: Time) -> bool:
    """Whether as many jobs have user and system CPU time as have CPU time at all."""
    return time.known.jobs.user_cpu >= time.known.jobs.cpu


def cpu_parts(time: Time) -> tuple[tuple[str, str], ...]:
    """Label and field of the CPU sums: user and system, or both in one where more jobs have that."""
    if not splits_cpu(time):
        return (("CPU", "cpu_seconds"),)
    return (("user CPU", "user_cpu_seconds"), ("system CPU", "system_cpu_seconds"))


SPECIAL = re.compile(r"([\\`*_\[\]|~])")
"""Characters that Markdown (CommonMark, with GitHub's tables) may take for markup inside a line; a text is
never put at the beginning of one, where others would count."""

ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"}
"""HTML, and the sign that would notify somebody."""


def escaped(text: object) -> str:
    """A text as one line that no renderer takes for markup, HTML or a mention; links stay words."""
    plain = "".join(ENTITIES.get(letter, letter) for letter in one_line(str(text)))
    return SPECIAL.sub(r"\\\1", plain).replace("://", ":&#47;&#47;").replace("www.", "www&#46;")


def with_command(text: str) -> str:
    """A text whose command, if it ends in one, is code, which nothing escapes: a reader may copy it."""
    command = _COMMAND.search(text)
    return f"{escaped(text[: command.start()])} {code(command[0])}" if command else escaped(text)


def code(text: object) -> str:
    """A name in code; the fence is longer than any in the name."""
    plain = one_line(str(text)).replace("|", "&#124;")
    fence = "`" * (max((len(run) for run in re.findall("`+", plain)), default=0) + 1)
    edge = " " if "`" in plain else ""
    return f"{fence}{edge}{plain}{edge}{fence}" if plain else ""


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: Sequence[int] = ()) -> list[str]:
    """A table of cells that are Markdown already; figures are to the right, columns of words ``left``."""
    if not rows:
        return []
    marks = [":--" if place == 0 or place in left else "--:" for place in range(len(head))]
    return [f"| {' | '.join(cells)} |" for cells in (head, marks, *rows)]


BLOCKS = "▁▂▃▄▅▆▇█"
PLAIN_LEVELS = "_.:-=+*#"
"""For terminals that cannot show blocks."""
UNKNOWN_LEVEL = " "
"""Nothing is known of this part; the lowest character is zero and what is near it."""


def sparkline(values: Sequence[float | None], width: int, levels: str = BLOCKS) -> str:
    """At most ``width`` columns, as high as the value over the highest of all."""
    columns = columns_of(values, width)
    top = max((value for value in columns if value is not None), default=0.0)
    return "".join(
        UNKNOWN_LEVEL if value is None else levels[_level(value, top, len(levels))] for value in columns
    )


def columns_of(values: Sequence[float | None], width: int) -> list[float | None]:
    """The highest known value of each of ``width`` equal parts; the values themselves where they fit."""
    if len(values) <= width:
        return list(values)
    bounds = [number * len(values) // width for number in range(width + 1)]
    return [
        max((value for value in values[start:end] if value is not None), default=None)
        for start, end in pairwise(bounds)
    ]


def _level(value: float, top: float, levels: int) -> int:
    if top <= 0:
        return 0
    return min(max(round(value / top * (levels - 1)), 0), levels - 1)


Paint = Literal["strong", "good", "warning", "bad", "quiet"]

CODES: dict[Paint, str] = {"strong": "1", "good": "32", "warning": "33", "bad": "31", "quiet": "2"}
"""Select Graphic Rendition of ECMA-48: bold, green, yellow, red, faint."""


class Style(msgspec.Struct, frozen=True, kw_only=True):
    """``colour``: whether colours may be used; ``blocks``: whether block characters can be shown.

    ``width`` is that of the longest line, in characters.
    """

    colour: bool = False
    blocks: bool = True
    width: int = LINE_WIDTH

    def paint(self, text: str, paint: Paint | None) -> str:
        return f"\x1b[{CODES[paint]}m{text}\x1b[0m" if self.colour and paint and text else text


PLAIN = Style()
"""No colours: files, pipes and tests."""
