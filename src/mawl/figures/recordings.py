"""Recordings of hosts in an imported run: their time, their interval, and the devices that they name."""

from __future__ import annotations

import math

import numpy as np

from mawl.figures.host_parts import part_names
from mawl.figures.layers import DeviceLayer, bottom_layer, numbered_partitions
from mawl.figures.series import RunSamples
from mawl.figures.sessions import Timeline
from mawl.records.model.run import RunFacts

NO_JOBS = "no job was imported, only recordings of hosts or storage"

_RECORDED = ("host.", "device.")


def interval_seconds(facts: RunFacts, samples: RunSamples | None) -> float:
    """How far the samples of an imported run lie apart: the longest median step of the processors or of a
    kind of part, of any node; 0 for other runs."""
    if facts.kind != "imported" or samples is None:
        return 0.0
    longest = 0.0
    for node in samples.nodes:
        kinds = {name.partition(".")[0]: name for name in samples.names(node) if name.startswith(_RECORDED)}
        steps = [
            float(np.median(np.diff(times)))
            for name in kinds.values()
            if (times := samples.times(node, name)) is not None and len(times) > 2
        ]
        longest = max(longest, max(steps, default=0.0))
    return longest


def recorded_timeline(facts: RunFacts, samples: RunSamples | None) -> Timeline | None:
    """The time of an imported run without jobs: from the first sample of any host to the last."""
    if facts.kind != "imported" or samples is None:
        return None
    spans = [
        (float(times[0]), float(times[-1]))
        for node in samples.nodes
        for name in samples.names(node)
        if name.startswith(_RECORDED) and (times := samples.times(node, name)) is not None
    ]
    if not spans:
        return None
    start, end = min(first for first, _ in spans), max(last for _, last in spans)
    if end <= start:
        return None
    return Timeline(
        started_at=start,
        ended_at=end,
        active_seconds=end - start,
        peak_concurrent=None,
        mean_concurrent=None,
        seconds_near_peak=None,
        at_once_unknown=NO_JOBS,
    )


def disks(samples: RunSamples) -> DeviceLayer:
    """Block devices of all nodes that together count each byte once; empty, with the reason, where unknown.

    A device that counts on one node and lies on others on the next gives no sum over both.
    """
    by_node = {node: whole_devices(samples, node) for node in samples.nodes}
    for layer in by_node.values():
        if layer.reason is not None:
            return layer
    found = {device for layer in by_node.values() for device in layer.devices}
    for node, layer in by_node.items():
        upper = found & set(part_names(samples, node, "device")) - set(layer.devices)
        if upper:
            return DeviceLayer((), f"{min(upper)} is a disk on one node and lies on others on {node}")
    return DeviceLayer(tuple(sorted(found)))


def whole_devices(samples: RunSamples, node: str) -> DeviceLayer:
    """``disks`` of one node."""
    names = set(part_names(samples, node, "device"))
    totals = {name: _moved(samples, node, name) for name in names}
    partitions, reason = numbered_partitions(totals)
    return DeviceLayer((), reason) if reason is not None else bottom_layer(names - partitions)


def _moved(samples: RunSamples, node: str, device: str) -> float:
    total = 0.0
    for way in ("read", "written"):
        series = samples.series(node, f"device.{device}.{way}_bytes")
        known = [] if series is None else [float(value) for value in series.values if not math.isnan(value)]
        total += known[-1] - known[0] if known else 0.0
    return total
