"""The resident block of pension_cube: funds of every month of as many cells as fit in memory."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from mawl.programs.context import JobContext
from mawl.programs.pension_cube import grid
from mawl.programs.pension_cube.declare import CUBE, MONTHS, RESIDENT_SHARE
from mawl.programs.toolkit.side_by_side import SideBySide, shared_array

Numbers = NDArray[np.float64]

_TILE = 512
"""Cells projected at a time: arrays that stay in the processor's cache."""
_MOST_GIVEN = 16 * _TILE
"""Cells given to a process at a time: fewer cost more CPU time (0.4 ms each time), more take more memory."""


def room_in(memory_bytes: float, rows: int) -> int:
    """Cells of a resident block, in whole tiles: what fills its share of the memory, at most ``rows``."""
    # A cell has two funds a month, its parameters and places, its columns of the cube and copies.
    each = 8 * (2 * MONTHS + 2 * len(grid.DIMENSIONS) + 2 * len(CUBE) + 1)
    return min(max(int(memory_bytes * RESIDENT_SHARE) // each // _TILE, 1) * _TILE, rows)


class Projector:
    """Holds the resident block: nominal and real fund of every (month, cell) of as many as fit.

    Enter and leave it within one step: tiles are worked on side by side.
    """

    def __init__(self, context: JobContext, room: int, rows: int) -> None:
        self._processes = SideBySide(context, self._project_tiles, fixed=True)
        # As much for each process, and so many parts that the first two can say how long the rest takes.
        least = 2 * context.threads
        parts = least * -(-room // (least * _MOST_GIVEN))
        self._given = -(-room // (parts * _TILE)) * _TILE
        self.room = room
        self._left, self._is_new = rows, True
        """Cells that no call has projected yet, and whether the block was never filled."""
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
            (start, {name: column[start : start + self._given] for name, column in of.items()})
            for start in range(0, rows, self._given)
        )
        # The first time all pages are new, which takes about as long as what fills them.
        count = self._left // self._given // (2 if self._is_new else 1)
        for _ in self._processes.results(given, count):
            pass
        self._left -= rows
        self._is_new = False
        return self._funds[:, :rows], self._real[:, :rows]

    def _project_tiles(self, given: tuple[int, dict[str, Numbers]]) -> None:
        first, of = given
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
