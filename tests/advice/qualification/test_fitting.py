"""How many sessions fit: proven, bounded by runs, or forecast."""

from __future__ import annotations

from mawl.advice.qualification.fitting import below_the_smallest_mix, fits_of
from mawl.analysis.campaign.knee import SessionRun
from mawl.model.qualification import Fits

FORECAST = Fits(sessions=20, low=18, high=23)


def said(sessions: int, slowdown: float) -> SessionRun:
    return SessionRun(
        sessions=sessions,
        verdict="carried" if slowdown <= 2.0 else "too many",
        slowdown=slowdown,
        most_slowdown=2.0,
        reasons=[],
    )


def test_neighbours_on_both_sides_of_the_bound_prove_the_number() -> None:
    found = fits_of([said(8, 1.5), said(8, 1.52), said(10, 1.9), said(11, 2.1)], FORECAST)
    assert (found.sessions, found.basis) == (10, "measured")
    assert found.low is not None and found.high is not None and found.low <= 10 <= found.high


def test_runs_further_apart_bound_the_forecast() -> None:
    assert fits_of([said(8, 1.5), said(22, 2.4)], FORECAST) == Fits(sessions=20, low=18, high=21)
    assert fits_of([said(22, 1.9)], FORECAST) == Fits(sessions=22, low=22, high=23)
    assert fits_of([said(12, 2.9)], FORECAST) == Fits(sessions=11, low=11, high=11)


def test_without_a_forecast_a_run_that_was_carried_is_the_least() -> None:
    found = fits_of([said(8, 1.5)], None)
    assert (found.sessions, found.low, found.high) == (8, 8, None)
    assert found.basis == "measured" and found.reason == "no forecast was made"


def test_fewer_than_the_mix_can_have_is_no_number() -> None:
    found = fits_of([said(5, 3.0)], FORECAST)
    assert found.sessions is None and "fewer than 5 sessions fit" in (found.reason or "")
    assert (found.low, found.high, found.basis) == (None, 4, "measured")


def test_a_forecast_of_fewer_than_the_mix_can_have_stays_a_forecast() -> None:
    forecast = below_the_smallest_mix("forecast")
    assert fits_of([], forecast) is forecast
