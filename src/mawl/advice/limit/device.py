"""The device that holds the role a run waited for: what it moved, and how long its requests took."""

from __future__ import annotations

import statistics

from mawl.advice.limit.rule import RuleEvidence
from mawl.analysis.throughput import DIRECTIONS, Counters, Flow
from mawl.analysis.view import RunView
from mawl.analysis.windows import rates
from mawl.units import format_latency, format_percent, format_rate


def device_totals(reading: RunView, device: str) -> Flow:
    """Bytes per second of a device in each window of the active phase, by direction and in total."""
    if reading.over_time is None:
        return {direction: [] for direction in DIRECTIONS}
    samples, windows = reading.over_time
    names = [[f"device.{device}.{way}_bytes"] for way in ("read", "written")]
    return Counters(device, *names).flow(samples, windows.active_edges, _nodes(reading, device))


def device_peaks(reading: RunView, device: str) -> dict[str, float | None]:
    """The highest window of a device by direction and in total, in bytes per second."""
    return {
        direction: max((value for value in values if value is not None), default=None)
        for direction, values in device_totals(reading, device).items()
    }


def device_lines(reading: RunView, device: str) -> list[RuleEvidence]:
    """Throughput, await and utilisation: they only support, since a throttled device can look idle."""
    lines = []
    moved = [value for value in device_totals(reading, device)["total"] if value is not None]
    name = _name(reading, device)
    if moved:
        lines.append(
            f"{name} moved {format_rate(max(moved))} in its highest window, "
            f"{format_rate(statistics.median(moved))} in the median one"
        )
    requests = _mean(reading, device, "reads", "writes")
    seconds = _mean(reading, device, "read_seconds", "write_seconds")
    busy = _mean(reading, device, "busy_seconds")
    if requests and seconds is not None and busy is not None:
        lines.append(
            f"a request to {name} took {format_latency(seconds / requests)} on average, "
            f"and it was in use {format_percent(min(busy, 1.0))} of the time"
        )
    return [RuleEvidence(kind="support", sentence=line) for line in lines]


def _mean(reading: RunView, device: str, *figures: str) -> float | None:
    """What the device's counters gained per second in the active phase."""
    return _gained(reading, [f"device.{device}.{figure}" for figure in figures], _nodes(reading, device))


def _name(reading: RunView, device: str) -> str:
    """The device, with its node where several machines have a device of this name."""
    if len(_machines(reading, device)) < 2:
        return device
    return f"{device} of {_nodes(reading, device)[0]}"


def _machines(reading: RunView, device: str) -> list[list[str]]:
    """The nodes whose role lies on a device of this name, by machine: on each it is another device."""
    same = {node.name: node.same_machine_as or node.name for node in reading.facts.nodes}
    found: dict[str, list[str]] = {}
    for node in sorted({volume.node for volume in reading.facts.volumes if device in volume.devices}):
        found.setdefault(same.get(node, node), []).append(node)
    return list(found.values())


def _nodes(reading: RunView, device: str) -> list[str]:
    """The nodes of the machine whose device was in use for longest, or moved most if that is not known."""
    machines = _machines(reading, device)
    if len(machines) < 2:
        return [node for nodes in machines for node in nodes]

    def used(nodes: list[str]) -> tuple[float, float]:
        busy = _gained(reading, [f"device.{device}.busy_seconds"], nodes)
        moved = _gained(reading, [f"device.{device}.{way}_bytes" for way in ("read", "written")], nodes)
        return busy or 0.0, moved or 0.0

    return max(machines, key=used)


def _gained(reading: RunView, names: list[str], nodes: list[str]) -> float | None:
    """What counters gained per second in the active phase, over these nodes."""
    if reading.over_time is None:
        return None
    samples, windows = reading.over_time
    edges = (windows.active_edges[0], windows.active_edges[-1])
    return rates(samples, names, edges, nodes)[0]
