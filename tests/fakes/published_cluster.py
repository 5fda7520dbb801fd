"""A run of two nodes that every rule of validate accepts in the open division, but for its repeats."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mawl.plan.output import plan_toml
from mawl.records.model.node import ClockFacts, NodeRun
from mawl.records.model.run import Overhead, RunFacts
from mawl.records.store import open_run
from mawl.records.store.files import NODES
from mawl.records.store.folder import RunWriter
from mawl.run.cluster.merge import NodePart, merged, workload_of
from mawl.run.cluster.messages import Correction
from tests.fakes.published_run import SECONDS, bed_plan, write_published
from tests.fakes.stored_run import START

OFFSETS = {"n1": 0.0, "n2": 0.25}
"""Seconds by which the clock of each node is ahead of the controller's."""


def write_published_cluster(folder: Path) -> RunFacts:
    """Write the folder of such a run, each node's own run below it, merged as the controller does."""
    plan = bed_plan()
    workload = workload_of(dict.fromkeys(OFFSETS, plan))
    corrections = {node: Correction(node, offset) for node, offset in OFFSETS.items()}
    base = RunFacts(
        run_id=folder.name,
        kind="measured",
        mawl_version="",
        workload=workload,
        outcome="running",
        started_at=START - 2.0,
    )
    writer = RunWriter(folder, base, plan=plan_toml(plan))
    parts = []
    for node, correction in corrections.items():
        place = folder / NODES / node
        place.parent.mkdir(exist_ok=True)
        own = write_published(place, start=START + correction.offset_seconds, node=node)
        run = open_run(place)
        for event in run.event_records():
            writer.event(correction.event(event))
        for steps in run.steps_by_job().values():
            for step in steps:
                writer.step(correction.step(step))
        for job in run.job_records():
            writer.job(correction.job(job))
        writer.sample_table(correction.samples(run.samples))
        parts.append(_part(node, own, correction))
    facts = [part.facts for part in parts if part.facts is not None]
    base = msgspec.structs.replace(
        base,
        mawl_version=facts[0].mawl_version,
        source_sha256=facts[0].source_sha256,
        command=["mawl", "run", "bed", "--cluster", "tcp://10.0.0.1:8786"],
        start_mode=facts[0].start_mode,
        on_failure=facts[0].on_failure,
        planned_jobs=[
            msgspec.structs.replace(job, job=corrections[one.nodes[0].name].name(job.job))
            for one in facts
            for job in one.planned_jobs
        ],
        outcome="completed",
        ended_at=START + SECONDS,
        repeats=5,
    )
    whole = merged(base, parts, Overhead(cpu_seconds=1.0, startup_cpu_seconds=0.5, peak_memory_bytes=2**26))
    writer.finish(whole)
    return whole


def _part(node: str, own: RunFacts, correction: Correction) -> NodePart:
    clock = ClockFacts(
        offset_seconds=correction.offset_seconds, error_seconds=0.001, exchanges=16, drift_seconds=0.0
    )
    run = NodeRun(
        node=node,
        run_id=own.run_id,
        workload=own.workload.name,
        sessions=own.workload.sessions,
        jobs=own.workload.jobs,
        outcome="completed",
        folder=f"{NODES}/{node}",
        machine=node,
        clock=clock,
        gate_after_seconds=2.0,
    )
    return NodePart(run=run, facts=own)
