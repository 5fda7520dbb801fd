"""How many sessions fit: proven by runs on both sides of the bound, else a forecast between such runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from mawl.advice.qualification.estimate import NORMAL
from mawl.analysis.campaign.knee import Knee, SessionRun, knee_of, on_the_line
from mawl.model.campaign import SessionSearch
from mawl.model.qualification import Basis, Fits
from mawl.model.thresholds import value_of
from mawl.plan.mix import FEWEST_SESSIONS
from mawl.spec.record import MOST_SESSIONS

SEARCH = SessionSearch(first=FEWEST_SESSIONS, most=MOST_SESSIONS, runs_each=1)


def fits_of(runs: Sequence[SessionRun], forecast: Fits | None) -> Fits:
    """The number and its interval; ``runs`` are the measured ones and those of the search.

    Runs of neighbouring numbers, one carried and one not, prove the number.  Numbers further apart bound
    the forecast.
    """
    knee = knee_of(runs, SEARCH)
    if knee is None or knee.sessions is None:
        return forecast or Fits(sessions=None, reason="no run was measured")
    if knee.beyond == "" and _neighbours(runs, knee.sessions):
        return _measured(knee, knee.sessions)
    least = knee.sessions if knee.beyond != "fewer than" else None
    above = [run.sessions for run in runs if run.verdict != "carried"]
    beyond = min((number for number in above if least is None or number > least), default=None)
    found = _bounded(forecast, least, None if beyond is None else beyond - 1)
    if least is None or beyond is None or found.basis == "forecast":
        return found
    return msgspec.structs.replace(found, sessions=on_the_line(runs, least, beyond) or least)


def _measured(knee: Knee, sessions: int) -> Fits:
    """The number with the interval of the knee; else with one from the assumed spread from run to run."""
    if knee.low is not None and knee.high is not None:
        return Fits(sessions=sessions, low=knee.low, high=knee.high, basis="measured")
    half = math.exp(NORMAL * value_of("qualification.assumed_run_spread_ratio"))
    return Fits(
        sessions=sessions,
        low=max(min(round(sessions / half), sessions - 1), FEWEST_SESSIONS),
        high=max(round(sessions * half), sessions + 1),
        basis="measured",
        reason=f"the range is assumed: {knee.interval_reason}",
    )


def below_the_smallest_mix(basis: Basis) -> Fits:
    """Where even the smallest mix is too much: an upper bound, and no number."""
    why = f"fewer than {FEWEST_SESSIONS} sessions fit; mixed20 has no smaller mix"
    return Fits(sessions=None, high=FEWEST_SESSIONS - 1, basis=basis, reason=why)


def _neighbours(runs: Sequence[SessionRun], sessions: int) -> bool:
    return any(run.sessions == sessions + 1 for run in runs)


def _bounded(forecast: Fits | None, least: int | None, most: int | None) -> Fits:
    """What is left of the forecast between the most that a run carried and the fewest that one did not.

    Where nothing is left, the runs alone give the range.
    """
    if most is not None and most < FEWEST_SESSIONS:
        return below_the_smallest_mix("measured")
    if forecast is None or forecast.sessions is None:
        why = "no forecast was made" if forecast is None else forecast.reason or "no forecast was made"
        if least is None:
            return forecast or Fits(sessions=None, reason=why)
        return Fits(sessions=least, low=least, high=most, basis="measured", reason=why)
    low = forecast.sessions if forecast.low is None else forecast.low
    high = forecast.sessions if forecast.high is None else forecast.high
    refuted = f"the runs refute the forecast of {low} to {high} sessions"
    if least is not None and high <= least:
        return Fits(sessions=least, low=least, high=most, basis="measured", reason=refuted)
    if most is not None and low >= most:
        if least is None:
            why = f"fewer than {most + 1} sessions fit; {refuted}"
            return Fits(sessions=None, high=most, basis="measured", reason=why)
        return Fits(sessions=least, low=least, high=most, basis="measured", reason=refuted)

    def inside(number: int) -> int:
        number = number if least is None else max(number, least)
        return number if most is None else min(number, most)

    return Fits(sessions=inside(forecast.sessions), low=inside(low), high=inside(high))
