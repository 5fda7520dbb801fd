"""The CPU account: what jobs, start-up and checks add up to, beside an outside account."""

from __future__ import annotations

from mawl.analysis.view import RunView
from mawl.model.summary.summary import Summary
from mawl.reporters.figure import figures
from mawl.reporters.table import HTML, TEXT, Note, Row, RunColumn, RunTable
from mawl.units import format_memory, format_seconds

ACCOUNTS = {
    "jobs": "jobs",
    "start-up": "startup",
    "verify": "verify",
    "launcher": "launcher",
    "total": "total",
}


def _rows(_: RunView, summary: Summary) -> list[Row]:
    rows = [Row(name, ("cpu_account", field)) for name, field in ACCOUNTS.items()]
    if summary.outside_cpu is not None:
        rows.append(Row(f"outside ({summary.outside_cpu.source})", ("outside_cpu",)))
    return rows


def _notes(_: RunView, summary: Summary) -> list[Note]:
    """What mawl itself cost; HTML has a table of that."""
    overhead = summary.overhead
    own = figures(
        (overhead.cpu_seconds, format_seconds),
        (overhead.startup_cpu_seconds, format_seconds),
        (overhead.peak_memory_bytes, format_memory),
    )
    sentence = "mawl itself: {} of CPU (the launcher above is part of it), {} before the start; {} of memory"
    return [Note(sentence.format(*own), TEXT)]


CPU_ACCOUNT = RunTable(
    name="cpu_account",
    caption="CPU account",
    section="system",
    first="CPU account, all jobs",
    text_first="CPU account (all jobs)",
    block=("cpu_account", "total"),
    rows=_rows,
    columns=tuple(
        RunColumn(label=label, path=(field,), form=format_seconds)
        for label, field in (
            ("user", "user_cpu_seconds"),
            ("system", "system_cpu_seconds"),
            ("together", "cpu_seconds"),
        )
    ),
    narrow=True,
    formats=TEXT | HTML,
    notes=_notes,
)
