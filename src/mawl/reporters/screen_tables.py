"""The tables of the screen: sparklines, throughput, and the programs that took most time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from mawl.analysis.outline import Outline
from mawl.formats.lines import one_line
from mawl.model.summary.io import Io
from mawl.model.summary.programs import ProgramFigures
from mawl.reporters.columns import aligned, fitting
from mawl.reporters.figure import ABSENT, figure, figures
from mawl.reporters.sparkline import BLOCKS, sparkline
from mawl.reporters.sparkline import PLAIN as PLAIN_LEVELS
from mawl.reporters.style import Style
from mawl.units import format_percent, format_rate, format_ratio, format_seconds

SPARK_WIDTH = 66
BESIDE_SPARK = 30
"""Characters before and behind a sparkline."""
FEWEST_PARTS = 4
"""A run of fewer parts has no sparklines."""


def sparklines(outline: Outline | None, style: Style) -> list[str]:
    """A line each of throughput and jobs over the run, with the highest value behind it."""
    if outline is None or len(outline.device) < FEWEST_PARTS:
        return []
    levels = BLOCKS if style.blocks else PLAIN_LEVELS
    width = min(SPARK_WIDTH, style.width - BESIDE_SPARK)
    lines = []
    for name, values, form in (
        ("application", outline.application, format_rate),
        ("device", outline.device, format_rate),
        ("jobs", outline.jobs, format_ratio),
    ):
        known = [value for value in values if value is not None]
        if known:
            drawn = sparkline(values, width, levels)
            lines.append(f"{name:<13}{drawn}  up to {form(max(known))}")
    columns = min(len(outline.device), width)
    seconds = format_seconds(outline.part_seconds * len(outline.device) / columns)
    part = "" if columns == len(outline.device) else f", its highest {format_seconds(outline.part_seconds)}"
    over = "the run" if outline.whole else "the part of the run that recordings cover"
    return [f"over {over}, {seconds} a column{part}", *lines]


def throughput(io: Io, style: Style, *, imported: bool = False) -> list[str]:
    """Both sides: bytes, windows of the total, sustained per core, and the reach.

    Of an import only what its files tell.
    """
    window = figure(io.device.window_seconds, format_seconds)
    rows: list[Sequence[str]] = [
        (
            f"windows of {window}",
            "peak",
            "initial",
            "sustained",
            "per core",
            "run: read",
            "written",
            "read share",
        )
    ]
    for side in ("application", "device"):
        block = getattr(io, side)
        rows.append(
            (
                side,
                *figures(
                    *(
                        (getattr(block, name).total_bytes_per_second, format_rate)
                        for name in ("peak", "initial", "sustained")
                    ),
                    (block.sustained_bytes_per_second_per_core, format_rate),
                    (block.run_mean.read_bytes_per_second, format_rate),
                    (block.run_mean.write_bytes_per_second, format_rate),
                    (block.read_ratio, format_percent),
                ),
            )
        )
    reach = figures(*((getattr(io.reach, f"{name}_ratio"), format_percent) for name in ("read", "write")))
    rows.append(("reach", "", "", "", "", *reach, ""))
    if imported:
        rows = [rows[0], *(row for row in rows[1:] if set(row[1:]) - {ABSENT, ""})]
    if len(rows) == 1:
        return ["throughput: not known, no recording of the host contains it"]
    return aligned(fitting(rows, style.width, ("initial", "per core")))


def programs(found: Mapping[str, ProgramFigures], most: int, style: Style) -> list[str]:
    """The programs that took most time, and how much of it they were on a CPU, waited, and their slowdown."""
    order = sorted(found, key=lambda name: -(_taken(found[name]) or 0.0))[: max(most, 0)]
    if all(program.wait.run_queue_seconds is None for program in found.values()):
        return _bounded(found, order, style)
    rows: list[Sequence[str]] = [
        (
            "most time",
            "jobs",
            "real median",
            "on CPU",
            "run queue",
            "data",
            "work",
            "util",
            "other",
            "slowdown",
        )
    ]
    for name in order:
        program = found[name]
        taken = _taken(program)
        states = ("on_cpu", "run_queue", "blocked_data", "blocked_work", "blocked_util", "blocked_other")
        shares = [
            None
            if not taken or getattr(program.wait, f"{state}_seconds") is None
            else getattr(program.wait, f"{state}_seconds") / taken
            for state in states
        ]
        rows.append(
            (
                one_line(name),
                str(program.jobs),
                figure(program.real_time_seconds.median, format_seconds),
                *figures(*((share, format_percent) for share in shares), (program.slowdown, format_ratio)),
            )
        )
    return aligned(fitting(rows, style.width, ("jobs", "other", "real median"))) if len(rows) > 1 else []


def _bounded(found: Mapping[str, ProgramFigures], order: Sequence[str], style: Style) -> list[str]:
    """The programs of a run without waits (imported logs): CPU over real time is all that is known."""
    rows: list[Sequence[str]] = [
        ("most time", "jobs", "real median", "longest", "sum", "CPU", "CPU/real", "slowdown")
    ]
    for name in order:
        program = found[name]
        real, used = program.real_time_seconds, program.cpu_seconds
        share = None if used is None or not real.sum else used / real.sum
        rows.append(
            (
                one_line(name),
                str(program.jobs),
                *figures(
                    *((getattr(real, part), format_seconds) for part in ("median", "max", "sum")),
                    (used, format_seconds),
                    (share, format_percent),
                    (program.slowdown, format_ratio),
                ),
            )
        )
    return aligned(fitting(rows, style.width, ("jobs", "longest"))) if len(rows) > 1 else []


def _taken(program: ProgramFigures) -> float | None:
    """The jobs' time by their waits, which is thread time; by their real time where a part is not known."""
    seconds = list(msgspec.structs.astuple(program.wait))
    real: float | None = program.real_time_seconds.sum
    return real if None in seconds else sum(seconds)
