"""A row per program: real time of its jobs that count, their CPU in sum, the largest memory."""

from __future__ import annotations

from mawl.analysis.view import RunView
from mawl.model.summary.summary import Summary
from mawl.reporters.figure import format_count, splits_cpu
from mawl.reporters.table import EVERY, HTML, MARKDOWN, TEXT, Format, Note, Row, RunColumn, RunTable
from mawl.units import format_bytes, format_joules, format_memory, format_ratio, format_seconds

LEGEND = (
    "counted: finished, no answer known to be wrong; "
    "of these: real time of one job, sum of CPU, largest memory"
)


def program_rows(_: RunView, summary: Summary) -> list[Row]:
    """A row per program."""
    return [Row(name, ("programs", name)) for name in summary.programs]


def _sum(summary: Summary, to: Format) -> bool:
    return to == "html" or not splits_cpu(summary.time)


def _split(summary: Summary, to: Format) -> bool:
    return to == "html" or splits_cpu(summary.time)


def _energy(summary: Summary, _: Format) -> bool:
    return summary.energy is not None


PROGRAMS = RunTable(
    name="programs",
    alike=True,
    caption="Jobs by program; counted: finished, no answer known to be wrong; slowdown: real time in the mix "
    "over alone",
    section="programs",
    first="program",
    code=True,
    block=("programs", "*"),
    rows=program_rows,
    columns=(
        RunColumn(label="jobs", path=("jobs",), form=format_count),
        RunColumn(label="counted", path=("counted",), form=format_count, formats=TEXT | HTML),
        RunColumn(label="real median", path=("real_time_seconds", "median"), form=format_seconds),
        RunColumn(label="min", path=("real_time_seconds", "min"), form=format_seconds),
        RunColumn(label="max", path=("real_time_seconds", "max"), form=format_seconds),
        RunColumn(label="CPU", path=("cpu_seconds",), form=format_seconds, when=_sum),
        RunColumn(label="user CPU", path=("user_cpu_seconds",), form=format_seconds, when=_split),
        RunColumn(label="system CPU", path=("system_cpu_seconds",), form=format_seconds, when=_split),
        RunColumn(label="read", path=("application_read_bytes",), form=format_bytes, formats=HTML),
        RunColumn(label="written", path=("application_written_bytes",), form=format_bytes, formats=HTML),
        RunColumn(label="memory", path=("memory_bytes",), form=format_memory),
        RunColumn(label="slowdown", path=("slowdown",), form=format_ratio, formats=MARKDOWN | HTML),
        RunColumn(
            label="energy",
            path=("joules_per_job",),
            form=format_joules,
            formats=MARKDOWN | HTML,
            when=_energy,
        ),
    ),
    formats=EVERY,
    fold="Programs",
    folded=MARKDOWN,
    notes=lambda _, __: [Note(LEGEND, TEXT)],
)
