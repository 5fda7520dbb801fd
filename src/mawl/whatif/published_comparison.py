"""Forecasts next to published figures: a row for each figure of a paper, and the pairs of its systems.

Pairs are also compared with simple rules: no change, Amdahl's rule and a roofline.  No rule has a fitted
number, and the model is useful only where it is nearer than they are
(docs/design/published-forecasts.md, Simple rules).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec

from mawl.plan.catalogue import CATALOGUE
from mawl.plan.mix import CPU_WEIGHTS
from mawl.records.model.published import PaperWorkload, PublishedResult, papers, published, published_result
from mawl.records.spec.program_options import ROLES
from mawl.simulation.system import System
from mawl.whatif.published_forecast import FITTED, FULL_SCALE, HELD_OUT, PublishedForecast, forecast, plan_of
from mawl.whatif.published_system import PublishedSystem, published_systems, system_of
from mawl.whatif.records import (
    Printed,
    PublishedChanges,
    PublishedFit,
    PublishedForecasts,
    PublishedPair,
    PublishedRow,
    PublishedScore,
)

TIMES = ("time.real_time_seconds", "time.elapsed_seconds", "time.active_seconds")
OF_THE_MIX = (
    "time.user_cpu_seconds",
    "time.system_cpu_seconds",
    "time.memory_bytes",
    "device.read_bytes",
    "device.written_bytes",
    "device.read_ratio",
)
"""Figures that follow from the jobs alone: with the same jobs on both systems, every rule says no change."""
TWICE = ("device.sustained_bytes_per_second_per_core",)
"""Figures that repeat another one: the sustained rate over the cores repeats the sustained rate."""
REPEATED = (
    *TWICE,
    "device.initial.total_bytes_per_second",
    "time.active_seconds",
    "cpu_real_ratio.range",
)
"""Figures that repeat another one of the same pair: sustained, peak, elapsed, stddev."""


@dataclass(frozen=True)
class Roofline:
    """The shortest time that a system needs for its declared work, by processors and by storage.

    Seconds; ``bytes`` are those of all nodes that pass the storage, ``cores`` those of all nodes.
    """

    storage_seconds: float
    cpu_seconds: float
    bytes: float
    cores: float

    @property
    def seconds(self) -> float:
        """The longer of both: processors and storage work at the same time."""
        return max(self.storage_seconds, self.cpu_seconds)


def roofline_of(one: PublishedSystem) -> Roofline:
    """Declared bytes over what devices, links and fabric move; declared CPU seconds over what cores do."""
    system = system_of(one)
    moved: dict[tuple[str, str], float] = {}
    cpu = 0.0
    for job in plan_of(one).jobs():
        program = CATALOGUE[job.program]
        cpu += CPU_WEIGHTS[job.program]
        for role, ways in program.bytes_by_role(FULL_SCALE).items():
            for way, size in ways.items():
                moved[role, way] = moved.get((role, way), 0.0) + size
    nodes = sum(kind.count for kind in system.nodes)
    cores = sum(kind.count * kind.cores * kind.core_speed for kind in system.nodes)
    return Roofline(
        storage_seconds=storage_seconds(system, moved, nodes),
        cpu_seconds=cpu * nodes / cores,
        bytes=sum(moved.values()) * nodes,
        cores=sum(cores.value * cores.count for cores in one.cores),
    )


def storage_seconds(system: System, moved: Mapping[tuple[str, str], float], nodes: int) -> float:
    """The time of the busiest device, link or fabric; ``moved`` are the bytes of one node.

    By role and way (``read``, ``written``); a role that is left out moves no bytes.
    """
    first = system.nodes[0]
    names = {role: first.roles[role] for role in ROLES}
    seconds = []
    crossing = {"read": 0.0, "written": 0.0}
    for device in system.devices:
        own = {
            way: sum(
                moved.get((role, way), 0.0) / len(names[role]) for role in ROLES if device.name in names[role]
            )
            for way in ("read", "written")
        }
        if device.local:
            total = 1
        else:
            total = nodes
            crossing = {way: crossing[way] + own[way] for way in crossing}
        seconds += [
            total * own["read"] / device.read_bytes_per_second,
            total * own["written"] / device.write_bytes_per_second,
            total * sum(own.values()) / (device.shared_bytes_per_second or math.inf),
        ]
    link, fabric = first.link_bytes_per_second, system.fabric_bytes_per_second
    seconds += [size / (link or math.inf) for size in crossing.values()]
    seconds += [nodes * size / (fabric or math.inf) for size in crossing.values()]
    seconds.append(nodes * sum(crossing.values()) / (system.fabric_shared_bytes_per_second or math.inf))
    return max(seconds)


@dataclass(frozen=True)
class RuleChanges:
    """What the rules say of a figure of a pair: second system over first, less 1.

    ``amdahl`` is None where the paper does not print CPU and real time of the first system.  ``counted`` is
    False for figures that cannot show how good a model is: those of the mix, and those that repeat another.
    """

    amdahl: float | None
    roofline: float
    counted: bool


def rule_changes(
    reference: PublishedSystem, candidate: PublishedSystem, published: PublishedResult, figure: str
) -> RuleChanges:
    """The rules' forecast of one figure; ``published`` are the paper's figures of the reference.

    Amdahl (AFIPS 1967): the part of real time that is CPU time shrinks with the speed of a core, the rest
    with the rate of the storage.  Roofline (Williams, Waterman and Patterson 2009): ``Roofline``.
    """
    before, after = roofline_of(reference), roofline_of(candidate)
    work = after.bytes / before.bytes
    cores = after.cores / before.cores
    waiting = _waiting_ratio(published)
    amdahl = None
    if waiting is not None:
        speed = _core_speed(candidate) / _core_speed(reference)
        storage = after.storage_seconds / before.storage_seconds
        amdahl = _change(figure, (1.0 - waiting) / speed + waiting * storage, work, cores)
    of_the_mix = figure in OF_THE_MIX and not (figure == "time.system_cpu_seconds" and reference.waits_on_cpu)
    return RuleChanges(
        amdahl=amdahl,
        roofline=_change(figure, after.seconds / before.seconds, work, cores),
        counted=not (of_the_mix and work == 1.0) and figure not in REPEATED,
    )


def _change(figure: str, elapsed: float, work: float, cores: float) -> float:
    """The change of a figure where the same sessions take ``elapsed`` times as long, for ``work`` times the
    work, on ``cores`` times the cores; 0 for a figure of which such a rule says nothing."""
    if figure in TIMES:
        return elapsed * (work if figure == "time.real_time_seconds" else 1.0) - 1.0
    if figure.endswith("bytes_per_second_per_core") or figure == "cpu_busy_ratio":
        return work / elapsed / cores - 1.0
    if figure.endswith("bytes_per_second"):
        return work / elapsed - 1.0
    if figure == "cpu_real_ratio.mean":
        return 1.0 / elapsed - 1.0
    return work - 1.0 if figure in OF_THE_MIX and figure != "device.read_ratio" else 0.0


def _waiting_ratio(published: PublishedResult) -> float | None:
    """The part of real time that was no CPU time, of the two that the paper prints; never below 0."""
    times = published.time
    if times is None or None in (times.real_time_seconds, times.user_cpu_seconds, times.system_cpu_seconds):
        return None
    cpu = (times.user_cpu_seconds or 0.0) + (times.system_cpu_seconds or 0.0)
    return max(1.0 - cpu / (times.real_time_seconds or math.inf), 0.0)


def _core_speed(system: PublishedSystem) -> float:
    return system_of(system).nodes[0].core_speed


FITTED_ON = ("s822-xiv-20", "dl980-spinning-30")
"""The systems whose figures the fit has seen (tools/published_fit.py)."""

OUTCOMES = (
    "time",
    "cpu_real_ratio",
    "device",
    "latency",
    "cpu_busy_ratio",
    "cpu_iowait_ratio",
    "compression",
)
"""Parts of a published result that are measured; the others say what ran, and on what."""

REASONS = {
    "latency": "the model has rates and no single requests",
    "cpu_iowait_ratio": "the model does not say on which processor a job waits",
    "compression": "the model has no content; mawl compressibility estimates it",
    "change.programs": "the system before tuning is not described by figures",
}
"""Why a figure has no prediction, by the beginning of its name."""

WORKLOAD_REASON = "the paper does not say on which storage"
SAME_RATIO = 0.05
"""Two figures that differ by less are the same, in the direction of a pair."""
NEAR_RATIO = 0.15
"""A forecast this near to the figure counts as near; for a pair, the figure is second over first."""

PAIRS = (
    ("s822-xiv-20", "s822-xiv-30"),
    ("s822-xiv-20", "s822-hybrid-20"),
    ("e880-xiv-plain-30", "e880-xiv-compressed-30"),
    ("e880-ess-40gbe-4x30", "e880-ess-56gbe-4x30"),
    ("dl980-spinning-30", "dl980-flash-30"),
)
"""Systems that a paper holds against each other."""

DOUBLED = ("e980-fs9150-4", "e980-fs9150-4/twice-the-ports", "device.peak.total_bytes_per_second")
"""The paper doubled the ports and saw no more bandwidth; it gives no second figure."""


@cache
def forecasts() -> dict[str, PublishedForecast]:
    return {
        published_system.id: forecast(published_system, FITTED) for published_system in published_systems()
    }


@cache
def forecast_without(paper: str, system: str) -> PublishedForecast:
    return forecast(forecasts()[system].system, HELD_OUT[paper])


def published_figures(result: PublishedResult) -> dict[str, Printed]:
    """The measured figures of a result by name: numbers, ranges ``{low, high}``, yes or no, the limit."""
    held = msgspec.to_builtins(result)
    found = {name: figure for part in OUTCOMES for name, figure in _leaves(held.get(part), part)}
    if result.change is not None:
        change = {name: figure for name, figure in held["change"].items() if name != "against"}
        found |= dict(_leaves(change, "change"))
    if result.limit is not None:
        found["limit"] = result.limit
    return found


def _leaves(held: Any, name: str) -> Iterator[tuple[str, Printed]]:
    if isinstance(held, dict) and set(held) != {"low", "high"}:
        for key, inner in held.items():
            yield from _leaves(inner, f"{name}.{key}")
    elif isinstance(held, bool | str | dict):
        yield name, held
    elif held is not None:
        yield name, float(held)


def rows() -> list[PublishedRow]:
    found = [row for result in published().values() for row in _rows(result)]
    for paper in papers():
        if paper.workload is not None:
            found += _workload_rows(paper.source.key, paper.workload)
    return found


def _rows(result: PublishedResult) -> Iterator[PublishedRow]:
    known = forecasts().get(result.id)
    predicted: dict[str, float] = dict(known.figures) if known else {}
    predicted |= _changes(result)
    for figure, printed in published_figures(result).items():
        value: float | bool | str | None = predicted.get(figure)
        if figure == "limit" and known is not None:
            value = known.limit
        if isinstance(printed, bool) and value is not None:
            value = bool(value)
        yield PublishedRow(
            system=result.id,
            figure=figure,
            published=printed,
            predicted=value,
            fitted=result.id in FITTED_ON,
            error_ratio=_error(printed, value),
            reason=_reason(figure) or "not in the model" if value is None else None,
        )


def _changes(result: PublishedResult) -> dict[str, float]:
    if result.change is None or result.id not in forecasts() or result.change.against not in forecasts():
        return {}
    own, other = (forecasts()[name].figures for name in (result.id, result.change.against))
    return {
        f"change.{name}_ratio": own[f"time.{name}_seconds"] / other[f"time.{name}_seconds"] - 1.0
        for name in ("elapsed", "real_time")
    }


def _reason(figure: str) -> str | None:
    return next((reason for begin, reason in REASONS.items() if figure.startswith(begin)), None)


def _error(printed: Printed, value: float | bool | str | None) -> float | None:
    if value is None or isinstance(value, bool | str) or isinstance(printed, bool | str):
        return None
    if isinstance(printed, dict):
        nearest = min(max(value, printed["low"]), printed["high"])
        return value / nearest - 1.0
    return value / printed - 1.0 if printed else None


def _workload_rows(key: str, workload: PaperWorkload) -> list[PublishedRow]:
    """Figures of a workload as such, which its paper ties to no storage."""
    measured = (
        "_per_second",
        "elapsed_seconds",
        "shortest_job_seconds",
        "longest_job_seconds",
        "concurrent_jobs",
    )
    return [
        PublishedRow(
            system=key,
            figure=f"workload.{name}",
            published=float(figure),
            predicted=None,
            fitted=False,
            reason=WORKLOAD_REASON,
        )
        for name, figure in msgspec.structs.asdict(workload).items()
        if figure is not None and name.endswith(measured)
    ]


def pairs() -> list[PublishedPair]:
    """Every figure that both systems of a pair have, and the doubled ports."""
    found: list[PublishedPair] = []
    for reference, candidate in PAIRS:
        both = [published_figures(published_result(name)) for name in (reference, candidate)]
        for figure, before in both[0].items():
            after = both[1].get(figure)
            if isinstance(before, float) and isinstance(after, float) and _reason(figure) is None:
                found.append(_pair(reference, candidate, figure, after / before - 1.0))
        change = published_result(candidate).change
        if change is not None and change.real_time_ratio is not None:
            found.append(_pair(reference, candidate, "time.real_time_seconds", change.real_time_ratio))
    return [*found, _pair(*DOUBLED, 0.0)]


def _pair(reference: str, candidate: str, figure: str, change: float) -> PublishedPair:
    paper = published_result(reference).source
    known = forecasts()[reference], forecasts()[candidate]
    unseen = forecast_without(paper, reference), forecast_without(paper, candidate)
    predicted = _predicted(*known, figure)
    before, after = (one.system for one in known)
    rules = rule_changes(before, after, published_result(reference), figure)
    return PublishedPair(
        paper=paper,
        reference=reference,
        candidate=candidate,
        figure=figure,
        published_change_ratio=change,
        predicted_change_ratio=predicted,
        unseen_change_ratio=_predicted(*unseen, figure),
        amdahl_change_ratio=rules.amdahl,
        roofline_change_ratio=rules.roofline,
        large=abs(change) >= SAME_RATIO and figure not in TWICE,
        counted=rules.counted,
        right=None if predicted is None else direction(predicted) == direction(change),
    )


def _predicted(reference: PublishedForecast, candidate: PublishedForecast, figure: str) -> float | None:
    own, other = (one.figures.get(figure) for one in (candidate, reference))
    return None if own is None or not other else own / other - 1.0


def direction(change: float) -> int:
    """1 up, -1 down, 0 the same within ``SAME_RATIO``."""
    return 0 if abs(change) < SAME_RATIO else 1 if change > 0 else -1


def published_forecasts() -> PublishedForecasts:
    """The forecasts of all papers' systems."""
    found = pairs()
    return PublishedForecasts(
        rows=rows(),
        pairs=found,
        changes=changes(found),
        scores=scores(found),
        fitted=PublishedFit(on=list(FITTED_ON), values=FITTED),
    )


Forecaster = Callable[[PublishedPair], float | None]

FORECASTERS: dict[str, Forecaster] = {
    "model": lambda pair: pair.predicted_change_ratio,
    "unseen": lambda pair: pair.unseen_change_ratio,
    "no change": lambda _: 0.0,
    "Amdahl": lambda pair: pair.amdahl_change_ratio,
    "roofline": lambda pair: pair.roofline_change_ratio,
}
"""What forecasts a pair, by the head of its column; None (a rule has no forecast) counts as no change."""


def changes(found: Sequence[PublishedPair]) -> list[PublishedChanges]:
    large = [pair for pair in found if pair.large]

    def tally(name: str, of: Forecaster) -> PublishedChanges:
        changes = [(pair.published_change_ratio, of(pair) or 0.0) for pair in large]
        return PublishedChanges(
            forecast=name,
            figures=len(changes),
            right=sum(direction(predicted) == direction(change) for change, predicted in changes),
            near=sum(
                abs((1.0 + predicted) / (1.0 + change) - 1.0) <= NEAR_RATIO for change, predicted in changes
            ),
        )

    return [tally(name, of) for name, of in FORECASTERS.items()]


def scores(found: Sequence[PublishedPair]) -> list[PublishedScore]:
    """How far the model and the rules are off over counted figures: of all pairs, of pairs without a fitted
    system, and by paper."""
    counted = [pair for pair in found if pair.counted and pair.predicted_change_ratio is not None]
    papers_ = dict.fromkeys(pair.paper for pair in counted)
    fitted = {paper for paper in papers_ if any(_is_fitted(pair) for pair in counted if pair.paper == paper)}
    return [
        _score(None, None, counted),
        _score(None, False, [pair for pair in counted if not _is_fitted(pair)]),
        *(
            _score(paper, paper in fitted, [pair for pair in counted if pair.paper == paper])
            for paper in papers_
        ),
    ]


def _is_fitted(pair: PublishedPair) -> bool:
    return pair.reference in FITTED_ON or pair.candidate in FITTED_ON


def _score(paper: str | None, fitted: bool | None, found: Sequence[PublishedPair]) -> PublishedScore:
    def off(name: str) -> float:
        """The mean of |ln(predicted / published)|."""
        return statistics.fmean(
            abs(math.log((1.0 + (FORECASTERS[name](pair) or 0.0)) / (1.0 + pair.published_change_ratio)))
            for pair in found
        )

    return PublishedScore(
        paper=paper,
        fitted=fitted,
        figures=len(found),
        model_error=off("model"),
        unseen_error=off("unseen"),
        no_change_error=off("no change"),
        amdahl_error=off("Amdahl"),
        roofline_error=off("roofline"),
    )
