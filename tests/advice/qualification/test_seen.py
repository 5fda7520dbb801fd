"""Storage during the mix and the machine, from facts and summaries of runs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from mawl.advice.qualification.seen import storage_of, system_of
from mawl.model.inventory import Inventory
from mawl.model.run import NodeFacts, VolumeFacts
from mawl.model.summary.host import DeviceFigures, MeanAndPeakTime, NetworkMount
from mawl.spec.program_options import Role
from tests.fakes.stored_run import facts

NODE = NodeFacts(
    name="node1",
    cores=4,
    core_basis="vCPU",
    logical_cpus=4,
    memory_bytes=2**33,
    virtual="hypervisor flag in /proc/cpuinfo",
)


def mean(seconds: float | None) -> MeanAndPeakTime:
    return MeanAndPeakTime(mean=seconds, peak=None)


def device(reads: int, megabytes: float, latency: float, queue: float) -> DeviceFigures:
    """Ten seconds of reads of so many megabytes; nothing is written."""
    return DeviceFigures(
        reads=reads,
        writes=0,
        read_bytes=megabytes * 1e6,
        written_bytes=0,
        flushes=0,
        known_seconds=10.0,
        read_await_seconds=mean(latency),
        write_await_seconds=mean(None),
        requests=reads,
        await_seconds=mean(latency),
        utilisation_ratio=0.5,
        queue_length=queue,
        roles=[],
    )


def mount(megabytes: float) -> NetworkMount:
    return NetworkMount(
        application_read_bytes=0,
        application_written_bytes=0,
        read_bytes=megabytes * 1e6,
        written_bytes=0,
        retransmissions=0,
        known_seconds=10.0,
        read_await_seconds=mean(0.004),
        write_await_seconds=mean(None),
    )


def summary(
    devices: dict[str, DeviceFigures] | None = None, mounts: dict[str, NetworkMount] | None = None
) -> Any:
    return SimpleNamespace(host=SimpleNamespace(device=devices, mount=mounts))


def volume(role: Role, *devices: str, mount_point: str = "/") -> VolumeFacts:
    return VolumeFacts(
        role=role,
        node="node1",
        directory=f"/{role}",
        mount_point=mount_point,
        file_system="ext4",
        devices=[*devices],
        disks=[*devices],
    )


def test_roles_on_the_same_device_share_an_entry_with_the_medians_of_the_runs() -> None:
    volumes = [volume("data", "vda"), volume("work", "vdb"), volume("util", "vdb")]
    of = facts(nodes=[NODE], volumes=volumes)
    runs = [
        summary({"vda": device(100, size, 0.001, 1.0), "vdb": device(10, 5.0, latency, 2.0)})
        for size, latency in ((100.0, 0.002), (300.0, 0.004), (200.0, 0.009))
    ]
    data, rest = storage_of(runs, of)
    assert (data.roles, data.devices, data.read_bytes_per_second) == (["data"], ["vda"], 20e6)
    assert (rest.roles, rest.devices, rest.read_latency_seconds) == (["work", "util"], ["vdb"], 0.004)
    assert rest.queue_length == 2.0 and rest.write_latency_seconds is None
    assert rest.write_bytes_per_second == 0.0


def test_several_devices_of_a_role_add_up_and_a_latency_counts_by_requests() -> None:
    of = facts(nodes=[NODE], volumes=[volume("data", "vda", "vdb")])
    run = summary({"vda": device(300, 60.0, 0.001, 1.0), "vdb": device(100, 20.0, 0.005, 2.0)})
    (data,) = storage_of([run], of)
    assert data.read_bytes_per_second == pytest.approx(8e6) and data.queue_length == 3.0
    assert data.read_latency_seconds == pytest.approx((300 * 0.001 + 100 * 0.005) / 400)


def test_a_network_mount_has_no_queue_and_an_unsampled_device_nothing() -> None:
    of = facts(nodes=[NODE], volumes=[volume("data", mount_point="/net"), volume("work", "vdz")])
    data, work = storage_of([summary({}, {"/net": mount(50.0)})], of)
    assert data.devices == ["/net"] and data.read_bytes_per_second == 5e6
    assert data.read_latency_seconds == pytest.approx(0.004) and data.queue_length is None
    assert work.devices == ["vdz"] and work.read_bytes_per_second is None
    assert all(one.queue_length is None for one in storage_of([SimpleNamespace(host=None)], of))  # type: ignore[list-item]


def test_disks_say_what_the_inventory_knows_of_them() -> None:
    block = {"vda": {"transport": "virtio", "model": None, "size_bytes": 10**11}}
    inventories = {"node1": Inventory(families={"block": block})}  # type: ignore[dict-item]
    of = facts(nodes=[NODE], volumes=[volume("data", "vda"), volume("work", "vdb")], inventories=inventories)
    assert [one.disks for one in storage_of([], of)] == [["vda (virtio, 100 GB)"], ["vdb"]]


def test_the_machine_is_that_of_the_first_node() -> None:
    system = system_of(facts(nodes=[NODE]))
    assert system is not None and (system.cores, system.memory_bytes) == (4, 2**33)
    assert system.virtual == NODE.virtual and system.memory_limit_bytes is None
    assert system_of(facts(nodes=[])) is None


def test_nodes_of_one_machine_have_one_row_with_its_device() -> None:
    nodes = [NodeFacts(name="n1"), NodeFacts(name="n2", same_machine_as="n1")]
    first = VolumeFacts(role="data", node="n1", directory="/d", devices=["vda"], mount_point="/")
    again = msgspec.structs.replace(first, node="n2", devices=[])
    (row,) = storage_of([], facts(nodes=nodes, volumes=[first, again]))
    assert row.devices == ["vda"]
