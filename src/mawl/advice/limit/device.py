"""The device that holds the role a run waited for: what it moved, and how long its requests took."""

from __future__ import annotations

import statistics

from mawl.advice.evidence import Reading
from mawl.advice.limit.rule import Line
from mawl.analysis.throughput import Counters
from mawl.analysis.windows import Rates, rates
from mawl.units import format_latency, format_rate, format_ratio


def device_totals(reading: Reading, device: str) -> Rates:
    """Bytes per second that a device read and wrote in each window of the active phase."""
    if reading.samples is None or reading.windows is None:
        return []
    counters = Counters(device, [f"device.{device}.read_bytes"], [f"device.{device}.written_bytes"])
    return counters.flow(reading.samples, reading.windows.active_edges)["total"]


def device_peak(reading: Reading, device: str) -> float | None:
    """The highest window of a device, in bytes per second."""
    return max((value for value in device_totals(reading, device) if value is not None), default=None)


def device_lines(reading: Reading, device: str) -> list[Line]:
    """Throughput, await and utilisation: they only support, since a throttled device can look idle."""
    lines = []
    moved = [value for value in device_totals(reading, device) if value is not None]
    if moved:
        lines.append(
            f"{device} moved {format_rate(max(moved))} in its highest window, "
            f"{format_rate(statistics.median(moved))} in the median one"
        )
    requests = _mean(reading, device, "reads", "writes")
    seconds = _mean(reading, device, "read_seconds", "write_seconds")
    busy = _mean(reading, device, "busy_seconds")
    if requests and seconds is not None and busy is not None:
        lines.append(
            f"a request to {device} took {format_latency(seconds / requests)} on average, "
            f"and it was in use for {format_ratio(min(busy, 1.0))} of the time"
        )
    return [Line(kind="support", sentence=line) for line in lines]


def _mean(reading: Reading, device: str, *figures: str) -> float | None:
    """What the device's counters gained per second in the active phase."""
    if reading.samples is None or reading.windows is None:
        return None
    edges = (reading.windows.active_edges[0], reading.windows.active_edges[-1])
    return rates(reading.samples, [f"device.{device}.{figure}" for figure in figures], edges)[0]
