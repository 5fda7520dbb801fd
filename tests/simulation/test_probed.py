"""A description from a probe: rates, falls with streams, shared bounds, what could not be told."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.base.errors import UsageError
from mawl.records.model.run import NodeFacts
from mawl.simulation.measured_system import cores_of, probed_system
from mawl.simulation.system import loads_system, system_toml
from tests.fakes.probes import KIB, MB, disk, probe, probe_test, target

GIB = 2.0**30


def test_each_device_once_with_its_highest_sequential_rates() -> None:
    fast = [probe_test("read", 900), probe_test("write", 700), probe_test("read", 1000, streams=1)]
    found, remarks = probed_system(
        probe(
            target(
                "data", [probe_test("read", 200), probe_test("write", 100)], roles=["data"], devices=["sdb"]
            ),
            target("work", fast, roles=["work"], devices=["nvme0n1"]),
            target("util", fast, roles=["util"], devices=["nvme0n1"]),
        ),
        name="here",
        memory_bytes=64 * GIB,
    )
    assert [device.name for device in found.devices] == ["sdb", "nvme0n1"]
    assert found.device("nvme0n1").read_bytes_per_second == 1000 * MB
    assert found.device("nvme0n1").write_bytes_per_second == 700 * MB
    assert dict(found.nodes[0].roles) == {"data": ("sdb",), "work": ("nvme0n1",), "util": ("nvme0n1",)}
    assert (found.nodes[0].cores, found.nodes[0].memory_bytes) == (2.0, 64 * GIB)
    assert remarks == []
    assert all(source.startswith("measured: ") for source in found.sources.values())
    assert loads_system(system_toml(found), where="written") == found


def test_confinement_and_quota_leave_a_part_of_the_cores() -> None:
    node = NodeFacts(name="n", cores=4, core_basis="physical core", logical_cpus=8)
    held: list[dict[str, Any]] = [{}, {"cpus_used": [0, 1, 2]}, {"cpu_quota": 1.5}]
    assert [cores_of(msgspec.structs.replace(node, **one)) for one in held] == [4.0, 1.5, 0.75]
    assert cores_of(msgspec.structs.replace(node, cpus_used=[0, 1, 2], cpu_quota=1.5)) == 0.75


def test_a_disk_that_seeks_between_streams_falls_as_the_engine_has_it() -> None:
    tests = [
        probe_test("read", 100, streams=1),
        probe_test("read", 25, streams=4),
        probe_test("write", 80, streams=1),
    ]
    found, _ = probed_system(probe(target("work", tests, roles=["work"])), name="here", memory_bytes=GIB)
    half = found.devices[0].spinning_streams
    assert half is not None
    seeks = 1 / (1 - 1 / half)
    assert 100 / (1 + seeks * (1 - 1 / 4)) == pytest.approx(25)
    assert 100 / (1 + seeks * (1 - 1 / half)) == pytest.approx(50)


def test_a_device_that_keeps_its_rate_or_falls_a_little_is_none_that_spins() -> None:
    for most in (100, 75):
        tests = [probe_test("read", 100, streams=1), probe_test("read", most), probe_test("write", 80)]
        found, _ = probed_system(probe(target("work", tests, roles=["work"])), name="here", memory_bytes=GIB)
        assert found.devices[0].spinning_streams is None


@pytest.mark.parametrize(("megabytes", "shared"), [(150, None), (100, 100 * MB)])
def test_mixed_requests_below_what_two_bounds_allow_share_one(megabytes: int, shared: float | None) -> None:
    tests = [probe_test("read", 100), probe_test("write", 100), probe_test("mixed", megabytes)]
    found, _ = probed_system(probe(target("work", tests, roles=["work"])), name="here", memory_bytes=GIB)
    assert found.devices[0].shared_bytes_per_second == shared


def test_the_bound_on_requests_is_the_most_that_any_test_made() -> None:
    tests = [
        probe_test("read", 100),
        probe_test("write", 80),
        probe_test("read", 40, pattern="random", request_bytes=8 * KIB),
    ]
    found, _ = probed_system(probe(target("work", tests, roles=["work"])), name="here", memory_bytes=GIB)
    assert found.devices[0].requests_per_second == pytest.approx(40 * MB / (8 * KIB))


def test_what_was_not_probed_is_said() -> None:
    found, remarks = probed_system(
        probe(disk(), target("bare", [probe_test("read", 100)], devices=["sdz"])),
        name="here",
        memory_bytes=GIB,
    )
    assert "sdz is left out: it has no sequential write test with figures" in remarks
    assert all(found.nodes[0].roles[role] for role in ("data", "work", "util"))
    assert any("was not probed; it is taken to lie on" in remark for remark in remarks)


def test_a_device_never_gets_a_name_that_means_another_thing() -> None:
    tests = [probe_test("read", 100), probe_test("write", 80)]
    found, _ = probed_system(
        probe(target("link", tests, devices=[]), target("work", tests, roles=["work"], devices=[])),
        name="here",
        memory_bytes=GIB,
    )
    assert [device.name for device in found.devices] == ["device-link", "device-work"]


def test_a_probe_without_rates_or_cores_is_no_system() -> None:
    with pytest.raises(UsageError, match="no probed target has both sequential rates: sda is left out"):
        probed_system(probe(target("work", [])), name="here", memory_bytes=GIB)
    with pytest.raises(UsageError, match="does not know the cores"):
        probed_system(probe(disk(), cores=None), name="here", memory_bytes=GIB)
