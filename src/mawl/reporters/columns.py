"""Aligned columns of text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap

LINE_WIDTH = 110
"""Longest line of a report in a file, and on a terminal that is at least so wide."""
LEAST_WIDTH = 80
"""Narrower terminals get lines of this width."""
GAP = "  "

_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:%|[mun]?s|min|h|[kMGT]?i?B(?:/s)?)(?!\w))")
_TIE = "\x00"


def wrapped(text: str, width: int, indent: str) -> list[str]:
    """Lines of a text, with an indent from the second on; a number and its unit stay in one line."""
    lines = wrap(_BEFORE_UNIT.sub(_TIE, text), width, subsequent_indent=indent)
    return [line.replace(_TIE, " ") for line in lines]


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
    """:func:`aligned` lines of at most ``width``; columns that do not fit follow below.

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
