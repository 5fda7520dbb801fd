"""Student's t distribution: probabilities and quantiles, without SciPy, which the base install lacks."""

from __future__ import annotations

import math

TINY = 1e-300
MOST_TERMS = 500
PRECISION = 1e-15
STEP_PRECISION = 1e-12


def upper_tail(t: float, degrees: float) -> float:
    """Probability that a t variable of ``degrees`` degrees of freedom (any positive real) passes ``t``.

    By the incomplete beta function (Abramowitz and Stegun 26.5.27, 26.7.1).
    """
    if math.isinf(t):
        return 0.0 if t > 0 else 1.0
    half = 0.5 * _incomplete_beta(0.5 * degrees, 0.5, degrees / (degrees + t * t))
    return half if t >= 0 else 1.0 - half


def two_sided(t: float, degrees: float) -> float:
    """Probability of a t at least as far from 0."""
    return 2.0 * upper_tail(abs(t), degrees)


def quantile(probability: float, degrees: float) -> float:
    """The t below which ``probability`` (between 0 and 1) lies.

    Newton's steps from 0: the upper tail is convex there, so they never pass the root.
    """
    if probability < 0.5:
        return -quantile(1.0 - probability, degrees)
    t, tail = 0.0, 1.0 - probability
    for _ in range(MOST_TERMS):
        step = (upper_tail(t, degrees) - tail) / _density(t, degrees)
        t += step
        if step <= STEP_PRECISION * max(t, 1.0):
            break
    return t


def _density(t: float, degrees: float) -> float:
    logarithm = (
        math.lgamma(0.5 * (degrees + 1.0))
        - math.lgamma(0.5 * degrees)
        - 0.5 * math.log(degrees * math.pi)
        - 0.5 * (degrees + 1.0) * math.log1p(t * t / degrees)
    )
    return math.exp(logarithm)


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _fraction(a, b, x) / a
    return 1.0 - front * _fraction(b, a, 1.0 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz."""
    c, d = 1.0, 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for term in range(1, MOST_TERMS):
        twice = 2 * term
        even = term * (b - term) * x / ((a + twice - 1.0) * (a + twice))
        odd = -(a + term) * (a + b + term) * x / ((a + twice) * (a + twice + 1.0))
        for part in (even, odd):
            d = 1.0 / _away_from_zero(1.0 + part * d)
            c = _away_from_zero(1.0 + part / c)
            value *= c * d
        if abs(c * d - 1.0) < PRECISION:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY
