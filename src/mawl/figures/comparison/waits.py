"""Where the jobs' time went on both sides, and which wait changed most."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import Literal

import msgspec

from mawl.base.units import format_latency, format_rate, format_ratio, format_seconds
from mawl.figures.comparison.sides import Side, centre, change
from mawl.figures.sessions import added
from mawl.figures.statistics import Effect, effect_of, holm
from mawl.records.definitions import Unit
from mawl.records.model.summary.judgement import RESOURCES, Limit
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import ROLES, Role

Verdict = Literal["more", "less", "not told apart", "not judged"]

OTHER_WAITS = "other waits"
PLACES: dict[str, str] = {
    "on processors": "wait.on_cpu_seconds",
    "waiting for processors": "wait.run_queue_seconds",
    **{role: f"wait.blocked_seconds.{role}" for role in ROLES},
    OTHER_WAITS: "wait.blocked_seconds.other",
}
"""They add up to real time where every job has one thread."""

LEAST_SHARE_RATIO = value_of("comparison.least_share_ratio")
"""A place whose change is below this share of the reference's time is not named as what differs."""


LEAST_CHANGE_RATIO = value_of("comparison.least_change_ratio")
"""A figure of the role named that changed by less is not quoted beside it."""


class PlaceChange(msgspec.Struct, frozen=True, kw_only=True):
    """Thread-seconds of all jobs in one place, means over runs; ``share_ratio`` is the change over the
    reference's time in all places.  ``smallest_seconds`` would be found in 80 % of comparisons."""

    place: str
    reference_seconds: float
    candidate_seconds: float
    change_seconds: float
    share_ratio: float | None
    low_seconds: float | None = None
    high_seconds: float | None = None
    smallest_seconds: float | None = None
    verdict: Verdict = "not judged"


class RoleChange(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of one role: a latency at the application, or what its own devices moved."""

    role: Role
    name: str
    unit: Unit
    reference: float | None
    candidate: float | None
    change_ratio: float | None


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """The place that changed most, with what its role shows; ``role`` is None for the processors."""

    place: str
    role: Role | None
    sentence: str


def place_changes(reference: Side, candidate: Side, *, judged: bool) -> list[PlaceChange]:
    """One row a place; empty where a run of either side did not measure its waits."""
    values = {place: (reference.values(path), candidate.values(path)) for place, path in PLACES.items()}
    if not all(before and after for before, after in values.values()):
        return []
    effects: dict[str, Effect] = {}
    if judged:
        effects = {place: effect_of(*pair, comparisons=len(values)) for place, pair in values.items()}
    found = dict(zip(effects, holm([effect.p_value for effect in effects.values()]), strict=True))
    whole = sum(statistics.fmean(before) for before, _ in values.values())
    return [_place(place, *pair, whole, effects.get(place), found) for place, pair in values.items()]


def role_changes(reference: Side, candidate: Side) -> list[RoleChange]:
    """Latencies of each role, and the throughput of its devices where it has its own."""
    latencies: list[tuple[str, str]] = [
        (f"{direction} {figure}", f"{direction}_latency_seconds.{figure}")
        for direction in ("read", "write")
        for figure in ("mean", "p99")
    ]
    rows = [
        _role(role, name, f"io.by_role.{role}.{path}", reference, candidate)
        for role in ROLES
        for name, path in latencies
    ]
    for role in ROLES:
        one, other = (_device_rate(side, role) for side in (reference, candidate))
        rows.append(
            RoleChange(
                role=role,
                name="device",
                unit="bytes per second",
                reference=one,
                candidate=other,
                change_ratio=change(one, other),
            )
        )
    return [row for row in rows if row.reference is not None or row.candidate is not None]


def main_change(places: list[PlaceChange], roles: list[RoleChange]) -> Named | None:
    """What differs: the place with the largest change in the direction of the whole change.

    None where no place changed by more than chance, or by a share worth naming.  For judged sides alone.
    """
    total = sum(place.change_seconds for place in places)
    able = [
        place
        for place in places
        if place.change_seconds * total > 0
        and abs(place.share_ratio or 0.0) >= LEAST_SHARE_RATIO
        and place.verdict != "not told apart"
    ]
    if not able:
        return None
    first = max(able, key=lambda place: abs(place.change_seconds))
    role = next((role for role in ROLES if first.place == role), None)
    parts = [_moved(first)]
    own = [row for row in roles if row.role == role]
    parts += [_shown(row) for row in own if abs(row.change_ratio or 0.0) >= LEAST_CHANGE_RATIO]
    return Named(place=first.place, role=role, sentence="; ".join(parts))


def verdicts(side: Side) -> list[tuple[str, int]]:
    """What limited the runs of a side, the commonest first, with how many runs; ``not known`` included."""
    if side.published is not None:
        limit = side.published.limit
        return [(_resource(limit.verdict) if limit else "not known", 1)]
    return Counter(_limit(run.summary.limit) for run in side.runs).most_common()


def _place(
    place: str,
    before: list[float],
    after: list[float],
    whole: float,
    effect: Effect | None,
    found: dict[str, bool],
) -> PlaceChange:
    one, other = statistics.fmean(before), statistics.fmean(after)
    known = PlaceChange(
        place=place,
        reference_seconds=one,
        candidate_seconds=other,
        change_seconds=other - one,
        share_ratio=(other - one) / whole if whole > 0 else None,
    )
    if effect is None:
        return known
    word: Verdict = "more" if effect.difference > 0 else "less"
    return msgspec.structs.replace(
        known,
        low_seconds=effect.low,
        high_seconds=effect.high,
        smallest_seconds=effect.smallest,
        verdict=word if found[place] else "not told apart",
    )


def _role(role: Role, name: str, path: str, reference: Side, candidate: Side) -> RoleChange:
    one, other = centre(reference.values(path)), centre(candidate.values(path))
    return RoleChange(
        role=role, name=name, unit="seconds", reference=one, candidate=other, change_ratio=change(one, other)
    )


def _device_rate(side: Side, role: Role) -> float | None:
    """Bytes per second at the devices of a role over the run; None where it shares them."""
    rates = []
    for run in side.runs:
        by_role, elapsed = run.summary.io.devices_by_role, run.summary.time.elapsed_seconds
        moved = by_role.of(role) if by_role else None
        if moved is None or moved.read_bytes is None or moved.written_bytes is None or not elapsed:
            return None
        rates.append((moved.read_bytes + moved.written_bytes) / elapsed)
    return centre(rates)


def _moved(place: PlaceChange) -> str:
    kind = "blocked in " if place.place in ROLES else "in " if place.place == OTHER_WAITS else ""
    times = " -> ".join(map(format_seconds, (place.reference_seconds, place.candidate_seconds)))
    return f"time {kind}{place.place} {times}"


def _shown(row: RoleChange) -> str:
    form = format_rate if row.unit == "bytes per second" else format_latency
    assert row.reference is not None and row.candidate is not None, "a change has both sides"
    return f"{row.name} {form(row.reference)} -> {form(row.candidate)}"


def _limit(limit: Limit | None) -> str:
    if limit is None:
        return "not known"
    places = " on ".join(part for part in (limit.role, limit.device) if part)
    where = f" ({places})" if places else ""
    second = f" and {_resource(limit.second)}" if limit.second not in (None, limit.verdict) else ""
    return f"{_resource(limit.verdict)}{where}{second}"


def _resource(verdict: str | None) -> str:
    """A limit in words; ``not known`` is its own."""
    return RESOURCES.get(verdict or "", verdict or "not known")


LEAST_WIDER_RATIO = value_of("comparison.links.least_wider_ratio")
"""Links that differ by less are the same ones."""

FOLLOWED_RATIO = value_of("comparison.links.followed_ratio")
"""Throughput that grew by less than this share of what the links grew by did not follow them."""

LONGER_RATIO = value_of("comparison.links.longer_ratio")
"""Service times are long when they pass by so much what the wider links alone would have made of them."""

LEAST_BLOCKED_RATIO = value_of("comparison.links.least_blocked_ratio")
"""Jobs that are blocked in I/O for less of their time are not limited by it."""


class LinkFinding(msgspec.Struct, frozen=True, kw_only=True):
    """Candidate over reference: the links, what the nodes' networks moved, and how long jobs were blocked in
    I/O for each application byte.  ``storage``: the rule names the storage as what limits the candidate."""

    link_ratio: float
    moved_ratio: float
    service_ratio: float
    blocked_ratio: float
    """Share of the candidate's real time blocked in I/O of all roles."""
    device_peak_ratio: float | None
    """Highest window of the storage servers' devices; None where none was watched on both sides."""
    storage: bool
    sentence: str


def link_finding(reference: Side, candidate: Side) -> LinkFinding | None:
    """The rule on two sides of which the candidate's links are wider; None where they are not, or a side
    does not say its links, its networks or its waits.

    More link, the same throughput, longer service times: then the storage behind the links is the limit
    (docs/design/comparison.md, Links).
    """
    links = [centre(side.values("cluster.link_bytes_per_second")) for side in (reference, candidate)]
    link = _ratio(*links)
    networks = [centre(side.values("cluster.network_bytes_per_second")) for side in (reference, candidate)]
    moved = _ratio(*networks)
    service = _ratio(*(_blocked_per_byte(side) for side in (reference, candidate)))
    blocked, real = _blocked(candidate), centre(candidate.values("time.real_time_seconds"))
    if link is None or link < LEAST_WIDER_RATIO or moved is None or service is None:
        return None
    if blocked is None or not real:
        return None
    share = blocked / real
    storage = (
        moved - 1.0 < FOLLOWED_RATIO * (link - 1.0)
        and service > LONGER_RATIO / link
        and share >= LEAST_BLOCKED_RATIO
    )
    peak = _ratio(*(_device_peak(side) for side in (reference, candidate)))
    rates = " -> ".join(format_rate(rate) for rate in links if rate is not None)
    says = "the storage behind the links is the limit now" if storage else "this does not name the storage"
    device = (
        "" if peak is None else f", the storage server's devices {format_ratio(peak)} times at their peak"
    )
    return LinkFinding(
        link_ratio=link,
        moved_ratio=moved,
        service_ratio=service,
        blocked_ratio=share,
        device_peak_ratio=peak,
        storage=storage,
        sentence=f"links {format_ratio(link)} times as wide ({rates}), the networks moved "
        f"{format_ratio(moved)} times as much{device}; jobs were blocked {format_ratio(service)} times as "
        f"long for each byte, where the links alone would have made it {format_ratio(1.0 / link)}: {says}",
    )


def _ratio(reference: float | None, candidate: float | None) -> float | None:
    return candidate / reference if reference and candidate is not None else None


def _blocked(side: Side) -> float | None:
    """Job-seconds blocked in I/O of all roles."""
    return added([centre(side.values(f"wait.blocked_seconds.{role}")) for role in ROLES])


def _blocked_per_byte(side: Side) -> float | None:
    blocked = _blocked(side)
    whole = added([centre(side.values(f"io.application.{way}_bytes")) for way in ("read", "written")])
    return blocked / whole if blocked is not None and whole else None


def _device_peak(side: Side) -> float | None:
    """Sum over the storage servers of their highest windows; of several runs the middle one's."""
    found = []
    for run in side.runs:
        servers = run.summary.cluster.storage if run.summary.cluster else {}
        peaks = [server.device.peak.total_bytes_per_second for server in servers.values()]
        known = [peak for peak in peaks if peak is not None]
        if not known or len(known) < len(peaks):
            return None
        found.append(sum(known))
    return centre(found)
