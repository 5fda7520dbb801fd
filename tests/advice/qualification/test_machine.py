"""What limits, over several runs.

Shared storage was tested where the bytes of the programs went over the nodes' networks.

Storage during the mix and the machine, from facts and summaries of runs.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from mawl.advice.limit.costs import direction_of
from mawl.advice.limit.verdict import OPEN_SECOND
from mawl.advice.qualification.machine import (
    is_all_behind_network,
    limit_of_runs,
    storage_of,
    system_of,
    unasked_over_network,
)
from mawl.figures.statistics import Interval
from mawl.records.model.node import Inventory
from mawl.records.model.run import NodeFacts, VolumeFacts
from mawl.records.model.summary.host import DeviceFigures, MeanAndPeakTime, NetworkMount
from mawl.records.model.summary.judgement import Cause
from mawl.records.model.summary.summary import Judged
from mawl.records.spec.program_options import Role
from tests.fakes.answered import WORK
from tests.fakes.stored_run import facts
from tests.fakes.views import partly


def summary_test_network_reach(**changes: float | None) -> Judged:
    """Two alike nodes of 100 s that read 10 GB and write 2 GB each."""
    node = {
        "application_read_bytes": 10e9,
        "application_written_bytes": 2e9,
        "network_received_bytes_per_second": 101e6,
        "network_sent_bytes_per_second": 21e6,
        "done_seconds": 100.0,
    }
    return partly({"cluster": {"nodes": {"n1": node, "n2": node | changes}}})


def test_what_went_over_the_network_was_asked_of_the_storage() -> None:
    assert unasked_over_network(summary_test_network_reach()) is None


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"network_received_bytes_per_second": 50e6},
            "only 76 % of the bytes read went over the network (80",
        ),
        ({"network_sent_bytes_per_second": 1e6}, "only 55 % of the bytes written went over the network"),
        (
            {"network_sent_bytes_per_second": None},
            "how many of the bytes written went over the network is not",
        ),
        ({"done_seconds": None}, "how many of the bytes read went over the network is not known"),
    ],
)
def test_what_a_client_s_cache_served_was_not(changes: dict[str, float | None], why: str) -> None:
    found = unasked_over_network(summary_test_network_reach(**changes))
    assert found is not None and found[0].startswith(why) and found[1] == "reach"


def test_a_direction_of_few_bytes_is_not_asked_for() -> None:
    quiet = {"application_written_bytes": 0.1e9, "network_sent_bytes_per_second": 0.0}
    both = partly({"cluster": {"nodes": {"n1": _with(quiet)}}})
    assert unasked_over_network(both) is None
    assert unasked_over_network(partly({"cluster": {"nodes": {}}})) is not None


def _with(changes: dict[str, float]) -> dict[str, float]:
    return {
        "application_read_bytes": 10e9,
        "network_received_bytes_per_second": 101e6,
        "done_seconds": 100.0,
        **changes,
    }


def test_one_local_role_is_enough_to_see_devices() -> None:
    far = VolumeFacts(role="data", node="n1", directory="/d", file_system="nfs4", network=True)
    near = VolumeFacts(role="work", node="n1", directory="/w", file_system="ext4")
    assert is_all_behind_network(facts(volumes=[far]))
    assert not is_all_behind_network(facts(volumes=[far, near]))
    assert not is_all_behind_network(facts(volumes=[]))


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


def summary_test_seen(
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
        summary_test_seen({"vda": device(100, size, 0.001, 1.0), "vdb": device(10, 5.0, latency, 2.0)})
        for size, latency in ((100.0, 0.002), (300.0, 0.004), (200.0, 0.009))
    ]
    data, rest = storage_of(runs, of)
    assert (data.roles, data.devices, data.read_bytes_per_second) == (["data"], ["vda"], 20e6)
    assert (rest.roles, rest.devices, rest.read_latency_seconds) == (["work", "util"], ["vdb"], 0.004)
    assert rest.queue_length == 2.0 and rest.write_latency_seconds is None
    assert rest.write_bytes_per_second == 0.0


def test_several_devices_of_a_role_add_up_and_a_latency_counts_by_requests() -> None:
    of = facts(nodes=[NODE], volumes=[volume("data", "vda", "vdb")])
    run = summary_test_seen({"vda": device(300, 60.0, 0.001, 1.0), "vdb": device(100, 20.0, 0.005, 2.0)})
    (data,) = storage_of([run], of)
    assert data.read_bytes_per_second == pytest.approx(8e6) and data.queue_length == 3.0
    assert data.read_latency_seconds == pytest.approx((300 * 0.001 + 100 * 0.005) / 400)


def test_a_network_mount_has_no_queue_and_an_unsampled_device_nothing() -> None:
    of = facts(nodes=[NODE], volumes=[volume("data", mount_point="/net"), volume("work", "vdz")])
    data, work = storage_of([summary_test_seen({}, {"/net": mount(50.0)})], of)
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


def run_with(costs: list[Cause] | None, seconds: float = 100.0, writes: int = 10) -> Judged:
    latency = {"mean": 0.01}
    block = {
        "reads": 10,
        "writes": writes,
        "syncs": 0,
        "read_latency_seconds": latency,
        "write_latency_seconds": latency,
        "sync_latency_seconds": {"mean": None},
    }
    limit = None if costs is None else {"costs": costs}
    by_role = dict.fromkeys(("data", "work", "util"), block)
    time = {"real_time_seconds": seconds}
    return partly({"limit": limit, "io": {"by_role": by_role}, "time": time, "missing": {}})


def test_the_limit_is_what_cost_all_runs_together_most_and_not_what_most_runs_name() -> None:
    above = Interval(middle=2.5, low=2.4, high=2.6)
    queue = Cause(resource="cpu", kind="queue", share_ratio=0.3, slowdown=0.6)
    some = msgspec.structs.replace(WORK, share_ratio=0.29)
    much = msgspec.structs.replace(WORK, share_ratio=0.8)
    runs = [run_with([queue, some]), run_with([queue, some]), run_with([much])]
    missing: dict[str, str] = {}
    found = limit_of_runs(runs, above, 2.0, missing)
    assert found is not None and (found.verdict, found.second, found.named) == ("storage", "cpu", True)
    assert [cost.share_ratio for cost in found.costs] == pytest.approx([0.46, 0.2])
    assert (found.costs[0].place, found.costs[0].direction) == ("/mnt/b", "write")
    within = limit_of_runs(runs, Interval(middle=1.5, low=1.4, high=1.6), 2.0, missing)
    assert within is not None and within.named is False
    assert missing == {}
    unknown = run_with(None)
    unknown.missing["limit"] = "the run was too short"
    assert limit_of_runs([*runs, unknown], above, 2.0, missing) is None
    assert missing == {"limit": "the run was too short"}


def test_a_second_cause_that_a_run_left_open_is_not_named() -> None:
    runs = [run_with([WORK, msgspec.structs.replace(WORK, resource="cpu", devices=[])]) for _ in range(2)]
    missing: dict[str, str] = {}
    named = limit_of_runs(runs, None, 2.0, missing)
    assert named is not None and (named.verdict, named.second) == ("storage", "cpu")
    runs[1].missing["limit.second"] = OPEN_SECOND
    left = limit_of_runs(runs, None, 2.0, missing)
    assert left is not None and (left.verdict, left.second) == ("storage", None)
    assert missing == {"limit.second": OPEN_SECOND}


def test_a_direction_is_named_only_where_it_cost_twice_the_other() -> None:
    assert direction_of([run_with([], writes=15)], ["work"]) is None
    assert direction_of([run_with([], writes=5)], ["work"]) == "read"
