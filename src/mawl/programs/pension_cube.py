"""Project an eight-deep grid of pension plans in blocks that fill the job's memsize, and tabulate it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.programs import pension_grid as grid
from mawl.programs.context import JobContext, check, check_equal
from mawl.programs.declarations.pension_cube import (
    CUBE,
    MEMORY_PER_MEMSIZE,
    MONTHS,
    PENSIONS,
    PROGRAM,
)
from mawl.programs.pension_grid import Projector, room_in
from mawl.programs.tables import arrow
from mawl.programs.toolkit.checks import TableSum, added_sums
from mawl.programs.toolkit.groups import numeric_schema
from mawl.programs.toolkit.statistics import class_rows, moments_by, total_rows
from mawl.records.model.records import Answer

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]

_CUBE = numeric_schema(*CUBE)
_PENSIONS = numeric_schema(*PENSIONS)
_BINS = 2048
_LARGEST_FUND_CENTS = 1e9
_LARGEST_RATIO = 16.0
_BANDS = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.5)
_AGES = grid.DIMENSIONS["retirement_age"]
_SAMPLED = 2000
_SAMPLED_PENSIONS = 100
_CLOSED = {
    "fund_cents": grid.closed_fund,
    "real_fund_cents": grid.closed_real,
    "paid_cents": grid.closed_paid,
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
                cells = grid.cells(self.seed, start, min(projector.room, self.rows - start))
                of = grid.parameters(cells)
                funds, real_funds = projector.project(of)
                self._fan((funds, real_funds), grid.months_to_retirement(of))
                columns = [
                    np.arange(start, start + len(cells), dtype=np.float64),
                    *(of[name] for name in ("entry_age", "retirement_age", "contribution")),
                    grid.months_to_retirement(of),
                    of["salary"],
                    np.rint(funds[-1]),
                    np.rint(real_funds[-1]),
                    np.rint(projector.paid[: len(cells)]),
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
        keys = _keys(grid.places(grid.cells(self.seed, int(rows[0]), len(rows))))
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
                age = grid.places(grid.cells(self.seed, int(rows[0]), len(rows)))["retirement_age"]
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
        cells = np.concatenate([grid.cells(self.seed, int(row), 1) for row in sampled[0]])
        of = grid.parameters(cells)
        for found, (name, formula) in zip(sampled[1:], _CLOSED.items(), strict=True):
            expected = formula(of)
            error = np.abs(found - expected)
            worst = int((error / expected).argmax())
            check(
                bool((error <= 0.51 + _TOLERANCE * expected).all()),
                f"{name} of cell {cells[worst]}",
                found=float(found[worst]),
                expected=float(expected[worst]),
            )

    def _check_pensions(self, sampled: Numbers) -> None:
        few = sampled[:, :: max(sampled.shape[1] // _SAMPLED_PENSIONS, 1)]
        for row, annuity, pension, ratio in few.T:
            of = grid.parameters(grid.cells(self.seed, int(row), 1))
            price = grid.annuity(*(float(of[name][0]) for name in _KEYED))
            wanted = float(grid.closed_fund(of)[0]) / price
            check(
                abs(annuity - price) <= _TOLERANCE * price
                and abs(pension - wanted) <= 1.0 + _TOLERANCE * wanted
                and abs(ratio * 100.0 * of["salary"][0] - pension) <= 0.01,
                f"the pension of row {row:.0f}",
                found=[float(annuity), float(pension), float(ratio)],
                expected=[price, wanted],
            )


def _annuity_table() -> pa.Table:
    """The hash table's side of the join: the annuity of each retirement age, interest and inflation."""
    ages, interests, inflations = (grid.DIMENSIONS[name] for name in _KEYED)
    prices = [
        grid.annuity(*given) for given in ((a, i, f) for a in ages for i in interests for f in inflations)
    ]
    return pa.table({"key": pa.array(np.arange(len(prices))), "annuity": pa.array(prices)})


def _keys(places: dict[str, Counts]) -> Counts:
    key = np.zeros_like(places["interest"])
    for name in _KEYED:
        key = key * len(grid.DIMENSIONS[name]) + places[name]
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
