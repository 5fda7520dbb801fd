"""The caps that a run records are those that the kernel was given, of the group that the run is in."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mawl.lab.devices import BLKIO, device_number
from mawl.records.model.node import IoCap
from mawl.records.model.run import VolumeFacts
from mawl.records.store import open_run
from tests import needs
from tests.lab.standing import Bed, standing

pytestmark = [pytest.mark.lab, pytest.mark.alone, needs.marks(needs.ROOT)]

BYTES, REQUESTS = 40_000_000, 3000
BED = f"""
name = "capped"
title = "One volume with a cap"
question = "Does a run record it?"
workload = "nano"
[[volumes]]
name = "one"
size = "512MiB"
dirty = "4MiB"
[volumes.cap]
bytes_per_second = {BYTES}
requests_per_second = {REQUESTS}
[[arms]]
name = "one"
data = ["one"]
work = ["one"]
util = ["one"]
"""


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    with standing(tmp_path_factory.mktemp("bed"), "capped", BED) as made:
        yield made


@pytest.fixture(scope="module")
def roles(bed: Bed) -> list[str]:
    """The options of ``mawl run`` that name the directories."""
    return bed.up("capped")["one"]


def held(volume: VolumeFacts) -> set[tuple[str, str, int | None, int | None, str]]:
    assert volume.caps is not None, volume.caps_reason
    return {
        (cap.device, cap.direction, cap.bytes_per_second, cap.requests_per_second, Path(cap.file).name)
        for cap in volume.caps
    }


def test_a_run_records_the_caps_that_were_set_and_its_reports_say_them(bed: Bed, roles: list[str]) -> None:
    done = bed("run", "nano", *roles, "--output", "run")
    sys.stdout.write(done.stdout + done.stderr)
    assert done.returncode == 0, done.stderr
    volumes = open_run(bed.directory / "run").facts.volumes
    assert {volume.role for volume in volumes} == {"data", "work", "util"}
    for volume in volumes:
        (device,) = volume.devices
        assert held(volume) == {
            (device, way, *values, f"blkio.throttle.{way}_{unit}_device")
            for way in ("read", "write")
            for unit, values in (("bps", (BYTES, None)), ("iops", (None, REQUESTS)))
        }
    summary = json.loads(bed("report", "run", "--format", "json").stdout)
    for place in ("data", "work", "util", "together"):
        for way in ("read", "write"):
            cap = summary["caps"][place][way]
            assert (cap["bytes_per_second"], cap["requests_per_second"]) == (BYTES, REQUESTS)
    assert "at most 40.0 MB/s and 3000 requests/s" in " ".join(bed("report", "run").stdout.split())


def test_a_cap_of_a_group_above_does_not_hold_in_version_1(bed: Bed, roles: list[str]) -> None:
    """The kernel's own rule: the root's cap is set, the run is in a group below, and has none."""
    mounted = roles[1]
    group = BLKIO / f"mawl-test-caps-{bed.directory.name}"
    group.mkdir()
    code = (
        "import sys; from pathlib import Path; from mawl.measure.devices import volume_facts;"
        "from mawl.measure.control_groups import with_caps; import msgspec;"
        "Path(sys.argv[1], 'cgroup.procs').write_text('0');"
        "found = with_caps(volume_facts({'data': [Path(sys.argv[2])]}, 'n'));"
        "print(msgspec.json.encode(found).decode())"
    )
    ask = [sys.executable, "-c", code, str(group), mounted]
    try:
        (below,) = json.loads(subprocess.run(ask, check=True, capture_output=True, text=True).stdout)
        assert below["caps"] == []
        assert str(group) in below["caps_reason"]
        (device,) = below["devices"]
        file = group / "blkio.throttle.write_bps_device"
        file.write_text(f"{device_number(device)} 7000000")
        (own,) = json.loads(subprocess.run(ask, check=True, capture_output=True, text=True).stdout)
        (cap,) = [IoCap(**one) for one in own["caps"]]
        assert (cap.direction, cap.bytes_per_second, cap.file) == ("write", 7_000_000, str(file))
    finally:
        group.rmdir()
