"""Student's t against SciPy."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from mawl.analysis.comparison.student import quantile, two_sided, upper_tail

DEGREES = (1.0, 1.7, 4.0, 8.0, 33.3, 1000.0)


@pytest.mark.parametrize("degrees", DEGREES)
def test_tails_are_those_of_scipy(degrees: float) -> None:
    for t in (-7.0, -0.3, 0.0, 0.01, 1.0, 2.306, 9.0, 60.0):
        assert upper_tail(t, degrees) == pytest.approx(stats.t.sf(t, degrees), rel=1e-9, abs=1e-14)
        assert two_sided(t, degrees) == pytest.approx(2 * stats.t.sf(abs(t), degrees), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("degrees", DEGREES)
def test_quantiles_are_those_of_scipy(degrees: float) -> None:
    for probability in (0.00125, 0.1, 0.5, 0.8, 0.975, 0.99875):
        expected = stats.t.ppf(probability, degrees)
        assert quantile(probability, degrees) == pytest.approx(expected, rel=1e-8, abs=1e-10)


def test_beyond_everything() -> None:
    assert (upper_tail(math.inf, 4.0), upper_tail(-math.inf, 4.0)) == (0.0, 1.0)
