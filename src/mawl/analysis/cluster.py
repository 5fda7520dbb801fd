"""The nodes of a run on several: each, their mean, how unlike they were, the first and the last done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from mawl.analysis.blocks import Missing, counted
from mawl.analysis.series import RunSamples
from mawl.analysis.storage_servers import network_rates, storage_servers
from mawl.analysis.windows import Windows
from mawl.model.cluster import NodeRun
from mawl.model.records import JobRecord
from mawl.model.run import RunFacts
from mawl.model.summary.cluster import Cluster, NodeFigures, NodeMeans

NETWORK = ("network_bytes_per_second", "network_received_bytes_per_second", "network_sent_bytes_per_second")
SUMS = ("real_time_seconds", "user_cpu_seconds", "system_cpu_seconds",
        "application_read_bytes", "application_written_bytes")  # fmt: skip


def cluster_block(
    facts: RunFacts,
    jobs: Sequence[JobRecord],
    samples: RunSamples | None,
    windows: Windows | None,
    missing: Missing,
) -> Cluster | None:
    """The block; None for a run on one node.  Times are seconds from the moment the first gate opened.

    ``missing`` gets the reasons of what storage servers do not tell.
    """
    if not facts.node_runs:
        return None
    opened = [run.gate_after_seconds for run in facts.node_runs if run.gate_after_seconds is not None]
    began = facts.started_at + min(opened) if opened else None
    nodes = {
        run.node: _node(run, [job for job in jobs if job.node == run.node], began, samples)
        for run in facts.node_runs
    }
    done = [node.done_seconds for node in nodes.values() if node.outcome != "lost"]
    known = [value for value in done if value is not None]
    mean = sum(known) / len(known) if known else None
    # A network that nodes of one machine share is told by the first of them.
    sharing = {node.name for node in facts.nodes if node.same_machine_as is not None}
    every = {name: msgspec.structs.asdict(node) for name, node in nodes.items()}
    rates: dict[str, list[float | None]] = {
        figure: [
            node[figure] for name, node in every.items() if node[figure] is not None or name not in sharing
        ]
        for figure in NETWORK
    }
    sums = {name: _mean([node[name] for node in every.values()]) for name in SUMS}
    return Cluster(
        nodes=nodes,
        mean=NodeMeans(
            **sums,
            done_seconds=mean,
            cpu_real_ratio=_cpu_real_ratio(sums),
            **{figure: _mean(values) for figure, values in rates.items()},
        ),
        gate_skew_seconds=max(opened) - min(opened) if opened else None,
        first_done_seconds=min(known, default=None),
        last_done_seconds=max(known, default=None),
        imbalance_ratio=max(known) / mean - 1.0 if mean else None,
        lost=[run.node for run in facts.node_runs if run.outcome == "lost"],
        **{figure: _total(values) for figure, values in rates.items()},
        link_bytes_per_second=facts.link_bytes_per_second,
        storage=storage_servers(facts, samples, windows, missing),
    )


def _node(
    run: NodeRun, jobs: Sequence[JobRecord], began: float | None, samples: RunSamples | None
) -> NodeFigures:
    good = counted(jobs)
    sums = {name: _total([getattr(job.usage, name) for job in good]) for name in SUMS}
    ends = [job.ended_at for job in jobs if job.ended_at is not None]
    end = max(ends, default=None)
    starts = [job.started_at for job in jobs if job.started_at is not None]
    span = (min(starts), end) if starts and end is not None else None
    clock = run.clock
    return NodeFigures(
        workload=run.workload,
        outcome=run.outcome,
        reason=run.reason,
        sessions=run.sessions,
        jobs=run.jobs,
        finished=sum(job.outcome == "finished" for job in jobs),
        lost=sum(job.outcome == "lost" for job in jobs),
        **sums,
        cpu_real_ratio=_cpu_real_ratio(sums),
        done_seconds=end - began if end is not None and began is not None else None,
        **_network(run.node, samples, span),
        clock_offset_seconds=clock.offset_seconds if clock else None,
        clock_error_seconds=clock.error_seconds if clock else None,
        clock_drift_seconds=clock.drift_seconds if clock else None,
    )


def _cpu_real_ratio(sums: Mapping[str, float | None]) -> float | None:
    cpu = _total([sums["user_cpu_seconds"], sums["system_cpu_seconds"]])
    real = sums["real_time_seconds"]
    return cpu / real if cpu is not None and real else None


def _network(
    node: str, samples: RunSamples | None, span: tuple[float, float] | None
) -> dict[str, float | None]:
    """Received and sent over all networks and fabrics of a node but the loopback, while its jobs ran."""
    ways: dict[str, float | None] = dict.fromkeys(("received", "sent"))
    if samples is not None and span is not None and span[1] > span[0]:
        ways = {way: network_rates(samples, node, way, span)[0] for way in ways}
    known = [rate for rate in ways.values() if rate is not None]
    return {
        "network_bytes_per_second": sum(known) if known else None,
        **{f"network_{way}_bytes_per_second": rate for way, rate in ways.items()},
    }


def _total(values: Sequence[float | None]) -> float | None:
    """The sum; None where one is missing, and of nothing."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _mean(values: Sequence[float | None]) -> float | None:
    whole = _total(values)
    return None if whole is None else whole / len(values)
