"""The selection problem of a mandate, its solution by HiGHS, and bounds that do not rest on the solver.

Of up to :data:`CANDIDATES` securities choose whole ones (0 or 1): at most a quarter of them, at most the
budget, for the largest gain.  What a sector takes beyond a third of the budget costs :data:`PENALTY`
a unit; these excesses are the continuous variables.  All figures are whole numbers.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from mawl.errors import WrongAnswerError

Numbers = NDArray[np.float64]
Whole = NDArray[np.int64]

CANDIDATES = 48
PENALTY = 30


class Selection(msgspec.Struct, frozen=True):
    """One instance: ``prices`` and ``sectors`` of the candidates, their ``gains``, limits."""

    prices: Whole
    gains: Whole
    sectors: Whole
    sector_count: int

    @property
    def budget(self) -> int:
        """What the selection may cost."""
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
        """The objective of a selection, in whole numbers."""
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

        Raises :class:`~mawl.errors.WrongAnswerError` where HiGHS does not come to an optimum.
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
