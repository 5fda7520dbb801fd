"""Sharing in equal turns: nothing too much, nothing left over, alike for alike, by hand where it is easy."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mawl.records.model.node import Inventory
from mawl.records.model.role_io import RoleIo
from mawl.records.model.run import VolumeFacts
from mawl.simulation.activity import (
    GATHERED_BYTES,
    LINUX_READ_AHEAD_BYTES,
    Calibration,
    outstanding_bytes,
    read_ahead_of,
)
from mawl.simulation.demand import USUAL_REQUEST_BYTES, Direction, Flow
from mawl.simulation.recorded_demand import requests_at_once
from mawl.simulation.resources import OWN, Floats, Whole, shares
from mawl.simulation.scenario import run_scenario
from mawl.simulation.system import System
from tests.fakes.stored_run import facts
from tests.simulation.scenes import device, flow, scenario, side_by_side, simulated, step, system

AMOUNTS = st.one_of(st.just(0.0), st.floats(0.01, 100.0))


def shared(uses: Floats, fastest: Floats, capacity: Floats) -> tuple[Floats, Whole]:
    return shares(uses, uses, uses, fastest, capacity)


@st.composite
def loads(draw: st.DrawFn) -> tuple[Floats, Floats, Floats]:
    rows, columns = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    uses = draw(arrays(float, (rows, columns), elements=AMOUNTS))
    fastest = draw(arrays(float, rows, elements=st.floats(0.01, 100.0)))
    return uses, fastest, draw(arrays(float, columns, elements=st.floats(0.1, 100.0)))


@given(loads(), st.data())
def test_turns_of_several_sizes_neither_give_too_much_nor_leave_anything(
    load: tuple[Floats, Floats, Floats], data: st.DataObject
) -> None:
    uses, fastest, capacity = load
    sizes = data.draw(arrays(float, uses.shape, elements=st.floats(0.01, 100.0)))
    rates, bound = shares(uses, uses / sizes, uses, fastest, capacity)
    used = rates @ uses
    assert (used <= capacity * (1 + 1e-9)).all()
    assert (rates <= fastest * (1 + 1e-9)).all()
    for row in np.flatnonzero(bound != OWN):
        assert used[bound[row]] == pytest.approx(capacity[bound[row]], rel=1e-6)


@given(loads(), st.floats(1e-3, 1e3))
def test_the_unit_of_a_turn_does_not_matter(load: tuple[Floats, Floats, Floats], factor: float) -> None:
    uses, fastest, capacity = load
    turns = uses.copy()
    turns[:, 0] *= factor
    assert shares(uses, turns, uses, fastest, capacity)[0] == pytest.approx(
        shared(uses, fastest, capacity)[0], rel=1e-6
    )


@given(loads())
def test_no_resource_gives_more_than_it_has(load: tuple[Floats, Floats, Floats]) -> None:
    uses, fastest, capacity = load
    rates, _ = shared(uses, fastest, capacity)
    assert (rates @ uses <= capacity * (1 + 1e-9)).all()
    assert (rates <= fastest * (1 + 1e-9)).all()


@given(loads())
def test_who_is_held_back_is_held_back_by_a_resource_that_is_used_up(
    load: tuple[Floats, Floats, Floats],
) -> None:
    uses, fastest, capacity = load
    rates, bound = shared(uses, fastest, capacity)
    used = rates @ uses
    for row, column in enumerate(bound):
        if column == OWN:
            assert rates[row] == pytest.approx(fastest[row])
        else:
            assert uses[row, column] > 0
            assert used[column] == pytest.approx(capacity[column], rel=1e-6)


@example((np.array([[5.0, 0.0, 1.0], [1.0, 5.0, 5.0]]), np.ones(2), np.ones(3)))
@given(loads())
def test_alike_activities_get_alike_rates_in_any_order(load: tuple[Floats, Floats, Floats]) -> None:
    uses, fastest, capacity = load
    twice = np.vstack([uses, uses]), np.concatenate([fastest, fastest])
    rates, _ = shared(*twice, capacity)
    assert rates[: len(fastest)] == pytest.approx(rates[len(fastest) :], rel=1e-6)
    turned, _ = shared(uses[::-1], fastest[::-1], capacity)
    assert turned[::-1] == pytest.approx(shared(uses, fastest, capacity)[0], rel=1e-6)


@given(
    arrays(float, st.integers(1, 8), elements=st.floats(0.01, 100.0)),
    st.floats(0.1, 100.0),
    st.floats(1.0, 10.0),
)
def test_more_of_the_only_resource_slows_nobody(fastest: Floats, capacity: float, factor: float) -> None:
    uses = np.ones((len(fastest), 1))
    before, _ = shared(uses, fastest, np.array([capacity]))
    after, _ = shared(uses, fastest, np.array([capacity * factor]))
    assert (after >= before * (1 - 1e-9)).all()


def test_what_one_leaves_goes_to_the_others() -> None:
    rates, bound = shared(np.ones((3, 1)), np.array([1.0, 10.0, 10.0]), np.array([9.0]))
    assert rates.tolist() == [1.0, 4.0, 4.0]
    assert bound.tolist() == [OWN, 0, 0]


def test_a_flow_over_two_links_takes_the_share_of_the_narrower() -> None:
    uses = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    rates, bound = shared(uses, np.full(3, np.inf), np.array([10.0, 4.0]))
    assert rates.tolist() == [2.0, 8.0, 2.0]
    assert bound.tolist() == [1, 0, 1]


def test_a_row_that_stands_for_many_takes_their_share() -> None:
    """Ten alike nodes and one other on a shared device of 11 a second: one each."""
    uses = np.ones((2, 1))
    counts = np.array([[10.0], [1.0]])
    rates, _ = shares(uses, uses, uses * counts, np.full(2, np.inf), np.array([11.0]))
    assert rates.tolist() == [1.0, 1.0]


def test_alike_nodes_on_a_shared_device_get_alike_rates() -> None:
    """Two nodes with processors of their own, whose two jobs read from the device of both."""
    uses = np.array([[5.0, 0.0, 1.0], [1.0, 0.0, 2.0], [0.0, 5.0, 1.0], [0.0, 1.0, 2.0]])
    rates, _ = shared(uses, np.full(4, 0.5), np.array([1.0, 1.0, 2.0]))
    assert rates.tolist() == pytest.approx([0.125, 0.375, 0.125, 0.375])


def test_who_wants_little_of_a_full_resource_gets_it() -> None:
    """Two compute on a core each and read a little beside one that would fill the device by itself."""
    uses = np.array([[0.04, 160.0], [1.5, 30.0], [1.5, 30.0]])
    rates, bound = shared(uses, np.array([0.8, 0.6, 0.6]), np.array([2.0, 120.0]))
    assert rates.tolist() == pytest.approx([(120.0 - 0.6 * 60.0) / 160.0, 0.6, 0.6])
    assert bound.tolist() == [1, OWN, OWN]


def test_what_one_cannot_take_of_cores_goes_to_those_who_compute() -> None:
    """One that waits for a device takes little of the cores, so the others share what it leaves of them."""
    uses = np.array([[0.1, 100.0], [1.0, 10.0], [1.0, 10.0]])
    rates, _ = shared(uses, np.array([1.0, 1.0, 1.0]), np.array([1.5, 60.0]))
    assert rates[1] == rates[2] == pytest.approx((1.5 - 0.1 * rates[0]) / 2, rel=0.05)
    assert rates[0] == pytest.approx((60.0 - 20.0 * rates[1]) / 100.0, rel=1e-6)


LOOK_UPS = replace(flow(8, direction="read"), request_bytes=8000.0, sequential_ratio=0.0)
"""1,000 requests at random."""
SLOW = system(device(latency_seconds=0.005, rate=1000.0))


def elapsed(asked: System, one: Flow, *, blocked: float, alone_ratio: float = 1.0) -> float:
    """On ``asked``, of a step that was blocked so long on a device of 100 MB/s without latency."""
    jobs = side_by_side([[step(0.0, one, blocked=blocked)]])
    return run_scenario(scenario(asked, *jobs), Calibration(system(), alone_ratio)).elapsed_seconds


def test_requests_under_way_at_once_share_the_latency() -> None:
    one = elapsed(SLOW, LOOK_UPS, blocked=0.08)
    assert one == pytest.approx(0.008 + 5.0)
    assert elapsed(SLOW, replace(LOOK_UPS, requests_at_once=10.0), blocked=0.08) == pytest.approx(one / 10)


def test_requests_at_once_do_not_exceed_the_rate_of_the_device() -> None:
    many = replace(LOOK_UPS, requests_at_once=1e6)
    assert elapsed(SLOW, many, blocked=0.08) == pytest.approx(0.008)


@pytest.mark.parametrize("one", [LOOK_UPS, replace(LOOK_UPS, sequential_ratio=1.0, direct_ratio=1.0)])
def test_requests_at_random_and_direct_ones_wait_though_a_full_device_hid_it(one: Flow) -> None:
    """Calibration finds no time alone where all waits come from sharing."""
    assert elapsed(SLOW, one, blocked=0.08, alone_ratio=0.0) == pytest.approx(0.008 + 5.0)


def test_buffered_writes_at_random_are_gathered_so_nobody_waits_for_each() -> None:
    writes = replace(LOOK_UPS, direction="write")
    assert elapsed(SLOW, writes, blocked=0.08, alone_ratio=0.0) == pytest.approx(0.008)
    direct = replace(writes, direct_ratio=1.0)
    assert elapsed(SLOW, direct, blocked=0.08, alone_ratio=0.0) == pytest.approx(0.008 + 5.0)


def test_a_stream_is_read_ahead_so_only_what_was_measured_tells_its_waits() -> None:
    stream = replace(LOOK_UPS, sequential_ratio=1.0)
    assert elapsed(SLOW, stream, blocked=0.0) == pytest.approx(0.008)


def test_waits_that_were_shorter_than_the_description_says_stay_shorter() -> None:
    """Of a device that is described with 5 ms but answered in half of that."""
    jobs = side_by_side([[step(0.0, LOOK_UPS, blocked=2.5)]])
    found = run_scenario(scenario(SLOW, *jobs), Calibration(SLOW, alone_ratio=0.0))
    assert found.elapsed_seconds == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("waited", "blocked", "at_once"),
    [
        (16.0, 2.0, 8.0),  # lanes, of which the first thread is one
        (2.0, 2.0, 1.0),
        (1.0, 2.0, 1.0),
        (40.0, 0.05, 4.0),  # four threads read for the whole step while the first one computes
        (1e6, 5.0, 256.0),
        (3.0, 0.0, 1.0),
        (3.0, None, 1.0),
    ],
)
def test_requests_at_once_of_a_step_of_ten_seconds(
    waited: float, blocked: float | None, at_once: float
) -> None:
    assert requests_at_once(waited, blocked, 10.0) == pytest.approx(at_once)


KIB = 1024
MB = 10**6
AHEAD = 2560.0 * KIB


def of(
    io: RoleIo, direction: Direction, device_bytes: float, direct: float = 0.0, at_once: float = 1.0
) -> float:
    return outstanding_bytes(
        io,
        direction,
        device_bytes=device_bytes,
        direct_ratio=direct,
        requests_at_once=at_once,
        read_ahead_bytes=AHEAD,
    )


def reads(moved: int, size: int, sequential: int, **more: object) -> RoleIo:
    return RoleIo(
        read_bytes=moved,
        sequential_read_bytes=sequential,
        read_size_bytes_histogram={size: moved // size},
        **more,  # type: ignore[arg-type]
    )


def writes(moved: int, size: int, sequential: int, **more: object) -> RoleIo:
    return RoleIo(
        written_bytes=moved,
        sequential_written_bytes=sequential,
        write_size_bytes_histogram={size: moved // size},
        **more,  # type: ignore[arg-type]
    )


def test_direct_requests_are_there_one_by_one_or_as_many_as_are_under_way() -> None:
    direct = reads(8 * MB, 8 * KIB, 0)
    one = of(direct, "read", 8.0 * MB, direct=1.0)
    assert one == pytest.approx(8 * KIB)
    assert of(direct, "read", 8.0 * MB, direct=1.0, at_once=8.0) == pytest.approx(8.0 * one)


def test_reads_in_sequence_have_what_the_kernel_reads_ahead() -> None:
    whole = reads(80 * MB, 256 * KIB, 80 * MB)
    assert of(whole, "read", 80.0 * MB) == pytest.approx(AHEAD)
    scattered = reads(80 * MB, 256 * KIB, 0)
    assert of(scattered, "read", 80.0 * MB) == pytest.approx(256 * KIB)
    large = reads(80 * MB, 8 * MB, 80 * MB)
    assert of(large, "read", 80.0 * MB) == pytest.approx(8 * MB, rel=0.1), (
        "one request is more than is read ahead"
    )


def test_what_the_cache_served_does_not_make_the_rest_small() -> None:
    whole = reads(80 * MB, 256 * KIB, 80 * MB)
    for device_bytes in (80.0 * MB, 8.0 * MB, 0.0):
        assert of(whole, "read", device_bytes) == pytest.approx(AHEAD)


def test_a_write_that_fills_pages_in_part_waits_for_them() -> None:
    """1,000 writes of 4 KiB across two pages each read 8 MB beside the 1 MB that the step asks for."""
    step_io = RoleIo(
        read_bytes=1 * MB,
        sequential_read_bytes=1 * MB,
        read_size_bytes_histogram={256 * KIB: 4},
        written_bytes=4096 * 1000,
        write_size_bytes_histogram={4096: 1000},
    )
    assert of(step_io, "read", 1.0 * MB + 2000 * 4096) == pytest.approx(4096, rel=0.6)
    without = msgspec.structs.replace(step_io, written_bytes=0, write_size_bytes_histogram={})
    assert of(without, "read", 9.0 * MB) > AHEAD, "unused read-ahead is no page that a write waits for"


def test_writes_are_gathered_unless_each_is_waited_for() -> None:
    assert of(writes(64 * MB, 64 * KIB, 64 * MB), "write", 64.0 * MB) == GATHERED_BYTES
    assert of(writes(64 * MB, 64 * KIB, 64 * MB, syncs=1000), "write", 64.0 * MB) == 64.0 * MB / 1000
    small = writes(8 * MB, 8 * KIB, 8 * MB, writes=1000, opens=1000)
    assert of(small, "write", 8.0 * MB) == GATHERED_BYTES, "a close waits for nothing"
    waited = msgspec.structs.replace(small, uncaching_seconds=1.0)
    assert of(waited, "write", 8.0 * MB) == 8 * MB / 1000, "but with --cache none it does"


def test_what_moved_nothing_has_the_usual_request() -> None:
    assert of(RoleIo(), "read", 0.0) == USUAL_REQUEST_BYTES
    assert of(RoleIo(), "read", 5.0 * MB) == USUAL_REQUEST_BYTES


def test_read_ahead_is_that_of_the_mount_else_what_linux_has() -> None:
    volumes = [
        VolumeFacts(role=role, node="n1", directory=f"/mnt/{role}", mount_point=f"/mnt/{role}")
        for role in ("data", "work")
    ]
    told = Inventory(families={"file_system": {"/mnt/work": {"read_ahead_bytes": 2621440}}})
    found = read_ahead_of(facts(volumes=volumes, inventories={"n1": told}))
    assert found == {"data": LINUX_READ_AHEAD_BYTES, "work": 2621440.0, "util": LINUX_READ_AHEAD_BYTES}
    assert set(read_ahead_of(facts(volumes=volumes)).values()) == {LINUX_READ_AHEAD_BYTES}
    two = [*volumes, VolumeFacts(role="work", node="n1", directory="/mnt/b", mount_point="/mnt/b")]
    told.families["file_system"]["/mnt/b"] = {"read_ahead_bytes": 0}
    assert read_ahead_of(facts(volumes=two, inventories={"n1": told}))["work"] == 2621440.0 / 2.0


def test_on_a_full_device_each_gets_by_what_it_has_in_the_queue() -> None:
    """100 MB/s, and nine tenths of the bytes in the queue are of one step."""
    much = replace(flow(900, direction="read"), outstanding_bytes=900.0 * KIB)
    little = replace(flow(100, direction="read"), outstanding_bytes=100.0 * KIB)
    outcome = simulated(system(), *side_by_side([[step(0.0, much)], [step(0.0, little)]]))
    assert [job.ended for job in outcome.jobs] == pytest.approx([10.0, 10.0])
    equal = simulated(
        system(),
        *side_by_side([[step(0.0, flow(900, direction="read"))], [step(0.0, flow(100, direction="read"))]]),
    )
    assert sorted(job.ended for job in equal.jobs) == pytest.approx([2.0, 10.0])
