"""A row per block device that holds a role or moved bytes; in text with the host's processors and memory."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from mawl.analysis.view import RunView
from mawl.model.summary.host import DeviceFigures, Host
from mawl.model.summary.summary import Summary
from mawl.model.summary.volumes import CachedInputs
from mawl.reporters.figure import figure, figures, format_count
from mawl.reporters.table import CSV, EVERY, HTML, TEXT, Note, Row, RunColumn, RunTable
from mawl.units import format_bytes, format_latency, format_memory, format_percent, format_ratio

MOST_DEVICES = 8
"""Rows in text."""


def active_devices(devices: Mapping[str, DeviceFigures]) -> list[str]:
    """Names of devices that hold roles or moved bytes: the former first, each by how much they moved."""

    def order(name: str) -> tuple[bool, float]:
        one = devices[name]
        return not one.roles, -((one.read_bytes or 0) + (one.written_bytes or 0))

    return [name for name in sorted(devices, key=order) if devices[name].roles or order(name)[1] < 0]


def _rows(_: RunView, summary: Summary) -> list[Row]:
    devices = (summary.host.device if summary.host else None) or {}
    return [
        Row(name, ("host", "device", name), EVERY if place < MOST_DEVICES else EVERY - TEXT)
        for place, name in enumerate(active_devices(devices))
    ]


def _lead(_: RunView, summary: Summary) -> list[Note]:
    """Processors, memory, how much of the inputs was in the page cache, and roles without a device."""
    if summary.host is None:
        return []
    notes = [Note(_processors(summary.host), TEXT, "host"), *_inputs(summary.inputs)]
    for reason in dict.fromkeys(volume.reason for volume in summary.volumes if volume.reason):
        roles = dict.fromkeys(volume.role for volume in summary.volumes if volume.reason == reason)
        notes.append(Note(f"no device for {', '.join(roles)}: {reason}", TEXT))
    return notes


def _processors(block: Host) -> str:
    shares = figures(
        *((getattr(block, f"cpu_{kind}_ratio"), format_percent) for kind in ("busy", "iowait", "steal")),
        (block.core_busy_ratio, format_percent),
        (block.runnable.mean, format_ratio),
        (block.runnable.peak, format_ratio),
    )
    sentence = "processors {} busy, {} iowait, {} steal; cores {} busy; runnable {}, peak {}"
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
    return f"{text}; at least {figure(block.least_memory_available_bytes, format_memory)} of memory free"


def _inputs(block: CachedInputs | None) -> list[Note]:
    if block is None or block.resident_ratio is None:
        return []
    asked = "" if block.mode is None else f", asked to be {block.mode}"
    share = format_percent(block.resident_ratio)
    text = f"{share} of them in the page cache before the start{asked}"
    return [Note("; ".join([text, *block.remarks]), TEXT, "inputs")]


def _notes(view: RunView, summary: Summary) -> list[Note]:
    """How many devices text leaves out."""
    more = len(_rows(view, summary)) - MOST_DEVICES
    if more <= 0:
        return []
    return [Note(f"and {format_count(more)} more devices (--format json lists all)", TEXT)]


DEVICES = RunTable(
    name="devices",
    caption="Block devices; a peak is the highest window mean",
    section="host",
    first="device",
    block=("host", "device", "*"),
    rows=_rows,
    columns=(
        RunColumn(
            label="holds", value=lambda one: " ".join(one.roles), form=str, holds="words", formats=TEXT
        ),
        RunColumn(
            label="holds",
            value=lambda one: ", ".join(one.roles) or "no role",
            form=str,
            holds="words",
            formats=HTML,
        ),
        RunColumn(label="reads", path=("reads",), form=format_count, formats=HTML),
        RunColumn(label="writes", path=("writes",), form=format_count, formats=HTML),
        RunColumn(label="read", path=("read_bytes",), form=format_bytes),
        RunColumn(label="written", path=("written_bytes",), form=format_bytes),
        *(
            RunColumn(label=label, path=(f"{way}_await_seconds", part), form=format_latency)
            for way in ("read", "write")
            for part, label in (("mean", f"{way} await"), ("peak", "peak"))
        ),
        RunColumn(label="utilisation", path=("utilisation_ratio",), form=format_percent),
        RunColumn(label="queue", path=("queue_length",), form=format_ratio, formats=HTML),
    ),
    formats=TEXT | HTML | CSV,
    lead=_lead,
    notes=_notes,
)
