"""Why the interval is what it is: how often the usual bootstraps err with five runs a side.

The figures of docs/design/comparison.md; ours must keep its level where they do not.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from mawl.figures.statistics import FEWEST_RUNS, LEVEL, effect_of

pytestmark = pytest.mark.lab

DRAWS = 2000
RESAMPLES = 999
BOUND = 3 * math.sqrt(LEVEL * (1 - LEVEL) / DRAWS)

Values = NDArray[np.float64]
Draw = Callable[[np.random.Generator], tuple[Values, Values]]

SHAPE = (DRAWS, FEWEST_RUNS)
NOISES: dict[str, Draw] = {
    "normal": lambda random: (random.normal(size=SHAPE), random.normal(size=SHAPE)),
    "exponential": lambda random: (random.exponential(size=SHAPE), random.exponential(size=SHAPE)),
    "one run in ten far off": lambda random: (_outlying(random), _outlying(random)),
    "t of 3 degrees": lambda random: (random.standard_t(3, SHAPE), random.standard_t(3, SHAPE)),
}


def _outlying(random: np.random.Generator) -> Values:
    return random.normal(size=SHAPE) + 4.0 * (random.random(SHAPE) < 0.1)


def _difference(one: Values, other: Values, axis: int) -> Values:
    found: Values = np.mean(other, axis) - np.mean(one, axis)
    return found


def bootstrap_errs(sides: tuple[Values, Values], method: str) -> float:
    """How often SciPy's 95 % interval of the difference leaves 0 out."""
    found = stats.bootstrap(
        sides,
        _difference,
        axis=-1,
        n_resamples=RESAMPLES,
        batch=50,
        method=method,
        vectorized=True,
        rng=np.random.default_rng(1),
    ).confidence_interval
    return float(np.mean((found.low > 0) | (found.high < 0)))


@pytest.mark.parametrize(
    "noise",
    ["normal", *(pytest.param(one, marks=pytest.mark.long(minutes=1)) for one in NOISES if one != "normal")],
)
def test_ours_keeps_its_level_where_bootstraps_by_percentiles_do_not(noise: str) -> None:
    sides = NOISES[noise](np.random.default_rng(2))
    ours = np.mean([effect_of(*pair).differs for pair in zip(*map(np.ndarray.tolist, sides), strict=True)])
    percentile, accelerated = (bootstrap_errs(sides, method) for method in ("percentile", "BCa"))
    assert ours <= LEVEL + BOUND
    assert min(percentile, accelerated) > 2 * LEVEL
