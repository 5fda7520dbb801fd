"""What a placement changes, against simulated jobs that queue at devices, first come first served."""

from __future__ import annotations

import heapq
import random
from collections.abc import Mapping, Sequence

import msgspec
import pytest

from mawl.records.spec.program_options import ROLES, Role
from mawl.whatif.placement.demand import flash_like, overlap, service
from mawl.whatif.placement.forecast import ForecastTimes, PlacementForecast
from tests.fakes.probed import MB, probe_test, target
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


SLOWER = target("fuller", 10 * MB, 10 * MB, random=0.5)
FASTER = target("dialled", 900 * MB, 900 * MB, random=1.0)


def test_bytes_at_the_rate_of_each_direction_one_after_the_other() -> None:
    found = service(target("a", 100 * MB, 50 * MB, duplex=False), demand("work", 1000, 500))
    assert found is not None
    assert found.seconds == pytest.approx(10 + 10)
    assert found.bytes_per_second == pytest.approx(75 * MB)
    assert found.assumed == []


def test_where_each_direction_has_a_budget_they_run_beside_each_other() -> None:
    both = target("a", 100 * MB, 100 * MB)
    asked = demand("work", 650, 350)
    assert overlap(both, asked) == pytest.approx(1 + 0.35 / 0.65)
    found = service(both, asked)
    assert found is not None
    assert found.seconds == pytest.approx(6.5), "no less than the longer of the two"


def test_random_bytes_go_at_the_random_rate() -> None:
    disk = target("disk", 100 * MB, 100 * MB, random=0.1, duplex=False)
    found = service(disk, demand("data", 1000, 0, sequential=0.5))
    assert found is not None
    assert found.seconds == pytest.approx(5 + 50)
    without = service(
        target("disk", 100 * MB, 100 * MB, random=None), demand("data", 1000, 0, sequential=0.5)
    )
    assert without is not None
    assert without.assumed == [
        "disk: no random read was probed, its sequential rate stands in for 50 % of the bytes of data"
    ]


def test_neither_a_fuller_file_system_nor_compressible_content_is_compared() -> None:
    plain = target("disk", 100 * MB, 100 * MB, random=0.05, duplex=False)
    fuller = [msgspec.structs.replace(test, fill_ratio=0.9) for test in SLOWER.tests]
    dialled = [msgspec.structs.replace(test, content="dialled") for test in FASTER.tests]
    mixed = msgspec.structs.replace(plain, tests=[*dialled, *fuller, *plain.tests])
    asked = demand("work", 1000, 500, sequential=0.5)
    assert service(mixed, asked) == service(plain, asked)
    assert overlap(mixed, asked) == overlap(plain, asked)
    assert flash_like(mixed) is flash_like(plain) is False


def test_a_rate_of_zero_is_no_figure() -> None:
    still = probe_test("read", 100 * MB)
    assert still.read is not None
    still = msgspec.structs.replace(still, read=msgspec.structs.replace(still.read, bytes_per_second=0.0))
    disk = msgspec.structs.replace(target("a", 100 * MB, 50 * MB), tests=[still])
    assert service(disk, demand("work", 1000, 0.001)) is None
    jumps = msgspec.structs.replace(still, pattern="random")
    assert flash_like(msgspec.structs.replace(disk, tests=[still, jumps])) is None


def test_a_direction_that_was_not_probed_cannot_be_told() -> None:
    reads = msgspec.structs.replace(target("a", 100 * MB, 50 * MB), tests=[probe_test("read", 100 * MB)])
    assert service(reads, demand("work", 1000, 500)) is None
    found = service(reads, demand("work", 1000, 0))
    assert found is not None
    assert found.seconds == pytest.approx(10)


def test_flash_is_what_does_not_seek() -> None:
    assert flash_like(target("flash", 100 * MB, 100 * MB, random=0.6)) is True
    assert flash_like(target("disk", 100 * MB, 100 * MB, random=0.02)) is False
    assert flash_like(target("unknown", 100 * MB, 100 * MB, random=None)) is None


def test_a_role_that_reads_gains_more_on_a_target_that_reads_faster_than_it_writes() -> None:
    disk = target("disk", 100 * MB, 100 * MB, duplex=False)
    flash = target("flash", 800 * MB, 200 * MB, duplex=False)
    reading, writing = demand("data", 900, 100), demand("util", 100, 900)

    def gain(asked: object) -> float:
        before, after = service(disk, asked), service(flash, asked)  # type: ignore[arg-type]
        assert before is not None and after is not None
        return before.seconds / after.seconds

    assert gain(reading) == pytest.approx(10 / (900 / 800 + 100 / 200))
    assert gain(reading) > 2 * gain(writing)


def test_writes_are_in_order_after_write_back_or_as_they_were_asked() -> None:
    disk = target("disk", 100 * MB, 100 * MB, random=0.1, duplex=False)
    asked = demand("util", 0.001, 1000, sequential=0.5)
    ordered, strict = service(disk, asked), service(disk, asked, ordered=False)
    assert ordered is not None and strict is not None
    assert ordered.seconds == pytest.approx(10, rel=1e-3)
    assert strict.seconds == pytest.approx(5 + 50, rel=1e-3)
