"""Tables of a run's machines: nodes, storage servers, hardware threads, and energy."""

from __future__ import annotations

from mawl.base.units import (
    format_bytes,
    format_joules,
    format_latency,
    format_percent,
    format_rate,
    format_ratio,
    format_seconds,
    format_watts,
)
from mawl.figures.view import RunView
from mawl.records.model.summary.cluster import Cluster
from mawl.records.model.summary.summary import Summary
from mawl.reports.layout import figure, format_count
from mawl.reports.paragraphs import adjusted_cpu, busy_cores, findings, modes
from mawl.reports.tables import CSV, EVERY, HTML, SHOWN, TEXT, Note, Row, RunColumn, RunTable


def _node_rows(_: RunView, summary: Summary) -> list[Row]:
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
    rows=_node_rows,
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


def _storage_server_rows(_: RunView, summary: Summary) -> list[Row]:
    servers = (summary.cluster.storage if summary.cluster else None) or {}
    return [Row(name, ("cluster", "storage", name)) for name in servers]


STORAGE_SERVERS = RunTable(
    name="storage_servers",
    caption="Storage servers",
    section="nodes",
    first="storage server",
    text_first="storage",
    block=("cluster", "storage", "*"),
    rows=_storage_server_rows,
    columns=(
        RunColumn(label="watched", path=("outcome",), form=str, holds="words"),
        RunColumn(label="read", path=("device", "read_bytes"), form=format_bytes),
        RunColumn(label="written", path=("device", "written_bytes"), form=format_bytes),
        RunColumn(label="peak", path=("device", "peak", "total_bytes_per_second"), form=format_rate),
        RunColumn(
            label="sustained", path=("device", "sustained", "total_bytes_per_second"), form=format_rate
        ),
        RunColumn(label="await", path=("device", "await_seconds", "mean"), form=format_latency),
        RunColumn(label="await, peak", path=("device", "await_seconds", "peak"), form=format_latency),
        RunColumn(label="received", path=("received_bytes_per_second", "mean"), form=format_rate),
        RunColumn(label="sent", path=("sent_bytes_per_second", "mean"), form=format_rate),
    ),
    formats=EVERY,
)


def _thread_rows(_: RunView, summary: Summary) -> list[Row]:
    nodes = summary.smt.nodes if summary.smt else {}
    return [Row(name, ("smt", "nodes", name), HTML | CSV) for name in nodes]


def _threads_lead(_: RunView, summary: Summary) -> list[Note]:
    notes = [Note(text, TEXT, "threads") for text in modes(summary)]
    if busy := busy_cores(summary):
        notes += [Note(f"busy for {busy}", TEXT, "cores"), Note(f"Busy core-seconds: {busy}.", HTML)]
    if adjusted := adjusted_cpu(summary):
        text = f"adjusted for AIX's scaled accounting: {adjusted}"
        notes += [Note(text, TEXT, "CPU time"), Note(f"CPU time {text}.", HTML)]
    for text in findings(summary):
        notes += [Note(f"smt (remark): {text}", TEXT), Note(f"SMT: {text}.", HTML)]
    return notes


THREADS = RunTable(
    name="threads",
    caption="Hardware threads, in the active phase",
    section="host",
    first="node",
    block=("smt", "nodes", "*"),
    rows=_thread_rows,
    columns=(
        RunColumn(label="SMT", path=("mode",), form=str, holds="words"),
        RunColumn(label="threads a core", path=("threads_per_core",), form=format_count),
        RunColumn(label="hardware threads", path=("hardware_threads",), form=format_count),
        RunColumn(label="busy", path=("busy_ratio",), form=format_percent),
        RunColumn(label="runnable", path=("runnable",), form=format_ratio),
    ),
    formats=TEXT | HTML | CSV,
    lead=_threads_lead,
)


SHARED = "energy of a program's job: the run's, shared out to all jobs by their CPU time"


def energy_words(summary: Summary) -> str | None:
    """``12.3 kJ (processors, ...), 205 W on average, 173 J per job``; None if energy is not known."""
    one = summary.energy
    if one is None or one.joules is None:
        return None
    per_job = f"not known of a job ({summary.missing.get('energy.joules_per_job')})"
    if one.joules_per_job is not None:
        per_job = f"{format_joules(one.joules_per_job)} per job"
    return (
        f"{format_joules(one.joules)} ({one.scope}, other programs and idle power included), "
        f"{figure(one.mean_watts, format_watts)} on average, {per_job}"
    )


def _rows(_: RunView, summary: Summary) -> list[Row]:
    domains = {} if summary.energy is None else summary.energy.domain
    return [Row(name, ("energy", "domain", name)) for name in domains]


def _lead(_: RunView, summary: Summary) -> list[Note]:
    if summary.energy is None:
        return []
    words = energy_words(summary)
    if words is None:
        return [Note(f"energy: not known ({summary.missing.get('energy.joules')})", SHOWN)]
    shared = "" if summary.energy.joules_per_job is None else f"; {SHARED}"
    return [Note(f"{words}{shared}", SHOWN, "energy")]


ENERGY = RunTable(
    name="energy",
    caption="Energy from the first start of a job to the last end",
    section="host",
    first="counter or meter",
    block=("energy", "domain", "*"),
    rows=_rows,
    columns=(
        RunColumn(label="energy", path=("joules",), form=format_joules),
        RunColumn(label="mean power", path=("mean_watts",), form=format_watts),
        RunColumn(label="known", path=("known_seconds",), form=format_seconds),
        RunColumn(
            label="in the sum", value=lambda one: "yes" if one.counted else "no", form=str, holds="words"
        ),
    ),
    formats=EVERY,
    fold="Energy",
    lead=_lead,
)
