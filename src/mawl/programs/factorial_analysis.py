"""Analysis of factorial studies, and D-optimal designs of their next runs by coordinate exchange.

The model has all main effects and two-factor interactions in deviations from the mean, so that its
parameters are the effects at all levels but the last.  The error is the variance within cells.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import f as f_distribution
from statsmodels.regression.linear_model import WLS
from statsmodels.stats.libqsturng import qsturng

Numbers = NDArray[np.float64]

FACTOR_COUNT = 4
LEVELS = 3
CELLS = LEVELS**FACTOR_COUNT
TERMS = FACTOR_COUNT + FACTOR_COUNT * (FACTOR_COUNT - 1) // 2
PAIRS = tuple(itertools.combinations(range(LEVELS), 2))
"""Pairs of levels of one factor."""

SIGNIFICANCE = 0.01
"""Of the test of one term."""
FAMILY_ERROR = 0.05
"""Of all comparisons of one factor's levels together."""

CELL_LEVELS = np.array(list(itertools.product(range(LEVELS), repeat=FACTOR_COUNT)))
"""Levels (from 0) of each cell, the last factor's running fastest: (cells, factors)."""


@dataclass(frozen=True)
class Analysis:
    """What was found of one response of one study."""

    parameters: Numbers
    errors: Numbers
    """Standard errors of the parameters."""
    variance: float
    found: NDArray[np.bool_]
    """Which terms are there: (terms,)."""
    differing: NDArray[np.bool_]
    """Which pairs of levels differ: (factors, pairs)."""


def analyse(counts: Numbers, sums: Numbers, squares: float) -> Analysis:
    """One response: runs and sums by cell, (cells,) each, and the sum of squares over all runs."""
    held = counts > 0
    means = sums[held] / counts[held]
    freedom = int(counts.sum()) - int(held.sum())
    variance = (squares - float(sums[held] @ means)) / freedom
    fitted = WLS(means, DESIGN[held], weights=counts[held]).fit(
        method="qr", cov_type="fixed scale", cov_kwds={"scale": variance}
    )
    ratios = [float(fitted.f_test(restriction).fvalue) for restriction in _restrictions()]
    widths = np.array([len(restriction) for restriction in _restrictions()])
    chances = f_distribution.sf(ratios, widths, freedom)
    compared = fitted.t_test(_comparisons())
    # A studentised range is the root of two times a t of two means.
    ranges = np.abs(compared.effect / compared.sd.ravel()) * np.sqrt(2.0)
    return Analysis(
        parameters=np.asarray(fitted.params),
        errors=np.asarray(fitted.bse),
        variance=variance,
        found=chances < SIGNIFICANCE,
        differing=(ranges > critical_range(freedom)).reshape(FACTOR_COUNT, len(PAIRS)),
    )


@functools.lru_cache(maxsize=64)
def critical_range(freedom: int) -> float:
    """Tukey's limit: the studentised range of three equal means that one family of twenty exceeds."""
    return float(qsturng(1.0 - FAMILY_ERROR, LEVELS, freedom))


def design_matrix() -> tuple[Numbers, list[slice]]:
    """The model's matrix, (cells, parameters), and where each term's parameters stand."""
    deviation = np.vstack([np.eye(LEVELS - 1), -np.ones(LEVELS - 1)])
    mains = [deviation[CELL_LEVELS[:, factor]] for factor in range(FACTOR_COUNT)]
    products = [
        (mains[one][:, :, None] * mains[other][:, None, :]).reshape(CELLS, -1)
        for one, other in itertools.combinations(range(FACTOR_COUNT), 2)
    ]
    columns = [np.ones((CELLS, 1)), *mains, *products]
    ends = np.cumsum([part.shape[1] for part in columns]).tolist()
    return np.hstack(columns), [slice(start, end) for start, end in itertools.pairwise(ends)]


DESIGN, PLACES = design_matrix()


@functools.cache
def _restrictions() -> tuple[Numbers, ...]:
    """For each term the matrix whose product with the parameters is 0 where the term is not there."""
    return tuple(np.eye(DESIGN.shape[1])[place] for place in PLACES)


@functools.cache
def _comparisons() -> Numbers:
    """Differences of a factor's levels in terms of the parameters: (factors * pairs, parameters)."""
    found = np.zeros((FACTOR_COUNT * len(PAIRS), DESIGN.shape[1]))
    deviation = np.vstack([np.eye(LEVELS - 1), -np.ones(LEVELS - 1)])
    for row, (factor, (one, other)) in enumerate(itertools.product(range(FACTOR_COUNT), PAIRS)):
        found[row, PLACES[factor]] = deviation[one] - deviation[other]
    return found


Places = NDArray[np.intp]

IMPROVES = 1.0 + 1e-6
"""A swap improves a design when it multiplies the determinant by more."""

_MOST_SWEEPS = 100
_STARTS_TRIED = 50
_BOUND_ROUNDS = 2_000
_BOUND_GAP = 0.01


class Candidates:
    """The runs that a design may have, and the terms of a model at each of them.

    ``levels`` are coded levels, (runs, factors), and ``terms`` the model's values there, (runs, terms).
    """

    def __init__(self, levels: Numbers, terms: Numbers) -> None:
        self.terms = terms
        differing = (levels[:, None, :] != levels[None, :, :]).sum(axis=2)
        self.neighbours: list[Places] = [np.flatnonzero(row == 1) for row in differing]
        """Of each run those that differ from it in one coordinate."""

    def log_determinant(self, design: Places) -> float:
        """The logarithm of the information's determinant; minus infinity where it is singular."""
        rows = self.terms[design]
        sign, value = np.linalg.slogdet(rows.T @ rows)
        return float(value) if sign > 0 else -np.inf

    def search(self, runs: int, starts: int, random: np.random.Generator) -> tuple[Places, float]:
        """The best design of several starts, runs in rising order, and its log determinant."""
        best, highest = np.empty(0, np.intp), -np.inf
        for _ in range(starts):
            design = self._exchange(self._start(runs, random))
            value = self.log_determinant(design)
            # Beyond rounding: else the last bits would choose.
            if value > highest + 1e-6:
                best, highest = design, value
        return np.sort(best), highest

    def _start(self, runs: int, random: np.random.Generator) -> Places:
        """A random design from which all terms can be estimated."""
        for _ in range(_STARTS_TRIED):
            design: Places = random.integers(0, len(self.terms), runs)
            rows = self.terms[design]
            if np.linalg.matrix_rank(rows) == rows.shape[1]:
                return design
        raise ValueError(f"no design of {runs} runs was found that tells {self.terms.shape[1]} terms apart")

    def _exchange(self, design: Places) -> Places:
        rows = self.terms[design]
        inverse = np.linalg.inv(rows.T @ rows).astype(np.float64)
        for _ in range(_MOST_SWEEPS):
            improved = False
            for run, place in enumerate(design):
                old = self.terms[place]
                others = self.neighbours[place]
                if not len(others):
                    continue
                new = self.terms[others]
                ratios = _ratios(inverse, old, new)
                best = int(ratios.argmax())
                if ratios[best] > IMPROVES:
                    inverse = _updated(_updated(inverse, new[best], 1.0), old, -1.0)
                    design[run] = others[best]
                    improved = True
            if not improved:
                break
        return design

    def best_swap(self, design: Places) -> float:
        """By how much the best swap of one coordinate multiplies the determinant, each worked out anew."""
        here = self.log_determinant(design)
        swaps = []
        for run, place in enumerate(design):
            for other in self.neighbours[place]:
                swapped = design.copy()
                swapped[run] = other
                swaps.append(swapped)
        rows = self.terms[np.array(swaps)]
        _, values = np.linalg.slogdet(rows.transpose(0, 2, 1) @ rows)
        return float(np.exp(values.max() - here))

    def bound(self) -> float:
        """What the log determinant of a run's mean information cannot exceed, whatever the design.

        Weights of runs are improved by the multiplicative rule; the logarithm is concave, so that what
        the largest variance has above the number of terms bounds what is missing.
        """
        count, terms = self.terms.shape
        weights = np.full(count, 1.0 / count)
        best = np.inf
        for _ in range(_BOUND_ROUNDS):
            information = self.terms.T @ (weights[:, None] * self.terms)
            variances = ((self.terms @ np.linalg.inv(information)) * self.terms).sum(axis=1)
            gap = float(variances.max() - terms)
            best = min(best, float(np.linalg.slogdet(information)[1]) + gap)
            if gap < _BOUND_GAP:
                break
            weights *= variances / terms
        return best


def model_terms(levels: Numbers, squares: NDArray[np.bool_], pairs: NDArray[np.bool_]) -> Numbers:
    """A model's values at runs: one, all levels, the squares and the products that it has."""
    factors = levels.shape[1]
    products = [
        levels[:, one] * levels[:, other]
        for (one, other), has in zip(itertools.combinations(range(factors), 2), pairs, strict=True)
        if has
    ]
    return np.column_stack([np.ones(len(levels)), levels, np.square(levels[:, squares]), *products])


def _ratios(inverse: Numbers, old: Numbers, new: Numbers) -> Numbers:
    """By how much each of ``new`` in the place of ``old`` multiplies the determinant."""
    towards = inverse @ old
    own = old @ towards
    variances = ((new @ inverse) * new).sum(axis=1)
    found: Numbers = (1.0 + variances) * (1.0 - own) + np.square(new @ towards)
    return found


def _updated(inverse: Numbers, row: Numbers, sign: float) -> Numbers:
    """The inverse after a row was added (``sign`` 1) or taken away (-1): Sherman and Morrison's formula."""
    towards = inverse @ row
    found: Numbers = inverse - sign / (1.0 + sign * (row @ towards)) * np.outer(towards, towards)
    return found
