"""What may be compared with a published result: figures per core, and ratios that no machine's size changes.

Names and meanings are those of :func:`mawl.analysis.published.per_core` and ``shape``; here the same
figures are worked out of a run's summary.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from mawl.analysis.comparison.comparability import core_basis
from mawl.analysis.comparison.cpu_accounting import accounting
from mawl.analysis.comparison.sides import ComparedRun, Side, at, centre, change
from mawl.analysis.published import over, plus
from mawl.analysis.throughput import cores_of
from mawl.definitions.metric import Unit
from mawl.model.published import PaperRange
from mawl.model.published_figures import PublishedFigures

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
RATE: Unit = "bytes per second"
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
    rows = [_row(shape, reference, candidate) for shape in (*PER_CORE, *SHAPES)]
    return [row for row in rows if row.reference is not None or row.candidate is not None]


def alike_systems(reference: Side, candidate: Side) -> bool:
    """Whether two published results are one paper's, of servers alike: its own delta table may be drawn."""
    one, other = reference.published, candidate.published
    if one is None or other is None or one.source.key != other.source.key:
        return False
    return _server(one) == _server(other)


def _row(shape: ComparableFigure, reference: Side, candidate: Side) -> ShapeRow:
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
