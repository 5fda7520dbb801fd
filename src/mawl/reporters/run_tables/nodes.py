"""A row per node of a run on several, their mean, and what the rows come to."""

from __future__ import annotations

from mawl.analysis.view import RunView
from mawl.model.summary.cluster import Cluster
from mawl.model.summary.summary import Summary
from mawl.reporters.figure import figure, format_count
from mawl.reporters.table import EVERY, SHOWN, Note, Row, RunColumn, RunTable
from mawl.units import format_bytes, format_latency, format_rate, format_ratio, format_seconds


def _rows(_: RunView, summary: Summary) -> list[Row]:
    if summary.cluster is None:
        return []
    nodes = [Row(name, ("cluster", "nodes", name)) for name in summary.cluster.nodes]
    return [*nodes, Row("mean", ("cluster", "mean"), SHOWN)]


def node_balance(block: Cluster) -> str:
    """``first node done after 9 min 18 s (node1), last after 10 min 00 s (node4)``."""
    done = {
        name: node.done_seconds
        for name, node in block.nodes.items()
        if node.outcome != "lost" and node.done_seconds is not None
    }
    order = sorted(done, key=lambda name: done[name])
    first, last = (f" ({order[place]})" if len(order) > 1 else "" for place in (0, -1))
    return (
        f"first node done after {figure(block.first_done_seconds, format_seconds)}{first}, last after "
        f"{figure(block.last_done_seconds, format_seconds)}{last}"
    )


def node_sentences(summary: Summary) -> list[str]:
    """When the first and the last node were done, what their networks moved, and how clocks differed."""
    block = summary.cluster
    if block is None:
        return []
    clocks = [
        (abs(node.clock_offset_seconds), node.clock_error_seconds or 0.0)
        for node in block.nodes.values()
        if node.clock_offset_seconds is not None
    ]
    found = [
        f"{node_balance(block)}: imbalance "
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


def _notes(_: RunView, summary: Summary) -> list[Note]:
    return [Note(sentence) for sentence in node_sentences(summary)]


NODES = RunTable(
    name="nodes",
    alike=True,
    caption="Nodes",
    section="nodes",
    first="node",
    block=("cluster", "nodes", "*"),
    rows=_rows,
    columns=(
        RunColumn(label="ended", path=("outcome",), form=str, holds="words"),
        RunColumn(label="jobs", path=("finished",), form=format_count),
        RunColumn(label="lost", path=("lost",), form=format_count),
        RunColumn(label="done after", path=("done_seconds",), form=format_seconds),
        RunColumn(label="real time", path=("real_time_seconds",), form=format_seconds),
        RunColumn(label="CPU/real", path=("cpu_real_ratio",), form=format_ratio),
        RunColumn(label="read", path=("application_read_bytes",), form=format_bytes),
        RunColumn(label="written", path=("application_written_bytes",), form=format_bytes),
        RunColumn(label="network", path=("network_bytes_per_second",), form=format_rate),
    ),
    formats=EVERY,
    notes=_notes,
)
