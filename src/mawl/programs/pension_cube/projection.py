"""The resident block of pension_cube: funds of every month of as many cells as fit in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mawl.programs.context import JobContext
from mawl.programs.pension_cube import grid
from mawl.programs.pension_cube.declare import CUBE, MONTHS, RESIDENT_SHARE
from mawl.programs.toolkit.side_by_side import SideBySide, shared_array

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]

_TILE = 512
"""Cells projected at a time: arrays that stay in the processor's cache."""
_GIVEN = 8 * _TILE
"""Cells given to a process at a time: to give them takes about as long for any number."""


def room_in(memory_bytes: float, rows: int) -> int:
    """Cells of a resident block, in whole tiles: what fills its share of the memory, at most ``rows``."""
    # A cell has two funds a month, its parameters and places, its columns of the cube and copies.
    each = 8 * (2 * MONTHS + 2 * len(grid.DIMENSIONS) + 2 * len(CUBE) + 1)
    return min(max(int(memory_bytes * RESIDENT_SHARE) // each // _TILE, 1) * _TILE, rows)


class _Cells(NamedTuple):
    """Cells to project: the place of the first one in the resident block, and their parameters."""

    first: int
    of: dict[str, Numbers]


class _Year(NamedTuple):
    """The funds of so many cells at the end of a month, of one kind (0: nominal, 1: real), to count."""

    kind: int
    month: int
    rows: int


class Projector:
    """Holds the resident block: nominal and real fund of every (month, cell) of as many as fit.

    ``histogram`` counts funds in bins.  Enter and leave it within one step: tiles and years are worked on
    side by side.
    """

    def __init__(self, context: JobContext, room: int, histogram: Callable[[Numbers], Counts]) -> None:
        self._processes = SideBySide(context, self._work)
        self._histogram = histogram
        self.room = room
        self._funds = shared_array((MONTHS, room))
        self._real = shared_array((MONTHS, room))
        self.paid = shared_array((room,))
        """Cents paid in over all months, by cell."""

    def __enter__(self) -> Self:
        self._processes.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._processes.__exit__(kind)

    def project(self, of: dict[str, Numbers]) -> tuple[Numbers, Numbers]:
        """Fill the block tile by tile; both are (months, cells).  A fund rests after retirement."""
        rows = len(of["salary"])
        given = (
            _Cells(start, {name: column[start : start + _GIVEN] for name, column in of.items()})
            for start in range(0, rows, _GIVEN)
        )
        for _ in self._processes.results(given):
            pass
        return self._funds[:, :rows], self._real[:, :rows]

    def by_year(self, rows: int) -> Iterator[tuple[int, int, Counts]]:
        """Kind (0: nominal, 1: real), year and histogram of so many cells' funds at the end of each year."""
        years = [_Year(kind, month, rows) for kind in range(2) for month in range(11, MONTHS, 12)]
        for year, counts in zip(years, self._processes.results(years), strict=True):
            assert counts is not None
            yield year.kind, year.month // 12, counts

    def _work(self, given: _Cells | _Year) -> Counts | None:
        """Project some cells, or count the funds of a year."""
        if isinstance(given, _Year):
            return self._histogram((self._funds, self._real)[given.kind][given.month, : given.rows])
        self._project_tiles(*given)
        return None

    def _project_tiles(self, first: int, of: dict[str, Numbers]) -> None:
        for start in range(0, len(of["salary"]), _TILE):
            tile = {name: column[start : start + _TILE] for name, column in of.items()}
            self._project_tile(tile, slice(first + start, first + start + len(tile["salary"])))

    def _project_tile(self, tile: dict[str, Numbers], where: slice) -> None:
        months = grid.months(tile)
        factor = 1.0 + grid.monthly_interest(tile)
        deflator = np.power(1.0 + tile["inflation"], -1.0 / 12.0)
        salaries = 1.0 + tile["growth"]
        payment = grid.first_contribution(tile)
        fund, paid, level = np.zeros_like(payment), np.zeros_like(payment), np.ones_like(payment)
        for month in range(MONTHS):
            if month % 12 == 0:
                # Retirement is at the end of a year.
                saves = month < months
                payment *= saves
                factor = np.where(saves, factor, 1.0)
                deflator = np.where(saves, deflator, 1.0)
            fund += payment
            paid += payment
            fund *= factor
            level *= deflator
            self._funds[month, where] = fund
            np.multiply(fund, level, out=self._real[month, where])
            if month % 12 == 11:
                payment *= salaries
        self.paid[where] = paid
