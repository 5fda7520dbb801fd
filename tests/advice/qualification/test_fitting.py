"""How many sessions fit: proven, bounded by runs, or forecast.

The ratio of nodes has the range of both sides.
"""

from __future__ import annotations

from math import log

import pytest

from mawl.advice.qualification.evidence import fits_words
from mawl.advice.qualification.fits import at_least, below_the_mix, fits_of, ratio_of, with_the_measured
from mawl.figures.knee import SessionRun
from mawl.figures.statistics import Interval
from mawl.plan.mix import mix_range
from mawl.records.model.qualification import Fits


def test_the_ratio_of_nodes_has_the_half_widths_of_both_sides() -> None:
    """Three runs each: both have a range, whose squares of logarithms add up."""
    every, one = [2.0, 2.2, 2.42], [1.0, 1.1, 1.21]
    both = ratio_of(every, one)
    assert both is not None and not both.assumed
    assert both.middle == pytest.approx(2.0)
    assert log(both.high / 2.0) == pytest.approx(2**0.5 * 4.3027 * log(1.1) / 3**0.5, rel=1e-3)
    few = ratio_of(every, [1.0])
    assert few is not None and few.assumed and ratio_of(every, []) is None


FORECAST = Fits(sessions=20, low=18, high=23)


def said(sessions: int, slowdown: float) -> SessionRun:
    return SessionRun(
        sessions=sessions,
        verdict="carried" if slowdown <= 2.0 else "too many",
        answer_slowdown=slowdown,
        answer_bound=2.0,
        reasons=[],
    )


def test_neighbours_on_both_sides_of_the_bound_prove_the_number() -> None:
    found = fits_of([said(8, 1.5), said(8, 1.52), said(10, 1.9), said(11, 2.1)], FORECAST)
    assert (found.sessions, found.basis) == (10, "measured")
    assert found.low is not None and found.high is not None and found.low <= 10 <= found.high


@pytest.mark.parametrize(
    ("sessions", "low", "high"),
    [(1, 1, 2), (3, 2, 4), (5, 5, 6), (10, 9, 11), (26, 24, 29)],
)
def test_a_number_that_two_runs_prove_has_the_range_of_an_assumed_spread(
    sessions: int, low: int, high: int
) -> None:
    """1.96 times 5 % from run to run, and one session at least."""
    found = fits_of([said(sessions, 1.9), said(sessions + 1, 2.1)], FORECAST)
    assert (found.sessions, found.low, found.high, found.basis) == (sessions, low, high, "measured")
    assert (found.reason or "").startswith("the range is assumed: it takes 4 runs")


def test_runs_that_spread_too_much_for_a_range_give_none() -> None:
    spread = [said(5, 1.82), said(5, 1.97), said(5, 1.92), said(6, 2.2), said(6, 1.97), said(6, 2.08)]
    found = fits_of(spread, FORECAST)
    assert (found.sessions, found.low, found.high, found.basis) == (5, None, None, "measured")
    assert found.reason == "the runs spread so much that 12 sessions might fit, or more"
    assert fits_words(found) == "About 5 sessions fit"


def test_a_range_ends_at_the_smallest_mix() -> None:
    quiet = [said(5, 1.93), said(5, 1.98), said(5, 1.90), said(6, 2.03), said(6, 2.12), said(6, 2.06)]
    found = fits_of(quiet, FORECAST)
    assert (found.sessions, found.low) == (5, 5) and found.high is not None and found.reason is None


def test_runs_further_apart_bound_the_forecast() -> None:
    assert fits_of([said(8, 1.5), said(22, 2.4)], FORECAST) == Fits(sessions=20, low=18, high=21)
    assert fits_of([said(22, 1.9)], FORECAST) == Fits(sessions=22, low=22, high=23)


def test_where_runs_refute_the_forecast_they_alone_give_the_range() -> None:
    # On the line through (8, 1.5) and (12, 2.9), in logarithms, the bound of 2.0 is at 9.5.
    between = fits_of([said(8, 1.5), said(12, 2.9)], FORECAST)
    assert (between.sessions, between.low, between.high) == (9, 8, 11)
    above = fits_of([said(30, 1.9)], FORECAST)
    assert (above.sessions, above.low, above.high) == (30, 30, None)
    assert fits_words(above) == "At least 30 sessions fit"
    below = fits_of([said(12, 2.9)], FORECAST)
    assert (below.sessions, below.low, below.high) == (None, None, 11)
    assert (below.reason or "").startswith("fewer than 12 sessions fit")
    for found in (between, above, below):
        assert found.basis == "measured"
        assert "the runs refute the forecast of 18 to 23 sessions" in (found.reason or "")


@pytest.mark.parametrize("runs", [[said(8, 1.5), said(19, 2.1)], [said(23, 1.9)], [said(19, 2.1)]])
def test_a_forecast_of_which_the_runs_leave_one_number_is_no_range(runs: list[SessionRun]) -> None:
    found = fits_of(runs, FORECAST)
    assert found.low is None or found.high is None or found.low < found.high


OPEN = Interval(middle=2.1, low=1.4, high=2.6)
"""The bound of 2.0 lies in it."""
OPEN_AT = "the bound lies in the range of the slowdown of"


@pytest.mark.parametrize(
    ("fits", "expected"),
    [
        (Fits(sessions=20, low=18, high=23), Fits(sessions=20, low=18, high=23)),
        (Fits(sessions=24, low=23, high=26), Fits(sessions=24, low=19, high=26)),
        (Fits(sessions=17, low=16, high=18), Fits(sessions=17, low=16, high=20)),
        (Fits(sessions=20, low=20), Fits(sessions=None, reason=f"{OPEN_AT} 20 sessions")),
        (Fits(sessions=24, low=24), Fits(sessions=None, reason=f"{OPEN_AT} 20 sessions")),
        (Fits(sessions=20, basis="measured"), Fits(sessions=20, basis="measured")),
        (Fits(sessions=None, reason="no run"), Fits(sessions=None, reason="no run")),
        (Fits(sessions=None, high=31, reason="few"), Fits(sessions=None, high=31, reason="few")),
    ],
)
def test_a_number_of_sessions_whose_answer_is_not_known_stays_in_the_range(
    fits: Fits, expected: Fits
) -> None:
    assert with_the_measured(fits, 20, OPEN, 2.0) == expected
    for clear in (None, Interval(middle=2.4, low=2.1, high=2.6)):
        assert with_the_measured(fits, 20, clear, 2.0) == fits


def test_the_smallest_mix_may_fit_where_its_answer_is_not_known() -> None:
    unknown = Fits(sessions=None, basis="measured", reason=f"{OPEN_AT} 5 sessions")
    for fits in (below_the_mix("measured", mix_range(5)), Fits(sessions=5, low=5, basis="measured")):
        assert with_the_measured(fits, 5, OPEN, 2.0) == unknown
    assert with_the_measured(Fits(sessions=5, low=5, high=6), 5, OPEN, 2.0).low == 5


def test_without_a_forecast_a_run_that_was_carried_is_the_least() -> None:
    found = fits_of([said(8, 1.5)], None)
    assert (found.sessions, found.low, found.high) == (8, 8, None)
    assert found.basis == "measured" and found.reason == "no forecast was made"


def test_fewer_than_the_mix_can_have_is_no_number() -> None:
    found = fits_of([said(5, 3.0)], FORECAST)
    assert found.sessions is None and "fewer than 5 sessions fit" in (found.reason or "")
    assert (found.low, found.high, found.basis) == (None, 4, "measured")


def test_a_forecast_of_fewer_than_the_mix_can_have_stays_a_forecast() -> None:
    forecast = below_the_mix("forecast", mix_range(5))
    assert fits_of([], forecast) is forecast


ALL_FOUR = at_least(4, "forecast", mix_range(3))
"""The forecast where the most sessions of the small mix fit."""


@pytest.mark.parametrize(
    ("runs", "forecast", "expected"),
    [
        ([said(3, 1.4), said(4, 1.9)], ALL_FOUR, (4, 4, None, "measured")),
        ([said(4, 1.9)], Fits(sessions=2, low=2, high=3), (4, 4, None, "measured")),  # refuted
        ([said(3, 1.4)], ALL_FOUR, (4, 4, None, "forecast")),
        ([said(2, 1.4), said(4, 2.2)], ALL_FOUR, (3, 2, 3, "measured")),  # refuted: on the line
        ([said(2, 1.4), said(4, 2.2)], Fits(sessions=3, low=2, high=4), (3, 2, 3, "forecast")),
        ([said(1, 2.2)], ALL_FOUR, (None, None, 0, "measured")),
        ([said(5, 2.2)], FORECAST, (None, None, 4, "measured")),
    ],
)
def test_the_answer_stays_on_one_side_of_the_change_of_the_mix(
    runs: list[SessionRun], forecast: Fits, expected: tuple[int | None, int | None, int | None, str]
) -> None:
    found = fits_of(runs, forecast)
    assert (found.sessions, found.low, found.high, found.basis) == expected
    if found.is_at_least:
        assert found.reason == (
            "the mix changes at 5 sessions (26 jobs in place of 20): for more, qualify with --sessions 5"
        )
    elif found.high == 4:
        assert (found.reason or "").endswith("another mix, each program once: qualify with --sessions 4")


def test_a_range_that_would_reach_over_the_change_of_the_mix_is_no_range() -> None:
    spread = [said(3, 1.82), said(3, 1.97), said(3, 1.92), said(4, 2.2), said(4, 1.97), said(4, 2.08)]
    found = fits_of(spread, None)
    assert (found.sessions, found.low, found.high) == (3, None, None)
    assert "spread so much that" in (found.reason or "")
