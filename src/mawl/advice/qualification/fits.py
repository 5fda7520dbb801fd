"""How many sessions fit: proven by runs on both sides of the bound, else a forecast between such runs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from math import exp, hypot, log, sqrt

import msgspec

from mawl.advice.capacity.slowdown import Baseline, Part, Slowdowns, Slowed, interval_of
from mawl.figures.campaign.knee import Knee, SessionRun, knee_of, on_the_line
from mawl.figures.statistics import quantile
from mawl.plan.mix import FEWEST_FULL_SESSIONS, MIX_CHANGES, SessionRange, mix_range
from mawl.records.model.campaign import SessionSearch
from mawl.records.model.qualification import Basis, Fits
from mawl.records.model.thresholds import count_of, value_of

FEWEST_ALONE = count_of("capacity.fewest_runs_alone")
TAIL = value_of("comparison.level") / 2.0
NORMAL = 1.96
TINY = 1e-6
"""A slowdown of zero has no logarithm."""


class MedianEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """A median over the jobs of all runs, with its 95 % interval."""

    median: float
    low: float
    high: float

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


def estimate(runs: Sequence[Slowdowns], part: Part) -> MedianEstimate | None:
    """A part of the slowdown over all runs; None where no job has it.

    Half widths, of logarithms, are independent, so their squares add up: that of the bootstrap over jobs and
    times alone; of the runs' medians (Student), or the assumed spread where there is one run; and the
    assumed spread of times alone where there are fewer than three (docs/design/qualify-answer.md).
    """
    inside = interval_of(pooled(runs), part)
    if inside is None:
        return None
    middle = max(inside.median, TINY)
    further = hypot(_half_width_between_runs(runs, part), _half_width_of_times_alone(runs))
    below = hypot(log(middle / max(min(inside.low, middle), TINY)), further)
    above = hypot(log(max(inside.high, middle) / middle), further)
    return MedianEstimate(median=inside.median, low=middle * exp(-below), high=middle * exp(above))


def ratio_of(every: Sequence[Slowdowns], one: Sequence[Slowdowns]) -> MedianEstimate | None:
    """The slowdown of runs over that of others of the same jobs; None where either is not known.

    Jobs and times alone are the same on both sides, so only what differs from run to run counts.
    """
    above, below = interval_of(pooled(every), "whole"), interval_of(pooled(one), "whole")
    if above is None or below is None:
        return None
    middle = max(above.median, TINY) / max(below.median, TINY)
    half = hypot(_half_width_between_runs(every, "whole"), _half_width_between_runs(one, "whole"))
    return MedianEstimate(median=middle, low=middle * exp(-half), high=middle * exp(half))


def pooled(runs: Sequence[Slowdowns]) -> Slowdowns:
    """The jobs of all runs, each against the times alone of its own run."""
    jobs: list[Slowed] = []
    baselines: list[Baseline] = []
    for run in runs:
        offset = len(baselines)
        baselines += run.baselines
        jobs += [msgspec.structs.replace(job, kind=job.kind + offset) for job in run.jobs]
    return Slowdowns(jobs=jobs, baselines=baselines)


def fewest_alone(runs: Sequence[Slowdowns]) -> int:
    """Runs alone of the kind of job that has fewest."""
    return min((run.fewest_runs for run in runs), default=0)


def _half_width_between_runs(runs: Sequence[Slowdowns], part: Part) -> float:
    """Half width of the interval of the runs' medians, in logarithms."""
    found = [one.median for run in runs if (one := interval_of(run, part)) is not None]
    if len(found) < 2:
        return NORMAL * value_of("qualification.assumed_run_spread_ratio")
    logs = [log(max(value, TINY)) for value in found]
    return quantile(1.0 - TAIL, len(logs) - 1) * statistics.stdev(logs) / sqrt(len(logs))


def _half_width_of_times_alone(runs: Sequence[Slowdowns]) -> float:
    fewest = fewest_alone(runs)
    if fewest >= FEWEST_ALONE:
        return 0.0
    return NORMAL * value_of("qualification.assumed_alone_spread_ratio") / sqrt(max(fewest, 1))


def fits_of(runs: Sequence[SessionRun], forecast: Fits | None) -> Fits:
    """The number and its interval; ``runs`` are the measured ones and those of the search.

    Runs of neighbouring numbers, one carried and one not, prove the number.  Numbers further apart bound
    the forecast.  All runs are of one mix (``mix_range``), and the answer is of that.
    """
    if not runs:
        return forecast or Fits(sessions=None, reason="no run was measured")
    mix = mix_range(runs[0].sessions)
    knee = knee_of(runs, SessionSearch(first=mix.fewest, most=mix.most, runs_each=1), mix)
    assert knee is not None and knee.sessions is not None, "there are runs"
    if knee.beyond == "" and _are_neighbours(runs, knee.sessions):
        return _fits_between_neighbours(knee, knee.sessions, mix)
    carried = 0 if knee.beyond == "fewer than" else knee.sessions
    above = [run.sessions for run in runs if run.verdict != "carried" and run.sessions > carried]
    return _fits_within_runs(runs, forecast, carried, min(above, default=mix.most + 1))


def _fits_between_neighbours(knee: Knee, sessions: int, mix: SessionRange) -> Fits:
    """The number with the interval of the knee; of too few runs, with one of the assumed spread."""
    if knee.low is not None:
        found = Fits(sessions=sessions, basis="measured", reason=knee.interval_reason)
        if knee.high is None:
            return found
        return msgspec.structs.replace(found, low=knee.low, high=knee.high)
    half = math.exp(NORMAL * value_of("qualification.assumed_run_spread_ratio"))
    return Fits(
        sessions=sessions,
        low=max(min(round(sessions / half), sessions - 1), mix.fewest),
        high=min(max(round(sessions * half), sessions + 1), mix.most),
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
        low = min(fits.low, max(sessions - 1, mix_range(sessions).fewest))
        return msgspec.structs.replace(fits, low=low, high=max(fits.high, sessions))
    return fits


def below_the_mix(basis: Basis, mix: SessionRange) -> Fits:
    """Where even the fewest sessions of the mix are too many: an upper bound, and no number."""
    why = "not even 1 session fits"
    if mix.fewest > 1:
        why = (
            f"fewer than {mix.fewest} sessions fit; fewer have another mix, each program once: qualify with "
            f"--sessions {mix.fewest - 1}"
        )
    return Fits(sessions=None, high=mix.fewest - 1, basis=basis, reason=why)


def at_least(sessions: int, basis: Basis, mix: SessionRange) -> Fits:
    """Where the most sessions of the mix may fit: more of them are another mix, or mawl runs no more."""
    why = f"mawl runs at most {mix.most} sessions"
    if mix.most < FEWEST_FULL_SESSIONS:
        why = f"{MIX_CHANGES}: for more, qualify with --sessions {FEWEST_FULL_SESSIONS}"
    return Fits(sessions=sessions, low=sessions, basis=basis, reason=why)


def _are_neighbours(runs: Sequence[SessionRun], sessions: int) -> bool:
    return any(run.sessions == sessions + 1 for run in runs)


def _fits_within_runs(runs: Sequence[SessionRun], forecast: Fits | None, carried: int, too_many: int) -> Fits:
    """What the runs leave of the forecast; where they leave no range of it, the runs alone give one.

    ``carried`` is the most sessions that a run carried, 0 if none did; ``too_many`` the fewest that one did
    not carry, more than a run may have if each did.
    """
    mix = mix_range(runs[0].sessions)
    if too_many <= mix.fewest:
        return below_the_mix("measured", mix)
    if carried == mix.most:
        return at_least(carried, "measured", mix)
    if forecast is None or forecast.sessions is None:
        unknown = forecast or Fits(sessions=None, reason="no forecast was made")
        if carried == 0:
            return unknown
        return _fits_on_line(runs, carried, too_many, unknown.reason or "no forecast was made")
    low, high = forecast.low or forecast.sessions, forecast.high or forecast.sessions
    if forecast.is_at_least:
        if too_many > mix.most:
            return at_least(max(carried, low), "forecast" if low > carried else "measured", mix)
        high = mix.most
    if high <= carried or low >= too_many - 1:
        refuted = f"the runs refute the forecast of {low} to {high} sessions"
        return _fits_on_line(runs, carried, too_many, refuted)
    sessions, low, high = (min(max(n, carried), too_many - 1) for n in (forecast.sessions, low, high))
    return Fits(sessions=sessions, low=low, high=high)


def _fits_on_line(runs: Sequence[SessionRun], carried: int, too_many: int, reason: str) -> Fits:
    """The number between runs that are no neighbours: on the line through their slowdowns, if known."""
    if carried == 0:
        why = f"fewer than {too_many} sessions fit; {reason}"
        return Fits(sessions=None, high=too_many - 1, basis="measured", reason=why)
    if too_many > mix_range(carried).most:
        return Fits(sessions=carried, low=carried, basis="measured", reason=reason)
    sessions = on_the_line(runs, carried, too_many) or carried
    return Fits(sessions=sessions, low=carried, high=too_many - 1, basis="measured", reason=reason)
