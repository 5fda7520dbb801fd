"""The sequential test of one candidate against the baseline: predetermined looks, Bonferroni over them.

The unit is the block: two runs of each side in an order (ABBA or BAAB) drawn by the seed, and its value the
mean cost of the candidate's less that of the baseline's.  A linear drift leaves the value alone; any other
makes it larger or smaller with equal chance, since order and drift do not know each other.  At each look
Student's t on the values so far is taken at the share of its error that the look has, so that over all looks
together a gain is named where there is none in at most ``1 - confidence`` of searches, and excluded where it
is there likewise (docs/design/search.md has the source and the measured rates).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from statistics import fmean, stdev

import msgspec

from mawl.analysis.comparison.student import quantile
from mawl.tuning.search.records import Decision

LOOKS = (3, 5, 8, 12, 20)
"""Blocks after which the differences are looked at, and at no other time."""

RUNS_IN_BLOCK = 4


class SequentialLook(msgspec.Struct, frozen=True, kw_only=True):
    """Differences of costs (logarithms, candidate less baseline) after so many blocks.

    ``low`` is below the true one at all looks with the confidence, and so is ``high`` above it; both
    together hold with twice the confidence less 1.
    """

    blocks: int
    difference: float
    low: float
    high: float
    decision: Decision


def look(differences: Sequence[float], confidence: float, least: float) -> SequentialLook | None:
    """What the blocks so far say; None where this is no time to look.

    ``least`` is the smallest gain worth having, as a difference of costs above 0.
    """
    if len(differences) not in LOOKS:
        return None
    low, high = bounds(differences, confidence)
    decision: Decision = "gain" if high < 0.0 else "excluded" if low > -least else "open"
    return SequentialLook(
        blocks=len(differences), difference=fmean(differences), low=low, high=high, decision=decision
    )


def bounds(differences: Sequence[float], confidence: float) -> tuple[float, float]:
    """The interval of the mean difference that a look may use, of at least two blocks."""
    reach = _critical(len(differences), confidence) * stdev(differences) / math.sqrt(len(differences))
    centre = fmean(differences)
    return centre - reach, centre + reach


def next_look(blocks: int) -> int | None:
    """Blocks at the look after that many; None after the last."""
    return next((number for number in LOOKS if number > blocks), None)


@cache
def _critical(blocks: int, confidence: float) -> float:
    return quantile(1.0 - (1.0 - confidence) / len(LOOKS), blocks - 1.0)
