"""The answers of ``mawl simulate`` as text: a prediction, and forecasts next to published figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from mawl.base.units import (
    format_bytes,
    format_change,
    format_latency,
    format_percent,
    format_rate,
    format_ratio,
    format_seconds,
)
from mawl.importers.formats.text import one_line
from mawl.reports.layout import ABSENT, LINE_WIDTH, figure, stacked, wrapped
from mawl.whatif.published_comparison import NEAR_RATIO
from mawl.whatif.records import (
    DeviceRate,
    DoubledResource,
    ElapsedRange,
    ForecastValidity,
    GrownSessions,
    PhaseLimit,
    PredictedFigure,
    Prediction,
    PublishedChanges,
    PublishedForecasts,
    PublishedPair,
    PublishedRow,
    PublishedScore,
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
        ["what the devices of the measured system can do:", *_rates(answer.rates, width)],
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
        (
            one_line(row.resource),
            figure(row.elapsed_seconds, format_seconds),
            figure(row.gain_ratio, format_change),
        )
        for row in rows
    ]
    reasons = dict.fromkeys(f"no number: {one_line(row.reason)}" for row in rows if row.reason)
    return [*stacked(cells, width), *(line for text in reasons for line in wrapped(text, width, "  "))]


def _rates(rates: Sequence[DeviceRate], width: int) -> list[str]:
    return [
        line
        for one in rates
        for line in wrapped(
            f"{one_line(one.device)} {one.direction}: {figure(one.bytes_per_second, format_rate)} "
            f"({one_line(one.ground)})",
            width,
            "  ",
        )
    ]


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


HEAD = ("system", "figure", "published", "predicted", "error")
PAIR_HEAD = ("from", "to", "figure", "published", "predicted", "direction", "unseen", "Amdahl", "roofline")
CHANGE_HEAD = ("forecast", "changes", "right direction", "within 15 %")
SCORE_HEAD = ("paper", "figures", "model", "unseen", "no change", "Amdahl", "roofline", "nearest")

LEGEND = (
    "*: the six numbers were fitted on this system; all other rows are predictions. -: the model does not "
    "give the figure, and a line below says why. Inputs, assumptions, equations: "
    "docs/design/published-forecasts.md."
)

PAIR_LEGEND = (
    "unseen: predicted with six numbers that were fitted without this paper (without dl980-ioscale-2014 no "
    "figure depends on waiting_cpu_ratio, so it keeps its starting value). Amdahl: CPU time follows the "
    "speed of a core, the rest of real time the rate of the storage; -: the paper does not print both times. "
    "roofline: declared work over what processors and storage can do. +: not in the errors below, because "
    "the figure follows from the jobs alone or repeats another figure."
)
CHANGE_LEGEND = (
    "changes: those of 5 % or more that the papers print, without the sustained rate over the cores, which "
    "repeats the sustained rate. right direction: the forecast changes by 5 % or more the same way. within "
    "15 %: the forecast's second figure over its first is within 15 % of the published one. Where Amdahl's "
    "rule has no forecast, it counts as no change."
)
SCORE_LEGEND = (
    "How far the counted figures of pairs are off: the mean of |ln(predicted/published)|; 0.10 is about "
    "10 %. Where the model (unseen) is not nearer than every simple rule, the last column names the rule "
    "to use instead."
)


def render_published(forecasts: PublishedForecasts, width: int = LINE_WIDTH) -> str:
    """What ``mawl simulate --published`` prints, in lines of ``width``."""
    lines = stacked(_grouped(HEAD, map(row_cells, forecasts.rows), 1), width)
    lines += ["", *wrapped(LEGEND, width, "")]
    lines += [line for why in reasons(forecasts.rows) for line in wrapped(why, width, "  ")]
    lines.append("")
    lines += stacked(_grouped(PAIR_HEAD, map(pair_cells, forecasts.pairs), 2), width)
    lines += ["", *wrapped(PAIR_LEGEND, width, ""), ""]
    lines += stacked([CHANGE_HEAD, *map(change_cells, forecasts.changes)], width)
    lines += ["", *wrapped(CHANGE_LEGEND, width, ""), ""]
    lines += stacked([SCORE_HEAD, *map(score_cells, forecasts.scores)], width)
    lines += ["", *wrapped(SCORE_LEGEND, width, "")]
    return "\n".join([*lines, "", *standing(forecasts)]) + "\n"


def _grouped(head: Sequence[str], rows: Iterable[Sequence[str]], names: int) -> list[Sequence[str]]:
    """Rows that begin with the figure, below a row with the system or pair: the first ``names`` cells."""
    found: list[Sequence[str]] = [head[names:]]
    group: Sequence[str] = ()
    for row in rows:
        if row[:names] != group:
            group = row[:names]
            found.append((" to ".join(group), *[""] * (len(row) - names - 1)))
        found.append((f"  {row[names]}", *row[names + 1 :]))
    return found


def row_cells(row: PublishedRow) -> tuple[str, ...]:
    """System, figure, published, predicted, error."""
    form = form_of(row.figure)
    error = row.error_ratio
    return (
        row.system + ("*" if row.fitted else ""),
        row.figure,
        _cell(row.published, form),
        _cell(row.predicted, form),
        "" if error is None else format_change(error),
    )


def pair_cells(pair: PublishedPair) -> tuple[str, ...]:
    """Reference, candidate, figure, both changes, whether the direction is right, and what others say."""
    return (
        pair.reference,
        pair.candidate,
        pair.figure + ("" if pair.counted else "+"),
        format_change(pair.published_change_ratio),
        _change(pair.predicted_change_ratio),
        {True: "right", False: "WRONG", None: "-"}[pair.right],
        _change(pair.unseen_change_ratio),
        _change(pair.amdahl_change_ratio),
        _change(pair.roofline_change_ratio),
    )


def change_cells(changes: PublishedChanges) -> tuple[str, ...]:
    """What forecasts, the number of changes, and how many it has right and near."""
    return changes.forecast, *(str(one) for one in (changes.figures, changes.right, changes.near))


def score_cells(score: PublishedScore) -> tuple[str, ...]:
    """Paper or group of pairs, number of figures, five mean errors, and the nearest."""
    rule, error = score.best_rule
    errors = (
        score.model_error,
        score.unseen_error,
        score.no_change_error,
        score.amdahl_error,
        score.roofline_error,
    )
    return (
        score.paper or ("all" if score.fitted is None else "on no fitted system"),
        str(score.figures),
        *(f"{one:.2f}" for one in errors),
        "the model" if score.unseen_error < error else rule,
    )


def _change(value: float | None) -> str:
    return "-" if value is None else format_change(value)


def reasons(rows: Sequence[PublishedRow]) -> list[str]:
    """Why figures have no prediction, each reason once, with how many rows it has."""
    counts: dict[str, int] = {}
    for row in rows:
        if row.reason is not None:
            counts[row.reason] = counts.get(row.reason, 0) + 1
    return [f"no prediction for {count} figures: {reason}" for reason, count in counts.items()]


def standing(forecasts: PublishedForecasts) -> list[str]:
    """How many rows are near, how many pairs have the right direction."""
    lines = []
    for words, fitted in (("predicted", False), ("of fitted systems", True)):
        errors = [
            row.error_ratio for row in forecasts.rows if row.fitted is fitted and row.error_ratio is not None
        ]
        near = sum(abs(error) <= NEAR_RATIO for error in errors)
        lines.append(f"figures {words}: {near} of {len(errors)} within {NEAR_RATIO:.0%}")
    pairs = [pair.right for pair in forecasts.pairs if pair.right is not None]
    right = sum(pairs)
    return [*lines, f"pairs with the right direction: {right} of {len(pairs)}"]


def form_of(figure: str) -> Callable[[float], str]:
    """How a figure is written, by the end of its name."""
    if figure.startswith(("change.", "latency.")):
        return format_latency if figure.startswith("latency.") else format_ratio
    ends: tuple[tuple[tuple[str, ...], Callable[[float], str]], ...] = (
        (("bytes_per_second", "bytes_per_second_per_core"), format_rate),
        (("_bytes",), format_bytes),
        (("_seconds",), format_seconds),
    )
    return next((form for names, form in ends if figure.endswith(names)), format_ratio)


def _cell(value: object, form: Callable[[float], str]) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return f"{form(value['low'])} to {form(value['high'])}"
    return form(value) if isinstance(value, int | float) else str(value)
