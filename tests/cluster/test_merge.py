"""What several nodes' facts are as one run."""

from __future__ import annotations

import msgspec
import pyarrow as pa
import pytest

from mawl.cluster.clock import Correction
from mawl.cluster.merge import NodeMachine, NodePart, merged, own_series
from mawl.model.run import Overhead, RunFacts, VolumeFacts
from mawl.spec.program_options import AUTO, Options
from tests.fakes.clustered_run import node_run
from tests.fakes.stored_run import facts


def with_threads(cpucount: int) -> RunFacts:
    plain = facts()
    workload = msgspec.structs.replace(plain.workload, options=Options(cpucount=cpucount))
    return msgspec.structs.replace(plain, workload=workload)


@pytest.mark.parametrize(("nodes", "together"), [((2, 2), 2), ((2, 4), AUTO)])
def test_threads_that_nodes_chose_are_those_of_the_run_where_they_are_the_same(
    nodes: tuple[int, int], together: int
) -> None:
    parts = [
        NodePart(run=node_run(f"n{number}", 0.0), facts=with_threads(cpucount))
        for number, cpucount in enumerate(nodes)
    ]
    options = merged(with_threads(AUTO), parts, Overhead()).workload.options
    assert options is not None
    assert options.cpucount == together


def on_device(node: str, device: str, boot: str | None = "one") -> NodePart:
    volume = VolumeFacts(role="work", node=node, directory="/w", devices=[device], layers=[device, "sda"])
    return NodePart(run=node_run(node, 0.0), machine=NodeMachine(boot_id=boot), facts=facts(volumes=[volume]))


def test_each_device_of_a_machine_is_told_by_one_node() -> None:
    """Every node samples all devices of its machine, also those of other work, such as loop0."""
    parts = [on_device("n1", "dm-1"), on_device("n2", "dm-2"), on_device("n3", "dm-1"),
             on_device("n4", "dm-1", boot="other")]  # fmt: skip
    names = [f"{what}.x" for what in ("host", "device.dm-1", "device.dm-2", "device.sda", "device.loop0")]
    table = pa.table({"series": names, "sampled_at": pa.array([0] * len(names), pa.timestamp("us", "UTC"))})
    told = {}
    for part in parts:
        own = own_series(parts, part.run.node)
        found = Correction(part.run.node, 0.0, own.left_out, own.kept).samples(table)
        told[part.run.node] = [name.removesuffix(".x") for name in found.column("series").to_pylist()]
    assert told == {
        "n1": ["host", "device.dm-1", "device.sda", "device.loop0"],
        "n2": ["device.dm-2"],
        "n3": [],
        "n4": ["host", "device.dm-1", "device.dm-2", "device.sda", "device.loop0"],
    }


@pytest.mark.parametrize(("boot", "second"), [("one", ([], ["sda"])), (None, (["sda"], ["sda"]))])
def test_a_device_counts_once_for_nodes_that_are_known_to_be_one_machine(
    boot: str | None, second: tuple[list[str], list[str]]
) -> None:
    parts = [on_device("n1", "sda", boot), on_device("n2", "sda", boot), on_device("n3", "sda", "other")]
    volumes = merged(facts(), parts, Overhead()).volumes
    assert [volume.devices for volume in volumes] == [["sda"], *second]
