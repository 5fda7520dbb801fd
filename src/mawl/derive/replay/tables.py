"""The tables of a comparison of a run with the logs, every cell as text."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.derive.replay.records import (
    FIGURES,
    Both,
    Figures,
    NightOfSide,
    Replay,
    ReplayedStep,
)
from mawl.formats.lines import one_line
from mawl.reporters.comparison.cells import signed_seconds
from mawl.reporters.comparison.tables import ComparisonTable
from mawl.reporters.figure import ABSENT, Form, figure
from mawl.reporters.night import night_clock
from mawl.units import counted_noun, format_bytes, format_memory, format_ratio, format_seconds

TITLES = {
    "real_seconds": "real time",
    "cpu_seconds": "CPU time",
    "memory_bytes": "memory",
    "moved_bytes": "bytes",
    "data_bytes": "data",
    "work_bytes": "work",
    "util_bytes": "util",
}
FORMS: dict[str, Form] = {
    name: format_seconds
    if name.endswith("seconds")
    else format_memory
    if name == "memory_bytes"
    else format_bytes
    for name in FIGURES
}
SHORT_RATIOS = {
    "real_seconds": "times",
    "cpu_seconds": "CPU",
    "memory_bytes": "memory",
    "moved_bytes": "bytes",
}
"""The ratios that a screen shows, by the heads of their columns."""

SHORT_NOTE = (
    "logs, run: real time; times: real time of the run over that of the logs; CPU, memory, bytes: the same "
    "of these figures"
)
LONG_NOTE = (
    "logs -> run (run over logs); memory: of several steps the largest; bytes of the logs are those that "
    "mawl derive inferred or assumed (evidence.html); a sum is over the steps that have the figure on both "
    "sides"
)


def short_tables(replay: Replay, most: int) -> list[ComparisonTable]:
    """For a screen: the steps and the programs that changed most."""
    return [
        _short("step", [(_step_name(one), one.figures) for one in replay.steps[:most]], len(replay.steps)),
        _short(
            "program",
            [(one_line(one.program), one.figures) for one in replay.programs[:most]],
            len(replay.programs),
        ),
    ]


def tables(replay: Replay, most: int) -> list[ComparisonTable]:
    """All tables; of steps at most ``most``, those that changed most."""
    found = [
        figures(replay),
        steps(replay, most),
        programs(replay),
        chains(replay),
        closeness(replay),
    ]
    return [table for table in found if table.rows]


def figures(replay: Replay) -> ComparisonTable:
    """Sums over all steps."""
    rows = []
    for name, title in TITLES.items():
        one: Both = getattr(replay.total, name)
        form = FORMS[name]
        rows.append((title, figure(one.logs, form), figure(one.run, form), figure(one.ratio, format_ratio)))
    return ComparisonTable(
        name="figures",
        title="all steps",
        head=("all steps", "logs", "run", "run over logs"),
        rows=rows,
        note=LONG_NOTE.partition("; ")[2],
    )


def steps(replay: Replay, most: int) -> ComparisonTable:
    """Step by step, sorted by the change of real time, the largest first."""
    shown = replay.steps[:most]
    more = len(replay.steps) - len(shown)
    return ComparisonTable(
        name="steps",
        title="steps, those first that changed the real time of the night most",
        head=("step", *TITLES.values()),
        rows=[(_step_name(one), *_cells(one.figures)) for one in shown],
        note=LONG_NOTE
        + (f"; {counted_noun(more, 'more step')} changed less (--format json)" if more else ""),
    )


def programs(replay: Replay) -> ComparisonTable:
    """Programs, summed."""
    return ComparisonTable(
        name="programs",
        title="programs, those first that changed most",
        head=("program", "jobs", "steps", *TITLES.values()),
        rows=[
            (one_line(one.program), str(one.jobs), str(one.steps), *_cells(one.figures))
            for one in replay.programs
        ],
        note=LONG_NOTE,
    )


def chains(replay: Replay) -> ComparisonTable:
    """The chain that ended last, of the logs and of the run."""
    sides: Sequence[tuple[str, NightOfSide | None]] = (
        ("logs", replay.logs_night),
        ("run", replay.run_night),
    )
    rows = [
        (
            f"{side}: {one_line(job.program)}",
            night_clock(job.started_seconds),
            night_clock(job.ended_seconds),
            format_seconds(job.ended_seconds - job.started_seconds),
        )
        for side, night in sides
        if night is not None
        for job in night.chain
    ]
    return ComparisonTable(
        name="chains",
        title="the chain of jobs that ended last",
        head=("job", "started", "ended", "ran"),
        rows=rows,
        note="on the clock of the night; each job of a chain started when the one before it had ended",
    )


def closeness(replay: Replay) -> ComparisonTable:
    """How near single steps come."""
    return ComparisonTable(
        name="closeness",
        title="how near single steps come to the logs",
        head=("figure", "steps", "from", "median", "95th percentile"),
        rows=[
            (
                TITLES[one.figure],
                str(one.steps),
                FORMS[one.figure](one.least),
                figure(one.median, format_ratio),
                figure(one.high, format_ratio),
            )
            for one in replay.closeness
        ],
        note="the larger of run over logs and its inverse; steps below 'from' in the logs do not count",
    )


def _short(noun: str, shown: Sequence[tuple[str, Figures]], every: int) -> ComparisonTable:
    rows = []
    for name, found in shown:
        real = found.real_seconds
        change = None if real.logs is None or real.run is None else real.run - real.logs
        parts: list[Both] = [getattr(found, one) for one in SHORT_RATIOS]
        rows.append(
            (
                name,
                figure(real.logs, format_seconds),
                figure(real.run, format_seconds),
                ABSENT if change is None else signed_seconds(change),
                *(figure(one.ratio, format_ratio) for one in parts),
            )
        )
    more = every - len(shown)
    return ComparisonTable(
        name=f"{noun}s",
        title=f"{noun}s that changed most",
        head=(noun, "logs", "run", "change", *SHORT_RATIOS.values()),
        rows=rows,
        note=f"and {counted_noun(more, f'more {noun}')} (--all)" if more else "",
    )


def _cells(found: Figures) -> list[str]:
    """``1.20 s -> 1.50 s (1.25)`` of each figure."""
    cells = []
    for name in TITLES:
        one: Both = getattr(found, name)
        form = FORMS[name]
        ratio = "" if one.ratio is None else f" ({format_ratio(one.ratio)})"
        both = f"{figure(one.logs, form)} -> {figure(one.run, form)}{ratio}"
        cells.append(ABSENT if one.logs is None and one.run is None else both)
    return cells


def _step_name(one: ReplayedStep) -> str:
    return f"{one_line(one.job)} {one_line(one.step)}"
