"""The verdict: every window of the active phase named by what limited it, and one name only above half."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from mawl.advice.headroom import headroom_of
from mawl.advice.limit import imports
from mawl.advice.limit.evidence import device_peaks
from mawl.advice.limit.resources import (
    CPU_RULE,
    MEMORY_RULE,
    NETWORK_RULE,
    STORAGE_RULE,
    capped_lines,
    caps_near,
    costliest_role,
    unlimited_lines,
)
from mawl.advice.limit.rule import LEAST_LOSS_RATIO, Resource, Rule, RuleEvidence, share_of_time
from mawl.advice.validity.host import foreign_bytes_at
from mawl.base.units import counted_noun, format_percent
from mawl.figures.missing import Missing
from mawl.figures.throughput import why_no_devices
from mawl.figures.view import RunView
from mawl.figures.waits import is_unseen
from mawl.figures.window_states import Moment
from mawl.records.model.summary.judgement import EvidenceLine, Limit, Losses, Shares
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import ROLES, Role

RULES: tuple[Rule, ...] = (STORAGE_RULE, CPU_RULE, MEMORY_RULE, NETWORK_RULE)

NAMED_RATIO = value_of("limit.named_ratio")
"""Above this share of the active time one name is given; else the run is mixed."""

LEAST_SEEN_RATIO = value_of("answer.least_covered_ratio")
"""That nothing limited a run is said only where this share of its active time is known."""

SECOND_RATIO = value_of("limit.second_ratio")
"""A second limit that costs less of the jobs' time than this is none."""

PEAKS = {"device_peak": "total", "device_read_peak": "read", "device_write_peak": "write"}
"""Figures of the named device by direction: rate limits often hold for each by itself."""

NO_WAITS = "the samples do not say what the jobs waited for"
TOO_SHORT = "the run was too short: its samples cover no window of the active phase"
DO_NOT_ADD_UP = "the recorded waits do not add up to the jobs' time in any window"
OPEN_BOUNDS = (
    "other threads of the jobs were busy while the first ones slept, so what the jobs waited for is not known"
)

WAITS = (
    {"jobs.followed.on_cpu_seconds", "jobs.followed.work_seconds"},
    {"jobs.on_cpu_seconds", "role.work.waited_seconds"},
)
"""Series that samples with waits have, today and in older runs."""


def limit_of(reading: RunView, missing: Missing) -> Limit | None:
    """``limit`` of the summary; None, with the reason, where no window tells what limited it.

    ``shares`` are of the active time that is told (they add up to 1); ``losses`` the mean share of
    the jobs' time that waiting for each resource cost: more than that relieving it cannot save.
    """
    if reading.facts.kind == "imported":
        return _limit_of_import(reading, missing)
    told = [(name, moment) for moment in reading.active if (name := classify(moment, reading)) is not None]
    active = sum(moment.seconds for moment in reading.active)
    seconds = sum(moment.seconds for _, moment in told)
    if not told or seconds <= NAMED_RATIO * active:
        missing["limit"] = _why_unknown(reading)
        return None
    shares = {
        name: sum(moment.seconds for found, moment in told if found == name) / seconds
        for name in (*(rule.resource for rule in RULES), "none")
    }
    losses = _mean_losses(reading, missing)
    verdict, next_one = named(shares), second(named(shares), losses)
    if verdict == "none" and seconds < LEAST_SEEN_RATIO * active:
        missing["limit"] = _why_unknown(reading)
        return None
    role, device = None, None
    no_role = no_device = f"the verdict is {verdict}, not storage"
    peaks: dict[str, float | None] = {}
    if verdict == "storage":
        limited = [moment for found, moment in told if found == "storage"]
        role, device = costliest_role(reading, limited)
        if role is None:
            roles = _roles_at_cap(reading, limited)
            no_role = f"mawl did not see all I/O, and these roles reached their caps: {', '.join(roles)}"
            role, devices = (roles[0] if len(roles) == 1 else None), _devices_of(reading, roles)
            device = devices[0] if len(devices) == 1 else None
        no_device = no_role if role is None else _why_no_device(reading, role)
        peaks = device_peaks(reading, device) if device else {}
    no_peak = no_device if device is None else f"no window has samples of {device}"
    missing |= {
        "limit.role": no_role,
        "limit.device": no_device,
        **{f"limit.{name}_bytes_per_second": no_peak for name in PEAKS},
        "limit.second": f"no other resource cost {SECOND_RATIO:.0%} of the jobs' time",
    }
    if losses["storage"] is None and verdict != "storage":
        missing["limit.second"] = missing["limit.losses.storage"]
    return Limit(
        verdict=verdict,
        role=role,
        device=device,
        **{f"{name}_bytes_per_second": peaks.get(direction) for name, direction in PEAKS.items()},
        shares=Shares(**shares),
        losses=Losses(**losses),
        told_ratio=seconds / active,
        second=next_one,
        headroom=headroom_of(reading, missing, verdict, role, next_one),
        evidence=_evidence(verdict, shares, losses, reading),
        caps_reached=caps_near(reading, role) if role is not None else [],
    )


def _why_unknown(reading: RunView) -> str:
    if reading.samples is None or not reading.active:
        return reading.why_not_drawn or TOO_SHORT
    if any(_unexplained(moment, reading) >= LEAST_LOSS_RATIO for moment in reading.active):
        unseen = counted_noun(sum(map(is_unseen, reading.jobs)), "job")
        return f"mawl did not see what {unseen} waited for: {'; '.join(reading.summary.io.unseen)}"
    if any(moment.jobs_blocked is not None for moment in reading.active):
        return OPEN_BOUNDS
    names = {name for node in reading.samples.nodes for name in reading.samples.names(node)}
    if not any(series <= names for series in WAITS):
        return NO_WAITS
    seen = any(moment.jobs_running is not None for moment in reading.active)
    return DO_NOT_ADD_UP if seen else TOO_SHORT


def _limit_of_import(reading: RunView, missing: Missing) -> Limit | None:
    """``limit`` of an import: by exclusion, and only where logs and recordings name more than half of the
    active time."""
    why = imports.why_limit_unknown(reading)
    windows = [] if why else imports.windows_of_import(reading)
    told = {
        name: sum(one.seconds for one in windows if one.name == name) for name in ("cpu", "storage", "none")
    }
    seconds = sum(told.values())
    active = reading.line.active_seconds if reading.line else 0.0
    if why is None and (not active or seconds <= NAMED_RATIO * active):
        why = imports.why_undecided(reading, windows, seconds / active if active else 0.0)
    if why is not None:
        missing["limit"] = why
        return None
    verdict = named({name: part / seconds for name, part in told.items()})
    spans = sum(one.seconds for one in windows if one.waited is not None)
    losses = {
        name: sum(one.seconds * (one.waited or 0.0) for one in windows if one.name == name) / spans
        for name in ("storage", "cpu")
    }
    missing |= {
        **dict.fromkeys(("limit.role", "limit.device"), imports.NO_PLACE),
        **{f"limit.{name}_bytes_per_second": imports.NO_PLACE for name in PEAKS},
        **dict.fromkeys(("limit.losses.memory", "limit.losses.network", "limit.second"), imports.NOT_ASKED),
    }
    return Limit(
        verdict=verdict,
        role=None,
        device=None,
        **{f"{name}_bytes_per_second": None for name in PEAKS},
        shares=Shares(
            **{name: told.get(name, 0.0) / seconds for name in (*(rule.resource for rule in RULES), "none")}
        ),
        losses=Losses(**{rule.resource: losses.get(rule.resource) for rule in RULES}),
        told_ratio=seconds / active,
        second=None,
        headroom=headroom_of(reading, missing, verdict),
        evidence=imports.evidence_of(windows, verdict),
        caps_reached=[],
    )


def _mean_losses(reading: RunView, missing: Missing) -> dict[Resource, float | None]:
    """The mean loss of each resource; None for storage where jobs slept that mawl did not see for longer."""
    found: dict[Resource, float | None] = {
        rule.resource: reading.mean(lambda moment, rule=rule: rule.loss(moment, reading)) or 0.0  # type: ignore[misc]
        for rule in RULES
    }
    unseen = reading.mean(lambda moment: moment.unseen_share) or 0.0
    unexplained = reading.mean(lambda moment: _unexplained(moment, reading)) or 0.0
    found["storage"] = (found["storage"] or 0.0) + unseen - unexplained
    if unexplained >= SECOND_RATIO:
        found["storage"] = None
        missing["limit.losses.storage"] = (
            f"jobs whose I/O mawl did not see slept for {format_percent(unexplained)} of the jobs' time"
        )
    return found


def _unexplained(moment: Moment, reading: RunView) -> float:
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


def _roles_at_cap(reading: RunView, limited: Sequence[Moment]) -> list[Role]:
    return sorted({role for one in limited for role, _ in reading.at_cap.get(one.start_seconds, ())})


def _devices_of(reading: RunView, roles: Sequence[Role]) -> list[str]:
    return sorted({name for role in roles for volume in reading.volumes(role) for name in volume.devices})


def _why_no_device(reading: RunView, role: Role) -> str:
    """Why no one device holds a role that limited the run."""
    if devices := _devices_of(reading, [role]):
        return f"{role} lies on several devices: {', '.join(devices)}"
    return why_no_devices(replace(reading.facts, volumes=reading.volumes(role))) or ""


def classify(moment: Moment, reading: RunView) -> Resource | str | None:
    """What limited a window: the resource that cost its jobs most, ``none`` below
    ``LEAST_LOSS_RATIO``; None where the window does not tell, or where the bounds of its states
    (threads that worked side by side) would give different names."""
    losses = {rule.resource: rule.loss(moment, reading) for rule in RULES}
    known = {name: loss for name, loss in losses.items() if loss is not None}
    if len(known) < len(losses):
        return None
    names = {_costliest(bounded) for bounded in _at_bounds(moment, known, _unexplained(moment, reading))}
    return names.pop() if len(names) == 1 else None


def _costliest(losses: dict[Resource, float]) -> Resource | str:
    first = max(losses, key=lambda name: losses[name])
    return first if losses[first] >= LEAST_LOSS_RATIO else "none"


def _at_bounds(
    moment: Moment, losses: dict[Resource, float], unexplained: float
) -> Iterator[dict[Resource, float]]:
    """The losses as estimated, with the least I/O and the most run queue that a window allows; the reverse.

    Jobs whose I/O mawl did not see waited for storage: for no less than they did at a cap, at most as long as
    they slept.
    """
    at_cap = moment.unseen_share - unexplained
    ends = {"io": (1.0, 1.0), "run_queue": (1.0, 1.0)}
    blocked, queued = moment.jobs_blocked, moment.jobs_in_run_queue
    if moment.bounds is not None and blocked is not None and queued is not None:
        whole = {"io": sum(blocked[role] for role in ROLES), "run_queue": queued}
        ends |= {
            name: (least / whole[name], most / whole[name])
            for name, (least, most) in moment.bounds.items()
            if whole[name]
        }
    (least_io, most_io), (least_queue, most_queue) = ends["io"], ends["run_queue"]
    estimate, other = (1.0, 1.0, 0.0), (most_io, least_queue, unexplained)
    for io, queue, slept in (estimate, (least_io, most_queue, 0.0), other):
        found = {name: loss * (queue if name == "cpu" else io) for name, loss in losses.items()}
        found["storage"] += at_cap + slept
        yield found


def named(shares: dict[str, float]) -> str:
    """The one name above half of the time, else ``mixed``."""
    first = max(shares, key=lambda name: shares[name])
    return first if shares[first] > NAMED_RATIO else "mixed"


def second(verdict: str, losses: dict[Resource, float | None]) -> Resource | None:
    """The resource that would limit next: the costliest beside the verdict (of a mixed run the second)."""
    known = {name: loss for name, loss in losses.items() if loss is not None}
    order = sorted((name for name in known if name != verdict), key=lambda name: -known[name])
    if verdict == "mixed":
        order = order[1:]
    return order[0] if order and known[order[0]] >= SECOND_RATIO else None


def _unseen_lines(reading: RunView) -> list[RuleEvidence]:
    """For how much of their time it is not known what jobs did, and how often they were at a cap."""
    unknown = share_of_time(reading, "unknown") or 0.0
    if not any(moment.unseen_share for moment in reading.active) or unknown < LEAST_LOSS_RATIO:
        return []
    waited = sum(_unexplained(one, reading) < 0.5 * one.unseen_share for one in reading.active)
    sentence = (
        f"mawl did not see what jobs did in {format_percent(unknown)} of their time; in {waited} of "
        f"{counted_noun(len(reading.active), 'window')} they moved what a control group allows their device"
    )
    return [RuleEvidence(kind="evidence", sentence=sentence)]


def _evidence(
    verdict: str, shares: dict[str, float], losses: dict[Resource, float | None], reading: RunView
) -> list[EvidenceLine]:
    chosen: Sequence[Rule] = [rule for rule in RULES if rule.resource == verdict]
    if not chosen:
        chosen = [rule for rule in RULES if shares[rule.resource] > 0]
    if not chosen:
        chosen = [max(RULES, key=lambda rule: losses[rule.resource] or 0.0)]
    found = [line for rule in chosen for line in rule.evidence(reading)]
    found = [*_unseen_lines(reading), *found, *capped_lines(reading)]
    if verdict == "none":
        found = [*unlimited_lines(reading), *found]
    lines = {line.sentence: line.kind for line in found}
    ordered = sorted(lines.items(), key=lambda item: item[1] == "support")
    return [EvidenceLine(kind=kind, sentence=sentence) for sentence, kind in ordered]
