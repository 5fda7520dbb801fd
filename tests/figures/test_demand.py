"""Demand on the devices of a role beside what a probe found, and null with a reason where that cannot be.

Which test of a probe answers a question, and which target holds a volume.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.figures.demand import by_streams, targets_of
from mawl.records.model.probe import Probe, ProbeTarget
from mawl.records.model.run import RunFacts, VolumeFacts
from mawl.records.spec.program_options import ROLES
from tests.fakes.host_run import PARTS, apart_facts, host_facts
from tests.fakes.measured_run import IDLE, Rate, four_jobs, samples
from tests.fakes.probed import MB, probe_test, target
from tests.fakes.probes import MB as PROBES_MB
from tests.fakes.probes import disk, probe
from tests.fakes.probes import probe_test as probe_test_probes
from tests.fakes.probes import target as target_probes
from tests.fakes.views import summary_of

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


SECONDS = 60


def summary(probed: Probe | str | None, some: RunFacts | None = None, **rates: Rate) -> dict[str, Any]:
    known = samples(SECONDS, IDLE | PARTS | {name.replace("__", "."): rate for name, rate in rates.items()})
    return summary_of(some or host_facts(), four_jobs(SECONDS), samples=known, probe=probed)


def role(probed: Probe, name: str = "data", some: RunFacts | None = None) -> dict[str, Any]:
    block = summary(probed, some)["storage"]["by_role"][name]
    assert isinstance(block, dict)
    return block


def test_rates_at_the_devices_over_the_rate_of_the_nearest_test() -> None:
    found = role(probe(disk()))
    read = found["read"]
    assert read["peak_bytes_per_second"] == pytest.approx(80 * PROBES_MB)
    assert read["sustained_bytes_per_second"] == pytest.approx(80 * PROBES_MB)
    assert read["capability_bytes_per_second"] == 400 * PROBES_MB, "256 KiB, by the better number of streams"
    assert read["test"] == "sequential read, 256 KiB, 2 streams, direct"
    assert read["peak_used_ratio"] == read["sustained_used_ratio"] == pytest.approx(0.2)
    assert found["write"]["peak_used_ratio"] == pytest.approx(40 / 200)
    assert (found["targets"], found["devices"]) == (["data"], ["sda"])
    assert sorted(found["shared_with"]) == ["util", "work"], "one disk holds all: the demand is of all"


def test_a_disk_shared_by_other_devices_is_named_apart_from_shared_devices() -> None:
    found = role(
        probe(target_probes("x", [probe_test_probes("read", 400)], devices=["sdb"])),
        "work",
        apart_facts(["data"]),
    )
    assert (found["shared_with"], found["disks_shared_with"]) == ([], ["data"])
    assert role(probe(disk()))["disks_shared_with"] == []


def test_an_image_on_the_disk_of_another_role_is_in_the_figures_of_that_disk() -> None:
    volumes = [
        VolumeFacts(
            role="data",
            node="bench1",
            directory="/d",
            devices=["sdb1"],
            layers=["sdb1", "sdb"],
            disks=["sdb"],
            shared_with=["work"],
        ),
        VolumeFacts(
            role="work",
            node="bench1",
            directory="/w",
            devices=["loop0"],
            layers=["loop0", "sdb1", "sdb"],
            disks=["sdb"],
            shared_with=["data"],
        ),
    ]
    block = summary(probe(disk()), host_facts(volumes=volumes))["storage"]["by_role"]
    shared = {
        name: (block[name]["shared_with"], block[name]["disks_shared_with"]) for name in ("data", "work")
    }
    assert shared == {"data": (["work"], []), "work": ([], ["data"])}


def test_roles_on_one_export_share_their_figures_and_no_disk_is_known() -> None:
    volumes = [
        VolumeFacts(
            role=name,
            node="bench1",
            directory=f"/{name}",
            network=True,
            source="nas:/x",
            shared_with=[other for other in ROLES if other != name],
        )
        for name in ROLES
    ]
    block = summary(probe(disk()), host_facts(volumes=volumes))["storage"]["by_role"]["work"]
    assert (block["shared_with"], block["disks_shared_with"]) == (["data", "util"], [])


def test_a_peak_is_not_the_sustained_rate() -> None:
    def burst(second: float) -> float:
        return 240e6 if second >= 50 else 80e6

    read = summary(probe(disk()), device__sda__read_bytes=burst)["storage"]["by_role"]["data"]["read"]
    assert read["peak_used_ratio"] == pytest.approx(0.6)
    assert read["sustained_used_ratio"] == pytest.approx(0.2)


def test_each_role_is_held_against_its_own_device() -> None:
    slow = target_probes("slow", [probe_test_probes("read", 100)], devices=["sda"])
    fast = target_probes("fast", [probe_test_probes("read", 1000)], devices=["sdb"])
    some = apart_facts()
    assert role(probe(slow, fast), "data", some)["read"]["capability_bytes_per_second"] == 100 * PROBES_MB
    assert role(probe(slow, fast), "work", some)["read"]["capability_bytes_per_second"] == 1000 * PROBES_MB


@pytest.mark.parametrize(
    ("targets", "name", "reason"),
    [
        ([disk()], "read", None),
        (
            [target_probes("x", [probe_test_probes("read", 9)], devices=["sdz"])],
            "read",
            "no target on the storage of /mnt/data",
        ),
        (
            [target_probes("x", [probe_test_probes("read", 9)], node="other")],
            "read",
            "no target on the storage of /mnt/data",
        ),
        ([target_probes("x", [probe_test_probes("read", 9)])], "write", "of x has no sequential write test"),
        ([target_probes("x", [])], "read", "of x has no sequential read test"),
    ],
)
def test_what_is_not_comparable_is_null_with_its_reason(
    targets: list[ProbeTarget], name: str, reason: str | None
) -> None:
    whole = summary(probe(*targets))
    block = whole["storage"]["by_role"]["data"][name]
    why = whole["missing"].get(f"storage.by_role.data.{name}.peak_used_ratio")
    assert (block["peak_used_ratio"] is None) == (reason is not None)
    assert (why is None) == (reason is None)
    assert reason is None or reason in str(why)


def test_several_volumes_are_the_sum_of_their_targets() -> None:
    facts = host_facts()
    second = target_probes("work-2", [probe_test_probes("read", 100)], devices=["sdb"])
    both = [
        *(volume for volume in facts.volumes if volume.role != "work"),
        *(
            type(volume)(role="work", node="bench1", directory=f"/mnt/{device}", devices=[device])
            for volume, device in zip(facts.volumes, ("sda", "sdb"), strict=False)
        ),
    ]
    read = role(probe(disk(), second), "work", host_facts(volumes=both))["read"]
    assert read["capability_bytes_per_second"] == 500 * PROBES_MB
    assert read["test"].endswith("the sum of 2 volumes probed one at a time")


def test_a_buffered_test_counts_only_where_there_is_no_direct_one() -> None:
    cached = probe_test_probes("read", 9000, direct=False)
    assert (
        role(probe(target_probes("x", [cached, probe_test_probes("read", 90)])))["read"]["peak_used_ratio"]
        > 0.8
    )
    alone = role(probe(target_probes("x", [cached])))["read"]
    assert alone["test"] == "sequential read, 256 KiB, 2 streams, buffered"


def test_of_several_fill_levels_the_lowest_counts() -> None:
    levels = [probe_test_probes("read", 100, fill_ratio=0.9), probe_test_probes("read", 300, fill_ratio=0.5)]
    assert role(probe(target_probes("x", levels)))["read"]["capability_bytes_per_second"] == 300 * PROBES_MB


def test_without_a_probe_or_with_one_that_cannot_be_read_there_is_a_reason() -> None:
    none, torn = summary(None), summary("probe.json: is not what mawl probe writes")
    assert none["storage"] is None and torn["storage"] is None
    assert none["missing"]["storage"] == "the run folder holds no probe (mawl probe --run RUN)"
    assert torn["missing"]["storage"] == "probe.json: is not what mawl probe writes"


def test_a_run_without_samples_has_a_capability_and_no_demand() -> None:
    whole = summary_of(host_facts(), four_jobs(SECONDS), probe=probe(disk()))
    read = whole["storage"]["by_role"]["data"]["read"]
    assert (read["peak_bytes_per_second"], read["capability_bytes_per_second"]) == (None, 400 * PROBES_MB)
    path = "storage.by_role.data.read.peak_used_ratio"
    assert whole["missing"][path] == "no samples of the devices cover a window of the run"
