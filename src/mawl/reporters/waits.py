"""Where the time of each program's jobs went, in the long report."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.formats.lines import one_line
from mawl.model.summary.summary import Summary
from mawl.reporters.columns import aligned
from mawl.reporters.figure import figures
from mawl.units import format_percent, format_ratio, format_seconds

STATES = (
    "on_cpu_seconds",
    "run_queue_seconds",
    "blocked_data_seconds",
    "blocked_work_seconds",
    "blocked_util_seconds",
    "blocked_other_seconds",
)


def program_waits(summary: Summary) -> list[str]:
    """A row per program: the jobs' time and its shares on CPU, in the run queue and blocked by role.

    Programs of which a part is not known are left out; without any there is no table.
    """
    rows: list[Sequence[str]] = [
        ("time of jobs by program", "sum", "on CPU", "run queue", "data", "work", "util", "other", "slowdown")
    ]
    for name, program in summary.programs.items():
        seconds = [getattr(program.wait, state) for state in STATES]
        if None in seconds or not sum(seconds):
            continue
        whole = sum(seconds)
        shares = figures(*((value / whole, format_percent) for value in seconds))
        slowdown = figures((program.slowdown, format_ratio))
        rows.append((one_line(name), format_seconds(whole), *shares, *slowdown))
    return aligned(rows) if len(rows) > 1 else []
