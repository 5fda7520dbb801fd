"""The advice on placement: what each role needs, what each move would change, and which placement is best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from msgspec.structs import replace

from mawl.advice.validity.host import foreign_bytes
from mawl.base.errors import MawlError
from mawl.base.units import format_percent
from mawl.figures.demand import by_streams, figures_of
from mawl.figures.io import REACHES_STORAGE_RATIO
from mawl.figures.view import RunView
from mawl.records.model.probe import PAPERS_REQUEST_BYTES, Direction, Probe, ProbeTarget
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.summary import Summary
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import ROLES, Role
from mawl.whatif.placement.demand import (
    WAYS,
    BestPlacement,
    Move,
    PlacementAdvice,
    PlacementDemand,
    PlacementTarget,
    RealTimeChange,
    RoleDemand,
    RolePlacement,
    RolePlaces,
    demands,
    flash_like,
)
from mawl.whatif.placement.forecast import ForecastChange, ForecastTimes, Placement, PlacementForecast, proof

SHORT_SECONDS = value_of("placement.short_seconds")
"""In a shorter run files come and go between two looks at the space they take."""

MOSTLY_RATIO = value_of("placement.mostly_ratio")
"""Above this sequential share of the writes their order at the device does not matter."""

WORTH_RATIO = value_of("placement.worth_ratio")
"""A move is advised if it is expected to save at least this part of the summed real time."""


def advise(
    view: RunView,
    summary: Summary,
    probes: Sequence[Probe],
    files: Mapping[str, Probe] | None = None,
) -> PlacementAdvice:
    """The advice.

    ``summary`` is that of ``judged``.  ``files`` are the probes
    that a new run can be given, by the names of their files.
    Raises ``MawlError`` where the run does not tell what its roles needed, or no
    target was probed.
    """
    facts = view.facts
    asked = demands(facts, view.jobs, summary)
    targets = probed(probes)
    if not targets:
        raise MawlError(
            "no target was probed, so there is nothing to place the roles on",
            where=facts.run_id,
            cure="probe the run's directories and the candidates with mawl probe DIR..., and name its file",
        )
    verdict = summary.limit.verdict if summary.limit else None
    forecast = PlacementForecast(asked, targets, _times(summary, facts))
    real = summary.time.real_time_seconds
    best = _best(forecast, asked, WORTH_RATIO * (real or 0.0))
    return PlacementAdvice(
        run_id=facts.run_id,
        verdict=verdict,
        real_time_seconds=real,
        blocked_seconds=forecast.blocked_seconds,
        blocked_ratio=forecast.blocked_seconds / real if real else None,
        other_blocked_seconds=forecast.times.other_seconds,
        roles={role: _role(asked[role], forecast) for role in ROLES},
        targets=[_target(place, forecast) for place in range(len(targets))],
        moves=_moves(forecast, asked, real),
        best=_placed(best, forecast, asked, real),
        proof=proof(facts, targets, best, forecast.now, files or {}, view.called),
        unknown=list(_unknown(forecast, asked, summary, verdict)),
    )


def probed(probes: Sequence[Probe]) -> list[ProbeTarget]:
    """Targets with tests, each directory once: of several probes of it the newest."""
    targets: dict[tuple[str, str], ProbeTarget] = {}
    for probe in sorted(probes, key=lambda probe: probe.created_at):
        targets.update({(target.node, target.directory): target for target in probe.targets if target.tests})
    names = Counter(target.name for target in targets.values())
    return [
        target if names[target.name] == 1 else replace(target, name=f"{target.name} ({target.node})")
        for target in targets.values()
    ]


def _times(summary: Summary, facts: RunFacts) -> ForecastTimes:
    time, wait = summary.time, summary.wait
    elapsed, real = time.elapsed_seconds, time.real_time_seconds
    return ForecastTimes(
        other_seconds=(wait.blocked_seconds.other if wait else None) or 0.0,
        own_seconds=((wait.on_cpu_seconds or 0.0) + (wait.run_queue_seconds or 0.0)) if wait else 0.0,
        jobs=real / elapsed if real and elapsed else 1.0,
        storage=summary.limit is not None and summary.limit.is_of("storage"),
        most_saved_seconds=_left_by_processors(summary, facts),
    )


def _left_by_processors(summary: Summary, facts: RunFacts) -> float | None:
    """Seconds of summed real time that could go before the processors were busy all the time."""
    time = summary.time
    busy = [time.user_cpu_seconds, time.system_cpu_seconds]
    counts = [facts.usable_cpus(node) or node.cores for node in facts.machines()]
    elapsed, real = time.elapsed_seconds, time.real_time_seconds
    if None in busy or not elapsed or real is None or not counts or None in counts:
        return None
    share = sum(part for part in busy if part) / (elapsed * sum(count for count in counts if count))
    return float(real * max(1.0 - share, 0.0))


def _options(forecast: PlacementForecast, role: Role) -> list[tuple[int, ...]]:
    assert forecast.now is not None
    here = tuple(forecast.now[role])
    others = [(place,) for place in range(len(forecast.targets)) if forecast.known({role: (place,)})]
    return [here, *(other for other in others if other != here)]


def _best(
    forecast: PlacementForecast, asked: Mapping[Role, PlacementDemand], worth_seconds: float
) -> Placement | None:
    """Of the placements that fit the one with the least expected real time, with the fewest moves.

    Each of its moves saves at least ``worth_seconds`` more than the same placement without it.
    """
    now = forecast.now
    if now is None:
        return None
    found: tuple[float, int, int] | None = None
    best: Placement = now
    every = product(*(_options(forecast, role) for role in ROLES))
    for order, places in enumerate(every):
        placement = dict(zip(ROLES, places, strict=True))
        change = forecast.change(placement)
        if change is None or fits(placement, now, forecast, asked) is False:
            continue
        moved = sum(tuple(placement[role]) != tuple(now[role]) for role in ROLES)
        rank = (round(change.expected + moved * worth_seconds, 6), moved, order)
        if found is None or rank < found:
            found, best = rank, placement
    return best


def fits(
    placement: Placement, now: Placement, forecast: PlacementForecast, asked: Mapping[Role, PlacementDemand]
) -> bool | None:
    """Whether roles that move fit into the free space of their targets; None where a size is not known."""
    needed: dict[object, int] = {}
    free: dict[object, int] = {}
    for role in ROLES:
        for place in placement[role]:
            if place in now[role]:
                continue
            peak, target = asked[role].peak_used_bytes, forecast.targets[place]
            if peak is None or target.free_bytes is None:
                return None
            group = forecast.groups[place]
            needed[group] = needed.get(group, 0) + peak // len(placement[role])
            free[group] = min(free.get(group, target.free_bytes), target.free_bytes)
    return all(size <= free[group] for group, size in needed.items())


def _moves(
    forecast: PlacementForecast, asked: Mapping[Role, PlacementDemand], real: float | None
) -> list[Move]:
    """Each role moved by itself to each target, the most gain first; what cannot be told comes last."""
    rows = []
    for role in ROLES:
        for place, target in enumerate(forecast.targets):
            now = forecast.now
            if place in forecast.places[role]:
                continue
            placement = None if now is None else {**now, role: (place,)}
            change = None if placement is None else forecast.change(placement)
            service = forecast.services[role][place]
            rows.append(
                Move(
                    role=role,
                    target=target.name,
                    bytes_per_second=None if service is None else service.bytes_per_second,
                    device_seconds=None if service is None else service.seconds,
                    read_latency_seconds=None if service is None else service.read_latency_seconds,
                    write_latency_seconds=None if service is None else service.write_latency_seconds,
                    blocked_seconds=None if placement is None else forecast.blocked_in(role, placement),
                    fits=_fits_alone(asked[role], target),
                    change=None if change is None else _change(change, real),
                )
            )
    return sorted(
        rows, key=lambda row: (row.change is None, row.change.expected_seconds if row.change else 0.0)
    )


def _fits_alone(demand: PlacementDemand, target: ProbeTarget) -> bool | None:
    peak = demand.peak_used_bytes
    return None if peak is None or target.free_bytes is None else peak <= target.free_bytes


def _change(change: ForecastChange, real: float | None) -> RealTimeChange:
    return RealTimeChange(
        low_seconds=change.low,
        expected_seconds=change.expected,
        high_seconds=change.high,
        expected_ratio=change.expected / real if real else None,
    )


def _placed(
    best: Placement | None,
    forecast: PlacementForecast,
    asked: Mapping[Role, PlacementDemand],
    real: float | None,
) -> BestPlacement | None:
    """The best placement, in the order in which its moves gain most; None where nothing can be told."""
    if best is None or forecast.now is None:
        return None
    change = forecast.change(best)
    assert change is not None, "the best placement was worked out"
    moved = [role for role in ROLES if tuple(best[role]) != tuple(forecast.now[role])]
    return BestPlacement(
        moves=_in_order(moved, best, forecast),
        placement=RolePlaces(
            **{role: [forecast.targets[place].name for place in best[role]] for role in ROLES}
        ),
        fits=fits(best, forecast.now, forecast, asked),
        change=_change(change, real),
    )


def _in_order(moved: Sequence[Role], best: Placement, forecast: PlacementForecast) -> list[Role]:
    """The moves of a placement one after the other, at each time the one after which least is blocked."""
    left, order = list(moved), []
    current: dict[Role, Sequence[int]] = dict(forecast.now or {})

    def after(role: Role) -> float:
        change = forecast.change({**current, role: best[role]})
        return 0.0 if change is None else change.expected

    while left:
        first = min(left, key=after)
        left.remove(first)
        current[first] = best[first]
        order.append(first)
    return order


def _role(demand: PlacementDemand, forecast: PlacementForecast) -> RolePlacement:
    places = forecast.places[demand.role]
    return RolePlacement(
        **{name: getattr(demand, name) for name in RoleDemand.__struct_fields__},
        targets=[None if place is None else forecast.targets[place].name for place in places],
    )


def _target(place: int, forecast: PlacementForecast) -> PlacementTarget:
    """A target with the papers' request size: 256 KiB, sequential, direct where that was probed."""
    target = forecast.targets[place]
    read, write = (_papers_rate(target, way) for way in WAYS)
    return PlacementTarget(
        name=target.name,
        node=target.node,
        directory=target.directory,
        file_system=target.file_system,
        devices=target.devices,
        size_bytes=target.size_bytes,
        free_bytes=target.free_bytes,
        holds=[role for role in ROLES if place in forecast.places[role]],
        read_bytes_per_second=read,
        write_bytes_per_second=write,
        read_write_ratio=None if read is None or not write else read / write,
        flash_like=flash_like(target),
    )


def _papers_rate(target: ProbeTarget, way: Direction) -> float | None:
    test = by_streams(target, way, "sequential", PAPERS_REQUEST_BYTES, 1.0)
    figures = None if test is None else figures_of(test, way)
    return None if figures is None else figures.bytes_per_second


def _unknown(
    forecast: PlacementForecast, asked: Mapping[Role, PlacementDemand], summary: Summary, verdict: str | None
) -> Iterator[str]:
    for role, places in forecast.places.items():
        lost = [v.directory for v, place in zip(asked[role].volumes, places, strict=True) if place is None]
        if lost or not places:
            yield (
                f"{role} lies on {', '.join(lost) or 'volumes that the run did not record'}, which were not "
                "probed: without their own figures no change can be worked out; probe them with mawl probe"
            )
    nodes = {volume.node for demand in asked.values() for volume in demand.volumes}
    for target in forecast.targets if nodes else ():
        if target.node not in nodes:
            yield (
                f"{target.name} was probed on {target.node}, where the run was not: "
                f"what {' and '.join(sorted(nodes))} would find there may be more or less"
            )
    if summary.limit is None or not summary.limit.is_of("storage"):
        share = forecast.blocked_seconds / (summary.time.real_time_seconds or 1.0)
        yield (
            f"{f'the limit of the run is {verdict}, not storage' if verdict else 'what limited the run'}: "
            f"jobs were blocked in I/O for {format_percent(share)} of their time, "
            "and what is saved of that may come back as waiting for a processor"
        )
    reach = summary.io.reach
    low = [
        way for way in ("read", "write") if (getattr(reach, f"{way}_ratio") or 0.0) < REACHES_STORAGE_RATIO
    ]
    if low:
        yield (
            f"the page cache took part of the {' and '.join(f'{way}s' for way in low)} of this run: with "
            "other storage it may take more or less of them"
        )
    if others := foreign_bytes(summary):
        yield (
            f"{others}: their bytes count as the roles' own here; "
            "run the workload again while nothing else uses these devices"
        )
    if not all(demand.device_measured for demand in asked.values()):
        yield (
            "roles share devices, so what of each reached them is not known: "
            "each has the reach of the whole run"
        )
    yield from _unmeasured(asked, summary)
    assumed = [text for each in forecast.services.values() for one in each if one for text in one.assumed]
    yield from dict.fromkeys(assumed)
    for role, each in forecast.services.items():
        for one, target in zip(each, forecast.targets, strict=True):
            if one is None:
                yield f"{target.name}: the probe has no figures for a direction that {role} uses"


def _unmeasured(asked: Mapping[Role, PlacementDemand], summary: Summary) -> Iterator[str]:
    elapsed = summary.time.elapsed_seconds
    if elapsed is not None and elapsed < SHORT_SECONDS:
        yield (
            f"the run lasted {elapsed:.0f} s and its space was looked at once a second: "
            "working sets may have been larger between the looks"
        )
    unseen = [role for role, demand in asked.items() if demand.peak_used_bytes is None]
    if unseen:
        yield f"how much space {', '.join(unseen)} takes, so whether it fits anywhere is not known, either"
    scattered = [
        role
        for role, demand in asked.items()
        if demand.sequential_write_ratio is not None and demand.sequential_write_ratio < MOSTLY_RATIO
    ]
    if scattered:
        yield (
            f"how many of the writes of {' and '.join(scattered)} that begin a stream or jump are in order "
            "at the device after write-back: the bounds hold for all and for none of them"
        )
