"""The verdict: what cost the jobs most, one cause or two (docs/design/verdict.md), and in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from mawl.advice.headroom import headroom_of
from mawl.advice.limit import imports
from mawl.advice.limit.costs import (
    LEAST_COST_RATIO,
    NO_SLOWDOWN,
    Division,
    Ends,
    SharesByPlace,
    able,
    costs_of,
    described,
    devices_of,
    division_of,
    named,
    reasons_of_cost,
    shares_by_place,
    time_shares,
    unexplained,
)
from mawl.advice.limit.evidence import (
    LEAST_LOSS_RATIO,
    Resource,
    Rule,
    RuleEvidence,
    device_peaks,
    share_of_time,
)
from mawl.advice.limit.resources import (
    CPU_RULE,
    MEMORY_RULE,
    NETWORK_RULE,
    STORAGE_RULE,
    capped_lines,
    caps_near,
    unlimited_lines,
)
from mawl.advice.validity.host import competition
from mawl.base.units import counted_noun, format_percent
from mawl.figures.missing import Missing
from mawl.figures.others import other_programs_of
from mawl.figures.throughput import why_no_devices
from mawl.figures.view import RunView
from mawl.figures.waits import is_unseen, job_sums
from mawl.figures.window_states import Moment
from mawl.importers.formats.text import one_line
from mawl.records.model.node import named as named_programs
from mawl.records.model.qualification import AnswerLimit
from mawl.records.model.records import BOUNDED
from mawl.records.model.summary.judgement import RESOURCES, Cause, EvidenceLine, Limit, Losses, Shares
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import ROLES, Role

RULES: tuple[Rule, ...] = (STORAGE_RULE, CPU_RULE, MEMORY_RULE, NETWORK_RULE)

LEAST_KNOWN_RATIO = value_of("limit.least_known_ratio")
"""A verdict needs more than this share of the active time known."""

LEAST_SEEN_RATIO = value_of("answer.least_covered_ratio")
"""That nothing limited a run is said only where this share of its active time is known."""

IMPORTED: tuple[Resource, ...] = ("storage", "cpu")
NO_SECOND = "relieving a second cause would probably save less than 5 % of the jobs' time"
OPEN_SECOND = "what mawl did not see leaves open whether a second cause limits the run"

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


def limit_of(reading: RunView, missing: Missing, bound: float) -> Limit | None:
    """``limit`` of the summary; None, with the reason, where what the jobs waited for is not known.

    ``bound`` is that of W.  The verdict is the resource of the largest cost; ``second`` that of the second
    where it limits, too.
    """
    if reading.facts.kind == "imported":
        return _limit_of_import(reading, missing)
    shares = time_shares(reading)
    windows = [(classify(moment, reading), moment.seconds) for moment in reading.active]
    active = sum(seconds for _, seconds in windows)
    known = sum(seconds for name, seconds in windows if name is not None)
    slowdown = job_sums(reading.jobs, reading.facts).slowdown
    if shares is None or known <= LEAST_KNOWN_RATIO * active:
        missing["limit"] = _why_unknown(reading)
        return None
    division = division_of(reading)
    ends = _ends(reading)
    by_place, *at_ends = [shares_by_place(reading, division, shares, slowdown, end) for end in ends]
    costs = costs_of(by_place, slowdown)
    limiting = named(costs)
    places = _places(limiting)
    at_each_end = [_places(named(costs_of(at_end, slowdown))) for at_end in at_ends]
    disagreeing = [end for end, found in zip(ends[1:], at_each_end, strict=True) if found[:1] != places[:1]]
    if disagreeing:
        by_unseen = all(end.unseen_at is not None for end in disagreeing)
        missing["limit"] = _why_unseen(reading) if by_unseen else OPEN_BOUNDS
        return None
    if not limiting and known < LEAST_SEEN_RATIO * active:
        missing["limit"] = _why_unknown(reading)
        return None
    no_second = NO_SECOND
    if any(found != places for found in at_each_end):
        limiting, no_second = limiting[:1], OPEN_SECOND
    costs = [described(reading, cost) for cost in costs]
    limiting = able(costs)[: len(limiting)]
    for number, cost in enumerate(costs):
        reasons = reasons_of_cost(reading, cost)
        missing |= {f"limit.costs.{number}.{name}": reason for name, reason in reasons.items()}
    losses = _losses(reading, by_place, shares, division, missing)
    missing |= {"limit.second": no_second, "limit.named": NO_SLOWDOWN}
    verdict = limiting[0].resource if limiting else "none"
    within_bound = slowdown is not None and slowdown <= bound
    role, device = _named_storage(reading, verdict, limiting, division, missing)
    peaks = device_peaks(reading, device) if device else {}
    return Limit(
        verdict=verdict,
        second=limiting[1].resource if len(limiting) > 1 else None,
        named=None if slowdown is None else not within_bound,
        costs=costs,
        role=role,
        device=device,
        **{f"{name}_bytes_per_second": peaks.get(direction) for name, direction in PEAKS.items()},
        shares=_shares_of_windows(windows),
        losses=losses,
        told_ratio=known / active,
        headroom=headroom_of(reading, missing, [] if within_bound else limiting, costs),
        evidence=_evidence(limiting, losses, reading),
        caps_reached=caps_near(reading, role) if role is not None else [],
    )


def _places(causes: Sequence[Cause]) -> list[tuple[str, list[str]]]:
    return [(cause.resource, cause.devices) for cause in causes]


def _named_storage(
    reading: RunView, verdict: str, limiting: Sequence[Cause], division: Division, missing: Missing
) -> tuple[Role | None, str | None]:
    """The role that storage limits by, and the device that holds it; None with reasons in ``missing``."""
    storage = next((cause for cause in limiting if cause.resource == "storage"), None)
    role = device = None
    no_role = f"the verdict is {verdict}, not storage"
    if storage is not None and storage.roles:
        role = storage.roles[0]
        device = storage.devices[0] if len(storage.devices) == 1 else None
    elif storage is not None:
        capped = ", ".join(division.capped_roles)
        no_role = f"mawl did not see all I/O, and these roles reached their caps: {capped}"
    no_device = _why_no_device(reading, role) if role is not None else no_role
    no_peak = f"no window has samples of {device}" if device is not None else no_device
    missing |= {"limit.role": no_role, "limit.device": no_device}
    missing |= {f"limit.{name}_bytes_per_second": no_peak for name in PEAKS}
    return role, device


def _ends(reading: RunView) -> list[Ends]:
    """The middle of what threads at the same time and unseen I/O leave open, then least I/O and most I/O.

    Where jobs were not seen, there is an end with most I/O for each role in which they may have waited.
    """
    sums = {name: [0.0, 0.0, 0.0] for name in BOUNDED}
    for one in reading.active:
        if one.jobs_blocked is None or one.jobs_in_run_queue is None:
            continue
        jobs_in = {"io": sum(one.jobs_blocked[role] for role in ROLES), "run_queue": one.jobs_in_run_queue}
        for name, middle in jobs_in.items():
            low, high = (one.bounds or {}).get(name, (middle, middle))
            for at, jobs in enumerate((low, middle, high)):
                sums[name][at] += jobs * one.seconds
    ratios = {name: [own[at] / own[1] if own[1] else 1.0 for at in (0, 2)] for name, own in sums.items()}
    io, queue = ratios["io"], ratios["run_queue"]
    least, most = (io[0], queue[1]), (io[1], queue[0])
    roles = ROLES if any(map(is_unseen, reading.jobs)) else ()
    ends = [((1.0, 1.0), None), (least, None), (most, None), *((most, role) for role in roles)]
    return [Ends(io=io, queue=queue, unseen_at=role) for (io, queue), role in ends]


def _shares_of_windows(windows: Sequence[tuple[str | None, float]]) -> Shares:
    known = sum(seconds for name, seconds in windows if name is not None)
    names = (*(rule.resource for rule in RULES), "none")
    return Shares(
        **{name: sum(seconds for found, seconds in windows if found == name) / known for name in names}
    )


def _why_unknown(reading: RunView) -> str:
    if reading.samples is None or not reading.active:
        return reading.why_not_drawn or TOO_SHORT
    if any(unexplained(moment, reading) >= LEAST_LOSS_RATIO for moment in reading.active):
        return _why_unseen(reading)
    if any(moment.jobs_blocked is not None for moment in reading.active):
        return OPEN_BOUNDS
    names = {name for node in reading.samples.nodes for name in reading.samples.names(node)}
    if not any(series <= names for series in WAITS):
        return NO_WAITS
    seen = any(moment.jobs_running is not None for moment in reading.active)
    return DO_NOT_ADD_UP if seen else TOO_SHORT


def _why_unseen(reading: RunView) -> str:
    unseen = counted_noun(sum(map(is_unseen, reading.jobs)), "job")
    return f"mawl did not see what {unseen} waited for: {'; '.join(reading.summary.io.unseen)}"


def _limit_of_import(reading: RunView, missing: Missing) -> Limit | None:
    """``limit`` of an import: by exclusion, and only where logs and recordings name more than half of the
    active time."""
    why = imports.why_limit_unknown(reading)
    windows = [] if why else imports.windows_of_import(reading)
    active = reading.line.active_seconds if reading.line else 0.0
    known = sum(window.seconds for window in windows if window.name is not None)
    if why is None and (not active or known <= LEAST_KNOWN_RATIO * active):
        why = imports.why_undecided(reading, windows, known / active if active else 0.0)
    if why is not None:
        missing["limit"] = why
        return None
    spans = sum(window.seconds for window in windows if window.waited is not None)
    costs = [
        Cause(
            resource=name,
            share_ratio=sum(
                window.seconds * (window.waited or 0.0) for window in windows if window.name == name
            )
            / spans,
        )
        for name in IMPORTED
    ]
    costs = sorted((cost for cost in costs if cost.share_ratio), key=lambda cost: -cost.share_ratio)
    limiting = named(costs)
    verdict = limiting[0].resource if limiting else "none"
    sums = dict.fromkeys(IMPORTED, 0.0) | {cost.resource: cost.share_ratio for cost in costs}
    unasked = [f"limit.losses.{name}" for name in ("memory", "network", "others")]
    missing |= {
        **dict.fromkeys(("limit.role", "limit.device"), imports.NO_PLACE),
        **{f"limit.{name}_bytes_per_second": imports.NO_PLACE for name in PEAKS},
        **dict.fromkeys(unasked, imports.NOT_ASKED),
        "limit.second": NO_SECOND,
        "limit.named": NO_SLOWDOWN,
    }
    return Limit(
        verdict=verdict,
        second=limiting[1].resource if len(limiting) > 1 else None,
        named=None,
        costs=costs,
        role=None,
        device=None,
        **{f"{name}_bytes_per_second": None for name in PEAKS},
        shares=_shares_of_windows([(window.name, window.seconds) for window in windows]),
        losses=Losses(**sums, memory=None, network=None, others=None),
        told_ratio=known / active,
        headroom=headroom_of(reading, missing, limiting, costs),
        evidence=imports.evidence_of(windows, verdict),
        caps_reached=[],
    )


def _losses(
    reading: RunView,
    by_place: SharesByPlace,
    shares: Mapping[str, float],
    division: Division,
    missing: Missing,
) -> Losses:
    """What each resource cost; None where mawl did not see the I/O of jobs, or who else used the system."""
    sums: dict[str, float | None] = dict.fromkeys(Losses.__struct_fields__, 0.0)
    for (resource, _), own in by_place.items():
        if resource != "other":
            sums[resource] = (sums[resource] or 0.0) + sum(own.values())
    unseen = shares["unknown"] * (1.0 - division.at_caps)
    if unseen >= LEAST_COST_RATIO:
        sums["storage"] = None
        missing["limit.losses.storage"] = (
            f"jobs whose I/O mawl did not see slept for {format_percent(unseen)} of the jobs' time"
        )
    if why := _why_others_unknown(reading, shares, division):
        sums["others"] = None
        missing["limit.losses.others"] = why
    return Losses(**sums)


def _why_others_unknown(reading: RunView, shares: Mapping[str, float], division: Division) -> str | None:
    """Why it is not known what other programs cost, where that can be as much as a cost that is listed."""
    if isinstance(division.others_in_queue, str) and shares["run_queue"] >= LEAST_COST_RATIO:
        return division.others_in_queue
    if any(division.foreign[role] is None and shares[role] >= LEAST_COST_RATIO for role in ROLES):
        return reading.summary.missing.get("io.foreign")
    return None


def _why_no_device(reading: RunView, role: Role) -> str:
    """Why no one device holds a role that limited the run."""
    if devices := devices_of(reading, [role]):
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
    names = {_costliest(bounded) for bounded in _at_bounds(moment, known, unexplained(moment, reading))}
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


def _unseen_lines(reading: RunView) -> list[RuleEvidence]:
    """For how much of their time it is not known what jobs did, and how often they were at a cap."""
    unknown = share_of_time(reading, "unknown") or 0.0
    if not any(moment.unseen_share for moment in reading.active) or unknown < LEAST_LOSS_RATIO:
        return []
    waited = sum(unexplained(one, reading) < 0.5 * one.unseen_share for one in reading.active)
    sentence = (
        f"mawl did not see what jobs did in {format_percent(unknown)} of their time; in {waited} of "
        f"{counted_noun(len(reading.active), 'window')} they moved what a control group allows their device"
    )
    return [RuleEvidence(kind="evidence", sentence=sentence)]


def _evidence(limiting: Sequence[Cause], losses: Losses, reading: RunView) -> list[EvidenceLine]:
    resources = [cost.resource for cost in limiting]
    chosen: Sequence[Rule] = [rule for rule in RULES if rule.resource in resources]
    if not limiting:
        chosen = [max(RULES, key=lambda rule: getattr(losses, rule.resource) or 0.0)]
    found = [line for rule in chosen for line in rule.evidence(reading)]
    found = [*_unseen_lines(reading), *found, *capped_lines(reading)]
    if "others" in resources:
        most = named_programs(other_programs_of(reading.facts)[0])
        said = [one.sentence for one in competition(reading)] or [
            f"other programs{most or ', which mawl did not see'}"
        ]
        found = [*(RuleEvidence(kind="evidence", sentence=one) for one in said), *found]
    if not limiting:
        found = [*unlimited_lines(reading), *found]
    lines = {line.sentence: line.kind for line in found}
    ordered = sorted(lines.items(), key=lambda item: item[1] == "support")
    return [EvidenceLine(kind=kind, sentence=sentence) for sentence, kind in ordered]


NO_COST = "no cause cost the jobs 2 % of their time"
MOST_OTHER_COSTS = 2
LONGEST_PLACE = 60
"""Characters of a directory in a sentence; the figures have all of it."""

OF_PROCESSORS = {"queue": "processors (too few)", "speed": "processors (too slow)"}


def shown_causes(limit: Limit | AnswerLimit) -> list[Cause]:
    """The causes that reports name: one or two that limit, or none; below the bound of W the largest cost."""
    if not limit.named:
        return limit.costs[:1]
    resources = [name for name in (limit.verdict, limit.second) if name not in (None, "none")]
    return able(limit.costs)[: len(resources)]


def cause_words(cost: Cause, *, with_place: bool = True) -> str:
    """``work writes on /mnt/b (bandwidth)``; without roles the resource."""
    if not cost.roles:
        return OF_PROCESSORS.get(cost.kind or "", RESOURCES[cost.resource])
    words: str = cost.roles[0]
    if cost.direction is not None:
        words += f" {cost.direction}s"
    if cost.place is not None and with_place:
        words += f" on {shortened(one_line(cost.place))}"
    if cost.resource == "network":
        words += " over the network"
    return words if cost.kind is None else f"{words} ({cost.kind})"


def cost_words(cost: Cause) -> str:
    """The cause and its cost: ``work writes on /mnt/b (bandwidth), 25 % of the jobs' time``."""
    return f"{cause_words(cost)}, {format_percent(cost.share_ratio)} of the jobs' time"


def limit_words(limit: Limit | AnswerLimit, *, with_place: bool = True) -> str:
    """``work writes on /mnt/b (bandwidth) and processors (too few)``, or the largest cost."""
    causes = " and ".join(cause_words(cost, with_place=with_place) for cost in shown_causes(limit))
    if limit.named or not causes:
        return causes or RESOURCES["none"]
    return f"largest cost: {causes}"


def costs_words(limit: Limit | AnswerLimit) -> str:
    """What limits, or cost most, and then what other causes cost."""
    if not limit.costs:
        return NO_COST
    shown = shown_causes(limit)
    rest = [cost for cost in limit.costs if cost not in shown][:MOST_OTHER_COSTS]
    words = " and ".join(map(cost_words, shown)) or RESOURCES["none"]
    return words + (f"; then {', '.join(map(cost_words, rest))}" if rest else "")


def limit_sentence(limit: Limit | AnswerLimit) -> str:
    """``limit: A, 40 % of the jobs' time, and B``; below the bound ``largest cost: A``."""
    causes = shown_causes(limit)
    if limit.named and causes:
        return f"limit: {', and '.join(map(cost_words, causes))}"
    return f"largest cost: {cost_words(limit.costs[0])}"


def shortened(text: str) -> str:
    """The end of a long path."""
    return text if len(text) <= LONGEST_PLACE else f"...{text[3 - LONGEST_PLACE :]}"
