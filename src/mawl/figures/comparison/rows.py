"""The rows of a comparison: the papers' delta table for runs, and a short one for published results.

A published result has figures per core and ratios that do not depend on the size of a machine (``per_core``
and ``shape``).  Here the same figures are computed from the summary of a run, under the same names.
"""

from __future__ import annotations

from collections.abc import Callable
from math import expm1
from typing import Literal, get_args

import msgspec

from mawl.figures.comparison.comparability import Unjudged, accounting, compares_devices, core_basis
from mawl.figures.comparison.sides import ComparedRun, Side, at, centre, change, logs, same
from mawl.figures.published import over, plus
from mawl.figures.statistics import Effect, Interval, effect_of, holm, interval_of
from mawl.figures.throughput import cores_of
from mawl.records.definitions import Unit
from mawl.records.model.published import PaperRange, PublishedFigures

Verdict = Literal["higher", "lower", "not told apart", "not judged"]
Needs = Literal["", "CPU", "device", "cores", "reference"]
"""What must be counted alike on both sides for a figure to be compared."""


class ComparedFigure(msgspec.Struct, frozen=True):
    """A row of the table: ``path`` in the summary; ``judged`` ones make up the family of decisions."""

    title: str
    path: str
    unit: Unit
    needs: Needs = ""
    judged: bool = False


class FigureChange(msgspec.Struct, frozen=True, kw_only=True):
    """A figure on both sides (geometric means over runs; of ratios, plain means) and its change.

    ``reason`` says why there is no value or no comparison; interval, smallest effect and verdict
    are there for judged figures of sides that are judged.
    """

    title: str
    name: str
    unit: Unit
    reference: float | None
    candidate: float | None
    change_ratio: float | None
    verdict: Verdict = "not judged"
    low_ratio: float | None = None
    high_ratio: float | None = None
    smallest_effect_ratio: float | None = None
    reason: str | None = None


AnswerName = Literal["slowdown", "delivered_cores"]
AnswerVerdict = Literal["higher", "lower", "equal within the range", "not judged"]


class AnswerChange(msgspec.Struct, frozen=True, kw_only=True):
    """W (``slowdown``) or the delivered cores of both sides, each the runs' mean with its range.

    ``change_ratio`` is candidate over reference less 1, ``low_ratio`` to ``high_ratio`` its 95 % interval
    where the sides are judged.  They are equal within the range if that interval has no change in it, or the
    ranges of sides that are not judged overlap.  ``reason`` says why they are not compared.
    """

    name: AnswerName
    reference: Interval | None
    candidate: Interval | None
    change_ratio: float | None = None
    low_ratio: float | None = None
    high_ratio: float | None = None
    verdict: AnswerVerdict = "not judged"
    reason: str | None = None


RATE: Unit = "bytes per second"

FIGURES: tuple[ComparedFigure, ...] = (
    ComparedFigure("slowdown", "answer.slowdown", "ratio", "reference"),
    ComparedFigure("delivered cores", "answer.delivered_cores", "ratio", "reference"),
    ComparedFigure("elapsed", "time.elapsed_seconds", "seconds", judged=True),
    ComparedFigure("real time, sum of all jobs", "time.real_time_seconds", "seconds", judged=True),
    ComparedFigure("CPU", "time.cpu_seconds", "seconds", "CPU"),
    ComparedFigure("user CPU", "time.user_cpu_seconds", "seconds", "CPU", judged=True),
    ComparedFigure("system CPU", "time.system_cpu_seconds", "seconds", "CPU", judged=True),
    ComparedFigure("memory, all jobs", "time.memory_bytes", "bytes"),
    ComparedFigure("CPU/real of the sums", "cpu_real_ratio.of_sums", "ratio", "CPU"),
    ComparedFigure("CPU/real per job: mean", "cpu_real_ratio.mean", "ratio", "CPU"),
    ComparedFigure("CPU/real per job: deviation", "cpu_real_ratio.stddev", "ratio", "CPU"),
    ComparedFigure("CPU/real per job: range", "cpu_real_ratio.range", "ratio", "CPU"),
    ComparedFigure("application, mean", "io.application.run_mean.total_bytes_per_second", RATE, judged=True),
    ComparedFigure("application, peak", "io.application.peak.total_bytes_per_second", RATE),
    ComparedFigure("application, sustained", "io.application.sustained.total_bytes_per_second", RATE),
    ComparedFigure("device, mean", "io.device.run_mean.total_bytes_per_second", RATE, "device", judged=True),
    ComparedFigure("device, peak", "io.device.peak.total_bytes_per_second", RATE, "device"),
    ComparedFigure("device, sustained", "io.device.sustained.total_bytes_per_second", RATE, "device"),
    ComparedFigure(
        "device, sustained per core", "io.device.sustained_bytes_per_second_per_core", RATE, "cores"
    ),
    ComparedFigure("device, read share", "io.device.read_ratio", "ratio", "device"),
    ComparedFigure("processors busy", "host.cpu_busy_ratio", "ratio"),
)

UNLIKE: dict[Needs, str] = {
    "CPU": "the sides count CPU time differently",
    "device": "the sides count device bytes at different places",
    "cores": "the sides count cores differently",
    "reference": "the sides are measured by different reference times",
}


def figure_changes(reference: Side, candidate: Side, *, judged: bool) -> list[FigureChange]:
    """The table for two sides of runs; rows that neither side has are left out."""
    rows = [(figure, _row(figure, reference, candidate)) for figure in FIGURES]
    rows = [(figure, row) for figure, row in rows if (row.reference, row.candidate) != (None, None)]
    effects = _effects([figure for figure, _ in rows], reference, candidate) if judged else {}
    found = dict(zip(effects, holm([effect.p_value for effect in effects.values()]), strict=True))
    return [_judged(row, effects.get(figure.path), found.get(figure.path, False)) for figure, row in rows]


def answer_changes(reference: Side, candidate: Side, unjudged: Unjudged | None) -> list[AnswerChange]:
    """W and the delivered cores of two sides of runs; what neither has is left out."""
    rows = [_answer_change(name, reference, candidate, unjudged) for name in get_args(AnswerName)]
    return [row for row in rows if row.reference or row.candidate]


def answer_range(name: AnswerName, side: Side) -> Interval | None:
    """The runs' mean; None where a run lacks it, or jobs of a run do not count: W is then of other jobs."""
    whole = all(run.summary.jobs.counted == run.facts.workload.jobs for run in side.runs)
    return interval_of(side.values(f"answer.{name}")) if whole else None


def _answer_change(
    name: AnswerName, reference: Side, candidate: Side, unjudged: Unjudged | None
) -> AnswerChange:
    sides = (reference, candidate)
    before, after = (answer_range(name, side) for side in sides)
    row = AnswerChange(name=name, reference=before, candidate=after)
    if before is None or after is None:
        lacking = (reference if before is None else candidate).label
        return msgspec.structs.replace(row, reason=f"a job of {lacking} failed or has no reference time")
    if _unlike("reference", reference, candidate):
        return msgspec.structs.replace(row, reason=UNLIKE["reference"])
    row = msgspec.structs.replace(row, change_ratio=after.middle / before.middle - 1.0)
    if unjudged is None:
        before_runs, after_runs = (logs(side.values(f"answer.{name}")) for side in sides)
        effect = effect_of(before_runs, after_runs)
        word: AnswerVerdict = "higher" if effect.difference > 0 else "lower"
        return msgspec.structs.replace(
            row,
            low_ratio=expm1(effect.low),
            high_ratio=expm1(effect.high),
            verdict=word if effect.differs else "equal within the range",
        )
    overlap = before.low <= after.high and after.low <= before.high
    if overlap and unjudged.rule != "validity":
        return msgspec.structs.replace(row, verdict="equal within the range")
    return row


def _row(figure: ComparedFigure, reference: Side, candidate: Side) -> FigureChange:
    sides = (reference, candidate)
    plain = figure.unit == "ratio"
    before, after = (_centre(side.values(figure.path), plain) for side in sides)
    reason = None
    if before is None or after is None:
        lacking = " and ".join(
            side.label for side, value in zip(sides, (before, after), strict=True) if value is None
        )
        reason = f"not known of {lacking}"
    elif _unlike(figure.needs, reference, candidate):
        reason = UNLIKE[figure.needs]
    return FigureChange(
        title=figure.title,
        name=figure.path,
        unit=figure.unit,
        reference=before,
        candidate=after,
        change_ratio=None if reason else change(before, after),
        reason=reason,
    )


def _effects(figures: list[ComparedFigure], reference: Side, candidate: Side) -> dict[str, Effect]:
    values = {
        figure.path: (logs(reference.values(figure.path)), logs(candidate.values(figure.path)))
        for figure in figures
        if figure.judged and not _unlike(figure.needs, reference, candidate)
    }
    whole = {path: pair for path, pair in values.items() if pair[0] and pair[1]}
    return {path: effect_of(*pair, comparisons=len(whole)) for path, pair in whole.items()}


def _judged(row: FigureChange, effect: Effect | None, differs: bool) -> FigureChange:
    if effect is None:
        return row
    word: Verdict = "higher" if effect.difference > 0 else "lower"
    return msgspec.structs.replace(
        row,
        verdict=word if differs else "not told apart",
        low_ratio=expm1(effect.low),
        high_ratio=expm1(effect.high),
        smallest_effect_ratio=expm1(effect.smallest),
    )


def _unlike(needs: Needs, reference: Side, candidate: Side) -> bool:
    match needs:
        case "CPU":
            return accounting(reference) != accounting(candidate)
        case "reference":
            return not same(_reference(run) for run in (*reference.runs, *candidate.runs))
        case "device":
            return not compares_devices(reference, candidate)
        case "cores":
            bases = core_basis(reference), core_basis(candidate)
            return bases[0] != bases[1] or bases[0] is None or not compares_devices(reference, candidate)
    return False


def _reference(run: ComparedRun) -> tuple[int | None, str | None] | None:
    found = run.facts.reference
    return None if found is None else (found.version, found.file)


def _centre(values: list[float], plain: bool) -> float | None:
    if plain and values:
        return sum(values) / len(values)
    return centre(values)


Value = Callable[[ComparedRun], float | None]


class ShapeRow(msgspec.Struct, frozen=True, kw_only=True):
    """One figure on both sides; ``change_ratio`` only between two single figures, ``reason`` why not."""

    title: str
    name: str
    unit: Unit
    reference: PaperRange | None
    candidate: PaperRange | None
    change_ratio: float | None
    reason: str | None = None


class ComparableFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A figure: where it stands in a published block, and how a run has it."""

    title: str
    path: str
    unit: Unit
    value: Value
    needs_cpu: bool = False


def _of(path: str) -> Value:
    return lambda run: at(run.summary, path)


def _quotient(part: Value, whole: Value) -> Value:
    return lambda run: over(part(run), whole(run))


def _device(figure: str) -> Value:
    return _of(f"io.device.{figure}.total_bytes_per_second")


def _signature(row: str) -> Value:
    return _of(f"signature.{row}.value")


def _cpu(run: ComparedRun) -> float | None:
    return plus(*(at(run.summary, f"time.{mode}_cpu_seconds") for mode in ("user", "system")))


def _cores(run: ComparedRun) -> float | None:
    return cores_of(run.facts)[0]


_sessions = _of("workload.sessions")
SYSTEM, ACTIVE, ELAPSED = (f"time.{name}_seconds" for name in ("system_cpu", "active", "elapsed"))
AT_ONCE = "jobs.peak_concurrent"
INPUTS, BY_CPU = "device_bytes_per_input_byte", "bytes_per_cpu_second"


def _shape(
    title: str, name: str, value: Value, unit: Unit = "ratio", *, needs_cpu: bool = False
) -> ComparableFigure:
    return ComparableFigure(title=title, path=f"shape.{name}", unit=unit, value=value, needs_cpu=needs_cpu)


def _per_core(title: str, name: str, value: Value, unit: Unit = RATE) -> ComparableFigure:
    return ComparableFigure(title=title, path=f"per_core.{name}", unit=unit, value=_quotient(value, _cores))


PER_CORE = (
    _per_core("peak per core", "peak_bytes_per_second", _device("peak")),
    _per_core("initial per core", "initial_bytes_per_second", _device("initial")),
    _per_core("sustained per core", "sustained_bytes_per_second", _device("sustained")),
    _per_core("sessions per core", "sessions", _sessions, "ratio"),
)

SHAPES = (
    _shape("read share of device bytes", "read_ratio", _of("io.device.read_ratio")),
    _shape("work + util share of I/O", "work_util_ratio", _signature("work_util_ratio")),
    _shape("CPU/real of the sums", "cpu_real_ratio", _of("cpu_real_ratio.of_sums"), needs_cpu=True),
    _shape("system share of CPU time", "system_cpu_ratio", _quotient(_of(SYSTEM), _cpu), needs_cpu=True),
    _shape("peak : sustained", "peak_per_sustained", _quotient(_device("peak"), _device("sustained"))),
    _shape("initial : peak", "initial_per_peak", _quotient(_device("initial"), _device("peak"))),
    _shape("active share of elapsed time", "active_ratio", _quotient(_of(ACTIVE), _of(ELAPSED))),
    _shape("jobs : sessions", "jobs_per_session", _quotient(_of("workload.jobs"), _sessions)),
    _shape("most jobs at once : sessions", "peak_jobs_per_session", _quotient(_of(AT_ONCE), _sessions)),
    _shape("device bytes : inputs", INPUTS, _signature(INPUTS)),
    _shape("device bytes per CPU second", BY_CPU, _signature(BY_CPU), RATE, needs_cpu=True),
)


def shape_rows(reference: Side, candidate: Side) -> list[ShapeRow]:
    """Rows that at least one side has; unlike core bases and CPU accounts are shown, not compared."""
    rows = [_shape_row(shape, reference, candidate) for shape in (*PER_CORE, *SHAPES)]
    return [row for row in rows if row.reference is not None or row.candidate is not None]


def alike_systems(reference: Side, candidate: Side) -> bool:
    """Whether two published results are one paper's, of servers alike: its own delta table may be drawn."""
    one, other = reference.published, candidate.published
    if one is None or other is None or one.source.key != other.source.key:
        return False
    return _server(one) == _server(other)


def _shape_row(shape: ComparableFigure, reference: Side, candidate: Side) -> ShapeRow:
    sides = (reference, candidate)
    one, other = (_span(shape, side) for side in sides)
    reason = None
    if shape.path.startswith("per_core.") and (
        core_basis(reference) != core_basis(candidate) or core_basis(reference) is None
    ):
        reason = "the sides count cores differently"
    elif shape.needs_cpu and accounting(reference) != accounting(candidate):
        reason = "the sides count CPU time differently"
    elif one is None or other is None:
        reason = "not known on both sides"
    single = [span.low if span and span.low == span.high else None for span in (one, other)]
    return ShapeRow(
        title=shape.title,
        name=shape.path,
        unit=shape.unit,
        reference=one,
        candidate=other,
        change_ratio=None if reason else change(*single),
        reason=reason,
    )


def _span(shape: ComparableFigure, side: Side) -> PaperRange | None:
    if side.published is not None:
        value = at(side.published, shape.path)
        if isinstance(value, PaperRange):
            return value
        return None if value is None else PaperRange(low=value, high=value)
    values = [shape.value(run) for run in side.runs]
    middle = None if None in values else centre([value for value in values if value is not None])
    return None if middle is None else PaperRange(low=middle, high=middle)


def _server(block: PublishedFigures) -> tuple[object, ...]:
    system, workload = block.system, block.workload
    return (
        workload.nodes,
        workload.sessions_per_node,
        system.processor,
        system.cores_per_node,
        system.cpus_per_node,
        system.memory_bytes_per_node,
    )
