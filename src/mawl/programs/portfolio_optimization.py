"""Select the securities of many mandates by mixed-integer programming (HiGHS), and simulate their risk."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from mawl.base.errors import WrongAnswerError
from mawl.programs.context import JobContext, check, check_equal
from mawl.programs.declarations.portfolio_optimization import (
    DERIVED,
    FACTORS,
    MANDATE_ROWS,
    NUMERICS,
    SECTORS,
    TABLE,
)
from mawl.programs.tables import arrow
from mawl.programs.toolkit.checks import regenerate
from mawl.programs.toolkit.groups import Block, PreparedJob, blocks, numeric_schema, sampled
from mawl.programs.toolkit.worker_processes import side_by_side
from mawl.records.model.records import Answer

Numbers = NDArray[np.float64]
Whole = NDArray[np.int64]

CANDIDATES = 48
PENALTY = 30


class Selection(msgspec.Struct, frozen=True):
    """One mandate's problem: ``prices`` and ``sectors`` of the candidates, their ``gains``, limits.

    Of up to ``CANDIDATES`` securities choose whole ones (0 or 1): at most a quarter of them, at most the
    budget, for the largest gain.  What a sector takes beyond a third of the budget costs ``PENALTY``
    a unit; these excesses are the continuous variables.  All figures are whole numbers.
    """

    prices: Whole
    gains: Whole
    sectors: Whole
    sector_count: int

    @property
    def budget(self) -> int:
        return int(self.prices.sum()) // 4

    @property
    def most(self) -> int:
        """How many candidates may be chosen."""
        return len(self.prices) // 4

    @property
    def sector_limit(self) -> int:
        """What a sector may take without penalty."""
        return self.budget // 3

    def value(self, chosen: NDArray[np.bool_]) -> int:
        taken = np.bincount(self.sectors[chosen], self.prices[chosen], minlength=self.sector_count)
        excess = np.maximum(taken.astype(np.int64) - self.sector_limit, 0)
        return int(self.gains[chosen].sum()) - PENALTY * int(excess.sum())

    def is_feasible(self, chosen: NDArray[np.bool_]) -> bool:
        """Whether a selection keeps budget and number."""
        return int(self.prices[chosen].sum()) <= self.budget and int(chosen.sum()) <= self.most

    def greedy(self) -> int:
        """The value of taking what gains most for its price while there is room: a lower bound."""
        chosen = np.zeros(len(self.prices), np.bool_)
        best = 0
        for place in np.argsort(-self.gains / self.prices, kind="stable"):
            chosen[place] = True
            value = self.value(chosen) if self.is_feasible(chosen) else -1
            if value < best:
                chosen[place] = False
            best = max(best, value)
        return best

    def solve(self) -> tuple[NDArray[np.bool_], float]:
        """The best selection and HiGHS's own upper bound of the objective.

        Raises ``WrongAnswerError`` where HiGHS does not come to an optimum.
        """
        objective, constraints, limits = self._matrices()
        count = len(self.prices)
        found = milp(
            objective,
            constraints=LinearConstraint(constraints, -np.inf, limits),
            integrality=np.concatenate([np.ones(count), np.zeros(self.sector_count)]),
            bounds=Bounds(0.0, self._upper()),
            options={"mip_rel_gap": 0.0},
        )
        if found.status != 0:
            raise WrongAnswerError("a selection has no optimum", why=str(found.message))
        return found.x[:count] > 0.5, -float(found.mip_dual_bound)

    def dual_bound(self) -> float:
        """An upper bound of the objective by weak duality, whatever the multipliers are worth.

        They come from the linear relaxation; the bound is added up here.
        """
        objective, constraints, limits = self._matrices()
        relaxed = linprog(
            objective,
            A_ub=constraints,
            b_ub=limits,
            bounds=np.stack([0.0 * objective, self._upper()], axis=1),
        )
        multipliers = np.maximum(-relaxed.ineqlin.marginals, 0.0)
        # A multiplier of a sector must not exceed the penalty, or its excess would pay.
        multipliers[2:] = np.minimum(multipliers[2:], PENALTY)
        reduced = -objective - constraints.T @ multipliers
        return float(limits @ multipliers + np.maximum(reduced[: len(self.prices)], 0.0).sum())

    def _upper(self) -> Numbers:
        return np.concatenate([np.ones(len(self.prices)), np.full(self.sector_count, np.inf)])

    def _matrices(self) -> tuple[Numbers, sparse.csr_array, Numbers]:
        """Costs to minimise, constraint matrix and its upper limits; excesses are the last columns."""
        count = len(self.prices)
        matrix = np.zeros((2 + self.sector_count, count + self.sector_count))
        matrix[0, :count] = self.prices
        matrix[1, :count] = 1.0
        matrix[2 + self.sectors, np.arange(count)] = self.prices
        matrix[2:, count:] = -np.eye(self.sector_count)
        limits = np.concatenate([[self.budget, self.most], np.full(self.sector_count, self.sector_limit)])
        objective = np.concatenate([-self.gains, np.full(self.sector_count, PENALTY)]).astype(np.float64)
        return objective, sparse.csr_array(matrix), limits.astype(np.float64)


_NAMES = tuple(column.name for column in NUMERICS)
_SCHEMA = numeric_schema("candidate", *_NAMES, *DERIVED)
_SCENARIOS = 50_000
_LEVEL = 0.01
_QUANTILE = 2.326347874040841
"""The normal distribution's quantile of 1 - ``_LEVEL``, and its density there below."""
_DENSITY = 0.026652142203457955
_CORRELATION = 0.3
_DEVIATIONS = 7.0
_SAMPLED = 4
_BOUND_SHARE = 0.97
"""A best selection comes at least this near to the bound by duality (measured: 0.995)."""


def run(context: JobContext) -> Answer:
    """Do all steps; gains are whole numbers, risks floats that agree to a relative 1e-6."""
    return _PortfolioOptimization(context).run()


class _PortfolioOptimization(PreparedJob):
    def __init__(self, context: JobContext) -> None:
        super().__init__(context, TABLE, _SCHEMA, "the candidates")
        self.mandates = self.rows // MANDATE_ROWS
        self.chosen = np.zeros((self.mandates, MANDATE_ROWS // 8), np.uint8)
        self.values, self.costs = (np.zeros(self.mandates, np.int64) for _ in range(2))
        self.bounds = np.zeros(self.mandates)
        self.risks, self.deviations = np.zeros(self.mandates), np.zeros(self.mandates)
        self.samples: dict[int, tuple[Selection, NDArray[np.bool_]]] = {}
        self.answer |= {"candidates": self.rows, "mandates": self.mandates}

    def _work(self) -> None:
        self._prepare()
        self._select()
        self._simulate()

    def _prepare(self) -> None:
        for _ in self.prepared.preparing_groups(["candidate", *_NAMES], MANDATE_ROWS, _derive):
            pass

    def _select(self) -> None:
        chosen_numbers = sampled(_SAMPLED, self.mandates)
        with self.context.steps.step("select") as step:
            solved = side_by_side(self.context, _solved, self._mandates(), self.mandates)
            for number, (places, selection, chosen, self.bounds[number]) in enumerate(solved):
                check(
                    selection.is_feasible(chosen),
                    f"the selection of mandate {number}",
                    found=int(selection.prices[chosen].sum()),
                    expected=f"at most {selection.budget} for at most {selection.most}",
                )
                self.values[number] = selection.value(chosen)
                self.costs[number] = selection.prices[chosen].sum()
                held = np.zeros(MANDATE_ROWS, np.bool_)
                held[places[chosen]] = True
                self.chosen[number] = np.packbits(held)
                if number in chosen_numbers:
                    self.samples[number] = selection, chosen
                step.rows_read = (number + 1) * MANDATE_ROWS
        check_equal("the number of rows of mandates with a selection", step.rows_read, self.rows)
        self.answer |= {"gain": int(self.values.sum()), "largest_gain": int(self.values.max())}

    def _simulate(self) -> None:
        correlation = np.full((len(FACTORS), len(FACTORS)), _CORRELATION)
        np.fill_diagonal(correlation, 1.0)
        seed = self.manifest.seed
        market = np.random.default_rng([seed, 0]).standard_normal((_SCENARIOS, len(FACTORS)))
        market = market @ np.linalg.cholesky(correlation).T
        all_exposures, all_own = np.zeros(len(FACTORS)), 0.0
        with self.context.steps.step("simulate") as step:
            held = ((mandate, self.chosen[number], number) for number, mandate in enumerate(self._mandates()))

            def at_risk(holding: tuple[Block, NDArray[np.uint8], int]) -> tuple[int, Numbers, float, float]:
                cost, exposures, own = _holding(*holding[:2])
                return cost, exposures, own, _value_at_risk(market, exposures, own, [seed, holding[2] + 1])

            found = side_by_side(self.context, at_risk, held, self.mandates)
            for number, (cost, exposures, own, self.risks[number]) in enumerate(found):
                check_equal(f"what mandate {number} holds", cost, int(self.costs[number]))
                self.deviations[number] = math.sqrt(exposures @ correlation @ exposures + own)
                all_exposures, all_own = all_exposures + exposures, all_own + own
                step.rows_read = (number + 1) * MANDATE_ROWS
            self.risk = _value_at_risk(market, all_exposures, all_own, [seed, self.mandates + 1])
            self.deviation = math.sqrt(all_exposures @ correlation @ all_exposures + all_own)
        self.answer |= {
            "value_at_risk": self.risk,
            "mean_value_at_risk": float(self.risks.mean()),
            "largest_value_at_risk": float(self.risks.max()),
        }

    def _mandates(self) -> Iterator[Block]:
        return blocks(self.prepared.batches(), _SCHEMA.names, itertools.repeat(MANDATE_ROWS))

    def _check(self) -> None:
        worst = int((self.bounds - self.values).argmax())
        check(
            bool((np.abs(self.bounds - self.values) <= 0.5).all()),
            f"the value of mandate {worst}",
            found=int(self.values[worst]),
            expected=f"{self.bounds[worst]:.1f}, the solver's bound",
        )
        for number, (selection, chosen) in self.samples.items():
            self._check_candidates(number, selection)
            _check_selection(number, selection, chosen)
        _check_risk("every mandate", self.risks, self.deviations)
        _check_risk("all mandates together", np.array([self.risk]), np.array([self.deviation]))

    def _check_candidates(self, number: int, selection: Selection) -> None:
        (rows,) = regenerate(TABLE, self.manifest, [(number * MANDATE_ROWS, MANDATE_ROWS)])
        price, percent, sector = (
            arrow.numbers(rows.column(name)).astype(np.int64)
            for name in ("price", "expected_return", "sector")
        )
        places = np.sort(np.argsort(-percent, kind="stable")[:CANDIDATES])
        for what, found, expected in (
            ("prices", selection.prices, price),
            ("gains", selection.gains, price * percent),
            ("sectors", selection.sectors, sector),
        ):
            right = np.array_equal(found, expected[places])
            check_equal(f"whether the {what} of mandate {number}'s candidates are right", right, True)


def _solved(mandate: Block) -> tuple[NDArray[np.intp], Selection, NDArray[np.bool_], float]:
    """A mandate's candidates, its problem, the best selection and the solver's bound."""
    places = np.flatnonzero(mandate["yield_rank"] < CANDIDATES)
    selection = Selection(
        prices=mandate["price"][places].astype(np.int64),
        gains=mandate["gain"][places].astype(np.int64),
        sectors=mandate["sector"][places].astype(np.int64),
        sector_count=SECTORS,
    )
    return places, selection, *selection.solve()


def _check_selection(number: int, selection: Selection, chosen: NDArray[np.bool_]) -> None:
    """A value between what is easily reached and what duality allows, near the latter."""
    value, bound, greedy = selection.value(chosen), selection.dual_bound(), selection.greedy()
    check(
        max(greedy, _BOUND_SHARE * bound) <= value <= bound * (1.0 + 1e-9),
        f"the value of mandate {number}",
        found=value,
        expected=f"{bound:.1f} by duality, less at most 3 %, and at least {greedy}",
    )


def _check_risk(what: str, risks: Numbers, deviations: Numbers) -> None:
    """Losses are normal here: a quantile is a multiple of the standard deviation, and so is its error."""
    error = math.sqrt(_LEVEL * (1.0 - _LEVEL) / _SCENARIOS) / _DENSITY
    found = risks / np.maximum(deviations, 1e-9)
    farthest = float(found[np.abs(found - _QUANTILE).argmax()])
    check(
        abs(farthest - _QUANTILE) <= _DEVIATIONS * error,
        f"the value at risk of {what}",
        found=f"{farthest:.4f} standard deviations",
        expected=f"{_QUANTILE:.4f}, give or take {_DEVIATIONS * error:.4f}",
    )


def _holding(mandate: Block, chosen: NDArray[np.uint8]) -> tuple[int, Numbers, float]:
    """What a mandate's selection costs, its exposures to the factors and the variance of its own risks."""
    held = np.unpackbits(chosen).astype(np.bool_)
    prices = mandate["price"][held]
    exposures = np.array([prices @ mandate[name][held] for name in FACTORS]) / 100.0
    own = float(np.square(prices * mandate["own_risk"][held] / 100.0).sum())
    return int(prices.sum()), exposures, own


def _value_at_risk(market: Numbers, exposures: Numbers, own: float, seed: list[int]) -> float:
    """The loss that one scenario of a hundred exceeds."""
    gains = np.random.default_rng(seed).standard_normal(len(market))
    gains *= math.sqrt(own)
    gains += market @ exposures
    place = int(len(gains) * _LEVEL)
    return -float(np.partition(gains, place)[place])


def _derive(block: Block) -> tuple[Numbers, ...]:
    """Mandate, gain, rank by yield within the mandate (from 0), variance, mean loading and coupon."""
    mandate = block["candidate"] // MANDATE_ROWS
    gain = block["price"] * block["expected_return"]
    # Stable: of equal yields the first row goes before.
    order = np.lexsort((-block["expected_return"], mandate))
    rank = np.empty(len(order))
    rank[order] = np.arange(len(order)) % MANDATE_ROWS
    loadings = np.stack([block[name] for name in FACTORS])
    variance = np.square(loadings).sum(axis=0) + np.square(block["own_risk"])
    coupon = block["price"] * block["coupon_per_mille"]
    return mandate, gain, rank, variance, loadings.mean(axis=0), coupon
