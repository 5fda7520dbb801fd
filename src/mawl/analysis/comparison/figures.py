"""The papers' delta table: times, CPU, throughput, per core, latency; reference, candidate, change."""

from __future__ import annotations

from math import expm1
from typing import Literal

import msgspec

from mawl.analysis.comparison.comparability import compares_devices, core_basis
from mawl.analysis.comparison.cpu_accounting import accounting
from mawl.analysis.comparison.sides import Side, centre, change, logs
from mawl.analysis.comparison.statistics import Effect, effect_of, holm
from mawl.definitions.metric import Unit

Verdict = Literal["higher", "lower", "not told apart", "not judged"]
Needs = Literal["", "CPU", "device", "cores"]
"""What must be counted alike on both sides for a figure to be compared."""


class ComparedFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the table: ``path`` in the summary; ``judged`` ones make up the family of decisions."""

    title: str
    path: str
    unit: Unit
    needs: Needs = ""
    judged: bool = False


class FigureChange(msgspec.Struct, frozen=True, kw_only=True):
    """A figure on both sides (geometric means over runs; of ratios, plain means) and its change.

    ``reason`` says why there is no value or no comparison; interval, smallest effect and verdict
    are there for judged figures of sides with runs enough.
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


RATE: Unit = "bytes per second"

FIGURES: tuple[ComparedFigure, ...] = (
    ComparedFigure(title="elapsed", path="time.elapsed_seconds", unit="seconds", judged=True),
    ComparedFigure(
        title="real time, sum of all jobs", path="time.real_time_seconds", unit="seconds", judged=True
    ),
    ComparedFigure(title="CPU", path="time.cpu_seconds", unit="seconds", needs="CPU"),
    ComparedFigure(title="user CPU", path="time.user_cpu_seconds", unit="seconds", needs="CPU", judged=True),
    ComparedFigure(
        title="system CPU", path="time.system_cpu_seconds", unit="seconds", needs="CPU", judged=True
    ),
    ComparedFigure(title="memory, all jobs", path="time.memory_bytes", unit="bytes"),
    ComparedFigure(title="CPU/real of the sums", path="cpu_real_ratio.of_sums", unit="ratio", needs="CPU"),
    ComparedFigure(title="CPU/real per job: mean", path="cpu_real_ratio.mean", unit="ratio", needs="CPU"),
    ComparedFigure(
        title="CPU/real per job: deviation", path="cpu_real_ratio.stddev", unit="ratio", needs="CPU"
    ),
    ComparedFigure(title="CPU/real per job: range", path="cpu_real_ratio.range", unit="ratio", needs="CPU"),
    ComparedFigure(
        title="application, mean",
        path="io.application.run_mean.total_bytes_per_second",
        unit=RATE,
        judged=True,
    ),
    ComparedFigure(title="application, peak", path="io.application.peak.total_bytes_per_second", unit=RATE),
    ComparedFigure(
        title="application, sustained", path="io.application.sustained.total_bytes_per_second", unit=RATE
    ),
    ComparedFigure(
        title="device, mean",
        path="io.device.run_mean.total_bytes_per_second",
        unit=RATE,
        needs="device",
        judged=True,
    ),
    ComparedFigure(
        title="device, peak", path="io.device.peak.total_bytes_per_second", unit=RATE, needs="device"
    ),
    ComparedFigure(
        title="device, sustained",
        path="io.device.sustained.total_bytes_per_second",
        unit=RATE,
        needs="device",
    ),
    ComparedFigure(
        title="device, sustained per core",
        path="io.device.sustained_bytes_per_second_per_core",
        unit=RATE,
        needs="cores",
    ),
    ComparedFigure(title="device, read share", path="io.device.read_ratio", unit="ratio", needs="device"),
    ComparedFigure(title="processors busy", path="host.cpu_busy_ratio", unit="ratio"),
    ComparedFigure(title="median slowdown", path="capacity.slowdown.median", unit="ratio"),
)

UNLIKE: dict[Needs, str] = {
    "CPU": "the sides count CPU time differently",
    "device": "the sides count device bytes at different places",
    "cores": "the sides count cores differently",
}


def figure_changes(reference: Side, candidate: Side) -> list[FigureChange]:
    """The table for two sides of runs; rows that neither side has are left out."""
    rows = [(figure, _row(figure, reference, candidate)) for figure in FIGURES]
    rows = [(figure, row) for figure, row in rows if (row.reference, row.candidate) != (None, None)]
    effects = _effects([figure for figure, _ in rows], reference, candidate)
    found = dict(zip(effects, holm([effect.p_value for effect in effects.values()]), strict=True))
    return [_judged(row, effects.get(figure.path), found.get(figure.path, False)) for figure, row in rows]


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
    if not (reference.judged and candidate.judged):
        return {}
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
        case "device":
            return not compares_devices(reference, candidate)
        case "cores":
            bases = core_basis(reference), core_basis(candidate)
            return bases[0] != bases[1] or bases[0] is None or not compares_devices(reference, candidate)
    return False


def _centre(values: list[float], plain: bool) -> float | None:
    if plain and values:
        return sum(values) / len(values)
    return centre(values)
