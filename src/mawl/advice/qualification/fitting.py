"""How many sessions fit: proven by runs on both sides of the bound, else a forecast between such runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from mawl.advice.qualification.estimate import NORMAL, MedianEstimate
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
    carried = 0 if knee.beyond == "fewer than" else knee.sessions
    above = [run.sessions for run in runs if run.verdict != "carried" and run.sessions > carried]
    return _bounded(runs, forecast, carried, min(above, default=MOST_SESSIONS + 1))


def _measured(knee: Knee, sessions: int) -> Fits:
    """The number with the interval of the knee; of too few runs, with one of the assumed spread."""
    if knee.low is not None:
        found = Fits(sessions=sessions, basis="measured", reason=knee.interval_reason)
        if knee.high is None:
            return found
        return msgspec.structs.replace(found, low=max(knee.low, FEWEST_SESSIONS), high=knee.high)
    half = math.exp(NORMAL * value_of("qualification.assumed_run_spread_ratio"))
    return Fits(
        sessions=sessions,
        low=max(min(round(sessions / half), sessions - 1), FEWEST_SESSIONS),
        high=max(round(sessions * half), sessions + 1),
        basis="measured",
        reason=f"the range is assumed: {knee.interval_reason}",
    )


def with_the_measured(
    fits: Fits, sessions: int, slowdown: MedianEstimate | None, most_slowdown: float
) -> Fits:
    """The number as far as it is known where the bound lies in the range of the measured slowdown.

    Then the runs show neither that so many sessions fit nor that they do not: a range gets them into it, and
    a number that says the one or the other becomes None.
    """
    is_open = slowdown is not None and slowdown.holds(most_slowdown)
    if is_open and (fits.is_at_least or fits.says_fewer_than(sessions)):
        why = f"the bound lies in the range of the slowdown of {sessions} sessions"
        return Fits(sessions=None, basis=fits.basis, reason=why)
    if is_open and fits.low is not None and fits.high is not None:
        low = min(fits.low, max(sessions - 1, FEWEST_SESSIONS))
        return msgspec.structs.replace(fits, low=low, high=max(fits.high, sessions))
    return fits


def below_the_smallest_mix(basis: Basis) -> Fits:
    """Where even the smallest mix is too much: an upper bound, and no number."""
    why = f"fewer than {FEWEST_SESSIONS} sessions fit; mixed20 has no smaller mix"
    return Fits(sessions=None, high=FEWEST_SESSIONS - 1, basis=basis, reason=why)


def _neighbours(runs: Sequence[SessionRun], sessions: int) -> bool:
    return any(run.sessions == sessions + 1 for run in runs)


def _bounded(runs: Sequence[SessionRun], forecast: Fits | None, carried: int, too_many: int) -> Fits:
    """What the runs leave of the forecast; where they leave no range of it, the runs alone give one.

    ``carried`` is the most sessions that a run carried, 0 if none did; ``too_many`` the fewest that one did
    not carry, more than a run may have if each did.
    """
    if too_many <= FEWEST_SESSIONS:
        return below_the_smallest_mix("measured")
    if forecast is None or forecast.sessions is None:
        unknown = forecast or Fits(sessions=None, reason="no forecast was made")
        if carried == 0:
            return unknown
        return _of_runs(runs, carried, too_many, unknown.reason or "no forecast was made")
    low, high = forecast.low or forecast.sessions, forecast.high or forecast.sessions
    if high <= carried or low >= too_many - 1:
        refuted = f"the runs refute the forecast of {low} to {high} sessions"
        return _of_runs(runs, carried, too_many, refuted)
    sessions, low, high = (min(max(n, carried), too_many - 1) for n in (forecast.sessions, low, high))
    return Fits(sessions=sessions, low=low, high=high)


def _of_runs(runs: Sequence[SessionRun], carried: int, too_many: int, reason: str) -> Fits:
    """The number between runs that are no neighbours: on the line through their slowdowns, if known."""
    if carried == 0:
        why = f"fewer than {too_many} sessions fit; {reason}"
        return Fits(sessions=None, high=too_many - 1, basis="measured", reason=why)
    if too_many > MOST_SESSIONS:
        return Fits(sessions=carried, low=carried, basis="measured", reason=reason)
    sessions = on_the_line(runs, carried, too_many) or carried
    return Fits(sessions=sessions, low=carried, high=too_many - 1, basis="measured", reason=reason)
