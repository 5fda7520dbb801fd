"""Which test of a probe answers a question, and which target holds a volume."""

from __future__ import annotations

import msgspec
import pytest

from mawl.analysis.capability import by_streams, targets_of
from mawl.model.run import VolumeFacts
from tests.fakes.probed import MB, probe_test, target

TESTS = [
    probe_test("read", 1.0, request_bytes=2**20, streams=4),
    probe_test("read", 2.0, request_bytes=2**16, streams=1),
    probe_test("read", 3.0, request_bytes=2**16, streams=4),
    probe_test("read", 4.0, request_bytes=2**15, streams=4, direct=False),
    probe_test("write", 0.0, 5.0, request_bytes=2**15, streams=4),
]
DISK = msgspec.structs.replace(target("disk", 100 * MB, 100 * MB), tests=TESTS)


def test_the_nearest_test_is_direct_then_by_size_then_by_streams() -> None:
    assert by_streams(DISK, "read", "sequential", 2**15, 3.0) is TESTS[2]
    assert by_streams(DISK, "read", "random", 2**15, 3.0) is None
    empty = msgspec.structs.replace(DISK, tests=[msgspec.structs.replace(TESTS[2], read=None)])
    assert by_streams(empty, "read", "sequential", 2**15, 3.0) is None, "a test without figures"


@pytest.mark.parametrize(
    ("volume", "fits"),
    [
        ({}, True),
        ({"node": "other"}, False),
        ({"devices": ["sdb"]}, False),
        ({"devices": ["sdb"], "directory": "/mnt/disk"}, False),
        ({"devices": []}, False),
        ({"devices": [], "directory": "/mnt/disk"}, True),
        ({"devices": [], "source": "/dev/disk", "network": True}, True),
        ({"devices": [], "source": "/dev/disk"}, False),
        ({"size_bytes": 10**12}, True),
        ({"size_bytes": 2 * 10**12}, False),
    ],
)
def test_a_target_holds_what_is_on_its_devices_or_in_its_place(volume: dict[str, object], fits: bool) -> None:
    values = {"role": "work", "node": "bench1", "directory": "/mnt/disk/work", "devices": ["disk"], **volume}
    found = VolumeFacts(**values)  # type: ignore[arg-type]
    assert targets_of(found, [DISK]) == ([DISK] if fits else [])
