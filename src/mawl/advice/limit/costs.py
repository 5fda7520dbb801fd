"""What each cause cost the jobs of a run: shares of their real time, and parts of W.

See docs/design/verdict.md.  Job records say what the jobs did; windows say how the waiting of a role divides
into storage, memory, network and other programs.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import Literal

import msgspec

from mawl.advice.limit.evidence import LEAST_LOSS_RATIO, flow_of, port_part, server_part
from mawl.advice.limit.resources import MORE_BLOCKED_RATIO, memory_part
from mawl.advice.validity.host import foreign_bytes_at
from mawl.figures.caps import cap_of
from mawl.figures.others import waiting_for_foreign_bytes, waiting_for_others
from mawl.figures.sessions import added
from mawl.figures.view import RunView, weighted_mean
from mawl.figures.waits import PARTS, is_unseen
from mawl.figures.window_states import Moment
from mawl.records.model.node import Direction
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.judgement import COST_ABSENT, Cause, CauseResource
from mawl.records.model.summary.summary import Summary
from mawl.records.model.thresholds import count_of, value_of
from mawl.records.spec.program_options import ROLES, Role

LEAST_COST_RATIO = value_of("limit.least_cost_ratio")
BOTH_RATIO = value_of("limit.both_ratio")
LARGER_RATIO = value_of("qualification.least_direction_ratio")
BOTH_QUEUE_RATIO = value_of("limit.both_queue_ratio")
BOTH_STORAGE_RATIO = value_of("limit.both_storage_ratio")
STORES = ("storage", "network")
USED_RATIO = value_of("limit.used_ratio")
FOLLOWED_RATIO = value_of("limit.followed_ratio")
LEAST_WAITING = value_of("limit.least_waiting_jobs")
FEWEST_WINDOWS = count_of("limit.plateau.fewest_windows")

Kind = Literal["bandwidth", "latency"]

Place = tuple[CauseResource, tuple[str, ...]]
"""A resource, and the devices of the roles that jobs waited for."""

SharesByPlace = Mapping[Place, Mapping[str, float]]
"""Shares of the jobs' real time by place, and there by role (or by what it is: queue, speed)."""


NOT_STORAGE = "the cause is not storage"
ALIKE = "neither reads nor writes took the jobs twice as long as the other"
NO_KIND = "neither a cap, a probe nor the windows show whether it is bandwidth or latency"
NO_LARGER = "neither the queue nor the speed of the processors cost twice as much as the other"
SEVERAL_CAPS = "jobs whose I/O mawl did not see waited at the caps of several roles"
NO_KINDS = "only storage and processors have kinds"
NO_SLOWDOWN = COST_ABSENT["slowdown"]


class Division(msgspec.Struct, frozen=True, kw_only=True):
    """How the waiting of a run divides among causes.

    ``by_role`` has parts of the time blocked in a role.  ``foreign`` is the part for bytes of other programs,
    None where that is not known.  ``memory_elsewhere`` is the part of other waits that was for memory.
    ``others_in_queue`` is the part of the run queue that other programs cost, or why that is not known.
    ``at_caps`` is the part of the unknown time for which jobs whose I/O mawl did not see waited at caps of
    ``capped_roles``.
    """

    by_role: dict[Role, dict[CauseResource, float]]
    foreign: dict[Role, float | None]
    memory_elsewhere: float
    others_in_queue: float | str
    at_caps: float
    capped_roles: list[Role]


class Ends(msgspec.Struct, frozen=True, kw_only=True):
    """One end of what is open.

    ``io`` and ``queue`` are factors of the time in I/O and in the run queue, which threads that work at the
    same time leave open.  ``unseen_at`` is the role for which jobs whose I/O mawl did not see waited all the
    time; None: they did not wait for I/O.
    """

    io: float
    queue: float
    unseen_at: Role | None


def time_shares(reading: RunView) -> dict[str, float] | None:
    """What the jobs did (``PARTS``, ``unknown``) as shares of their real time; None where nothing says it.

    From the records of the jobs; where windows know more of it (older formats, running jobs), from these.
    """
    wait = reading.summary.wait
    found = []
    if wait is not None:
        shares = {name: getattr(wait.shares, f"{name}_ratio") or 0.0 for name in (*PARTS, "unknown")}
        found.append(shares)
    known = [one for one in reading.active if one.jobs_blocked is not None and one.jobs_running]
    if whole := sum((one.jobs_running or 0.0) * one.seconds for one in known):
        sums: dict[str, float] = defaultdict(float)
        for one in known:
            jobs = {"on_cpu": one.jobs_on_cpu, "run_queue": one.jobs_in_run_queue, **(one.jobs_blocked or {})}
            for name, number in jobs.items():
                sums[name] += (number or 0.0) * one.seconds / whole
        found.append({name: sums[name] for name in (*PARTS, "unknown")})
    return min(found, key=lambda shares: round(shares["unknown"], 1), default=None)


def division_of(reading: RunView) -> Division:
    """How the waiting of a run divides: by windows, and of other programs by bytes and by processors."""
    foreign = {role: waiting_for_foreign_bytes(reading, role) for role in ROLES}
    part = _mean_part(
        reading,
        "unknown",
        lambda one: 1.0 - unexplained(one, reading) / one.unseen_share if one.unseen_share else 0.0,
    )
    capped = sorted({role for roles in reading.at_cap.values() for role, _ in roles})
    return Division(
        by_role={role: _parts_of_role(reading, role, foreign[role] or 0.0) for role in ROLES},
        foreign=foreign,
        memory_elsewhere=_mean_part(reading, "other", lambda one: memory_part(one, reading, "other")),
        others_in_queue=_others_in_queue(reading),
        at_caps=part,
        capped_roles=capped if part else [],
    )


def shares_by_place(
    reading: RunView, division: Division, shares: Mapping[str, float], slowdown: float | None, ends: Ends
) -> SharesByPlace:
    """What each place cost.  ``slowdown`` is W: without it slower cores than the reference do not show."""
    places: dict[Place, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    at_caps = shares["unknown"] * division.at_caps
    for role, parts in division.by_role.items():
        devices = tuple(devices_of(reading, [role]))
        unseen = shares["unknown"] - at_caps if role == ends.unseen_at else 0.0
        for resource, part in parts.items():
            place = () if resource in ("memory", "others") else devices
            places[resource, place][role] += (ends.io * shares[role] + unseen) * part
    places["memory", ()]["other"] += shares["other"] * division.memory_elsewhere
    places["other", ()]["other"] += shares["other"] * (1.0 - division.memory_elsewhere)
    queue = ends.queue * shares["run_queue"]
    by_others = queue * division.others_in_queue if isinstance(division.others_in_queue, float) else 0.0
    places["others", ()]["queue"] += by_others
    places["cpu", ()]["queue"] += queue - by_others
    if slowdown:
        places["cpu", ()]["speed"] += max(shares["on_cpu"] - 1.0 / slowdown, 0.0)
    if at_caps:
        capped = division.capped_roles
        role_or_several = capped[0] if len(capped) == 1 else ""
        places["storage", tuple(devices_of(reading, capped))][role_or_several] += at_caps
    return places


def _others_in_queue(reading: RunView) -> float | str:
    """The part of the time in the run queue that other programs cost; or why it is not known."""
    waiting, why = waiting_for_others(reading)
    known = [
        (lost * one.seconds, one.jobs_in_run_queue * one.seconds)
        for lost, one in zip(waiting, reading.moments, strict=True)
        if lost is not None and one.jobs_in_run_queue is not None
    ]
    if why is not None or not known:
        return why or "the samples do not say who used the processors"
    queued = sum(seconds for _, seconds in known)
    return sum(seconds for seconds, _ in known) / queued if queued else 0.0


def _parts_of_role(reading: RunView, role: Role, foreign: float) -> dict[CauseResource, float]:
    """How the time blocked in a role divides; ``foreign`` is the part of other programs' bytes."""
    memory = _mean_part(reading, role, lambda one: memory_part(one, reading, role))
    elsewhere = role in reading.network_roles()

    def beyond_machine(one: Moment) -> float:
        part = 1.0 - server_part(one) if elsewhere else port_part(one, reading, role)
        return (1.0 - memory_part(one, reading, role)) * part

    network = _mean_part(reading, role, beyond_machine, otherwise=float(elsewhere))
    storage = max(1.0 - memory - network, 0.0)
    return {
        "memory": memory,
        "network": network,
        "others": storage * foreign,
        "storage": storage * (1.0 - foreign),
    }


def _mean_part(
    reading: RunView, place: str, part: Callable[[Moment], float], otherwise: float = 0.0
) -> float:
    """The mean of a part of the jobs blocked at a place, over windows by these."""
    known = [
        (jobs * one.seconds, one)
        for one in reading.active
        if one.jobs_blocked is not None and (jobs := one.jobs_blocked.get(place))
    ]
    whole = sum(weight for weight, _ in known)
    return sum(weight * part(one) for weight, one in known) / whole if whole else otherwise


def costs_of(by_place: SharesByPlace, slowdown: float | None) -> list[Cause]:
    """The costs from ``limit.least_cost_ratio`` on, the largest first, without direction, place and kind."""
    costs = []
    for (resource, devices), own in by_place.items():
        share = sum(own.values())
        if share >= LEAST_COST_RATIO:
            roles = sorted((role for role in ROLES if own.get(role)), key=lambda role: -own[role])
            cost = Cause(
                resource=resource,
                roles=roles if resource in ("storage", "network") else [],
                devices=list(devices),
                share_ratio=share,
                slowdown=slowdown and share * slowdown,
            )
            if resource == "cpu":
                cost = msgspec.structs.replace(cost, kind=_larger(own["queue"], own.get("speed", 0.0)))
            costs.append(cost)
    return sorted(costs, key=lambda cost: -cost.share_ratio)


def _larger(queue: float, speed: float) -> Literal["queue", "speed"] | None:
    """What of the processors cost at least twice as much as the other; None where neither did."""
    if queue >= LARGER_RATIO * speed:
        return "queue"
    return "speed" if speed >= LARGER_RATIO * queue else None


def described(reading: RunView, cost: Cause) -> Cause:
    """The cost with direction, place and kind."""
    if not cost.roles:
        return cost
    direction = direction_of([reading.summary], cost.roles[:1])
    return msgspec.structs.replace(
        cost,
        direction=direction,
        place=directory_of(reading.facts, cost.roles[0]),
        kind=_kind_of(reading, cost, direction) if cost.resource == "storage" else None,
    )


def reasons_of_cost(reading: RunView, cost: Cause) -> dict[str, str]:
    """Why a figure of a cost is null, by its name."""
    kind = {"storage": NO_KIND, "cpu": NO_LARGER}.get(cost.resource, NO_KINDS)
    where = SEVERAL_CAPS if cost.resource == "storage" else NOT_STORAGE
    reasons = {"place": where, "direction": where, "kind": kind, "slowdown": NO_SLOWDOWN}
    if cost.roles:
        role = cost.roles[0]
        placed = any(volume.role == role for volume in reading.facts.volumes)
        reasons["place"] = (
            f"{role} has several directories" if placed else f"the run does not say where {role} is"
        )
        reasons["direction"] = ALIKE if reading.summary.io.by_role else reading.summary.missing["io.by_role"]
    return reasons


def named(costs: Sequence[Cause]) -> list[Cause]:
    """The costs that limit: the largest, and the second where relieving it probably saves 5 %, too.

    None of them where all that they cost is less than a fifth of the jobs' time.
    """
    causes = able(costs)
    limiting = causes[:2]
    if len(limiting) == 2 and limiting[1].share_ratio < _both(*limiting) * limiting[0].share_ratio:
        limiting = limiting[:1]
    return limiting if sum(cost.share_ratio for cost in limiting) >= LEAST_LOSS_RATIO else []


def able(costs: Sequence[Cause]) -> list[Cause]:
    """The costs that can limit: locks, sleep and the like cannot."""
    return [cost for cost in costs if cost.resource != "other"]


def _both(first: Cause, second: Cause) -> float:
    """The part of the first cost from which relieving the second probably saves 5 % of the jobs' time.

    More processors can end a queue; a faster device still takes its time, and its jobs come back to a queue.
    """
    if first.resource in STORES and second.kind == "queue":
        return BOTH_QUEUE_RATIO
    return BOTH_STORAGE_RATIO if first.kind == "queue" and second.resource in STORES else BOTH_RATIO


def pooled(runs: Sequence[tuple[Sequence[Cause], float]], slowdown: float | None) -> list[Cause]:
    """The costs of several runs of one load, each with the real time of its jobs in seconds.

    ``slowdown`` is W of all of them.
    """
    whole = sum(seconds for _, seconds in runs)
    groups: dict[Place, list[tuple[Cause, float]]] = defaultdict(list)
    for listed_of_run, seconds in runs:
        for cost in listed_of_run:
            groups[cost.resource, tuple(cost.devices)].append((cost, seconds))
    costs = [_pooled(group, whole, slowdown) for group in groups.values()]
    listed = [cost for cost in costs if cost.share_ratio >= LEAST_COST_RATIO]
    return sorted(listed, key=lambda cost: -cost.share_ratio)


def _pooled(group: Sequence[tuple[Cause, float]], whole: float, slowdown: float | None) -> Cause:
    """One cost of several runs; direction and kind are None where the runs differ.

    A run that does not list it lost less than ``limit.least_cost_ratio``, which counts as 0.
    """
    costs = [cost for cost, _ in group]
    largest = max(costs, key=lambda cost: cost.share_ratio)
    share = sum(cost.share_ratio * seconds for cost, seconds in group) / whole
    return msgspec.structs.replace(
        largest,
        share_ratio=share,
        slowdown=slowdown and share * slowdown,
        direction=largest.direction if len({cost.direction for cost in costs}) == 1 else None,
        kind=largest.kind if len({cost.kind for cost in costs}) == 1 else None,
    )


def devices_of(reading: RunView, roles: Sequence[Role]) -> list[str]:
    """The block devices that hold these roles."""
    return sorted({name for role in roles for volume in reading.volumes(role) for name in volume.devices})


def direction_of(summaries: Sequence[Summary], roles: Sequence[Role]) -> Direction | None:
    """The direction on whose calls jobs spent at least twice the time of the other; None where neither."""
    spent = {"read": 0.0, "write": 0.0}
    for summary in summaries:
        by_role = summary.io.by_role
        if by_role is None:
            return None
        for role in roles:
            block = by_role[role]
            spent["read"] += block.reads * (block.read_latency_seconds.mean or 0.0)
            spent["write"] += block.writes * (block.write_latency_seconds.mean or 0.0)
            spent["write"] += block.syncs * (block.sync_latency_seconds.mean or 0.0)
    if spent["read"] >= LARGER_RATIO * spent["write"] and spent["read"] > 0.0:
        return "read"
    return "write" if spent["write"] >= LARGER_RATIO * spent["read"] and spent["write"] > 0.0 else None


def directory_of(facts: RunFacts, role: Role) -> str | None:
    """The directory of a role; None where it has several."""
    places = sorted({volume.directory for volume in facts.volumes if volume.role == role})
    return places[0] if len(places) == 1 else None


def _kind_of(reading: RunView, cost: Cause, direction: Direction | None) -> Kind | None:
    """Bandwidth or latency: by a cap or a probe, else by whether more waiting jobs got more bytes.

    None where neither shows it.
    """
    ways: Sequence[Direction] = [direction] if direction else ["read", "write"]
    role = cost.roles[0]
    capability = {way: _capability(reading, role, way) for way in ways}
    devices = (
        len({(volume.node, device) for volume in reading.volumes(role) for device in volume.devices}) or 1
    )
    used = _used_while_waiting(reading, cost, devices, capability)
    if used is not None and used >= USED_RATIO:
        return "bandwidth"
    # Jobs may all have waited for one of several devices, or all at once: then it was full for that time.
    if used is not None and devices == 1 and None not in capability.values():
        return None if _was_full(reading, cost, capability) else "latency"
    windows = _rates_beside_waiters(reading, cost.roles, cost.devices)
    return _kind_by_growth([window for window in windows if window[0] >= LEAST_WAITING])


def _capability(reading: RunView, role: Role, way: Direction) -> float | None:
    """What the devices of a role can give, by a cap or a probe, in bytes per second."""
    block = reading.summary.storage
    demand = getattr(block.by_role[role], way) if block else None
    probed = demand.capability_bytes_per_second if demand else None
    known = (cap_of(reading.summary.caps, role, way).bytes_per_second, probed)
    return min((rate for rate in known if rate), default=None)


def _used_while_waiting(
    reading: RunView, cost: Cause, devices: int, most: Mapping[Direction, float | None]
) -> float | None:
    """What so many devices moved while jobs waited for them, over what they can.

    A device serves somebody whenever a job waits, so windows count by the jobs that waited in a direction.
    """
    flow = flow_of(reading, cost.devices)
    parts = []
    for way, capability in most.items():
        for one, rate in zip(reading.active, flow[way], strict=False):
            waiting = added([_waiting_in(one, role, way) for role in cost.roles])
            if waiting and rate is not None and capability:
                used = min(rate / (min(waiting / devices, 1.0) * capability), 1.0)
                parts.append((used, waiting * one.seconds))
    return weighted_mean(parts)


def _was_full(reading: RunView, cost: Cause, most: Mapping[Direction, float | None]) -> bool:
    """Whether devices gave what they can for a second."""
    flow = flow_of(reading, cost.devices, seconds=1.0)
    return any(
        rate is not None and capability is not None and rate >= USED_RATIO * capability
        for way, capability in most.items()
        for rate in flow[way]
    )


def _waiting_in(moment: Moment, role: Role, way: Direction) -> float | None:
    """Mean number of jobs that waited in reads or in writes of a role, by the time inside its calls.

    None where jobs waited and it is not known in which.
    """
    blocked, reads = (moment.jobs_blocked or {}).get(role), moment.reading.get(role)
    if not blocked:
        return blocked
    if reads is None:
        return None
    return blocked * (reads if way == "read" else 1.0 - reads)


def _rates_beside_waiters(
    reading: RunView, roles: Sequence[Role], devices: Sequence[str]
) -> list[tuple[float, float]]:
    """Jobs blocked in I/O of the roles, and bytes per second of their devices, in windows that have both."""
    return [
        (sum(one.jobs_blocked[role] for role in roles), rate)
        for one, rate in zip(reading.active, flow_of(reading, devices)["total"], strict=False)
        if one.jobs_blocked is not None and rate is not None
    ]


def _kind_by_growth(windows: list[tuple[float, float]]) -> Kind | None:
    """Latency where the rate follows the number of waiting jobs (Little's law), else bandwidth."""
    if len(windows) < FEWEST_WINDOWS:
        return None
    windows.sort()
    half = len(windows) // 2
    few, many = (
        [statistics.fmean(column) for column in zip(*part, strict=True)]
        for part in (windows[:half], windows[-half:])
    )
    if many[0] < MORE_BLOCKED_RATIO * few[0] or few[1] <= 0.0 or many[1] <= 0.0:
        return None
    followed = log(many[1] / few[1]) / log(many[0] / few[0])
    return "latency" if followed >= FOLLOWED_RATIO else "bandwidth"


def unexplained(moment: Moment, reading: RunView) -> float:
    """Share of the jobs' time for which jobs slept whose I/O mawl did not see, and did not wait at a cap."""
    caps = reading.at_cap.get(moment.start_seconds, frozenset()) if moment.unseen_share else frozenset()
    unsure = not caps or reading.summary.io.foreign is None
    if unsure or any(foreign_bytes_at(reading, role) for role, _ in caps):
        return moment.unseen_share
    return moment.unseen_share * (1.0 - max(_part_at_cap(moment, reading, way) for _, way in caps))


def _part_at_cap(moment: Moment, reading: RunView, way: str) -> float:
    """The part of a window for which unseen jobs waited at a cap.

    Jobs that wait all the time share a device alike, so a job waited in proportion to its own bytes a second,
    the job with most for as long as it slept.
    """
    field = "own_read_bytes" if way == "read" else "charged_written_bytes"
    start = (reading.windows.edges[0] if reading.windows else 0.0) + moment.start_seconds
    found = []
    for job in reading.jobs:
        own, begin, end = getattr(job.usage, field), job.started_at, job.ended_at
        if begin is not None and end is not None and end > begin:
            here = min(end, start + moment.seconds) - max(begin, start)
            if here > 0.0:
                found.append((is_unseen(job), here, (own or 0) / (end - begin)))
    most, whole = max((rate for _, _, rate in found), default=0.0), sum(here for one, here, _ in found if one)
    return sum(here * rate for one, here, rate in found if one) / (most * whole) if most and whole else 0.0
