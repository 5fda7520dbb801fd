"""Lines of the long report about the host: processors, memory, and the devices of the roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap

import msgspec

from mawl.formats.lines import one_line
from mawl.model.summary.host import DeviceFigures, Host
from mawl.model.summary.summary import Summary
from mawl.model.summary.volumes import CachedInputs, VolumeFigures
from mawl.reporters.columns import LINE_WIDTH, aligned
from mawl.reporters.figure import figure, figures, format_count
from mawl.units import format_bytes, format_latency, format_memory, format_percent, format_ratio

MOST_DEVICES = 8


def host(summary: Summary) -> list[str]:
    """Nothing for a run without host figures; else the host over the run, and a row per device."""
    block = summary.host
    if block is None:
        return []
    return [
        *_processors(block),
        *_inputs(summary.inputs),
        *_devices(block, summary.volumes),
    ]


def _processors(block: Host) -> list[str]:
    shares = figures(
        *((getattr(block, f"cpu_{kind}_ratio"), format_percent) for kind in ("busy", "iowait", "steal")),
        (block.core_busy_ratio, format_percent),
        (block.runnable.mean, format_ratio),
        (block.runnable.peak, format_ratio),
    )
    sentence = "host      processors {} busy, {} iowait, {} steal; cores {} busy; runnable {}, peak {}"
    text = sentence.format(*shares)
    pressure = ", ".join(
        f"{name.removesuffix('_ratio').replace('_', ' ')} {format_percent(value)}"
        for name, value in msgspec.structs.asdict(block.pressure).items()
        if value is not None
    )
    swapped = [block.swap_read_bytes, block.swap_written_bytes]
    if any(swapped):
        text += "; swapped in {} and out {}".format(*figures(*((size, format_memory) for size in swapped)))
    if pressure:
        text += f"; pressure: {pressure}"
    least = figure(block.least_memory_available_bytes, format_memory)
    return wrap(f"{text}; at least {least} of memory free", LINE_WIDTH, subsequent_indent=" " * 10)


def _inputs(block: CachedInputs | None) -> list[str]:
    """How much of the inputs the page cache held before the start."""
    if block is None or block.resident_ratio is None:
        return []
    asked = "" if block.mode is None else f", asked to be {block.mode}"
    share = format_percent(block.resident_ratio)
    text = f"inputs    {share} of them in the page cache before the start{asked}"
    return wrap("; ".join([text, *map(one_line, block.remarks)]), LINE_WIDTH, subsequent_indent=" " * 10)


def active_devices(devices: Mapping[str, DeviceFigures]) -> list[str]:
    """Names of devices that hold roles or moved bytes: the former first, each by how much they moved."""

    def order(name: str) -> tuple[bool, float]:
        one = devices[name]
        return not one.roles, -((one.read_bytes or 0) + (one.written_bytes or 0))

    return [name for name in sorted(devices, key=order) if devices[name].roles or order(name)[1] < 0]


def _devices(block: Host, volumes: Sequence[VolumeFigures]) -> list[str]:
    """Devices that hold roles, then those that moved most; below them where roles lie elsewhere."""
    devices = block.device or {}
    active = active_devices(devices)
    rows: list[Sequence[str]] = [
        ("device", "holds", "read", "written", "read await", "peak", "write await", "peak", "utilisation")
    ]
    for name in active[:MOST_DEVICES]:
        one = devices[name]
        rows.append(
            (
                one_line(name),
                " ".join(one.roles),
                *figures(
                    (one.read_bytes, format_bytes),
                    (one.written_bytes, format_bytes),
                    *(
                        (getattr(getattr(one, f"{direction}_await_seconds"), figure), format_latency)
                        for direction in ("read", "write")
                        for figure in ("mean", "peak")
                    ),
                    (one.utilisation_ratio, format_percent),
                ),
            )
        )
    lines = aligned(rows) if len(rows) > 1 else []
    if len(active) > MOST_DEVICES:
        lines.append(f"and {format_count(len(active) - MOST_DEVICES)} more devices (--format json lists all)")
    reasons = {volume.reason: None for volume in volumes if volume.reason}
    for reason in reasons:
        roles = dict.fromkeys(volume.role for volume in volumes if volume.reason == reason)
        lines += wrap(one_line(f"no device for {', '.join(roles)}: {reason}"), LINE_WIDTH)
    return lines
