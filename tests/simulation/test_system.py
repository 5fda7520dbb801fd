"""What no system can be is refused by name.

System descriptions: what reads, what is refused and by which words, and that writing reads back.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.base.errors import InvalidFileError, UsageError
from mawl.records.model.run import NodeFacts
from mawl.simulation.measured_system import cores_of, probed_system
from mawl.simulation.system import (
    NodeKind,
    System,
    apply_changes,
    faster,
    load_system,
    loads_system,
    parse_change,
    seeks_of,
    spinning_streams_of,
    system_toml,
)
from tests.fakes.probes import KIB, MB, disk, probe, probe_test, target
from tests.files import text_of
from tests.simulation.scenes import device, system

TEXT = text_of(__file__, "two_nodes.toml")


def test_a_description_reads_in_base_units() -> None:
    system = loads_system(TEXT, where="here")
    assert system.node_count == 4
    assert system.fabric_bytes_per_second == 1e10
    assert system.fabric_shared_bytes_per_second == 1.2e10
    (node,) = system.nodes
    assert (node.cores, node.memory_bytes, node.threads_per_core) == (16.0, 64 * 2.0**30, 4)
    assert node.roles["work"] == ("array", "card")
    array, card = system.devices
    assert (array.read_bytes_per_second, array.spinning_streams) == (4e9, 8.0)
    assert (card.read_bytes_per_second, card.local, card.shared_bytes_per_second) == (1.5e9, True, None)


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    system = loads_system(TEXT, where="here")
    path = tmp_path / "system.toml"
    path.write_text(system_toml(system, head="one\ntwo"))
    assert path.read_text().startswith("# one\n# two\n")
    again = load_system(path)
    assert again == system
    # Also what a file leaves out is a figure of its own, which JSON has.
    assert msgspec.json.decode(msgspec.json.encode(again))["devices"][1]["requests_per_second"] is None


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "write_bytes_per_second = 2e9",
            "write_bytes_per_second = 0",
            "device array: write_bytes_per_second is 0",
        ),
        ("spinning_streams = 8", "spinning_streams = -1", "device array: spinning_streams is -1"),
        (
            "latency_seconds = 0.005",
            "latency_seconds = nan",
            "device array: latency_seconds must be 0 or more",
        ),
        (
            "requests_per_second = 30000",
            "requests_per_second = inf",
            "device array: requests_per_second is inf",
        ),
        ("cores = 16", "cores = 0", "nodes: cores is 0"),
        ("link_bytes_per_second = 5e9", "link_bytes_per_second = 0", "nodes: link_bytes_per_second is 0"),
        (
            'fabric_bytes_per_second = "10GB"',
            "fabric_bytes_per_second = 0",
            "system two: fabric_bytes_per_second is 0",
        ),
        (', util = ["card"]', "", "nodes: role util lies on no device"),
        (
            'util = ["card"]',
            'util = ["tape"]',
            "system two: role util lies on device tape, which is not described",
        ),
        ("[devices.card]", "[devices.link]", "a device cannot be named 'link'"),
        ("[devices.card]", "[devices.fabric]", "a device cannot be named 'fabric'"),
        ("[devices.card]", "[devices.work]", "a device cannot be named 'work'"),
        ("cores = 16", "", r"key nodes\[0\].cores: required, but missing"),
        ("cores = 16", 'cores = "many"', r"key nodes\[0\].cores: expected a number, found text"),
        (
            "local = true",
            "loca = true",
            "key devices.card.loca: unknown, expected one of read_bytes_per_second",
        ),
        ('"64GiB"', '"64GiX"', r"key nodes\[0\].memory_bytes: "),
        ('"nodes.0.cores"', '"nodes.1.cores"', "key sources.nodes.1.cores: expected the path of a figure"),
    ],
)
def test_systems_that_cannot_be_are_refused_by_name(old: str, new: str, words: str) -> None:
    assert old in TEXT
    with pytest.raises(InvalidFileError, match=f"^here: {words}"):
        loads_system(TEXT.replace(old, new, 1), where="here")


def test_a_system_without_nodes_is_refused() -> None:
    with pytest.raises(InvalidFileError, match="the system has no nodes"):
        loads_system('name = "none"\nnodes = []\n[devices]\n', where="here")


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ({"read_bytes_per_second": 0.0}, "device disk: read_bytes_per_second is 0"),
        ({"write_bytes_per_second": -1.0}, "device disk: write_bytes_per_second is -1"),
        ({"shared_bytes_per_second": float("nan")}, "shared_bytes_per_second is nan"),
        ({"latency_seconds": -0.1}, "latency_seconds must be 0 or more"),
        ({"spinning_streams": 1.0}, "spinning_streams is 1"),
    ],
)
def test_a_device_that_cannot_be_is_refused(figures: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        device(**figures)


@pytest.mark.parametrize("name", ["link", "fabric", "cores", "memory", "data", ""])
def test_a_device_must_not_be_called_as_another_resource(name: str) -> None:
    with pytest.raises(UsageError, match="a device cannot be named"):
        device(name)


def test_a_role_without_a_device_is_refused() -> None:
    with pytest.raises(UsageError, match="role util lies on no device"):
        NodeKind(count=1, cores=1, memory_bytes=1, roles={"data": ("disk",), "work": ("disk",)})
    with pytest.raises(UsageError, match="role data lies on device tape, which is not described"):
        system(roles={"data": ("tape",), "work": ("disk",), "util": ("disk",)})
    with pytest.raises(UsageError, match="device disk is described twice"):
        system(device(), device())
    with pytest.raises(UsageError, match="has no nodes"):
        System(name="none", nodes=(), devices=())


def test_changes_set_one_figure_and_mark_it_assumed() -> None:
    before = system(cores=4)
    texts = ["cores=32", "link=7GB", "fabric=16GB", "disk.read=1GB", "work=flash", "memory=1GiB"]
    after = apply_changes(before, [parse_change(text) for text in texts])
    kind = after.nodes[0]
    assert (kind.cores, kind.link_bytes_per_second, kind.memory_bytes) == (32.0, 7e9, 2.0**30)
    assert after.fabric_bytes_per_second == 16e9
    assert after.device("disk").read_bytes_per_second == 1e9
    assert kind.roles["work"] == ("flash",)
    assert kind.roles["data"] == ("disk",)
    assert set(after.sources.values()) == {"assumed"}


def test_another_fabric_has_no_bound_of_both_directions_of_the_one_before() -> None:
    before = replace(
        system(),
        fabric_shared_bytes_per_second=9e9,
        sources={"fabric_shared_bytes_per_second": "measured", "nodes.0.cores": "measured"},
    )
    after = apply_changes(before, [parse_change("fabric=16GB")])
    assert (after.fabric_bytes_per_second, after.fabric_shared_bytes_per_second) == (16e9, None)
    assert after.sources == {"fabric_bytes_per_second": "assumed", "nodes.0.cores": "measured"}


def test_a_changed_system_is_written_with_its_sources_and_reads_back() -> None:
    paths = {
        "cores=32": "nodes.0.cores",
        "memory=1GiB": "nodes.0.memory_bytes",
        "link=7GB": "nodes.0.link_bytes_per_second",
        "fabric=16GB": "fabric_bytes_per_second",
        "disk.read=1GB": "devices.disk.read_bytes_per_second",
        "disk.spinning_streams=4": "devices.disk.spinning_streams",
        "work=flash": "nodes.0.roles",
    }
    kept = "devices.disk.write_bytes_per_second"
    before = replace(system(cores=4), sources=dict.fromkeys((*paths.values(), kept), "measured"))
    after = apply_changes(before, [parse_change(text) for text in paths])
    assert loads_system(system_toml(after), where="here") == after
    assert {after.sources[path] for path in paths.values()} == {"assumed"}
    assert after.sources[kept] == "measured"
    assert after.sources["devices.flash.read_bytes_per_second"] == "assumed"


def test_a_faster_device_has_all_its_rates_times_the_factor() -> None:
    before = device(shared_bytes_per_second=150e6, requests_per_second=1000.0, latency_seconds=0.01)
    after = faster(before, 3.0)
    assert (after.read_bytes_per_second, after.write_bytes_per_second) == (3e8, 3e8)
    assert (after.shared_bytes_per_second, after.requests_per_second) == (4.5e8, 3000.0)
    assert after.latency_seconds == before.latency_seconds
    assert faster(device(), 2.0).requests_per_second is None


def test_streams_at_half_and_what_seeks_cost_are_each_other_turned_round() -> None:
    assert seeks_of(2.0) == 2.0
    assert spinning_streams_of(seeks_of(8.0)) == pytest.approx(8.0)
    assert spinning_streams_of(1.0) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cores", "expected KEY=VALUE"),
        ("cores=many", "is no number"),
        ("cores=0", "cores is 0"),
        ("threads_per_core=4", "unknown key"),
        ("tape.read=1GB", "unknown key"),
        ("work=tape", "role work lies on device tape, which is not described"),
        ("disk.read=0", "read_bytes_per_second is 0"),
        ("link=0", "link_bytes_per_second is 0"),
    ],
)
def test_a_change_that_cannot_be_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        apply_changes(system(), [parse_change(text)])


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
