"""Bytes in the queue of a device: how many a step has there, and what it gets for them."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from mawl.records.model.node import Inventory
from mawl.records.model.role_io import RoleIo
from mawl.records.model.run import VolumeFacts
from mawl.simulation.activity import GATHERED_BYTES, LINUX_READ_AHEAD_BYTES, outstanding_bytes, read_ahead_of
from mawl.simulation.demand import USUAL_REQUEST_BYTES, Direction
from tests.fakes.stored_run import facts
from tests.simulation.scenes import flow, side_by_side, simulated, step, system

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
