"""The caps that a run records are those that the kernel was given, of the group that the run is in."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mawl.lab.devices import BLKIO, device_number
from mawl.measure.devices import volume_facts
from mawl.records.model.node import IoCap
from mawl.records.model.run import VolumeFacts
from mawl.records.store import open_run
from tests import needs
from tests.lab.standing import Bed, bed_text, standing

pytestmark = [pytest.mark.lab, pytest.mark.alone, needs.marks(needs.ROOT)]

BYTES, REQUESTS = 40_000_000, 3000
VOLUME = f"""
size = "512MiB"
dirty = "4MiB"
[volumes.cap]
bytes_per_second = {BYTES}
requests_per_second = {REQUESTS}
"""
BED = bed_text(
    "capped", dict.fromkeys(("one", "other"), VOLUME), {"one": "one one one", "two": "other one one"}
)
SORT = 'name = "sort"\nscale = 0.0005\n[[sessions]]\nname = "a"\nstages = [["wide_sort"]]\n'


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    with standing(tmp_path_factory.mktemp("bed"), "capped", BED) as made:
        yield made


@pytest.fixture(scope="module")
def arms(bed: Bed) -> dict[str, list[str]]:
    """Of each arm, the options of ``mawl run`` that name the directories."""
    return bed.up("capped")


@pytest.fixture
def roles(arms: dict[str, list[str]]) -> list[str]:
    return arms["one"]


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
    assert "at most 40.0 MB/s and 3,000 requests/s" in " ".join(bed("report", "run").stdout.split())


def test_a_cap_on_the_writes_of_data_alone_is_the_limit_until_it_is_lifted(
    bed: Bed, arms: dict[str, list[str]]
) -> None:
    (bed.directory / "sort.toml").write_text(SORT)
    file, found = BLKIO / "blkio.throttle.write_bps_device", {}
    for limit in (BYTES // 10, BYTES):
        (device,) = volume_facts({"data": [Path(arms["two"][1])]}, "n")[0].devices
        file.write_text(f"{device_number(device)} {limit}")
        done = bed("run", "sort.toml", "--cache", "none", *arms["two"], "--output", f"sort-{limit}")
        assert done.returncode == 0, done.stdout + done.stderr
        found[limit] = json.loads(bed("report", f"sort-{limit}", "--format", "json").stdout)
    capped, free = found.values()
    assert (capped["limit"]["verdict"], capped["limit"]["role"]) == ("storage", "data")
    (reached,) = capped["limit"]["caps_reached"]
    assert (reached["devices"], reached["direction"]) == ([device], "write")
    assert free["limit"]["role"] != "data"
    assert not any(device in cap["devices"] for cap in free["limit"]["caps_reached"])
    # 72.5 MB at a tenth of the rate take 16 s longer.
    assert capped["time"]["real_time_seconds"] - free["time"]["real_time_seconds"] > 10


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
