"""The night of a run of derived jobs as text: was it held, by which chain of jobs, and what took longer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mawl.base.units import counted_noun, format_seconds
from mawl.figures.night import (
    JobOfNight,
    NightOfRun,
    StepOverLogs,
    derived_jobs_of,
    night_of,
    over_logs,
    why_not_judged,
)
from mawl.importers.formats.text import one_line
from mawl.records.store import Run
from mawl.reports.layout import aligned
from mawl.reports.run_lines import labelled

MOST_STEPS = 10
MOST_OF_CHAIN = 12


def render(run: Run) -> str:
    """What a run says of its night."""
    lines = [("run", f"{run.facts.run_id} ({run.facts.kind})")]
    derived = derived_jobs_of(run)
    records = run.job_records()
    if not derived:
        lines.append(("night", "not known: the run has no derived jobs; mawl derive makes them of logs"))
        return "\n".join(line for name, text in lines for line in labelled(name, text))
    reason = why_not_judged(run)
    night = None if reason else night_of(records, derived)
    if night is None:
        why = reason or "no job was due by a time of the night (mawl derive --night), or none has finished"
        lines.append(("night", f"not known: {why}"))
    else:
        lines += _night(night)
    parts = ["\n".join(line for name, text in lines for line in labelled(name, text))]
    if night is not None:
        parts.append("\n".join(_chain(night.chain)))
    if steps := over_logs(run.step_records(), records, derived):
        parts.append("\n".join(_steps(steps)))
    return "\n\n".join(parts)


def held_said(spare_seconds: float) -> str:
    """``held with 12 min 00 s to spare``, or ``missed by 12 min 00 s`` if ``spare_seconds`` is negative."""
    spare = format_seconds(abs(spare_seconds))
    return f"missed by {spare}" if spare_seconds < 0 else f"held with {spare} to spare"


def _night(night: NightOfRun) -> Iterator[tuple[str, str]]:
    due = night_clock(night.due_seconds)
    if night.not_finished:
        jobs = counted_noun(night.not_finished, "job")
        yield "night", f"missed: {jobs} of {night.jobs} did not finish"
    else:
        yield (
            "night",
            f"{held_said(night.spare_seconds)}: due {due} after the night began, as all times below",
        )
    if night.late:
        yield "late", f"{night.late} of {counted_noun(night.jobs, 'job')} ended after they were due"
    if (spare := night.logs_spare_seconds) is not None:
        yield "logs", f"in the logs the night was {held_said(spare)}"


def _chain(chain: Sequence[JobOfNight]) -> list[str]:
    """The decisive chain, its last jobs where it is long."""
    rows: list[Sequence[str]] = [("chain that decided", "started", "because of", "ran", "in the logs")]
    shown = chain[-MOST_OF_CHAIN:]
    for one in shown:
        logs = "-" if one.logs_seconds is None else format_seconds(one.logs_seconds)
        because = "the clock" if one.waited_for_clock else "the job before"
        ran = format_seconds(one.ended - one.started)
        rows.append((one_line(one.job), night_clock(one.started), because, ran, logs))
    lines = aligned(rows)
    if len(shown) < len(chain):
        lines.insert(1, f"{counted_noun(len(chain) - len(shown), 'job')} before")
    return lines


def _steps(steps: Sequence[StepOverLogs]) -> list[str]:
    """The steps that took longest over the logs."""
    rows: list[Sequence[str]] = [("step", "ran", "in the logs", "times")]
    for step in steps[:MOST_STEPS]:
        times = f"{step.seconds / step.logs_seconds:.2f}" if step.logs_seconds else "-"
        name = f"{one_line(step.job)} {one_line(step.step)}"
        rows.append((name, format_seconds(step.seconds), format_seconds(step.logs_seconds), times))
    lines = aligned(rows)
    if len(steps) > MOST_STEPS:
        lines.append(f"and {counted_noun(len(steps) - MOST_STEPS, 'more step')}")
    return lines


def night_clock(seconds: float) -> str:
    """A time of the night's clock: hours, minutes and seconds since it began."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
