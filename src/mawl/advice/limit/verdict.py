"""The verdict: every window of the active phase named by what limited it, and one name only above half."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
from mawl.advice.limit.rule import LEAST_LOSS_RATIO, Resource, Rule
from mawl.figures.missing import Missing
from mawl.figures.view import RunView
from mawl.figures.window_states import Moment
from mawl.records.model.summary.judgement import EvidenceLine, Limit, Losses, Shares
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import ROLES

RULES: tuple[Rule, ...] = (STORAGE_RULE, CPU_RULE, MEMORY_RULE, NETWORK_RULE)

NAMED_RATIO = value_of("limit.named_ratio")
"""Above this share of the active time one name is given; else the run is mixed."""

SECOND_RATIO = value_of("limit.second_ratio")
"""A second limit that costs less of the jobs' time than this is none."""

PEAKS = {"device_peak": "total", "device_read_peak": "read", "device_write_peak": "write"}
"""Figures of the named device by direction: rate limits often hold for each by itself."""

NO_WAITS = "the samples do not say what the jobs waited for"
TOO_SHORT = "the run was too short: its samples cover no window of the active phase"
DO_NOT_ADD_UP = "the recorded waits do not add up to the jobs' time in any window"
OPEN_BOUNDS = "the bounds of what parallel threads waited for are too wide in every window"

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
    if not told:
        missing["limit"] = _why_unknown(reading)
        return None
    active = sum(moment.seconds for moment in reading.active)
    seconds = sum(moment.seconds for _, moment in told)
    shares = {
        name: sum(moment.seconds for found, moment in told if found == name) / seconds
        for name in (*(rule.resource for rule in RULES), "none")
    }
    losses = {rule.resource: _mean_loss(rule, reading) for rule in RULES}
    verdict, next_one = named(shares), second(named(shares), losses)
    role, device = None, None
    peaks: dict[str, float | None] = {}
    if verdict == "storage":
        role, device = costliest_role(reading, [moment for found, moment in told if found == "storage"])
        peaks = device_peaks(reading, device) if device else {}
    missing |= {
        "limit.role": "the limit is not storage, or no single role",
        "limit.device": "the limit is not storage, or its role is not on one device",
        **{f"limit.{name}_bytes_per_second": "no device is named, or it was not sampled" for name in PEAKS},
        "limit.second": f"no other resource cost {SECOND_RATIO:.0%} of the jobs' time",
    }
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
        why = imports.why_undecided(windows, seconds / active if active else 0.0)
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


def _mean_loss(rule: Rule, reading: RunView) -> float:
    return reading.mean(lambda moment: rule.loss(moment, reading)) or 0.0


def classify(moment: Moment, reading: RunView) -> Resource | str | None:
    """What limited a window: the resource that cost its jobs most, ``none`` below
    ``LEAST_LOSS_RATIO``; None where the window does not tell, or where the bounds of its states
    (threads that worked side by side) would give different names."""
    losses = {rule.resource: rule.loss(moment, reading) for rule in RULES}
    known = {name: loss for name, loss in losses.items() if loss is not None}
    if len(known) < len(losses):
        return None
    names = {_costliest(bounded) for bounded in (known, *_at_bounds(moment, known))}
    return names.pop() if len(names) == 1 else None


def _costliest(losses: dict[Resource, float]) -> Resource | str:
    first = max(losses, key=lambda name: losses[name])
    return first if losses[first] >= LEAST_LOSS_RATIO else "none"


def _at_bounds(moment: Moment, losses: dict[Resource, float]) -> Iterator[dict[Resource, float]]:
    """The losses with the least I/O and the most run queue that a window's states allow, and the reverse."""
    if moment.bounds is None or moment.jobs_blocked is None or moment.jobs_in_run_queue is None:
        return
    waiting = sum(moment.jobs_blocked[role] for role in ROLES)
    for io_end, queue_end in ((0, 1), (1, 0)):
        io = moment.bounds["io"][io_end] / waiting if waiting else 1.0
        queue = moment.bounds["run_queue"][queue_end] / (moment.jobs_in_run_queue or 1.0)
        yield {name: loss * (queue if name == "cpu" else io) for name, loss in losses.items()}


def named(shares: dict[str, float]) -> str:
    """The one name above half of the time, else ``mixed``."""
    first = max(shares, key=lambda name: shares[name])
    return first if shares[first] > NAMED_RATIO else "mixed"


def second(verdict: str, losses: dict[Resource, float]) -> Resource | None:
    """The resource that would limit next: the costliest beside the verdict (of a mixed run the second)."""
    order = sorted((name for name in losses if name != verdict), key=lambda name: -losses[name])
    if verdict == "mixed":
        order = order[1:]
    return order[0] if losses[order[0]] >= SECOND_RATIO else None


def _evidence(
    verdict: str, shares: dict[str, float], losses: dict[Resource, float], reading: RunView
) -> list[EvidenceLine]:
    chosen: Sequence[Rule] = [rule for rule in RULES if rule.resource == verdict]
    if not chosen:
        chosen = [rule for rule in RULES if shares[rule.resource] > 0]
    if not chosen:
        chosen = [max(RULES, key=lambda rule: losses[rule.resource])]
    found = [line for rule in chosen for line in rule.evidence(reading)] + capped_lines(reading)
    if verdict == "none":
        found = [*unlimited_lines(reading), *found]
    lines = {line.sentence: line.kind for line in found}
    ordered = sorted(lines.items(), key=lambda item: item[1] == "support")
    return [EvidenceLine(kind=kind, sentence=sentence) for sentence, kind in ordered]
