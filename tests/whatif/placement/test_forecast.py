"""What a placement changes, against simulated jobs that queue at devices, first come first served."""

from __future__ import annotations

import heapq
import random
from collections.abc import Mapping, Sequence

import pytest

from mawl.records.spec.program_options import ROLES, Role
from mawl.whatif.placement.forecast import ForecastTimes, PlacementForecast
from tests.fakes.probed import MB, target
from tests.whatif.placement.asked import demand, three

SLOW, FAST, NEAR = 0, 1, 2
RATES = {SLOW: 100 * MB, FAST: 400 * MB, NEAR: 100 * MB}
TARGETS = [
    target("slow", RATES[SLOW], RATES[SLOW]),
    target("fast", RATES[FAST], RATES[FAST]),
    target("near", RATES[NEAR], RATES[NEAR]),
]


def blocked(
    jobs: int, requests: Sequence[Sequence[tuple[Role, float]]], on: Mapping[Role, int]
) -> dict[Role, float]:
    """Summed time inside requests by role; each job makes its own one after the other."""
    free = dict.fromkeys(RATES, 0.0)
    waited = dict.fromkeys(ROLES, 0.0)
    queue = [(0.0, job, 0) for job in range(jobs)]
    while queue:
        now, job, number = heapq.heappop(queue)
        if number == len(requests[job]):
            continue
        role, megabytes = requests[job][number]
        device = on[role]
        free[device] = max(free[device], now) + megabytes * MB / RATES[device]
        waited[role] += free[device] - now
        heapq.heappush(queue, (free[device], job, number + 1))
    return waited


@pytest.mark.parametrize("jobs", [1, 2, 4, 16])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "moved", [{"work": FAST}, {"work": NEAR}, {"work": FAST, "util": FAST}, {"data": FAST, "util": NEAR}]
)
def test_the_change_lies_within_its_bounds(jobs: int, seed: int, moved: dict[Role, int]) -> None:
    draw = random.Random(seed)
    weights = [draw.uniform(0.2, 1.0) for _ in ROLES]
    requests = [
        [(role, draw.uniform(1.0, 5.0)) for role in draw.choices(ROLES, weights, k=300)] for _ in range(jobs)
    ]
    now: dict[Role, int] = dict.fromkeys(ROLES, SLOW)
    sizes = {role: sum(size for own in requests for one, size in own if one == role) for role in ROLES}
    before, after = blocked(jobs, requests, now), blocked(jobs, requests, {**now, **moved})
    forecast = PlacementForecast(
        three(sizes["data"], sizes["work"], sizes["util"], (before["data"], before["work"], before["util"])),
        TARGETS,
        ForecastTimes(jobs=jobs),
    )
    assert forecast.now == {role: [SLOW] for role in ROLES}
    found = forecast.change(
        {**{role: [SLOW] for role in ROLES}, **{role: [on] for role, on in moved.items()}}
    )
    assert found is not None
    truth = sum(after.values()) - sum(before.values())
    slack = 0.03 * sum(before.values())
    assert found.low - slack <= truth <= found.high + slack
    assert abs(found.expected - truth) <= 0.2 * sum(before.values())


def of(times: ForecastTimes | None = None) -> PlacementForecast:
    """Three roles alike on the slow device, blocked for 10, 20 and 30 s."""
    return PlacementForecast(
        three(1000, 1000, 1000, (10.0, 20.0, 30.0)), TARGETS, times or ForecastTimes(jobs=3)
    )


MOVED: dict[Role, list[int]] = {"data": [SLOW], "work": [FAST], "util": [FAST]}


def test_the_three_ways_are_what_the_page_says() -> None:
    found = of().change(MOVED)
    assert found is not None
    # Device seconds: 30 on slow; after the move 10 on slow and 5 on fast.
    alone = 10 + 20 / 4 + 30 / 4
    shared = 10 * 10 / 30 + (20 + 30) * 5 / 30
    queued = 60 * 10 / 30
    assert found.low == pytest.approx(min(alone, shared, queued) - 60, rel=1e-3)
    assert found.high == pytest.approx(max(alone, shared, queued) - 60, rel=1e-3)
    assert found.expected == pytest.approx((queued + alone) / 2 - 60, rel=1e-3), "half of it was queueing"


def test_no_more_is_saved_than_was_blocked_nor_than_the_processors_leave() -> None:
    fastest = {role: [FAST] for role in ROLES}
    free = of().change(fastest)
    held = of(ForecastTimes(jobs=3, most_saved_seconds=5.0)).change(fastest)
    assert free is not None and held is not None
    assert free.low >= -60
    assert (held.low, held.expected, held.high) == (-5.0, -5.0, -5.0)


def test_where_storage_was_not_the_limit_nothing_may_be_saved() -> None:
    found = of(ForecastTimes(jobs=3, storage=False)).change(MOVED)
    assert found is not None
    assert found.high == 0.0
    assert found.low < 0.0


def test_a_place_that_was_not_probed_cannot_be_told() -> None:
    elsewhere = PlacementForecast(three(1, 1, 1, (1, 1, 1)), TARGETS[1:], ForecastTimes())
    assert elsewhere.now is None
    assert elsewhere.change({role: [0] for role in ROLES}) is None


def test_a_device_that_works_beside_the_jobs_blocks_them_only_for_what_they_do_not_cover() -> None:
    # 3 jobs at a time, 30 s of device time before and 10 s after; they have 45 s of their own.
    found = of(ForecastTimes(jobs=3, own_seconds=45.0, other_seconds=6.0)).change(MOVED)
    assert found is not None
    assert found.low == pytest.approx(-66.0, rel=1e-3), (
        "3 times 10 s are covered: all may go, also the others"
    )
    partly = of(ForecastTimes(jobs=3, own_seconds=24.0)).change(MOVED)
    assert partly is not None
    assert partly.low == pytest.approx(60 * (30 - 24) / (90 - 24) - 60, rel=1e-3)
    covered = of(ForecastTimes(jobs=3, own_seconds=1000.0)).change(MOVED)
    plain = of(ForecastTimes(jobs=3)).change(MOVED)
    assert covered == plain, "where they covered all of it before, it explains nothing"


def test_the_bounds_hold_for_writes_in_order_and_as_they_were_asked() -> None:
    disks = [
        target("slow", 100 * MB, 100 * MB, duplex=False, random=0.5),
        target("flash", 400 * MB, 400 * MB, duplex=False, random=1.0),
    ]
    asked = {role: demand(role, 0.001, 1000, sequential=0.0) for role in ROLES}
    found = PlacementForecast(asked, disks, ForecastTimes(jobs=1)).change({role: [FAST] for role in ROLES})
    assert found is not None
    assert found.expected == pytest.approx(30 / 4 - 30, rel=1e-3)
    assert found.high == pytest.approx(30 / 4 - 30, rel=1e-3)
    assert found.low == pytest.approx(30 / 8 - 30, rel=1e-3)
