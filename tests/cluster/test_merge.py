"""What several nodes' facts are as one run."""

from __future__ import annotations

import msgspec
import pytest

from mawl.cluster.merge import NodePart, merged
from mawl.model.run import Overhead, RunFacts
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
