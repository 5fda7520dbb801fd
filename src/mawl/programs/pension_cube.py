"""Project an eight-deep grid of pension plans in blocks that fill the job's memsize, and tabulate it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.programs.context import JobContext, check, check_equal
from mawl.programs.declarations.pension_cube import (
    CUBE,
    FULL_ROWS,
    MEMORY_PER_MEMSIZE,
    MONTHS,
    PENSIONS,
    PROGRAM,
    RESIDENT_SHARE,
)
from mawl.programs.tables import arrow
from mawl.programs.toolkit.checks import TableSum, added_sums
from mawl.programs.toolkit.groups import numeric_schema
from mawl.programs.toolkit.statistics import class_rows, moments_by, total_rows
from mawl.programs.toolkit.worker_processes import SideBySide, shared_array
from mawl.records.model.records import Answer

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


Counts = NDArray[np.int64]

_CUBE = numeric_schema(*CUBE)
_PENSIONS = numeric_schema(*PENSIONS)
_BINS = 2048
_LARGEST_FUND_CENTS = 1e9
_LARGEST_RATIO = 16.0
_BANDS = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.5)
_AGES = DIMENSIONS["retirement_age"]
_SAMPLED = 2000
_SAMPLED_PENSIONS = 100
_CLOSED = {
    "fund_cents": closed_fund,
    "real_fund_cents": closed_real,
    "paid_cents": closed_paid,
}
_KEYED = ("retirement_age", "interest", "inflation")
_TOLERANCE = 1e-9


def run(context: JobContext) -> Answer:
    """Do all steps; counts are exact, money is in cents that agree to a relative 1e-6."""
    return _PensionCube(context).run()


class _PensionCube:
    def __init__(self, context: JobContext) -> None:
        self.context = context
        self.seed = context.assignment.seed
        self.rows = PROGRAM.rows(context.assignment.scale)
        self.every = max(self.rows // _SAMPLED, 1)
        self.paths = {"cube": context.work("cube.arrow"), "pensions": context.work("pensions.arrow")}
        self.written: dict[str, int] = {}
        self.saving = np.zeros(MONTHS, np.int64)
        self.by_year = np.zeros((2, MONTHS // 12, _BINS), np.int64)
        self.samples: list[Numbers] = []
        self.pensions: list[Numbers] = []
        self.bought = 0.0
        self.ages = np.zeros(len(_AGES), np.int64)
        self.bands = np.zeros((len(_AGES), len(_BANDS) + 1), np.int64)
        self.ratios = np.zeros(_BINS, np.int64)
        self.answer: Answer = {"cells": self.rows}

    def run(self) -> Answer:
        self._project()
        self._annuitise()
        self._means()
        self._tabulate()
        self._verify()
        return self.answer

    def _room(self) -> int:
        return room_in(MEMORY_PER_MEMSIZE * self.context.options.memsize_bytes, self.rows)

    def _project(self) -> None:
        with (
            self.context.steps.step("project") as step,
            self.context.writer(self.paths["cube"], _CUBE, checksum=True) as writer,
            Projector(self.context, self._room(), self.rows) as projector,
        ):
            for start in range(0, self.rows, projector.room):
                block = cells(self.seed, start, min(projector.room, self.rows - start))
                of = parameters(block)
                funds, real_funds = projector.project(of)
                self._fan((funds, real_funds), months_to_retirement(of))
                columns = [
                    np.arange(start, start + len(block), dtype=np.float64),
                    *(of[name] for name in ("entry_age", "retirement_age", "contribution")),
                    months_to_retirement(of),
                    of["salary"],
                    np.rint(funds[-1]),
                    np.rint(real_funds[-1]),
                    np.rint(projector.paid[: len(block)]),
                ]
                for batch in _batches(columns, _CUBE):
                    writer.write(batch)
            step.rows_written = writer.rows
        self.written["cube"] = added_sums(writer.sums)

    def _fan(self, funds: tuple[Numbers, Numbers], months: Numbers) -> None:
        ends = np.bincount(months.astype(np.int64), minlength=MONTHS + 1)
        self.saving += len(months) - np.cumsum(ends)[:-1]
        for kind, by_month in enumerate(funds):
            for year, yearly in enumerate(by_month[11::12]):
                self.by_year[kind, year] += _histogram(yearly, _LARGEST_FUND_CENTS)

    def _annuitise(self) -> None:
        annuities = _annuity_table()
        with (
            self.context.steps.step("annuitise", "data") as step,
            self.context.writer(self.paths["pensions"], _PENSIONS, checksum=True) as writer,
        ):
            for batch in self._read("cube"):
                numbers = {name: arrow.numbers(batch.column(name)) for name in CUBE}
                self.samples.append(self._sampled(numbers, ("row", *_CLOSED)))
                annuity = self._joined(numbers["row"], annuities)
                pension = np.rint(numbers["fund_cents"] / annuity)
                ratio = pension / (100.0 * numbers["salary"])
                for written in _batches([numbers["row"], annuity, pension, ratio], _PENSIONS):
                    writer.write(written)
            step.rows_read = step.rows_written = writer.rows
        self.written["pensions"] = added_sums(writer.sums)

    def _joined(self, rows: Numbers, annuities: pa.Table) -> Numbers:
        keys = _keys(places(cells(self.seed, int(rows[0]), len(rows))))
        left = pa.table({"row": arrow.array(rows), "key": pa.array(keys)})
        found = left.join(annuities, "key", join_type="inner", use_threads=False).sort_by("row")
        check_equal("the number of joined cells", found.num_rows, len(rows))
        return found.column("annuity").to_numpy()  # type: ignore[no-any-return]

    def _sampled(self, numbers: dict[str, Numbers], names: tuple[str, ...]) -> Numbers:
        """Some columns of the sampled rows of a batch, as (names, rows)."""
        chosen = numbers["row"] % self.every == 0
        return np.stack([numbers[name][chosen] for name in names])

    def _means(self) -> None:
        with self.context.steps.step("means") as step:
            found = moments_by(
                self.context,
                self._read("cube"),
                _CUBE,
                by=("retirement_age", "contribution", "entry_age"),
                against="fund_cents",
                keys=("row",),
            )
            # Classes are numbers here.
            by_age: dict[float, int] = {}
            for age, figures in found["retirement_age"].items():
                by_age[float(age)] = class_rows(figures)
            self.by_age = np.array([by_age.get(float(age), 0) for age in _AGES])
            step.rows_read = total_rows(found["contribution"])
        classes = found["retirement_age"].values()
        self.answer |= {
            "fund_cents": sum(float(figures["fund_cents"]["sum"] or 0.0) for figures in classes),
            "paid_cents": sum(float(figures["paid_cents"]["sum"] or 0.0) for figures in classes),
            "largest_mean_fund_cents": max(float(figures["fund_cents"]["avg"] or 0.0) for figures in classes),
        }

    def _tabulate(self) -> None:
        edges = np.array(_BANDS)
        with self.context.steps.step("tabulate") as step:
            for batch in self._read("pensions"):
                numbers = {name: arrow.numbers(batch.column(name)) for name in PENSIONS}
                self.pensions.append(self._sampled(numbers, PENSIONS))
                self.bought += float(numbers["annuity"] @ numbers["pension_cents"])
                rows, ratio = numbers["row"], numbers["replacement_ratio"]
                age = places(cells(self.seed, int(rows[0]), len(rows)))["retirement_age"]
                self.ages += np.bincount(age, minlength=len(_AGES))
                self.ratios += _histogram(ratio, _LARGEST_RATIO)
                band = np.searchsorted(edges, ratio, side="right")
                self.bands += np.bincount(age * (len(_BANDS) + 1) + band, minlength=self.bands.size).reshape(
                    self.bands.shape
                )
                step.rows_read = (step.rows_read or 0) + len(rows)
        self.answer |= {
            "median_replacement_ratio": _quantile(self.ratios, 0.5, _LARGEST_RATIO),
            "low_replacement_ratio": _quantile(self.ratios, 0.05, _LARGEST_RATIO),
            "median_fund_cents_after_20_years": _quantile(self.by_year[0, 19], 0.5, _LARGEST_FUND_CENTS),
            "median_real_fund_cents_after_20_years": _quantile(self.by_year[1, 19], 0.5, _LARGEST_FUND_CENTS),
            "poor_at_67": int(self.bands[-1, 0]),
        }

    def _read(self, name: str) -> Iterator[pa.RecordBatch]:
        total = TableSum()
        yield from self.context.read(self.paths[name], total.add)
        total.check(f"the table {name}", rows=self.rows, value=self.written[name])

    def _verify(self) -> None:
        with self.context.steps.step("verify", "verify"):
            self._check_cells(np.concatenate(self.samples, axis=1))
            self._check_pensions(np.concatenate(self.pensions, axis=1))
            check(
                # Pensions are whole cents, an annuity costs less than 50.
                abs(self.bought - float(self.answer["fund_cents"])) <= 25.0 * self.rows,
                "what all pensions cost together",
                found=self.bought,
                expected=self.answer["fund_cents"],
            )
            check_equal("the number of cells by retirement age", self.by_age.tolist(), self.ages.tolist())
            check_equal("the number of cells by band", self.bands.sum(axis=1).tolist(), self.ages.tolist())
            check_equal("the number of cells by ratio", int(self.ratios.sum()), self.rows)
            check_equal(
                "the number of cells by fund in any year",
                self.by_year.sum(axis=2).tolist(),
                [[self.rows] * (MONTHS // 12)] * 2,
            )
            check_equal("the number of cells that save in the first month", int(self.saving[0]), self.rows)
            # Of ten rows in a row each has another age.
            uneven = int(self.ages.max() - self.ages.min())
            check(uneven <= 1, "the spread of retirement ages", found=uneven, expected="at most 1")

    def _check_cells(self, sampled: Numbers) -> None:
        check_equal("the number of sampled cells", sampled.shape[1], -(-self.rows // self.every))
        block = np.concatenate([cells(self.seed, int(row), 1) for row in sampled[0]])
        of = parameters(block)
        for found, (name, formula) in zip(sampled[1:], _CLOSED.items(), strict=True):
            expected = formula(of)
            error = np.abs(found - expected)
            worst = int((error / expected).argmax())
            check(
                bool((error <= 0.51 + _TOLERANCE * expected).all()),
                f"{name} of cell {block[worst]}",
                found=float(found[worst]),
                expected=float(expected[worst]),
            )

    def _check_pensions(self, sampled: Numbers) -> None:
        few = sampled[:, :: max(sampled.shape[1] // _SAMPLED_PENSIONS, 1)]
        for row, factor, pension, ratio in few.T:
            of = parameters(cells(self.seed, int(row), 1))
            price = annuity(*(float(of[name][0]) for name in _KEYED))
            wanted = float(closed_fund(of)[0]) / price
            check(
                abs(factor - price) <= _TOLERANCE * price
                and abs(pension - wanted) <= 1.0 + _TOLERANCE * wanted
                and abs(ratio * 100.0 * of["salary"][0] - pension) <= 0.01,
                f"the pension of row {row:.0f}",
                found=[float(factor), float(pension), float(ratio)],
                expected=[price, wanted],
            )


def _annuity_table() -> pa.Table:
    """The hash table's side of the join: the annuity of each retirement age, interest and inflation."""
    ages, interests, inflations = (DIMENSIONS[name] for name in _KEYED)
    prices = [annuity(*given) for given in ((a, i, f) for a in ages for i in interests for f in inflations)]
    return pa.table({"key": pa.array(np.arange(len(prices))), "annuity": pa.array(prices)})


def _keys(places: dict[str, Counts]) -> Counts:
    key = np.zeros_like(places["interest"])
    for name in _KEYED:
        key = key * len(DIMENSIONS[name]) + places[name]
    return key


def _histogram(values: Numbers, largest: float) -> Counts:
    """Counts of values (0 to ``largest``) in bins whose width grows with the value."""
    places = (np.sqrt(values * (_BINS**2 / largest))).astype(np.int64)
    return np.bincount(np.minimum(places, _BINS - 1), minlength=_BINS)


def _quantile(counts: Counts, share: float, largest: float) -> float:
    """The middle of the bin that a share of the values reaches."""
    place = int((np.cumsum(counts) >= share * counts.sum()).argmax())
    return float((place + 0.5) ** 2 * largest / _BINS**2)


def _batches(columns: list[Numbers], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    size = arrow.batch_rows(arrow.row_bytes(schema))
    for start in range(0, len(columns[0]), size):
        yield pa.RecordBatch.from_arrays(
            [arrow.array(column[start : start + size]) for column in columns], schema=schema
        )
