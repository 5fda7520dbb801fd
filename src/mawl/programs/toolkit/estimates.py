"""Estimates of the same coefficients from many independent blocks of rows, compared with the truth."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mawl.programs.context import check

Numbers = NDArray[np.float64]

BLOCK_ERRORS = 8.0
"""Standard errors that one estimate may be from the truth; they are estimates themselves, hence so many."""

POOLED_ERRORS = 6.0
"""Standard errors that a mean over all blocks may be from the truth."""


def check_estimates(
    what: str, estimates: Numbers, errors: Numbers, truth: Numbers, *, bias: float, error_slack: float
) -> float:
    """Raise :class:`~mawl.errors.WrongAnswerError` unless estimates agree with the truth.

    ``estimates`` and ``errors`` are (blocks, terms), ``truth`` is (terms,).  Looked at is each estimate
    by itself, their means over the blocks (which may be off by ``bias`` besides), and the size of their
    standard errors, whose square may be off by ``error_slack`` of it beside chance.  Returns the largest
    distance of one estimate in standard errors.
    """
    # What is no number is far from every truth.
    distances = np.nan_to_num(np.abs(estimates - truth) / errors, nan=np.inf)
    block, term = np.unravel_index(int(distances.argmax()), distances.shape)
    farthest = float(distances[block, term])
    check(
        farthest <= BLOCK_ERRORS,
        f"the coefficient of {what} farthest from the truth, in standard errors,",
        found=f"{farthest:.2f} (block {block}, term {term})",
        expected=f"at most {BLOCK_ERRORS:g}",
    )
    blocks = len(estimates)
    means = estimates.mean(axis=0)
    allowed = bias + POOLED_ERRORS * np.sqrt(np.square(errors).mean(axis=0) / blocks)
    worst = int((np.abs(means - truth) - allowed).argmax())
    check(
        bool((np.abs(means - truth) <= allowed).all()),
        f"the mean over blocks of coefficient {worst} of {what}",
        found=float(means[worst]),
        expected=f"{truth[worst]:g}, give or take {allowed[worst]:.4f}",
    )
    squares = float(np.square(distances).mean())
    chance = POOLED_ERRORS * math.sqrt(2.0 / estimates.size)
    check(
        (1.0 - error_slack) * max(1.0 - chance, 0.0) <= squares <= (1.0 + error_slack) * (1.0 + chance),
        f"the square of distances from the truth of {what}, in standard errors,",
        found=squares,
        expected=f"1, give or take {chance + error_slack:.3f}",
    )
    return farthest
