"""Which number of sessions is tried next: the forecast first, then the two numbers around the bound.

A function of what was forecast and of the runs made so far, and of nothing else, so that a search that was
killed goes on as if it had not been.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from mawl.analysis.campaign.knee import SessionRun, bound_of, on_the_line, slowdown_of, tried
from mawl.model.qualification import Fits
from mawl.plan.mix import FEWEST_SESSIONS
from mawl.spec.record import MOST_SESSIONS

RUNS_EACH = 3
"""Runs that settle each of the two numbers around the bound, where time is left."""


def next_number(runs: Sequence[SessionRun], forecast: Fits) -> int | None:
    """The number of sessions to run next; None where two neighbours, one carried and one not, are settled.

    ``runs`` are the measured ones, too.  The forecast is asked first.  After that the line through the
    slowdowns on both sides of the bound, on logarithmic axes, or on one side proportion.
    """
    found = tried(runs)
    high = min((one.sessions for one in found if not one.carried), default=MOST_SESSIONS + 1)
    low = max((one.sessions for one in found if one.carried and one.sessions < high), default=None)
    least = FEWEST_SESSIONS if low is None else low + 1
    if least > high - 1:
        around = [one for one in found if one.sessions in (high, low) and not one.refused]
        return next((one.sessions for one in around[::-1] if one.runs < RUNS_EACH), None)
    between = None if low is None else on_the_line(runs, low, high)
    wanted = between or _untried(forecast, low, high) or _extrapolated(runs, low, high)
    return None if wanted is None else min(max(wanted, least), high - 1)


def smallest_is_too_many(runs: Sequence[SessionRun]) -> bool:
    """Whether runs settle that not even the smallest mix fits, so that there is nothing to search."""
    return any(
        one.sessions == FEWEST_SESSIONS and not one.carried and one.runs >= RUNS_EACH for one in tried(runs)
    )


def _untried(forecast: Fits, low: int | None, high: int) -> int | None:
    """The forecast, unless the runs have overtaken it."""
    sessions = forecast.sessions
    return sessions if sessions is not None and (low or 0) < sessions < high else None


def _extrapolated(runs: Sequence[SessionRun], low: int | None, high: int) -> int | None:
    """Where the bound would be met if slowdown grew as the sessions do; None without a slowdown."""
    sessions = low if low is not None else high
    slowdown = slowdown_of(runs, sessions)
    return None if slowdown is None else math.floor(sessions * bound_of(runs) / slowdown)
