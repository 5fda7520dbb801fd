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

from mawl.advice.limit.evidence import flow_of, port_part, server_part
from mawl.advice.limit.resources import MORE_BLOCKED_RATIO, memory_part
from mawl.advice.limit.rule import LEAST_LOSS_RATIO
from mawl.advice.validity.host import foreign_bytes_at
from mawl.base.units import format_percent, format_ratio
from mawl.figures.caps import cap_of
from mawl.figures.others import waiting_for_foreign_bytes, waiting_for_others
from mawl.figures.view import RunView, weighted_mean
from mawl.figures.waits import PARTS, is_unseen
from mawl.figures.window_states import Moment
from mawl.importers.formats.text import one_line
from mawl.records.model.node import Direction
from mawl.records.model.qualification import AnswerLimit
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.judgement import Cause, CauseResource, Limit
from mawl.records.model.summary.summary import Summary
from mawl.records.model.thresholds import count_of, value_of
from mawl.records.spec.program_options import ROLES, Role

LEAST_COST_RATIO = value_of("limit.least_cost_ratio")
BOTH_RATIO = value_of("limit.both_ratio")
BOTH_QUEUE_RATIO = value_of("limit.both_queue_ratio")
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
NO_KINDS = "only storage and processors have kinds"
NO_SLOWDOWN = "the run has no W (answer.slowdown)"


class Ends(msgspec.Struct, frozen=True, kw_only=True):
    """One end of what is open.

    Threads that worked side by side leave factors of the time in I/O and in the run queue open; ``unseen`` is
    the share of the time for which jobs whose I/O mawl did not see waited for storage.
    """

    io: float
    queue: float
    unseen: float


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


def shares_by_place(
    reading: RunView, shares: Mapping[str, float], slowdown: float | None, ends: Ends
) -> SharesByPlace:
    """What each place cost.  ``slowdown`` is W: without it slower cores than the reference do not show."""
    found: dict[Place, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for role in ROLES:
        whole = ends.io * shares[role]
        for resource, part in _parts_of_role(reading, role).items():
            places = () if resource in ("memory", "others") else devices_of(reading, [role])
            found[resource, tuple(places)][role] += whole * part
    memory = _mean_part(reading, "other", lambda one: memory_part(one, reading, "other"))
    found["memory", ()]["other"] += shares["other"] * memory
    found["other", ()]["other"] += shares["other"] * (1.0 - memory)
    queue, others = ends.queue * shares["run_queue"], part_of_others(reading)[0] or 0.0
    found["cpu", ()]["queue"] += queue * (1.0 - others)
    found["others", ()]["queue"] += queue * others
    found["cpu", ()]["speed"] += max(shares["on_cpu"] - 1.0 / slowdown, 0.0) if slowdown else 0.0
    at_cap, roles = at_caps(reading)
    if at_cap:
        found["storage", tuple(devices_of(reading, roles))][roles[0] if len(roles) == 1 else ""] += at_cap
    if ends.unseen:
        storage = {place: sum(own.values()) for place, own in found.items() if place[0] == "storage"}
        found[max(storage, key=lambda place: storage[place], default=("storage", ()))][""] += ends.unseen
    return found


def part_of_others(reading: RunView) -> tuple[float | None, str | None]:
    """The part of the time in the run queue that other programs cost; None with the reason."""
    waiting, why = waiting_for_others(reading)
    known = [
        (lost * one.seconds, one.jobs_in_run_queue * one.seconds)
        for lost, one in zip(waiting, reading.moments, strict=True)
        if lost is not None and one.jobs_in_run_queue is not None
    ]
    if why is not None or not known:
        return None, why or "the samples do not say who used the processors"
    whole = sum(queued for _, queued in known)
    return (sum(lost for lost, _ in known) / whole if whole else 0.0), None


def _parts_of_role(reading: RunView, role: Role) -> dict[CauseResource, float]:
    """How the time blocked in a role divides: others by bytes, memory and network by windows."""
    memory = _mean_part(reading, role, lambda one: memory_part(one, reading, role))
    elsewhere = role in reading.network_roles()

    def network(one: Moment) -> float:
        beyond = 1.0 - server_part(one) if elsewhere else port_part(one, reading, role)
        return (1.0 - memory_part(one, reading, role)) * beyond

    beyond = _mean_part(reading, role, network, otherwise=float(elsewhere))
    storage = max(1.0 - memory - beyond, 0.0)
    others = storage * (waiting_for_foreign_bytes(reading, role) or 0.0)
    return {"memory": memory, "network": beyond, "others": others, "storage": storage - others}


def _mean_part(
    reading: RunView, place: str, part: Callable[[Moment], float], otherwise: float = 0.0
) -> float:
    """The mean of a part of the jobs blocked at a place, over windows by these."""
    known = [
        (one.jobs_blocked[place] * one.seconds, one)
        for one in reading.active
        if one.jobs_blocked is not None and one.jobs_blocked[place]
    ]
    whole = sum(weight for weight, _ in known)
    return sum(weight * part(one) for weight, one in known) / whole if whole else otherwise


def costs_of(reading: RunView, by_place: SharesByPlace, slowdown: float | None) -> list[Cause]:
    """The costs from ``limit.least_cost_ratio`` on, the largest first."""
    found = []
    for (resource, devices), own in by_place.items():
        share = sum(own.values())
        if share < LEAST_COST_RATIO:
            continue
        cost = Cause(
            resource=resource,
            devices=list(devices),
            share_ratio=share,
            slowdown=None if slowdown is None else share * slowdown,
        )
        roles = sorted((role for role in ROLES if own.get(role)), key=lambda role: -own[role])
        if resource == "cpu":
            cost = msgspec.structs.replace(cost, kind="queue" if own["queue"] >= own["speed"] else "speed")
        elif resource in ("storage", "network") and roles:
            direction = direction_of([reading.summary], roles)
            cost = msgspec.structs.replace(
                cost, roles=roles, direction=direction, place=directory_of(reading.facts, roles[0])
            )
            if resource == "storage":
                cost = msgspec.structs.replace(cost, kind=_kind_of(reading, roles, devices, direction))
        found.append(cost)
    return sorted(found, key=lambda cost: -cost.share_ratio)


def reasons_of_cost(reading: RunView, cost: Cause) -> dict[str, str]:
    """Why a figure of a cost is null, by its name."""
    storage = cost.resource in ("storage", "network") and cost.roles
    place, direction = NOT_STORAGE, NOT_STORAGE
    if storage:
        role = cost.roles[0]
        placed = any(volume.role == role for volume in reading.facts.volumes)
        place = f"{role} has several directories" if placed else f"the run does not say where {role} is"
        direction = ALIKE if reading.summary.io.by_role else reading.summary.missing.get("io.by_role", "")
    kind = NO_KIND if cost.resource == "storage" else NO_KINDS
    return {"place": place, "direction": direction, "kind": kind, "slowdown": NO_SLOWDOWN}


def named(costs: Sequence[Cause]) -> list[Cause]:
    """The costs that limit: the largest, and the second where it costs a good part of that, too.

    None of them where all that they cost is less than a fifth of the jobs' time.
    """
    able = [cost for cost in costs if cost.resource != "other"]
    found = able[:1] + [one for one in able[1:2] if one.share_ratio >= _both(able) * able[0].share_ratio]
    return found if sum(cost.share_ratio for cost in found) >= LEAST_LOSS_RATIO else []


def _both(costs: Sequence[Cause]) -> float:
    """The part of the first cost from which a second is named.

    More processors can end a queue; a faster device still takes its time.
    """
    behind_storage = (costs[0].resource, costs[1].resource) == ("storage", "cpu")
    return BOTH_QUEUE_RATIO if behind_storage else BOTH_RATIO


def pooled(runs: Sequence[tuple[Sequence[Cause], float]]) -> list[Cause]:
    """The costs of several runs of one load, each with the real time of its jobs in seconds."""
    whole = sum(seconds for _, seconds in runs)
    groups: dict[object, list[tuple[Cause, float]]] = defaultdict(list)
    for costs, seconds in runs:
        for cost in costs:
            groups[cost.resource, *cost.devices].append((cost, seconds))
    found = []
    for own in groups.values():
        first = max(own, key=lambda one: one[0].share_ratio)[0]
        known = [(one.slowdown, seconds) for one, seconds in own]
        slowdowns = [value * seconds for value, seconds in known if value is not None]
        found.append(
            msgspec.structs.replace(
                first,
                share_ratio=sum(one.share_ratio * seconds for one, seconds in own) / whole,
                slowdown=sum(slowdowns) / whole if len(slowdowns) == len(known) else None,
                direction=first.direction if len({one.direction for one, _ in own}) == 1 else None,
                kind=first.kind if len({one.kind for one, _ in own}) == 1 else None,
            )
        )
    return sorted(found, key=lambda cost: -cost.share_ratio)


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
    factor = value_of("qualification.least_direction_ratio")
    if spent["read"] >= factor * spent["write"] and spent["read"] > 0.0:
        return "read"
    return "write" if spent["write"] >= factor * spent["read"] and spent["write"] > 0.0 else None


def directory_of(facts: RunFacts, role: Role) -> str | None:
    """The directory of a role; None where it has several."""
    places = sorted({volume.directory for volume in facts.volumes if volume.role == role})
    return places[0] if len(places) == 1 else None


def _kind_of(
    reading: RunView, roles: Sequence[Role], devices: Sequence[str], way: Direction | None
) -> Kind | None:
    """Bandwidth or latency: by a cap, else by a probe, else by whether more waiting jobs got more bytes.

    None where none of them shows it.
    """
    ways: Sequence[Direction] = [way] if way else ["read", "write"]
    most = [_capability(reading, roles[0], one) for one in ways]
    if (used := _used_while_waiting(reading, roles[0], devices, dict(zip(ways, most, strict=True)))) is None:
        every = _rates_beside_waiters(reading, roles, devices)
        return _kind_by_growth([one for one in every if one[0] >= LEAST_WAITING])
    return "bandwidth" if used >= USED_RATIO else None if None in most else "latency"


def _capability(reading: RunView, role: Role, way: Direction) -> float | None:
    """What the devices of a role can give, by a cap or a probe, in bytes per second."""
    block = reading.summary.storage
    demand = getattr(block.by_role[role], way) if block else None
    probed = demand.capability_bytes_per_second if demand else None
    known = (cap_of(reading.summary.caps, role, way).bytes_per_second, probed)
    return min((rate for rate in known if rate), default=None)


def _used_while_waiting(
    reading: RunView, role: Role, devices: Sequence[str], most: Mapping[Direction, float | None]
) -> float | None:
    """What devices moved while jobs waited for them, over what they can.

    A device serves somebody whenever a job waits, so windows count by the jobs that waited in a direction.
    """
    parts = []
    flow = flow_of(reading, devices)
    for way, capability in most.items():
        for one, rate in zip(reading.active, flow[way], strict=False):
            reads = one.reading.get(role)
            if one.jobs_blocked is not None and rate is not None and reads is not None and capability:
                waiting = one.jobs_blocked[role] * (reads if way == "read" else 1.0 - reads)
                if waiting:
                    used = min(rate / (min(waiting, 1.0) * capability), 1.0)
                    parts.append((used, waiting * one.seconds))
    return weighted_mean(parts)


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
    if len(windows) < FEWEST_WINDOWS or min(windows)[1] <= 0.0:
        return None
    windows.sort()
    half = len(windows) // 2
    few, many = (
        [statistics.fmean(column) for column in zip(*part, strict=True)]
        for part in (windows[:half], windows[-half:])
    )
    if many[0] < MORE_BLOCKED_RATIO * few[0]:
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


def at_caps(reading: RunView) -> tuple[float, list[Role]]:
    """The share of the jobs' time for which unseen jobs waited at caps, and the roles of these."""
    share = reading.mean(lambda one: one.unseen_share - unexplained(one, reading)) or 0.0
    return share, sorted({role for roles in reading.at_cap.values() for role, _ in roles}) if share else []


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


NO_COST = "no cause cost the jobs 2 % of their time"
MOST_OTHER_COSTS = 2
LONGEST_PLACE = 60
"""Characters of a directory in a sentence; the figures have all of it."""

RESOURCES: dict[str, str] = {
    "storage": "storage",
    "cpu": "processors",
    "memory": "memory",
    "network": "the network",
    "others": "other programs",
    "other": "other waits",
    "none": "no shared resource",
}
OF_PROCESSORS = {"queue": "waiting for processors", "speed": "processors slower than the reference"}


def cause_words(cost: Cause, *, with_place: bool = True) -> str:
    """``work writes on /mnt/b (bandwidth)``; without roles the resource."""
    if not cost.roles:
        return OF_PROCESSORS.get(cost.kind or "", RESOURCES[cost.resource])
    way = {"read": " reads", "write": " writes", None: ""}[cost.direction]
    place = "" if cost.place is None or not with_place else f" on {shortened(one_line(cost.place))}"
    over = " over the network" if cost.resource == "network" else ""
    return f"{cost.roles[0]}{way}{place}{over}" + ("" if cost.kind is None else f" ({cost.kind})")


def cost_words(cost: Cause) -> str:
    """The cause, its cost: ``work writes on /mnt/b (bandwidth), 0.40 of it (21 %)``."""
    share = format_percent(cost.share_ratio)
    if cost.slowdown is None:
        return f"{cause_words(cost)}, {share} of the jobs' time"
    return f"{cause_words(cost)}, {format_ratio(cost.slowdown)} of it ({share})"


def causes_words(costs: Sequence[Cause], *, with_place: bool = True) -> str:
    """The causes that limit, in order: ``work writes on /mnt/b (bandwidth) and waiting for processors``."""
    said = [cause_words(cost, with_place=with_place) for cost in named(costs)]
    return " and ".join(said) or RESOURCES["none"]


def limit_words(limit: Limit | AnswerLimit) -> str:
    """What limits; below the bound of W the largest cost."""
    if limit.named or not limit.costs:
        return causes_words(limit.costs)
    return f"largest cost: {cause_words(limit.costs[0])}"


def costs_words(limit: Limit | AnswerLimit) -> str:
    """What limits, or cost most, and then what other causes cost."""
    limiting = named(limit.costs) if limit.named else limit.costs[:1]
    rest = limit.costs[len(limiting) : len(limiting) + MOST_OTHER_COSTS]
    said = " and ".join(map(cost_words, limiting)) or (RESOURCES["none"] if limit.named else NO_COST)
    return said + (f"; then {', '.join(map(cost_words, rest))}" if rest else "")


def limit_sentence(is_limit: bool | None, costs: Sequence[Cause]) -> str:
    """``limit: A, 1.20 of it (40 %), and B``; below the bound ``largest cost: A``."""
    limiting = named(costs)
    if not is_limit or not limiting:
        return f"largest cost: {cost_words(costs[0])}"
    return f"limit: {', and '.join(map(cost_words, limiting))}"


def shortened(text: str) -> str:
    """The end of a long path."""
    return text if len(text) <= LONGEST_PLACE else f"...{text[3 - LONGEST_PLACE :]}"
