"""The machines of a run on several: figures of each node and of each storage server that was watched."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

import msgspec

from mawl.figures.host_parts import network_parts
from mawl.figures.layers import whole_devices
from mawl.figures.missing import Missing, counted
from mawl.figures.series import CounterChange, RunSamples, quotients
from mawl.figures.sessions import Rates, Windows, added, highest
from mawl.records.model.fields import places
from mawl.records.model.node import NodeRun, StorageRun
from mawl.records.model.records import JobRecord
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.cluster import (
    Cluster,
    NodeFigures,
    NodeMeans,
    ServerAwait,
    ServerDevice,
    ServerRates,
    ServerTraffic,
    StorageServer,
)

WAYS = ("read", "write")
BYTES = {"read": "read_bytes", "write": "written_bytes"}
NESTED = ("device", "received_bytes_per_second", "sent_bytes_per_second")
NO_WINDOWS = "no job has both a start and an end, or the run holds no samples"
NOT_COVERED = "the samples of the storage server do not cover half of it, or it has no such device"


def network_rates(samples: RunSamples, node: str, way: str, edges: Sequence[float]) -> Rates:
    """Bytes a second ``received`` or ``sent`` over the networks and fabrics of a node, each byte once.

    Of what is known: an interface that came or went leaves a gap; None where none is.
    """
    names = network_parts(samples, node)
    rows = zip(*(samples.changes(node, f"{name}.{way}_bytes", edges) for name in names), strict=True)
    known = [[change.per_second for change in row if change is not None] for row in rows]
    return [sum(row) if row else None for row in known] if names else [None] * (len(edges) - 1)


def storage_servers(
    facts: RunFacts, samples: RunSamples | None, windows: Windows | None, missing: Missing
) -> dict[str, StorageServer]:
    """Each server by its name; figures are over the run's windows, sustained over the active phase's."""
    return {run.node: _server(run, samples, windows, missing) for run in facts.storage_runs}


def server_devices(run: StorageRun, samples: RunSamples) -> list[str]:
    """The devices that were named, else all that left samples, each byte once."""
    return run.devices or list(whole_devices(samples, run.node).devices)


def device_rates(run: StorageRun, samples: RunSamples, edges: Sequence[float]) -> dict[str, Rates]:
    """Bytes a second of a server's devices by direction; None where one of them is not known."""
    return {way: _device_rate(samples, run, BYTES[way], edges) for way in WAYS}


FIGURES = tuple(
    ".".join(place.path) for place in places(StorageServer) if place.nullable and place.path[0] in NESTED
)


def _server(
    run: StorageRun, samples: RunSamples | None, windows: Windows | None, missing: Missing
) -> StorageServer:
    why = NO_WINDOWS if samples is None or windows is None else NOT_COVERED
    missing |= {f"cluster.storage.*.{name}": why for name in FIGURES}
    return StorageServer(
        outcome=run.outcome,
        reason=run.reason,
        devices=run.devices if samples is None or windows is None else server_devices(run, samples),
        device=_device(run, samples, windows),
        received_bytes_per_second=_traffic(run, "received", samples, windows),
        sent_bytes_per_second=_traffic(run, "sent", samples, windows),
        clock_offset_seconds=run.clock.offset_seconds if run.clock is not None else None,
    )


def _traffic(run: StorageRun, way: str, samples: RunSamples | None, windows: Windows | None) -> ServerTraffic:
    if samples is None or windows is None:
        return ServerTraffic(mean=None, peak=None)
    return ServerTraffic(
        mean=network_rates(samples, run.node, way, (windows.edges[0], windows.edges[-1]))[0],
        peak=highest(network_rates(samples, run.node, way, windows.edges)),
    )


def _device(run: StorageRun, samples: RunSamples | None, windows: Windows | None) -> ServerDevice:
    """All devices of a server together: a request counts at each, a byte once."""
    if samples is None or windows is None:
        return ServerDevice(
            read_bytes=None,
            written_bytes=None,
            peak=_rates({}),
            sustained=_rates({}),
            await_seconds=ServerAwait(mean=None, peak=None),
        )
    whole = (windows.edges[0], windows.edges[-1])
    flow = device_rates(run, samples, windows.edges)
    flow["total"] = [added(pair) for pair in zip(flow["read"], flow["write"], strict=True)]
    moved = {way: _sum(samples, run, (BYTES[way],), whole)[0] for way in WAYS}
    active = {
        way: [value for value in values[: windows.active] if value is not None]
        for way, values in flow.items()
    }
    seconds, requests = ("read_seconds", "write_seconds"), ("reads", "writes")
    mean, peaks = (
        quotients(_sum(samples, run, seconds, edges), _sum(samples, run, requests, edges))
        for edges in (whole, windows.edges)
    )
    return ServerDevice(
        read_bytes=moved["read"] and moved["read"].amount,
        written_bytes=moved["write"] and moved["write"].amount,
        peak=_rates({way: highest(values) for way, values in flow.items()}),
        sustained=_rates({way: statistics.median(values) for way, values in active.items() if values}),
        await_seconds=ServerAwait(mean=mean[0], peak=highest(peaks)),
    )


def _rates(by_way: Mapping[str, float | None]) -> ServerRates:
    return ServerRates(**{f"{way}_bytes_per_second": by_way.get(way) for way in (*WAYS, "total")})


def _device_rate(samples: RunSamples, run: StorageRun, figure: str, edges: Sequence[float]) -> Rates:
    return [None if change is None else change.per_second for change in _sum(samples, run, (figure,), edges)]


def _sum(
    samples: RunSamples, run: StorageRun, figures: Sequence[str], edges: Sequence[float]
) -> list[CounterChange | None]:
    columns = [
        samples.changes(run.node, f"device.{device}.{figure}", edges)
        for device in server_devices(run, samples)
        for figure in figures
    ]
    if not columns:
        return [None] * (len(edges) - 1)
    return [
        None
        if None in row
        else CounterChange(sum(change.amount for change in row if change), min(c.seconds for c in row if c))
        for row in zip(*columns, strict=True)
    ]


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
        **{figure: added(values) for figure, values in rates.items()},
        link_bytes_per_second=facts.link_bytes_per_second,
        storage=storage_servers(facts, samples, windows, missing),
    )


def _node(
    run: NodeRun, jobs: Sequence[JobRecord], began: float | None, samples: RunSamples | None
) -> NodeFigures:
    good = counted(jobs)
    sums = {name: added([getattr(job.usage, name) for job in good]) for name in SUMS}
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
    cpu = added([sums["user_cpu_seconds"], sums["system_cpu_seconds"]])
    real = sums["real_time_seconds"]
    return cpu / real if cpu is not None and real else None


def _network(
    node: str, samples: RunSamples | None, span: tuple[float, float] | None
) -> dict[str, float | None]:
    ways: dict[str, float | None] = dict.fromkeys(("received", "sent"))
    if samples is not None and span is not None and span[1] > span[0]:
        ways = {way: network_rates(samples, node, way, span)[0] for way in ways}
    known = [rate for rate in ways.values() if rate is not None]
    return {
        "network_bytes_per_second": sum(known) if known else None,
        **{f"network_{way}_bytes_per_second": rate for way, rate in ways.items()},
    }


def _mean(values: Sequence[float | None]) -> float | None:
    whole = added(values)
    return None if whole is None else whole / len(values)
