"""A comparison of a run with the logs in tables, every cell as text, and in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mawl.base.units import (
    counted_noun,
    format_bytes,
    format_change,
    format_memory,
    format_percent,
    format_plain,
    format_ratio,
    format_seconds,
)
from mawl.derive.replay.records import FIGURES, FigurePair, Figures, NightOfSide, Replay, ReplayedStep
from mawl.importers.formats.text import one_line
from mawl.reports.comparison.tables import signed_seconds
from mawl.reports.document import Line, Table, filled
from mawl.reports.layout import ABSENT, Form, figure
from mawl.reports.night import held_said, night_clock

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


def short_tables(replay: Replay, most: int) -> list[Table]:
    """For a screen: the steps and the programs that changed most."""
    return [
        _short("step", [(_step_name(step), step.figures) for step in replay.steps[:most]], len(replay.steps)),
        _short(
            "program",
            [(one_line(program.program), program.figures) for program in replay.programs[:most]],
            len(replay.programs),
        ),
    ]


def tables(replay: Replay, most: int) -> list[Table]:
    """All tables; of steps at most ``most``, those that changed most."""
    return filled(figures(replay), steps(replay, most), programs(replay), chains(replay), closeness(replay))


def figures(replay: Replay) -> Table:
    """Sums over all steps."""
    rows = []
    for name, title in TITLES.items():
        one: FigurePair = getattr(replay.total, name)
        form = FORMS[name]
        rows.append((title, figure(one.logs, form), figure(one.run, form), figure(one.ratio, format_ratio)))
    return Table(
        name="figures",
        title="all steps",
        head=("all steps", "logs", "run", "run over logs"),
        rows=rows,
        note=LONG_NOTE.partition("; ")[2],
    )


def steps(replay: Replay, most: int) -> Table:
    """Step by step, sorted by the change of real time, the largest first."""
    shown = replay.steps[:most]
    more = len(replay.steps) - len(shown)
    return Table(
        name="steps",
        title="steps, those first that changed the real time of the night most",
        head=("step", *TITLES.values()),
        rows=[(_step_name(one), *_cells(one.figures)) for one in shown],
        note=LONG_NOTE
        + (f"; {counted_noun(more, 'more step')} changed less (--format json)" if more else ""),
    )


def programs(replay: Replay) -> Table:
    """Programs, summed."""
    return Table(
        name="programs",
        title="programs, those first that changed most",
        head=("program", "jobs", "steps", *TITLES.values()),
        rows=[
            (one_line(program.program), str(program.jobs), str(program.steps), *_cells(program.figures))
            for program in replay.programs
        ],
        note=LONG_NOTE,
    )


def chains(replay: Replay) -> Table:
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
    return Table(
        name="chains",
        title="the chain of jobs that ended last",
        head=("job", "started", "ended", "ran"),
        rows=rows,
        note="on the clock of the night; each job of a chain started when the one before it had ended",
    )


def closeness(replay: Replay) -> Table:
    """How near single steps come."""
    return Table(
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


def _short(noun: str, shown: Sequence[tuple[str, Figures]], every: int) -> Table:
    rows = []
    for name, found in shown:
        real = found.real_seconds
        change = None if real.logs is None or real.run is None else real.run - real.logs
        parts: list[FigurePair] = [getattr(found, short_ratio) for short_ratio in SHORT_RATIOS]
        rows.append(
            (
                name,
                figure(real.logs, format_seconds),
                figure(real.run, format_seconds),
                ABSENT if change is None else signed_seconds(change),
                *(figure(part.ratio, format_ratio) for part in parts),
            )
        )
    more = every - len(shown)
    return Table(
        name=f"{noun}s",
        title=f"{noun}s that changed most",
        head=(noun, "logs", "run", "change", *SHORT_RATIOS.values()),
        rows=rows,
        note=f"and {counted_noun(more, f'more {noun}')} (--all)" if more else "",
        spare=("change", "logs", "run"),
    )


def _cells(found: Figures) -> list[str]:
    """``1.20 s -> 1.50 s (1.25)`` of each figure."""
    cells = []
    for name in TITLES:
        one: FigurePair = getattr(found, name)
        form = FORMS[name]
        ratio = "" if one.ratio is None else f" ({format_ratio(one.ratio)})"
        both = f"{figure(one.logs, form)} -> {figure(one.run, form)}{ratio}"
        cells.append(ABSENT if one.logs is None and one.run is None else both)
    return cells


def _step_name(step: ReplayedStep) -> str:
    return f"{one_line(step.job)} {one_line(step.step)}"


NOT_A_FINDING = (
    "the difference also contains that between SAS and mawl's kernels, and that of the two machines, so it "
    "does not say whether storage is better or worse; compare runs with runs for that"
)
CLOSE_AREA_RATIO = 0.1
"""The goal for jobs that were derived from the logs of a mawl run: areas differ by at most this."""
MOST_OF_CHAIN = 4
"""A line names at most so many jobs of a chain, the last ones."""


def sentence(replay: Replay) -> str:
    """The answer: time of the steps on both sides, and whether the night was held."""
    real, counted = replay.total.real_seconds, replay.counted
    failed = f"{counted.not_finished} of {counted_noun(counted.matched, 'job')} did not finish; "
    where = f"{counted_noun(counted.steps, 'step')} of {counted_noun(counted.jobs, 'job')}"
    if real.run is None or real.logs is None:
        said = f"{replay.run} ran {where} of the logs, and one side has no real time of them"
    else:
        change = "" if real.ratio is None else f", {format_change(real.ratio - 1.0)}"
        scaled = "" if replay.scale == 1.0 else f" (times {format_plain(replay.scale)})"
        said = (
            f"{where} took {format_seconds(real.run)} in {replay.run}{change} against the "
            f"{format_seconds(real.logs)} of the logs{scaled}"
        )
    said = failed + said if counted.not_finished else said
    night = night_text(replay.run_night)
    if night is None:
        return said
    before = night_text(replay.logs_night)
    return f"{said}; the night was {night}" + (f", in the logs {before}" if before is not None else "")


def night_text(night: NightOfSide | None) -> str | None:
    """``held with 12 min to spare``; None if no window was named or the night is not judged."""
    if night is None or night.spare_seconds is None:
        return None
    if night.not_finished:
        return f"missed, as {counted_noun(night.not_finished, 'job')} did not finish"
    return held_said(night.spare_seconds)


def remarks(replay: Replay, not_judged: str | None, core_speed: bool) -> list[str]:
    """What a reader must know of the jobs that are compared and of the figures of the logs."""
    return [*_of_jobs(replay), *_of_figures(replay, core_speed), *_of_night(replay, not_judged)]


def _of_jobs(replay: Replay) -> Iterator[str]:
    counted = replay.counted
    if counted.matched < counted.run_jobs:
        yield (
            f"{counted.run_jobs - counted.matched} of {counted_noun(counted.run_jobs, 'job')} of the run are "
            "left out: no job of the logs has their steps, times and rows"
        )
    if counted.matched < counted.logs_jobs:
        yield (
            f"{counted.logs_jobs - counted.matched} of {counted_noun(counted.logs_jobs, 'job')} of the logs "
            "are left out: no job of the run was derived from them (--night, --only, --without)"
        )
    if counted.by_order:
        yield (
            f"{counted_noun(counted.by_order, 'job')} were matched by their order: others have the same "
            "steps and times"
        )
    if counted.not_finished:
        yield (
            f"{counted.not_finished} of {counted_noun(counted.matched, 'job')} did not finish with a right "
            "answer and are left out of steps, programs and jobs at a time"
        )
    if counted.steps_missing:
        yield f"the run has no record of {counted_noun(counted.steps_missing, 'step')}"


def _of_figures(replay: Replay, core_speed: bool) -> Iterator[str]:
    if replay.scale != 1.0:
        yield (
            f"figures of the logs are shown times {format_plain(replay.scale)}, the scale of the run; caches "
            "and fixed costs do not shrink with it"
        )
    if replay.growth != 1.0:
        yield (
            f"CPU time, bytes, and memory that grows with rows are those of the logs times "
            f"{format_plain(replay.growth)} (mawl derive --growth); real time is not, so the run has more to "
            "do in that time"
        )
    if core_speed:
        yield "CPU time of the run is that of its own cores, as mawl derive --core-speed asked"
    if replay.total.moved_bytes.run is None:
        yield "bytes are not compared: the run did not count I/O by role"


def _of_night(replay: Replay, not_judged: str | None) -> Iterator[str]:
    if not_judged is not None:
        yield f"the night and the jobs at a time are not compared: {not_judged}"
    elif replay.due_seconds is None:
        yield "no window was named (mawl derive --night), so no night is held or missed"
    elif replay.run_night is None:
        yield "no job of the run has ended, so the night is not judged"


def lines(replay: Replay) -> list[Line]:
    """The lines at the head of every form."""
    found = [("measured", replay.sentence), ("no finding", replay.not_a_finding)]
    for name, night in (("logs", replay.logs_night), ("run", replay.run_night)):
        if night is not None:
            found.append((name, _night(night)))
    at_once = replay.jobs_at_once
    if at_once is not None and at_once.area_difference_ratio is not None:
        near = "within" if at_once.area_difference_ratio <= CLOSE_AREA_RATIO else "more than"
        between = at_once.area_between_ratio or 0.0
        most = counted_noun(at_once.run_peak, "job")
        found.append(
            (
                "at a time",
                f"at most {most} in the run, {at_once.logs_peak} in the logs; "
                f"the areas under the two curves ({format_plain(at_once.run_job_seconds)} and "
                f"{format_plain(at_once.logs_job_seconds)} job seconds) differ by "
                f"{format_percent(at_once.area_difference_ratio)} of that of the logs ({near} "
                f"{format_percent(CLOSE_AREA_RATIO)}), and the area between the curves is "
                f"{format_percent(between)} of it",
            )
        )
    return [*found, *(("remark", text) for text in replay.remarks)]


def _night(night: NightOfSide) -> str:
    held = night_text(night)
    chain = ", then ".join(one.program for one in night.chain[-MOST_OF_CHAIN:])
    more = "..., then " if len(night.chain) > MOST_OF_CHAIN else ""
    return (
        f"{night_clock(night.started_seconds)} to {night_clock(night.ended_seconds)} on the night's clock"
        f"{'' if held is None else f', {held}'}; the chain that ended last: {more}{chain}"
    )
