"""A series as one line of characters: each column shows the highest value of its part, so no peak is lost."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

BLOCKS = "▁▂▃▄▅▆▇█"
PLAIN = "_.:-=+*#"
"""For terminals that cannot show blocks."""
GAP = " "
"""Nothing is known of this part; the lowest character is zero and what is near it."""


def sparkline(values: Sequence[float | None], width: int, levels: str = BLOCKS) -> str:
    """At most ``width`` columns, as high as the value over the highest of all."""
    columns = columns_of(values, width)
    top = max((value for value in columns if value is not None), default=0.0)
    return "".join(GAP if value is None else levels[_level(value, top, len(levels))] for value in columns)


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
