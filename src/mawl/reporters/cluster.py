"""A row per node of a run on several, for every report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mawl.model.summary.cluster import Cluster, StorageServer
from mawl.model.summary.summary import Summary
from mawl.reporters.columns import aligned
from mawl.reporters.figure import Form, figure, format_count
from mawl.units import format_bytes, format_latency, format_rate, format_ratio, format_seconds

COLUMNS: tuple[tuple[str, str, Form], ...] = (
    ("jobs", "finished", format_count),
    ("lost", "lost", format_count),
    ("done after", "done_seconds", format_seconds),
    ("real time", "real_time_seconds", format_seconds),
    ("CPU/real", "cpu_real_ratio", format_ratio),
    ("read", "application_read_bytes", format_bytes),
    ("written", "application_written_bytes", format_bytes),
    ("network", "network_bytes_per_second", format_rate),
)


def cluster(summary: Summary) -> list[str]:
    """The table and what it comes to; nothing for a run on one node."""
    block = summary.cluster
    if block is None:
        return []
    rows = [
        [name, node.outcome, *(figure(getattr(node, field), form) for _, field, form in COLUMNS)]
        for name, node in block.nodes.items()
    ]
    means = block.mean
    mean = [
        figure(getattr(means, field), form) if hasattr(means, field) else "" for _, field, form in COLUMNS
    ]
    table = [["node", "ended", *(label for label, _, _ in COLUMNS)], *rows, ["mean", "", *mean]]
    return [*aligned(table), *notes(summary), *storage(block)]


STORAGE: tuple[tuple[str, tuple[str, ...], Form], ...] = (
    ("read", ("device", "read_bytes"), format_bytes),
    ("written", ("device", "written_bytes"), format_bytes),
    ("peak", ("device", "peak", "total_bytes_per_second"), format_rate),
    ("sustained", ("device", "sustained", "total_bytes_per_second"), format_rate),
    ("await", ("device", "await_seconds", "mean"), format_latency),
    ("await, peak", ("device", "await_seconds", "peak"), format_latency),
    ("received", ("received_bytes_per_second", "mean"), format_rate),
    ("sent", ("sent_bytes_per_second", "mean"), format_rate),
)
"""A storage server's columns: label, place in its block, form."""


def at(block: StorageServer, place: Sequence[str]) -> Any:
    """A figure by its place in a block."""
    for name in place:
        block = getattr(block, name)
    return block


def storage(block: Cluster) -> list[str]:
    """A row for each storage server that was watched."""
    if not block.storage:
        return []
    rows = [
        [name, server.outcome, *(figure(at(server, place), form) for _, place, form in STORAGE)]
        for name, server in block.storage.items()
    ]
    return aligned([["storage", "watched", *(label for label, _, _ in STORAGE)], *rows])


def notes(summary: Summary) -> list[str]:
    """What the rows come to, in sentences."""
    block = summary.cluster
    if block is None:
        return []
    clocks = [
        (abs(node.clock_offset_seconds), node.clock_error_seconds or 0.0)
        for node in block.nodes.values()
        if node.clock_offset_seconds is not None
    ]
    found = [
        f"first node done after {figure(block.first_done_seconds, format_seconds)}, last after "
        f"{figure(block.last_done_seconds, format_seconds)}: imbalance "
        f"{figure(block.imbalance_ratio, format_ratio)}; gates within "
        f"{figure(block.gate_skew_seconds, format_latency)}"
    ]
    moved = [getattr(block, f"network_{way}_bytes_per_second") for way in ("received", "sent")]
    if None not in moved:
        link = block.link_bytes_per_second
        found.append(
            "the nodes' networks received {} and sent {} together".format(
                *(figure(rate, format_rate) for rate in moved)
            )
            + ("" if link is None else f"; a node's link carries {format_rate(link)} each way, as declared")
        )
    if clocks:
        found.append(
            f"clocks differed by up to {format_latency(max(clocks)[0])} and were corrected, within "
            f"{format_latency(max(error for _, error in clocks))}"
        )
    return found
