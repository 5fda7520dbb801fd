"""A line that grows, cut into strata as it does, with one draw from each.

The width of a stratum is settled when it begins, and the place of its draw, anywhere in it with the same
chance, before anybody knows what will lie there.  So the mean of a draw, given all before it, is the mean of
its stratum, and the draws weighed by their strata's widths make the mean of the line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random


class Strata:
    """``total`` is the length of the line so far; ``whole`` how many strata lie in it with both ends."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.total = 0.0
        self.whole = 0
        self._begins = self._ends = self._place = 0.0

    def over(self, length: float, width: Callable[[float], float]) -> Iterator[tuple[float, float]]:
        """Put ``length`` on; for each draw that lies there, its stratum's width and its place, 0 to 1 of it.

        ``width`` gives the next stratum's from the length that is left; it is asked after the draw before
        was taken.
        """
        start, self.total = self.total, self.total + length
        while True:
            if start <= self._place < min(self.total, self._ends):
                yield self._ends - self._begins, (self._place - start) / length
            if self._ends >= self.total:
                return
            self.whole += self._ends > self._begins
            self._begins = self._ends
            self._ends = self._begins + width(self.total - self._begins)
            self._place = self._begins + self._random.random() * (self._ends - self._begins)

    @property
    def open_ratio(self) -> float:
        """The share of the line in the stratum that has not ended yet; 0 before there is a line."""
        return (self.total - self._begins) / self.total if self.total else 0.0
