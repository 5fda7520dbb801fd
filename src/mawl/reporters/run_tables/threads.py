"""Hardware threads of each node: in text as sentences, in HTML as a table."""

from __future__ import annotations

from mawl.analysis.view import RunView
from mawl.model.summary.summary import Summary
from mawl.reporters.figure import format_count
from mawl.reporters.table import CSV, HTML, TEXT, Note, Row, RunColumn, RunTable
from mawl.reporters.threads import adjusted_cpu, busy_cores, findings, modes
from mawl.units import format_percent, format_ratio


def _rows(_: RunView, summary: Summary) -> list[Row]:
    nodes = summary.smt.nodes if summary.smt else {}
    return [Row(name, ("smt", "nodes", name), HTML | CSV) for name in nodes]


def _lead(_: RunView, summary: Summary) -> list[Note]:
    """In text the modes; what busy cores are, times without AIX's scaling, and the next mode."""
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
    rows=_rows,
    columns=(
        RunColumn(label="SMT", path=("mode",), form=str, holds="words"),
        RunColumn(label="threads a core", path=("threads_per_core",), form=format_count),
        RunColumn(label="hardware threads", path=("hardware_threads",), form=format_count),
        RunColumn(label="busy", path=("busy_ratio",), form=format_percent),
        RunColumn(label="runnable", path=("runnable",), form=format_ratio),
    ),
    formats=TEXT | HTML | CSV,
    lead=_lead,
)
