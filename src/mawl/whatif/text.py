"""The answer of ``mawl simulate`` as text."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.formats.lines import one_line
from mawl.reporters.columns import LINE_WIDTH, stacked, wrapped
from mawl.reporters.figure import ABSENT, figure
from mawl.units import format_change, format_percent, format_rate, format_seconds
from mawl.whatif.metrics import (
    DoubledResource,
    ElapsedRange,
    ForecastValidity,
    GrownSessions,
    PhaseLimit,
    PredictedFigure,
    Prediction,
    SimulationAnswer,
)

LIMITS = {
    "cpu": "computing",
    "cores": "waiting for a core",
    "alone.data": "blocked in data, even alone",
    "alone.work": "blocked in work, even alone",
    "alone.util": "blocked in util, even alone",
    "alone.other": "blocked elsewhere",
}
"""What jobs spent their time on, in words; the rest is waiting for the resource of that name."""


def render(answer: SimulationAnswer, width: int = LINE_WIDTH) -> str:
    """The prediction, its validity, what limits it, and what more of each resource would gain.

    Lines have at most ``width`` characters.
    """
    parts = [
        _prediction(answer.prediction, width),
        _validity(answer.validity, width),
        _phases(answer.phases, width),
        _sensitivity(answer.sensitivity, width),
    ]
    if answer.grow:
        parts.append(_grown(answer.grow, answer.knee_sessions, width))
    if answer.against:
        parts.append(_against(answer.against, width))
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _prediction(made: Prediction, width: int) -> list[str]:
    rows: list[Sequence[str]] = [("", "predicted", "measured run")]
    for title, ours, theirs in (
        ("elapsed", made.elapsed_seconds, made.measured_elapsed_seconds),
        ("real time, all jobs", made.real_time_seconds, made.measured_real_time_seconds),
    ):
        rows.append((title, figure(ours, format_seconds), figure(theirs, format_seconds)))
    for title, rate in (
        ("peak at devices", made.device_peak_bytes_per_second),
        ("sustained at devices", made.device_sustained_bytes_per_second),
    ):
        rows.append((title, figure(rate, format_rate), ""))
    head = f"{made.jobs} jobs in {made.sessions} sessions on {made.nodes} node(s)"
    return [*wrapped(head, width, "  "), *stacked(rows, width)]


def _validity(validity: ForecastValidity, width: int) -> list[str]:
    checked = _between(validity.range)
    lines = [] if checked is None else [checked]
    by_logs = _between(validity.logs_range)
    if by_logs is not None:
        lines.append(f"{by_logs}: logs do not say how much of the waiting was I/O")
    no_range = "no range" if by_logs is None else "not checked"
    lines += [f"{no_range}: {one_line(reason)}" for reason in validity.reasons]
    missed = validity.calibration_error_ratio
    if missed is not None:
        lines.append(f"the run itself, simulated: {format_change(missed)} of its elapsed time")
    lines += [f"the run lacks {one_line(lack)}" for lack in validity.lacks]
    lines += [f"assumed: {one_line(text)}" for text in validity.assumptions]
    return [line for text in lines for line in wrapped(text, width, "  ")]


def _between(elapsed: ElapsedRange) -> str | None:
    low, high = elapsed.low_seconds, elapsed.high_seconds
    if low is None or high is None:
        return None
    return f"elapsed between {format_seconds(low)} and {format_seconds(high)}"


def _phases(phases: Sequence[PhaseLimit], width: int) -> list[str]:
    lines = []
    for phase in phases:
        lines.append(f"{phase.phase} phase: limited by {one_line(phase.limit)}")
        shares = sorted(phase.shares.items(), key=lambda pair: -pair[1])
        lines += [
            f"  {format_percent(share)} {LIMITS.get(name, f'waiting for {one_line(name)}')}"
            for name, share in shares
            if share >= 0.005
        ]
    return [line for text in lines for line in wrapped(text, width, "    ")]


def _sensitivity(rows: Sequence[DoubledResource], width: int) -> list[str]:
    cells: list[Sequence[str]] = [("twice the", "elapsed", "gain")]
    cells += [
        (one_line(row.resource), format_seconds(row.elapsed_seconds), format_change(row.gain_ratio))
        for row in rows
    ]
    return stacked(cells, width)


def _grown(rows: Sequence[GrownSessions], knee: int | None, width: int) -> list[str]:
    cells: list[Sequence[str]] = [("sessions", "jobs", "elapsed", "jobs an hour", "pays")]
    cells += [
        (
            str(row.sessions),
            str(row.jobs),
            format_seconds(row.elapsed_seconds),
            f"{row.jobs_per_hour:.4g}",
            "yes" if row.pays else "no",
        )
        for row in rows
    ]
    told = f"the knee is at {knee} sessions" if knee is not None else "no knee among these"
    return [*stacked(cells, width), told]


def _against(rows: Sequence[PredictedFigure], width: int) -> list[str]:
    cells: list[Sequence[str]] = [("figure", "predicted", "measured", "error")]
    for row in rows:
        form = format_seconds if row.figure.endswith("_seconds") else format_rate
        if row.figure == "limit.verdict":
            right = {True: "right", False: "wrong", None: ABSENT}[row.agrees]
            cells.append((row.figure, str(row.predicted or ABSENT), str(row.measured or ABSENT), right))
            continue
        error = ABSENT if row.error_ratio is None else format_change(row.error_ratio)
        cells.append((row.figure, figure(row.predicted, form), figure(row.measured, form), error))
    return stacked(cells, width)
