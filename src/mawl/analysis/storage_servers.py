"""Storage servers that were watched beside the nodes of a run: their devices and their networks."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from mawl.analysis.blocks import Block, Missing
from mawl.analysis.interfaces import network_parts
from mawl.analysis.recordings import whole_devices
from mawl.analysis.series import Change, Samples, quotients
from mawl.analysis.windows import Rates, Windows, added
from mawl.model.cluster import StorageRun
from mawl.model.run import RunFacts

WAYS = ("read", "write")
BYTES = {"read": "read_bytes", "write": "written_bytes"}
NO_WINDOWS = "no job has both a start and an end, or the run holds no samples"
NOT_COVERED = "the samples of the storage server do not cover half of it, or it has no such device"


def network_rates(samples: Samples, node: str, way: str, edges: Sequence[float]) -> Rates:
    """Bytes a second ``received`` or ``sent`` over the networks and fabrics of a node, each byte once.

    Of what is known: an interface that came or went leaves a gap; None where none is.
    """
    names = network_parts(samples, node)
    rows = zip(*(samples.changes(node, f"{name}.{way}_bytes", edges) for name in names), strict=True)
    known = [[change.per_second for change in row if change is not None] for row in rows]
    return [sum(row) if row else None for row in known] if names else [None] * (len(edges) - 1)


def storage_servers(
    facts: RunFacts, samples: Samples | None, windows: Windows | None, missing: Missing
) -> Block:
    """Each server by its name; figures are over the run's windows, sustained over the active phase's."""
    return {run.node: _server(run, samples, windows, missing) for run in facts.storage_runs}


def server_devices(run: StorageRun, samples: Samples) -> list[str]:
    """The devices that were named, else all that left samples, each byte once."""
    return run.devices or list(whole_devices(samples, run.node).devices)


def device_rates(run: StorageRun, samples: Samples, edges: Sequence[float]) -> dict[str, Rates]:
    """Bytes a second of a server's devices by direction; None where one of them is not known."""
    return {way: _added(samples, run, BYTES[way], edges) for way in WAYS}


def _server(run: StorageRun, samples: Samples | None, windows: Windows | None, missing: Missing) -> Block:
    block: Block = {
        "outcome": run.outcome,
        "reason": run.reason,
        "devices": list(run.devices),
        "device": _device(None, None, None),
        **{f"{way}_bytes_per_second": {"mean": None, "peak": None} for way in ("received", "sent")},
        "clock_offset_seconds": run.clock.offset_seconds if run.clock is not None else None,
    }
    missing |= {
        f"cluster.storage.*.{name}": NO_WINDOWS if samples is None or windows is None else NOT_COVERED
        for name in _figures(block)
    }
    if samples is None or windows is None:
        return block
    whole = (windows.edges[0], windows.edges[-1])
    block["devices"] = server_devices(run, samples)
    block["device"] = _device(run, samples, windows)
    for way in ("received", "sent"):
        block[f"{way}_bytes_per_second"] = {
            "mean": network_rates(samples, run.node, way, whole)[0],
            "peak": _highest(network_rates(samples, run.node, way, windows.edges)),
        }
    return block


def _figures(block: Block) -> list[str]:
    nested = ("device", "received_bytes_per_second", "sent_bytes_per_second")
    return [
        f"{name}.{inner}" if part is None else f"{name}.{inner}.{part}"
        for name in nested
        for inner, value in block[name].items()
        for part in (value if isinstance(value, dict) else (None,))
    ]


def _device(run: StorageRun | None, samples: Samples | None, windows: Windows | None) -> Block:
    """All devices of a server together: a request counts at each, a byte once."""
    block: Block = {
        "read_bytes": None,
        "written_bytes": None,
        **{
            figure: {f"{way}_bytes_per_second": None for way in (*WAYS, "total")}
            for figure in ("peak", "sustained")
        },
        "await_seconds": {"mean": None, "peak": None},
    }
    if run is None or samples is None or windows is None:
        return block
    whole = (windows.edges[0], windows.edges[-1])
    flow = device_rates(run, samples, windows.edges)
    flow["total"] = [added(pair) for pair in zip(flow["read"], flow["write"], strict=True)]
    for way in WAYS:
        change = _sum(samples, run, (BYTES[way],), whole)[0]
        block[BYTES[way]] = None if change is None else change.amount
    for way, values in flow.items():
        active = [value for value in values[: windows.active] if value is not None]
        block["peak"][f"{way}_bytes_per_second"] = _highest(values)
        block["sustained"][f"{way}_bytes_per_second"] = statistics.median(active) if active else None
    seconds, requests = ("read_seconds", "write_seconds"), ("reads", "writes")
    mean, peaks = (
        quotients(_sum(samples, run, seconds, edges), _sum(samples, run, requests, edges))
        for edges in (whole, windows.edges)
    )
    block["await_seconds"] = {"mean": mean[0], "peak": _highest(peaks)}
    return block


def _added(samples: Samples, run: StorageRun, figure: str, edges: Sequence[float]) -> Rates:
    return [None if change is None else change.per_second for change in _sum(samples, run, (figure,), edges)]


def _sum(
    samples: Samples, run: StorageRun, figures: Sequence[str], edges: Sequence[float]
) -> list[Change | None]:
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
        else Change(sum(change.amount for change in row if change), min(c.seconds for c in row if c))
        for row in zip(*columns, strict=True)
    ]


def _highest(values: Rates) -> float | None:
    return max((value for value in values if value is not None), default=None)
