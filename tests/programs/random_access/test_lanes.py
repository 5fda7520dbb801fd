"""Lanes: the same work several times at a time, the calling thread among them."""

from __future__ import annotations

import threading

import pytest

from mawl.programs.random_access.run import Lanes


@pytest.mark.parametrize("depth", [1, 2, 8])
def test_every_lane_works_at_the_same_time_and_the_first_is_the_caller(depth: int) -> None:
    together = threading.Barrier(depth, timeout=30)
    seen: dict[int, int] = {}

    def work(lane: int) -> None:
        together.wait()
        seen[lane] = threading.get_ident()

    with Lanes(depth) as lanes:
        lanes.run(work)
        lanes.run(work)
    assert sorted(seen) == list(range(depth))
    assert seen[0] == threading.get_ident()
    assert len(set(seen.values())) == depth


@pytest.mark.parametrize("failing", [0, 2])
def test_an_error_of_a_lane_is_raised_when_all_have_ended(failing: int) -> None:
    ended = []

    def work(lane: int) -> None:
        if lane == failing:
            raise ValueError(f"lane {lane}")
        ended.append(lane)

    with Lanes(3) as lanes, pytest.raises(ValueError, match=f"lane {failing}"):
        lanes.run(work)
    assert sorted(ended) == [lane for lane in range(3) if lane != failing]
