"""A long call waited in the windows in which it lasted, not in the one in which it ended."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.figures.waits import carried_back
from tests.fakes.measured_run import IDLE, Rate, four_jobs, samples
from tests.fakes.stored_run import facts
from tests.fakes.views import summary_of

rate = st.floats(0.0, 50.0)


def test_a_long_sync_is_spread_over_the_windows_before_its_end() -> None:
    found = carried_back(
        {"work": [0.0, 0.0, 0.0, 4.0, 0.0], "data": [1.0, 0.0, 0.0, 0.0, 0.0]},
        [1.0, 1.0, 1.5, 1.0, 1.0],
        [5.0, 5.0, 5.0, 5.0, 5.0],
    )
    assert found["work"] == pytest.approx([0.5, 1.0, 1.5, 1.0, 0.0])
    assert found["data"] == pytest.approx([1.0, 0.0, 0.0, 0.0, 0.0])


def test_what_is_not_known_stops_it_and_stays() -> None:
    found = carried_back({"work": [0.0, None, 3.0]}, [1.0, 1.0, 1.0], [5.0, 5.0, 5.0])
    assert found == {"work": [0.0, None, 1.0]}
    assert carried_back({"work": [3.0, 3.0]}, [None, 1.0], [5.0, 5.0]) == {"work": [3.0, 1.0]}


@given(st.lists(st.tuples(rate, rate, rate, st.floats(0.5, 9.0)), min_size=1, max_size=9))
def test_nothing_is_lost_and_only_the_first_window_is_over_full(
    windows: list[tuple[float, float, float, float]],
) -> None:
    data, work, room, seconds = (list(column) for column in zip(*windows, strict=True))
    found = carried_back({"data": data, "work": work}, room, seconds)
    for role, given_rates in (("data", data), ("work", work)):
        sums = [
            sum(value * length for value, length in zip(rates, seconds, strict=True) if value is not None)
            for rates in (found[role], given_rates)
        ]
        assert sums[0] == pytest.approx(sums[1], abs=1e-6)
    for at in range(1, len(windows)):
        assert (found["data"][at] or 0.0) + (found["work"][at] or 0.0) <= room[at] + 1e-9


def test_the_windows_of_a_run_show_it() -> None:
    # Each of four jobs waits in one call from second 10 to second 30.
    of: dict[str, Rate] = {
        **IDLE,
        "jobs.on_cpu_seconds": lambda second: 0.0 if 10 <= second < 30 else 4.0,
        "role.work.waited_seconds": lambda second: 80.0 if second == 29 else 0.0,
    }
    shown = summary_of(facts(), four_jobs(60), samples=samples(60, of))["windows"]
    blocked = [window["jobs_blocked"]["work"] for window in shown]
    assert blocked == pytest.approx([0.0, 0.0, 4.0, 4.0, 4.0, 4.0, *[0.0] * 6])
