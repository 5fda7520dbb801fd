"""The grid of pension plans: what each of its cells comes to, and the block of cells that is kept in memory.

The parameters are invented.  Money is in cents, rates are a year's.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from mawl.programs.context import JobContext
from mawl.programs.declarations.pension_cube import CUBE, FULL_ROWS, MONTHS, RESIDENT_SHARE
from mawl.programs.toolkit.worker_processes import SideBySide, shared_array

Numbers = NDArray[np.float64]
Cells = NDArray[np.int64]

DIMENSIONS: dict[str, tuple[float, ...]] = {
    "entry_age": tuple(range(27, 47, 2)),
    "salary": tuple(range(24_000, 120_000, 12_000)),
    "growth": tuple(step / 400 for step in range(10)),
    "contribution": tuple((3 + step) / 100 for step in range(10)),
    "interest": tuple((2 + step) / 200 for step in range(10)),
    "inflation": tuple(step / 250 for step in range(10)),
    "charge": tuple(step / 500 for step in range(7)),
    "retirement_age": tuple(range(58, 68)),
}
"""Every parameter's values; the last one changes fastest from cell to cell."""

_STEP = 15_485_863
"""A prime that does not divide the number of cells: any so many rows are spread over the whole grid."""
_SEED_STEP = 7_368_787


def cells(seed: int, start: int, count: int) -> Cells:
    """The cells of rows ``start`` to ``start + count``: each cell once in any FULL_ROWS rows in a row."""
    rows = (np.arange(start, start + count, dtype=np.int64) % FULL_ROWS) * _STEP
    return (rows + seed % FULL_ROWS * _SEED_STEP) % FULL_ROWS


def places(cells: Cells) -> dict[str, Cells]:
    """Where on each parameter's axis cells lie, from 0."""
    found: dict[str, Cells] = {}
    rest = cells
    for name, values in reversed(DIMENSIONS.items()):
        rest, found[name] = np.divmod(rest, len(values))
    return found


def parameters(cells: Cells) -> dict[str, Numbers]:
    """The parameters of cells, (cells,) each."""
    return {name: np.array(DIMENSIONS[name], np.float64)[place] for name, place in places(cells).items()}


def months_to_retirement(of: dict[str, Numbers]) -> Numbers:
    """Months from entry to retirement: 12 x (12 to 40) here."""
    return 12.0 * (of["retirement_age"] - of["entry_age"])


def monthly_interest(of: dict[str, Numbers]) -> Numbers:
    """What a fund grows in a month, less charges."""
    return np.power(1.0 + of["interest"] - of["charge"], 1.0 / 12.0) - 1.0


def first_contribution(of: dict[str, Numbers]) -> Numbers:
    """Cents paid in each month of the first year."""
    return of["salary"] * 100.0 * of["contribution"] / 12.0


def closed_fund(of: dict[str, Numbers]) -> Numbers:
    """The fund at retirement in cents by the formula for two geometric series, without any recursion.

    Each year's twelve payments come to ``year_end`` at its end; they grow with the salary from year to
    year, the fund with its interest.
    """
    years = months_to_retirement(of) / 12.0
    interest = monthly_interest(of)
    yearly = np.power(1.0 + interest, 12.0)
    small = np.abs(interest) < 1e-12
    safe = np.where(small, 1.0, interest)
    year_end = np.where(small, 12.0, (yearly - 1.0) / safe * (1.0 + interest)) * first_contribution(of)
    salaries = 1.0 + of["growth"]
    equal = np.abs(yearly - salaries) < 1e-9
    difference = np.where(equal, 1.0, yearly - salaries)
    series = (np.power(yearly, years) - np.power(salaries, years)) / difference
    return year_end * np.where(equal, years * np.power(yearly, years - 1.0), series)


def closed_paid(of: dict[str, Numbers]) -> Numbers:
    """All that is paid in, in cents: twelve payments a year that grow with the salary."""
    years, growth = months_to_retirement(of) / 12.0, of["growth"]
    flat = growth == 0.0
    safe = np.where(flat, 1.0, growth)
    return 12.0 * first_contribution(of) * np.where(flat, years, (np.power(1.0 + growth, years) - 1.0) / safe)


def closed_real(of: dict[str, Numbers]) -> Numbers:
    """The fund at retirement in the money of the day of entry, in cents."""
    return closed_fund(of) * np.power(1.0 + of["inflation"], -months_to_retirement(of) / 12.0)


def annuity(retirement_age: float, interest: float, inflation: float) -> float:
    """The price of one a year for life, rising with inflation, from an invented mortality."""
    price, alive, discount = 0.0, 1.0, 1.0
    for age in range(int(retirement_age), 111):
        price += alive * discount
        alive *= 1.0 - min(0.004 * 1.1 ** (age - 55), 1.0)
        discount *= (1.0 + inflation) / (1.0 + interest)
    return price


_TILE = 512
"""Cells projected at a time: arrays that stay in the processor's cache."""
_MOST_GIVEN = 16 * _TILE
"""Cells given to a process at a time: fewer cost more CPU time (0.4 ms each time), more take more memory."""


def room_in(memory_bytes: float, rows: int) -> int:
    """Cells of a resident block, in whole tiles: what fills its share of the memory, at most ``rows``."""
    # A cell has two funds a month, its parameters and places, its columns of the cube and copies.
    each = 8 * (2 * MONTHS + 2 * len(DIMENSIONS) + 2 * len(CUBE) + 1)
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
        months = months_to_retirement(tile)
        factor = 1.0 + monthly_interest(tile)
        deflator = np.power(1.0 + tile["inflation"], -1.0 / 12.0)
        salaries = 1.0 + tile["growth"]
        payment = first_contribution(tile)
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
