"""Which number of sessions is run next."""

from __future__ import annotations

import pytest

from mawl.analysis.campaign.knee import SessionRun
from mawl.campaigns.qualify.search import RUNS_EACH, next_number
from mawl.model.qualification import Fits


def ran(sessions: int, slowdown: float) -> SessionRun:
    verdict = "carried" if slowdown <= 2.0 else "too many"
    return SessionRun(sessions=sessions, verdict=verdict, slowdown=slowdown, most_slowdown=2.0)  # type: ignore[arg-type]


FORECAST = Fits(sessions=12)


@pytest.mark.parametrize(
    ("runs", "forecast", "wanted"),
    [
        ([ran(8, 1.5)], 12, 12),  # the forecast first
        ([ran(8, 1.5)], 7, 10),  # overtaken by the runs: in proportion
        ([ran(8, 3.0)], 6, 6),
        ([ran(8, 3.0)], 12, 5),  # nothing above a number that is too many
        ([ran(8, 1.5), ran(12, 1.9)], 12, 13),  # its neighbour
        ([ran(8, 1.5), ran(12, 3.0)], 12, 9),  # the line through both crosses 2.0 at 9.8
        ([ran(10, 1.9), ran(11, 2.1)], 12, 11),  # two neighbours, each three times
        ([ran(10, 1.9), *3 * [ran(11, 2.1)]], 12, 10),
        (3 * [ran(10, 1.9), ran(11, 2.1)], 12, None),
        (3 * [ran(5, 2.5)], 12, None),  # the fewest that the mix has
        (3 * [ran(500, 1.5)], 500, None),
    ],
)
def test_the_next_number(runs: list[SessionRun], forecast: int, wanted: int | None) -> None:
    assert next_number(runs, Fits(sessions=forecast)) == wanted


def test_without_a_forecast_and_without_both_sides_there_is_nothing_to_try() -> None:
    refused = SessionRun(sessions=8, verdict="refused")
    assert next_number([refused], Fits(sessions=None, reason="not known")) is None


@pytest.mark.parametrize("knee", range(5, 40))
def test_the_search_ends_at_both_neighbours_of_the_bound(knee: int) -> None:
    def slowdown(sessions: int) -> float:
        return 2.0 * sessions / (knee + 0.5)

    runs = [ran(8, slowdown(8))]
    while (wanted := next_number(runs, FORECAST)) is not None:
        assert [run.sessions for run in runs].count(wanted) < RUNS_EACH
        runs.append(ran(wanted, slowdown(wanted)))
        assert len(runs) < 20
    tried = {run.sessions for run in runs}
    assert {knee, knee + 1} <= tried
