"""Storage servers that were watched beside the nodes of a run: their devices and their networks."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from mawl.analysis.blocks import Missing
from mawl.analysis.interfaces import network_parts
from mawl.analysis.recordings import whole_devices
from mawl.analysis.series import CounterChange, RunSamples, quotients
from mawl.analysis.windows import Rates, Windows, added
from mawl.model.cluster import StorageRun
from mawl.model.fields import places
from mawl.model.run import RunFacts
from mawl.model.summary.cluster import ServerAwait, ServerDevice, ServerRates, ServerTraffic, StorageServer

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
    return {way: _added(samples, run, BYTES[way], edges) for way in WAYS}


FIGURES = tuple(".".join(one.path) for one in places(StorageServer) if one.nullable and one.path[0] in NESTED)


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
        peak=_highest(network_rates(samples, run.node, way, windows.edges)),
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
        peak=_rates({way: _highest(values) for way, values in flow.items()}),
        sustained=_rates({way: statistics.median(values) for way, values in active.items() if values}),
        await_seconds=ServerAwait(mean=mean[0], peak=_highest(peaks)),
    )


def _rates(by_way: Mapping[str, float | None]) -> ServerRates:
    return ServerRates(**{f"{way}_bytes_per_second": by_way.get(way) for way in (*WAYS, "total")})


def _added(samples: RunSamples, run: StorageRun, figure: str, edges: Sequence[float]) -> Rates:
    return [None if change is None else change.per_second for change in _sum(samples, run, (figure,), edges)]


def _sum(
    samples: RunSamples, run: StorageRun, figures: Sequence[str], edges: Sequence[float]
) -> list[CounterChange | None]:
    """Counters of all devices added up, window by window; None where one has no figure."""
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


def _highest(values: Rates) -> float | None:
    return max((value for value in values if value is not None), default=None)
