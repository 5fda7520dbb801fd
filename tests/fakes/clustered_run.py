"""A run of two nodes, two jobs each."""

from __future__ import annotations

import msgspec

from mawl.records.model.node import ClockFacts, NodeRun, StorageRun
from mawl.records.model.records import JobRecord
from mawl.records.model.run import RunFacts
from tests.fakes.stored_run import START, facts, job


def node_run(name: str, gate_after_seconds: float, **fields: object) -> NodeRun:
    clock = ClockFacts(offset_seconds=2.0, error_seconds=0.001, exchanges=16)
    run = NodeRun(
        node=name, run_id=name, workload="nano", sessions=1, jobs=2, outcome="completed", clock=clock,
        gate_after_seconds=gate_after_seconds,
    )  # fmt: skip
    return msgspec.structs.replace(run, **fields)


def on_nodes() -> tuple[RunFacts, list[JobRecord]]:
    runs = [node_run("n1", 0.0), node_run("n2", 0.02)]
    ends = {"n1": 10.0, "n2": 30.0}
    jobs = [
        msgspec.structs.replace(
            job(f"{name.replace('n', 's')}-{number}", 1.0, 5.0),
            node=name,
            started_at=START,
            ended_at=START + end,
        )
        for name, end in ends.items()
        for number in (1, 2)
    ]
    server = StorageRun(node="sto", run_id="sto", devices=["sdb", "sdc"], outcome="completed")
    return facts(node_runs=runs, storage_runs=[server], started_at=START), jobs
