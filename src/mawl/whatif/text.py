"""The answers of ``mawl simulate`` as text: a prediction, and forecasts next to published figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from mawl.base.units import (
    counted_noun,
    format_bytes,
    format_change,
    format_latency,
    format_percent,
    format_plain,
    format_rate,
    format_ratio,
    format_seconds,
)
from mawl.reports.document import Block, Part, Sentences, Table, each
from mawl.reports.layout import ABSENT, figure
from mawl.whatif.published_comparison import NEAR_RATIO
from mawl.whatif.records import (
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
    "cpu": "on processors",
    "cores": "waiting for processors",
    "alone.data": "data, even alone",
    "alone.work": "work, even alone",
    "alone.util": "util, even alone",
    "alone.other": "other waits",
}
"""What jobs spent their time on, in words; the rest is waiting for the resource of that name."""

OTHER_LIMITS = {
    "none": "nothing, jobs mostly compute",
    "mixed": "several resources",
    "memory": "too little memory",
}


def parts(answer: SimulationAnswer) -> list[Part]:
    """The prediction, its validity, what limits it, and what more of each resource would gain."""
    rates = [
        f"{rate.device} {rate.direction}: {figure(rate.bytes_per_second, format_rate)} ({rate.ground})"
        for rate in answer.rates
    ]
    devices = Sentences(["what the devices of the measured system can do:"])
    return [
        Part(_prediction(answer.prediction)),
        Part([Sentences(_validity(answer.validity))]),
        Part([block for phase in answer.phases for block in _phase(phase)]),
        Part(_sensitivity(answer.sensitivity)),
        Part([devices, Sentences(rates)]),
        *([Part(_grown(answer.grow, answer.knee_sessions))] if answer.grow else []),
        *(each(_against(answer.against)) if answer.against else []),
    ]


def _prediction(predicted: Prediction) -> list[Block]:
    times = (
        ("elapsed", predicted.elapsed_seconds, predicted.measured_elapsed_seconds),
        ("real time, all jobs", predicted.real_time_seconds, predicted.measured_real_time_seconds),
    )
    rates = (
        ("peak at devices", predicted.device_peak_bytes_per_second),
        ("sustained at devices", predicted.device_sustained_bytes_per_second),
    )
    rows = [(name, *(figure(one, format_seconds) for one in pair)) for name, *pair in times]
    rows += [(name, figure(rate, format_rate), "") for name, rate in rates]
    nodes = counted_noun(predicted.nodes, "node")
    head = f"{predicted.jobs} jobs in {predicted.sessions} sessions on {nodes}"
    return [Sentences([head]), Table(head=("", "predicted", "measured run"), rows=rows)]


def _validity(validity: ForecastValidity) -> list[str]:
    checked = _between(validity.range)
    lines = [] if checked is None else [checked]
    by_logs = _between(validity.logs_range)
    if by_logs is not None:
        lines.append(f"{by_logs}: logs do not say how much of the waiting was I/O")
    no_range = "no range" if by_logs is None else "not checked"
    lines += [f"{no_range}: {reason}" for reason in validity.reasons]
    missed = validity.calibration_error_ratio
    if missed is not None:
        lines.append(f"the run itself, simulated: {format_change(missed)} of its elapsed time")
    lines += [f"the run lacks {lack}" for lack in validity.lacks]
    return [*lines, *(f"assumed: {text}" for text in validity.assumptions)]


def _between(elapsed: ElapsedRange) -> str | None:
    low, high = elapsed.low_seconds, elapsed.high_seconds
    if low is None or high is None:
        return None
    return f"elapsed between {format_seconds(low)} and {format_seconds(high)}"


def _phase(phase: PhaseLimit) -> list[Block]:
    shares = sorted(phase.shares.items(), key=lambda pair: -pair[1])
    listed = [
        f"{format_percent(share)} {LIMITS.get(name, f'waiting for {name}')}"
        for name, share in shares
        if share >= 0.005
    ]
    what = OTHER_LIMITS.get(phase.limit, phase.limit)
    limit = Sentences([f"{phase.phase} phase: limited by {what}"])
    return [limit, Sentences(listed, indent="  ")]


def _sensitivity(doubled: Sequence[DoubledResource]) -> list[Block]:
    rows = [
        (row.resource, figure(row.elapsed_seconds, format_seconds), figure(row.gain_ratio, format_change))
        for row in doubled
    ]
    reasons = dict.fromkeys(f"no number: {row.reason}" for row in doubled if row.reason)
    return [Table(head=("twice the", "elapsed", "gain"), rows=rows), Sentences([*reasons])]


def _grown(grown: Sequence[GrownSessions], knee: int | None) -> list[Block]:
    rows = [
        (
            str(row.sessions),
            str(row.jobs),
            format_seconds(row.elapsed_seconds),
            format_plain(row.jobs_per_hour, 4),
            "yes" if row.pays else "no",
        )
        for row in grown
    ]
    where = f"the knee is at {knee} sessions" if knee is not None else "no knee among these"
    return [
        Table(head=("sessions", "jobs", "elapsed", "jobs an hour", "pays"), rows=rows),
        Sentences([where]),
    ]


def _against(predicted: Sequence[PredictedFigure]) -> Table:
    rows = []
    for row in predicted:
        form = format_seconds if row.figure.endswith("_seconds") else format_rate
        if row.figure == "limit.verdict":
            right = {True: "right", False: "wrong", None: ABSENT}[row.agrees]
            rows.append((row.figure, str(row.predicted or ABSENT), str(row.measured or ABSENT), right))
            continue
        error = ABSENT if row.error_ratio is None else format_change(row.error_ratio)
        rows.append((row.figure, figure(row.predicted, form), figure(row.measured, form), error))
    return Table(head=("figure", "predicted", "measured", "error"), rows=rows)


HEAD = ("system", "figure", "published", "predicted", "error")
PAIR_HEAD = ("from", "to", "figure", "published", "predicted", "direction", "unseen", "Amdahl", "roofline")
CHANGE_HEAD = ("forecast", "changes", "right direction", "within 15 %")
SCORE_HEAD = ("paper", "figures", "model", "unseen", "no change", "Amdahl", "roofline", "nearest")

LEGEND = (
    "*: the six numbers were fitted on this system; all other rows are predictions. -: the model does not "
    "give the figure, and a line below says why."
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


def published_parts(forecasts: PublishedForecasts) -> list[Part]:
    """What ``mawl simulate --published`` prints."""
    return [
        *each(_grouped(HEAD, map(row_cells, forecasts.rows), 1)),
        Part([Sentences([LEGEND]), Sentences(reasons(forecasts.rows))]),
        *each(_grouped(PAIR_HEAD, map(pair_cells, forecasts.pairs), 2)),
        *each(Sentences([PAIR_LEGEND])),
        *each(Table(head=CHANGE_HEAD, rows=list(map(change_cells, forecasts.changes)))),
        *each(Sentences([CHANGE_LEGEND])),
        *each(Table(head=SCORE_HEAD, rows=list(map(score_cells, forecasts.scores)))),
        *each(Sentences([SCORE_LEGEND]), Sentences(standing(forecasts))),
    ]


def _grouped(head: tuple[str, ...], rows: Iterable[Sequence[str]], names: int) -> Table:
    """Rows that begin with the figure, below a row with the system or pair: the first ``names`` cells."""
    grouped: list[tuple[str, ...]] = []
    group: Sequence[str] = ()
    for row in rows:
        if row[:names] != group:
            group = row[:names]
            grouped.append((" to ".join(group), *[""] * (len(row) - names - 1)))
        grouped.append((f"  {row[names]}", *row[names + 1 :]))
    return Table(head=head[names:], rows=grouped)


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
        *(f"{error:.2f}" for error in errors),
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
        lines.append(f"figures {words}: {near} of {len(errors)} within {format_percent(NEAR_RATIO)}")
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
