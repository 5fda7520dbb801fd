"""Aligned columns of text."""

from __future__ import annotations

from collections.abc import Sequence

LINE_WIDTH = 110
"""Longest line of a report for a terminal."""


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with the first column to the left and all others to the right, two blanks between."""
    widths = [
        max((len(row[index]) for row in rows), default=0) for index in range(max(map(len, rows), default=0))
    ]
    return [
        "  ".join(
            cell.ljust(width) if index == 0 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=False))
        ).rstrip()
        for row in rows
    ]
