"""Analysis of variance of a factorial study from sums by cell, and comparisons of all levels.

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

FACTORS = 4
LEVELS = 3
CELLS = LEVELS**FACTORS
TERMS = FACTORS + FACTORS * (FACTORS - 1) // 2
PAIRS = tuple(itertools.combinations(range(LEVELS), 2))
"""Pairs of levels of one factor."""

SIGNIFICANCE = 0.01
"""Of the test of one term."""
FAMILY_ERROR = 0.05
"""Of all comparisons of one factor's levels together."""

CELL_LEVELS = np.array(list(itertools.product(range(LEVELS), repeat=FACTORS)))
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
        differing=(ranges > critical_range(freedom)).reshape(FACTORS, len(PAIRS)),
    )


@functools.lru_cache(maxsize=64)
def critical_range(freedom: int) -> float:
    """Tukey's limit: the studentised range of three equal means that one family of twenty exceeds."""
    return float(qsturng(1.0 - FAMILY_ERROR, LEVELS, freedom))


def design_matrix() -> tuple[Numbers, list[slice]]:
    """The model's matrix, (cells, parameters), and where each term's parameters stand."""
    deviation = np.vstack([np.eye(LEVELS - 1), -np.ones(LEVELS - 1)])
    mains = [deviation[CELL_LEVELS[:, factor]] for factor in range(FACTORS)]
    products = [
        (mains[one][:, :, None] * mains[other][:, None, :]).reshape(CELLS, -1)
        for one, other in itertools.combinations(range(FACTORS), 2)
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
    found = np.zeros((FACTORS * len(PAIRS), DESIGN.shape[1]))
    deviation = np.vstack([np.eye(LEVELS - 1), -np.ones(LEVELS - 1)])
    for row, (factor, (one, other)) in enumerate(itertools.product(range(FACTORS), PAIRS)):
        found[row, PLACES[factor]] = deviation[one] - deviation[other]
    return found
