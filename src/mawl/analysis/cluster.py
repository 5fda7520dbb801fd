"""The nodes of a run on several: each, their mean, how unlike they were, the first and the last done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from mawl.analysis.blocks import Block, counted
from mawl.analysis.host_parts import part_names
from mawl.analysis.series import Samples
from mawl.model.cluster import NodeRun
from mawl.model.records import JobRecord
from mawl.model.run import RunFacts

LOOPBACK = "lo"
SUMS = ("real_time_seconds", "user_cpu_seconds", "system_cpu_seconds",
        "application_read_bytes", "application_written_bytes")  # fmt: skip


def cluster_block(facts: RunFacts, jobs: Sequence[JobRecord], samples: Samples | None) -> Block | None:
    """The block; None for a run on one node.  Times are seconds from the moment the first gate opened."""
    if not facts.node_runs:
        return None
    opened = [run.gate_after_seconds for run in facts.node_runs if run.gate_after_seconds is not None]
    began = facts.started_at + min(opened) if opened else None
    nodes = {
        run.node: _node(run, [job for job in jobs if job.node == run.node], began, samples)
        for run in facts.node_runs
    }
    done = [node["done_seconds"] for node in nodes.values() if node["outcome"] != "lost"]
    known = [value for value in done if value is not None]
    mean = sum(known) / len(known) if known else None
    # A network that nodes of one machine share is told by the first of them.
    sharing = {node.name for node in facts.nodes if node.same_machine_as is not None}
    rates = [
        node["network_bytes_per_second"]
        for name, node in nodes.items()
        if node["network_bytes_per_second"] is not None or name not in sharing
    ]
    sums = {name: _mean([node[name] for node in nodes.values()]) for name in SUMS}
    return {
        "nodes": nodes,
        "mean": {
            **sums,
            "done_seconds": mean,
            "cpu_real_ratio": _cpu_real_ratio(sums),
            "network_bytes_per_second": _mean(rates),
        },
        "gate_skew_seconds": max(opened) - min(opened) if opened else None,
        "first_done_seconds": min(known, default=None),
        "last_done_seconds": max(known, default=None),
        "imbalance_ratio": max(known) / mean - 1.0 if mean else None,
        "lost": [run.node for run in facts.node_runs if run.outcome == "lost"],
        "network_bytes_per_second": _total(rates),
    }


def _node(run: NodeRun, jobs: Sequence[JobRecord], began: float | None, samples: Samples | None) -> Block:
    good = counted(jobs)
    sums = {name: _total([getattr(job.usage, name) for job in good]) for name in SUMS}
    ends = [job.ended_at for job in jobs if job.ended_at is not None]
    end = max(ends, default=None)
    starts = [job.started_at for job in jobs if job.started_at is not None]
    span = (min(starts), end) if starts and end is not None else None
    clock = msgspec.to_builtins(run.clock) if run.clock is not None else {}
    return {
        "workload": run.workload,
        "outcome": run.outcome,
        "reason": run.reason,
        "sessions": run.sessions,
        "jobs": run.jobs,
        "finished": sum(job.outcome == "finished" for job in jobs),
        "lost": sum(job.outcome == "lost" for job in jobs),
        **sums,
        "cpu_real_ratio": _cpu_real_ratio(sums),
        "done_seconds": end - began if end is not None and began is not None else None,
        "network_bytes_per_second": _network(run.node, samples, span),
        **{f"clock_{name}": clock.get(name) for name in ("offset_seconds", "error_seconds", "drift_seconds")},
    }


def _cpu_real_ratio(sums: Block) -> float | None:
    cpu = _total([sums["user_cpu_seconds"], sums["system_cpu_seconds"]])
    real = sums["real_time_seconds"]
    return cpu / real if cpu is not None and real else None


def _network(node: str, samples: Samples | None, span: tuple[float, float] | None) -> float | None:
    """Received and sent over all networks and fabrics of a node but the loopback, while its jobs ran."""
    if samples is None or span is None or span[1] <= span[0]:
        return None
    names = [f"network.{name}" for name in part_names(samples, node, "network") if name != LOOPBACK]
    names += [f"fabric.{name}" for name in part_names(samples, node, "fabric")]
    changes = [
        samples.changes(node, f"{name}.{way}_bytes", span)[0]
        for name in names
        for way in ("received", "sent")
    ]
    known = [change.per_second for change in changes if change is not None]
    return sum(known) if known else None


def _total(values: Sequence[Any]) -> Any:
    """The sum; None where one is missing, and of nothing."""
    return None if not values or any(value is None for value in values) else sum(values)


def _mean(values: Sequence[Any]) -> Any:
    whole = _total(values)
    return None if whole is None else whole / len(values)
