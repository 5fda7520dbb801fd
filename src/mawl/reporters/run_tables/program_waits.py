"""Where the time of each program's jobs went: in text shares of it, in HTML seconds."""

from __future__ import annotations

from collections.abc import Callable

from mawl.analysis.view import RunView
from mawl.model.summary.programs import ProgramFigures
from mawl.model.summary.summary import Summary
from mawl.reporters.run_tables.programs import program_rows
from mawl.reporters.table import HTML, TEXT, Row, RunColumn, RunTable
from mawl.units import format_percent, format_ratio, format_seconds

STATES = (
    ("on CPU", "on CPU", "on_cpu_seconds"),
    ("run queue", "run queue", "run_queue_seconds"),
    ("data", "blocked in data", "blocked_data_seconds"),
    ("work", "in work", "blocked_work_seconds"),
    ("util", "in util", "blocked_util_seconds"),
    ("other", "elsewhere", "blocked_other_seconds"),
)
"""Label in text, label in HTML, and figure."""


def _whole(program: ProgramFigures) -> float | None:
    """The time of a program's jobs; None where a part of it is not known, or there was none."""
    seconds = [getattr(program.wait, state) for _, _, state in STATES]
    return None if None in seconds else sum(seconds) or None


def _share(state: str) -> Callable[[ProgramFigures], float | None]:
    def share(program: ProgramFigures) -> float | None:
        whole = _whole(program)
        return whole and getattr(program.wait, state) / whole

    return share


def _rows(view: RunView, summary: Summary) -> list[Row]:
    """A row per program; in text of those of which every part is known."""
    return [
        row if _whole(summary.programs[row.name]) is not None else Row(row.name, row.path, HTML)
        for row in program_rows(view, summary)
    ]


PROGRAM_WAITS = RunTable(
    name="program_waits",
    alike=True,
    caption="Where the time of each program's jobs went (sums)",
    section="programs",
    first="program",
    text_first="time of jobs by program",
    block=("programs", "*"),
    rows=_rows,
    columns=(
        RunColumn(label="sum", value=_whole, form=format_seconds, formats=TEXT),
        *(
            RunColumn(label=label, value=_share(state), form=format_percent, formats=TEXT)
            for label, _, state in STATES
        ),
        RunColumn(label="slowdown", path=("slowdown",), form=format_ratio, formats=TEXT),
        *(
            RunColumn(label=label, path=("wait", state), form=format_seconds, formats=HTML)
            for _, label, state in STATES
        ),
    ),
    formats=TEXT | HTML,
)
