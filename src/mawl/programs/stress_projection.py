"""Project life policies through 21 shocks and 240 months in blocks that fill the job's memsize.

The assumptions are invented: Gompertz mortality with select years, lapses that fall with duration, and
shocks in the manner of a solvency standard formula (each multiplies or shifts one assumption).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.programs.context import JobContext, check, check_equal
from mawl.programs.declarations.stress_projection import (
    MEMORY_PER_MEMSIZE,
    MONTHS,
    RESIDENT_SHARE,
    SHOCKS,
    TABLE,
)
from mawl.programs.tables import arrow
from mawl.programs.toolkit.checks import TableSum, added_sums
from mawl.programs.toolkit.groups import blocks, numeric_schema
from mawl.programs.toolkit.worker_processes import SideBySide, shared_array
from mawl.records.model.records import Answer

Numbers = NDArray[np.float64]

YOUNGEST = 18
AGE_MONTHS = (80 - YOUNGEST) * 12 + MONTHS
DURATION_MONTHS = 240 + MONTHS
LIVES = 4
"""Mortality tables: sex plus twice smoker."""
PRODUCTS = 9

_BASE = {"mortality": 1.0, "lapse": 1.0, "mass_lapse": 0.0, "expense": 1.0, "interest": 0.0}
_SHOCKED: tuple[dict[str, float], ...] = (
    {"mortality": 1.15},
    {"mortality": 0.80},
    {"mortality": 1.30},
    {"mortality": 1.02, "lapse": 1.10},
    {"lapse": 1.50},
    {"lapse": 0.50},
    {"lapse": 2.00},
    {"mass_lapse": 0.40},
    {"mass_lapse": 0.20},
    {"expense": 1.10},
    {"expense": 1.25},
    {"interest": 0.01},
    {"interest": -0.01},
    {"interest": 0.02},
    {"interest": -0.015},
    {"interest": -0.01, "lapse": 0.50},
    {"interest": 0.01, "lapse": 1.50},
    {"mortality": 1.15, "expense": 1.10},
    {"mortality": 0.80, "interest": -0.01},
    {"mortality": 1.15, "lapse": 1.50, "mass_lapse": 0.20, "expense": 1.10, "interest": -0.01},
)

FACTORS: dict[str, Numbers] = {
    name: np.array([{**_BASE, **shock}[name] for shock in ({}, *_SHOCKED)]) for name in _BASE
}
"""Each assumption's factor (or, for interest and mass lapse, its value) by shock; shock 0 is the base."""

INTEREST = 0.03
EXPENSE_CENTS_PER_MONTH = 350.0
SURRENDER_SHARE = 0.5
MORTALITY_STEP = 0.05
LAPSE_STEP = 0.10
EXPENSE_STEP = 0.25


def mortality(life: int, age_months: int) -> float:
    """Probability of death within a month at an age counted in months from YOUNGEST."""
    yearly = 0.0004 + 0.00003 * 1.1 ** (age_months / 12.0)
    return float(min(yearly * (1.0 + 0.3 * (life % 2) + 0.8 * (life // 2)) / 12.0, 1.0))


def lapse(product: int, duration_months: int) -> float:
    """Probability of surrender within a month after a duration in months."""
    return 0.002 + 0.012 * 0.97**duration_months * (1.0 + 0.05 * product)


def mortality_table() -> Numbers:
    """``mortality`` as (LIVES, AGE_MONTHS)."""
    return np.array([[mortality(life, month) for month in range(AGE_MONTHS)] for life in range(LIVES)])


def lapse_table() -> Numbers:
    """``lapse`` as (PRODUCTS, DURATION_MONTHS)."""
    return np.array(
        [[lapse(product, month) for month in range(DURATION_MONTHS)] for product in range(PRODUCTS)]
    )


def discount(shock: int, month: int) -> float:
    """Present value of 1 paid at the end of a month, from 0."""
    return float((1.0 + INTEREST + FACTORS["interest"][shock]) ** (-(month + 1) / 12.0))


def discount_table() -> Numbers:
    """``discount`` as (SHOCKS, MONTHS)."""
    return np.array([[discount(shock, month) for month in range(MONTHS)] for shock in range(SHOCKS)])


def present_value(policy: dict[str, float], shock: int) -> float:
    """One policy's present value by plain recursion: the check on the vectorised projection."""
    life = int(policy["sex"] + 2 * policy["smoker"])
    factor = {name: float(values[shock]) for name, values in FACTORS.items()}
    death_factor = factor["mortality"] * (1.0 + MORTALITY_STEP * policy["mortality_class"])
    lapse_factor = factor["lapse"] * (1.0 + LAPSE_STEP * policy["lapse_class"])
    expense = EXPENSE_CENTS_PER_MONTH * factor["expense"] * (1.0 + EXPENSE_STEP * policy["expense_class"])
    premium = policy["paying"] * policy["annual_premium"] * 100.0 / 12.0
    remaining = policy["term_months"] - policy["duration_months"]
    in_force, value = 1.0 - factor["mass_lapse"], 0.0
    for month in range(min(MONTHS, max(int(remaining), 0))):
        duration = int(policy["duration_months"]) + month
        age = int(policy["age"] - YOUNGEST) * 12 + month
        death = min(mortality(life, age) * death_factor, 1.0)
        lapsed = min(lapse(int(policy["product"]), duration) * lapse_factor, 1.0)
        paid_out = death * policy["sum_assured"] * 100.0
        surrendered = lapsed * SURRENDER_SHARE * policy["annual_premium"] * 100.0 / 12.0 * duration
        value += discount(shock, month) * in_force * (premium - paid_out - surrendered - expense)
        in_force *= (1.0 - death) * (1.0 - lapsed)
    return value


_COLUMNS = (
    "policy", "age", "duration_months", "term_months", "sum_assured", "annual_premium", "paying", "product",
    "sex", "smoker", "expense_class", "lapse_class", "mortality_class",
)  # fmt: skip
_VALUES = tuple(f"value_{shock:02d}" for shock in range(SHOCKS))
_SCHEMA = numeric_schema("policy", *_VALUES)
_TILE = 512
"""Policies projected at a time: (shocks, tile) arrays that stay in the processor's cache."""
_SUMMED = 4 * _TILE
"""Policies whose cash flows are added up at a time."""
_SAMPLED = 5
_BINS = 1024
_TOLERANCE = 1e-9


def run(context: JobContext) -> Answer:
    """Do all steps; the answer's values are in cents, as floats that agree to a relative 1e-9."""
    return _StressProjection(context).run()


class _StressProjection:
    def __init__(self, context: JobContext) -> None:
        self.context = context
        self.input = context.table(TABLE.name)
        self.rows = self.input.manifest.rows
        self.input_sum = TableSum()
        self.tables = {"paying": context.work("paying.arrow"), "paid_up": context.work("paid_up.arrow")}
        self.written: dict[str, int] = {}
        self.by_month = np.zeros((SHOCKS, MONTHS))
        self.wanted = np.arange(_SAMPLED) * (self.rows // _SAMPLED)
        self.samples: list[tuple[dict[str, float], Numbers]] = []
        self.paying: set[float] = set()
        self.totals = np.zeros(SHOCKS)
        self.least = np.full(SHOCKS, np.inf)
        self.most = np.full(SHOCKS, -np.inf)
        self.answer: Answer = {"policies": self.rows}

    def run(self) -> Answer:
        self._project()
        self._totals()
        self._tail()
        self._verify()
        return self.answer

    def _project(self) -> None:
        with (
            self.context.steps.step("project") as step,
            self.context.writer(self.tables["paying"], _SCHEMA, checksum=True) as paying,
            self.context.writer(self.tables["paid_up"], _SCHEMA, checksum=True) as paid_up,
            _Projector(self.context, _block_rows(self.context, self.rows), self.rows) as projector,
        ):
            policies = self.context.read(self.input.directory, self.input_sum.add)
            for block in blocks(policies, _COLUMNS, itertools.repeat(projector.room)):
                projector.project(block)
                by_month, values = projector.sums(len(block["policy"]))
                self.by_month += by_month
                self._sample(block, values)
                is_paying = block["paying"] == 1.0
                for writer, chosen in ((paying, is_paying), (paid_up, ~is_paying)):
                    for batch in _value_batches(block["policy"][chosen], values[:, chosen]):
                        writer.write(batch)
            step.rows_read = self.input_sum.rows
            step.rows_written = paying.rows + paid_up.rows
        for name, writer in (("paying", paying), ("paid_up", paid_up)):
            self.written[name] = added_sums(writer.sums)
            self.answer[name] = writer.rows

    def _sample(self, block: dict[str, Numbers], values: Numbers) -> None:
        for place in np.flatnonzero(np.isin(block["policy"], self.wanted)):
            policy = {name: float(column[place]) for name, column in block.items()}
            self.samples.append((policy, values[:, place].copy()))

    def _totals(self) -> None:
        with self.context.steps.step("totals") as step:
            for name in self.tables:
                for policies, values in self._values(name):
                    self.totals += values.sum(axis=1)
                    if name == "paying":
                        self.paying.update(policies[np.isin(policies, self.wanted)].tolist())
                        np.minimum(self.least, values.min(axis=1), out=self.least)
                        np.maximum(self.most, values.max(axis=1), out=self.most)
            step.rows_read = self.rows
        worst = int(self.totals.argmin())
        self.answer |= {
            "base_value": float(self.totals[0]),
            "worst_shock": worst,
            "worst_value": float(self.totals[worst]),
        }

    def _tail(self) -> None:
        counts = np.zeros((SHOCKS, _BINS), np.int64)
        width = np.maximum(self.most - self.least, 1.0) / _BINS
        with self.context.steps.step("tail") as step:
            for _, values in self._values("paying"):
                bins = ((values - self.least[:, None]) / width[:, None]).astype(np.int64)
                np.minimum(bins, _BINS - 1, out=bins)
                bins += np.arange(SHOCKS)[:, None] * _BINS
                counts += np.bincount(bins.reshape(-1), minlength=SHOCKS * _BINS).reshape(SHOCKS, _BINS)
                step.rows_read = (step.rows_read or 0) + values.shape[1]
        reached = np.cumsum(counts, axis=1) / max(int(self.answer["paying"]), 1)
        fifth = (reached >= 0.05).argmax(axis=1)
        tail = self.least + width * (fifth + 0.5)
        check_equal("the number of paying policies in the tail", int(counts[0].sum()), self.answer["paying"])
        self.answer |= {"tail_value": float(tail[0]), "worst_tail_value": float(tail.min())}

    def _values(self, name: str) -> Iterator[tuple[Numbers, Numbers]]:
        """A pass over a table: policies, and values as (shocks, rows); its word sum is checked."""
        total = TableSum()
        for batch in self.context.read(self.tables[name], total.add):
            values = np.stack([arrow.numbers(batch.column(shock + 1)) for shock in range(SHOCKS)])
            yield arrow.numbers(batch.column(0)), values
        total.check(f"the table {name}", rows=int(self.answer[name]), value=self.written[name])

    def _verify(self) -> None:
        with self.context.steps.step("verify", "verify"):
            manifest = self.input.manifest
            self.input_sum.check("the policies", rows=self.rows, value=added_sums(manifest.sums))
            check_equal("the number of paying policies", self.answer["paying"], self.rows // 2)
            check_equal("the number of paid-up policies", self.answer["paid_up"], self.rows // 2)
            by_month = (self.by_month * discount_table()).sum(axis=1)
            size = np.abs(self.by_month).sum(axis=1)
            check(
                bool((np.abs(by_month - self.totals) <= _TOLERANCE * size).all()),
                "the sum by month of discounted cash flows",
                found=by_month.tolist(),
                expected=self.totals.tolist(),
            )
            check_equal("the number of sampled policies", len(self.samples), _SAMPLED)
            paying = sorted(policy["policy"] for policy, _ in self.samples if policy["paying"] == 1.0)
            check_equal("the sampled policies among the paying ones", sorted(self.paying), paying)
            for policy, values in self.samples:
                expected = np.array([present_value(policy, shock) for shock in range(SHOCKS)])
                scale = 100.0 * (policy["sum_assured"] + policy["annual_premium"])
                check(
                    bool((np.abs(values - expected) <= _TOLERANCE * scale).all()),
                    f"the present value of policy {policy['policy']:.0f}",
                    found=values.tolist(),
                    expected=expected.tolist(),
                )


def _places(rows: int, size: int) -> Iterator[slice]:
    return (slice(start, min(start + size, rows)) for start in range(0, rows, size))


class _Tile(NamedTuple):
    """A tile of the resident block: its policies, or None where their cash flows are to be added up."""

    where: slice
    policies: dict[str, Numbers] | None


class _Projector:
    """Holds the resident block: the cash flow of every (month, shock, policy) of as many as fit.

    Enter and leave it within one step: tiles are worked on side by side.
    """

    def __init__(self, context: JobContext, room: int, rows: int) -> None:
        self._processes = SideBySide(context, self._work)
        self.room = room
        self._left = rows
        """Policies that no call has projected yet."""
        self._flows = shared_array((MONTHS, SHOCKS, room))
        self._mortality = mortality_table().reshape(-1)
        self._lapse = lapse_table().reshape(-1)
        self._discount = discount_table()
        self._factors = {name: values[:, None] for name, values in FACTORS.items()}

    def __enter__(self) -> Self:
        self._processes.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._processes.__exit__(kind)

    def project(self, block: dict[str, Numbers]) -> None:
        places = list(_places(len(block["policy"]), _TILE))
        tiles = (_Tile(at, {name: column[at] for name, column in block.items()}) for at in places)
        for _ in self._processes.results(tiles, self._left // _TILE):
            pass
        self._left -= len(block["policy"])

    def sums(self, rows: int) -> tuple[Numbers, Numbers]:
        """Sums over so many policies, (shocks, months), and their present values, (shocks, policies)."""
        by_month, values = np.zeros((SHOCKS, MONTHS)), np.empty((SHOCKS, rows))
        places = list(_places(rows, _SUMMED))
        tiles = (_Tile(at, None) for at in places)
        for at, sums in zip(places, self._processes.results(tiles), strict=True):
            assert sums is not None
            by_month += sums[0]
            values[:, at] = sums[1]
        return by_month, values

    def _work(self, tile: _Tile) -> tuple[Numbers, Numbers] | None:
        """Project a tile; where that is done, its sums by month and its present values."""
        flows = self._flows[:, :, tile.where]
        if tile.policies is None:
            return self.by_month(flows), self.present_values(flows)
        self._project_tile(tile.policies, flows)
        return None

    def by_month(self, flows: Numbers) -> Numbers:
        """Sums over policies, as (shocks, months)."""
        return flows.sum(axis=2).T  # type: ignore[no-any-return]

    def present_values(self, flows: Numbers) -> Numbers:
        """Discounted sums over months, as (shocks, policies)."""
        return np.stack([self._discount[shock] @ flows[:, shock, :] for shock in range(SHOCKS)])

    def _project_tile(self, tile: dict[str, Numbers], flows: Numbers) -> None:
        factors = self._factors
        life = (tile["sex"] + 2 * tile["smoker"]).astype(np.intp)
        age = (tile["age"] - YOUNGEST).astype(np.intp) * 12 + life * AGE_MONTHS
        duration = tile["duration_months"].astype(np.intp)
        lapse_place = duration + tile["product"].astype(np.intp) * DURATION_MONTHS
        remaining = tile["term_months"] - tile["duration_months"]
        death_factor = factors["mortality"] * (1.0 + MORTALITY_STEP * tile["mortality_class"])
        lapse_factor = factors["lapse"] * (1.0 + LAPSE_STEP * tile["lapse_class"])
        expense = EXPENSE_CENTS_PER_MONTH * factors["expense"] * (1.0 + EXPENSE_STEP * tile["expense_class"])
        income = tile["paying"] * tile["annual_premium"] * 100.0 / 12.0 - expense
        surrender = SURRENDER_SHARE * tile["annual_premium"] * 100.0 / 12.0
        sum_assured = tile["sum_assured"] * 100.0
        in_force = np.broadcast_to(1.0 - factors["mass_lapse"], income.shape).copy()
        death, lapsed, out = np.empty_like(income), np.empty_like(income), np.empty_like(income)
        for month in range(MONTHS):
            in_force *= month < remaining
            np.multiply(self._mortality[age + month], death_factor, out=death)
            np.minimum(death, 1.0, out=death)
            np.multiply(self._lapse[lapse_place + month], lapse_factor, out=lapsed)
            np.minimum(lapsed, 1.0, out=lapsed)
            flow = flows[month]
            np.multiply(death, sum_assured, out=out)
            np.subtract(income, out, out=flow)
            np.multiply(lapsed, surrender * (duration + month), out=out)
            flow -= out
            flow *= in_force
            np.subtract(1.0, death, out=death)
            in_force *= death
            np.subtract(1.0, lapsed, out=lapsed)
            in_force *= lapsed


def _block_rows(context: JobContext, rows: int) -> int:
    """Policies of a resident block, in whole tiles: what fills its share of memsize."""
    memsize = MEMORY_PER_MEMSIZE * context.options.memsize_bytes
    # A policy has its cash flows, its columns and its present values.
    each = 8 * (MONTHS * SHOCKS + len(_COLUMNS) + 2 * SHOCKS)
    return min(max(int(memsize * RESIDENT_SHARE) // each // _TILE, 1) * _TILE, rows)


def _value_batches(policies: Numbers, values: Numbers) -> Iterator[pa.RecordBatch]:
    size = arrow.batch_rows(8 * (1 + SHOCKS))
    for start in range(0, len(policies), size):
        columns = [policies[start : start + size], *(row[start : start + size] for row in values)]
        yield pa.RecordBatch.from_arrays([arrow.array(column) for column in columns], schema=_SCHEMA)
