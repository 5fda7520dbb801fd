"""The answer as a function of its evidence."""

from __future__ import annotations

import msgspec

from mawl.advice.qualification.evidence import Evidence
from mawl.advice.qualification.machine import Contradiction, contradiction
from mawl.advice.qualification.nodes import missing_of_nodes, nodes_answer, nodes_rules
from mawl.advice.qualification.part_answers import NO_TIMES, compute_part, storage_part, whole_part, word_of
from mawl.advice.qualification.sentence import next_step_of, other_verdict, sentence_of
from mawl.advice.validity.host import MOST_FOREIGN_RATIO
from mawl.base.units import counted_noun, format_percent, format_rate, format_ratio, format_seconds
from mawl.records.model.qualification import (
    AnswerLimit,
    AnswerPart,
    AnswerRule,
    Fits,
    QualificationAnswer,
    QualificationFigures,
)
from mawl.records.model.thresholds import count_of, value_of

FEWEST_RUNS = count_of("qualification.fewest_runs")
FEWEST_ALONE = count_of("capacity.fewest_runs_alone")
LEAST_SECONDS = value_of("capacity.least_active_seconds")
PUBLISHABLE_SECONDS = value_of("capacity.publishable_active_seconds")


def answer_from(evidence: Evidence) -> QualificationAnswer:
    """The whole answer; what is null in it has its reason in ``missing``."""
    compute, storage = compute_part(evidence), storage_part(evidence)
    whole = whole_part(evidence, compute)
    evidence = _with_limit_of_slowdown(_without_disturbed_figures(evidence, whole))
    preliminary = _lacks_to_publish(evidence)
    nodes = nodes_answer(evidence, whole)
    return QualificationAnswer(
        sentence=sentence_of(evidence, whole, preliminary, nodes),
        carried=whole,
        compute=compute,
        storage=storage,
        preliminary=bool(preliminary),
        sessions=evidence.sessions,
        figures=QualificationFigures(
            slowdown=whole.slowdown,
            slowdown_low=whole.slowdown_low,
            slowdown_high=whole.slowdown_high,
            most_slowdown=evidence.most_slowdown,
            device_bytes_per_second_per_core=evidence.device_bytes_per_second_per_core,
            device_basis=evidence.device_basis,
            guideline_bytes_per_second_per_core=evidence.guideline_bytes_per_second_per_core,
            guideline_met=evidence.guideline_met,
            jobs_per_hour=evidence.jobs_per_hour,
            alone_others_cpu_ratio=evidence.others_alone.ratio,
            measured_others_cpu_ratio=evidence.others_measured.ratio,
            joules_per_job=evidence.joules_per_job,
            energy_scope=evidence.energy_scope,
        ),
        limit=evidence.limit,
        fits=evidence.fits,
        changes=evidence.changes,
        next_step=next_step_of(evidence, whole, preliminary, nodes),
        cautions=evidence.cautions,
        rules=rules_of(evidence),
        system=evidence.system,
        during=evidence.during,
        nodes=msgspec.UNSET if nodes is None else nodes,
        missing=_reasons_of_missing(evidence) | missing_of_nodes(nodes),
    )


def _lacks_to_publish(evidence: Evidence) -> list[str]:
    found = []
    if evidence.runs < FEWEST_RUNS:
        found.append(f"{counted_noun(evidence.runs, 'measured run')} of {FEWEST_RUNS}")
    if evidence.runs_alone < FEWEST_ALONE:
        found.append(f"{counted_noun(evidence.runs_alone, 'time')} alone of {FEWEST_ALONE}")
    if evidence.active_seconds < PUBLISHABLE_SECONDS:
        needed = f"{PUBLISHABLE_SECONDS / 60:g} min"
        found.append(f"{format_seconds(evidence.active_seconds)} of load where {needed} are needed")
    return found


def _without_disturbed_figures(evidence: Evidence, whole: AnswerPart) -> Evidence:
    """No number that fits and no change where the answer is not known since the runs were not of this load.

    Other programs took part of the processors or devices, or a cache served part of the bytes.
    """
    reason = evidence.busy
    if reason is None and evidence.lack is not None and evidence.lack[1] in ("others", "reach"):
        reason = evidence.lack[0]
    if reason is None or whole.answer != "not known":
        return evidence
    return msgspec.structs.replace(
        evidence,
        fits=Fits(sessions=None, reason=reason),
        changes=[],
        missing={**evidence.missing, "changes": reason},
    )


def _with_limit_of_slowdown(evidence: Evidence) -> Evidence:
    found = contradiction(evidence)
    return _limited_by_processors(evidence, found) if found else evidence


def _limited_by_processors(evidence: Evidence, found: Contradiction) -> Evidence:
    """With a caution; the rate of the devices in the runs is then no longer what the storage can do."""
    limit = AnswerLimit(resource="cpu", active_ratio=evidence.processors_active_ratio)
    cautions = [other_verdict(found), *evidence.cautions]
    evidence = msgspec.structs.replace(evidence, limit=limit, cautions=cautions)
    if evidence.device_basis != "run":
        return evidence
    missing = {**evidence.missing, "guideline": "the storage was not probed, and it does not limit the runs"}
    return msgspec.structs.replace(evidence, device_basis="demand", guideline_met=None, missing=missing)


def rules_of(evidence: Evidence) -> list[AnswerRule]:
    bound = evidence.most_slowdown
    found = evidence.whole
    slowed = "not known" if found is None else f"{format_ratio(found.low)} to {format_ratio(found.high)}"
    rate = evidence.device_bytes_per_second_per_core
    return [
        AnswerRule(
            name="jobs",
            value=evidence.failed or "all jobs finished",
            bound="no job fails",
            met=evidence.failed is None,
        ),
        AnswerRule(
            name="slowdown",
            value=slowed,
            bound=f"the whole range below {format_ratio(bound)}",
            met={"carried": True, "not carried": False, "not known": None}[word_of(found, bound)],
        ),
        AnswerRule(
            name="storage tested",
            value="yes" if evidence.lack is None else evidence.lack[0],
            bound=f"80 % of the bytes reach a device, no other load, {format_seconds(LEAST_SECONDS)} of load",
            met=evidence.lack is None,
        ),
        _other_work(evidence),
        AnswerRule(
            name="runs",
            value=str(evidence.runs),
            bound=f"at least {FEWEST_RUNS}, else preliminary",
            met=evidence.runs >= FEWEST_RUNS,
        ),
        AnswerRule(
            name="times alone",
            value=str(evidence.runs_alone),
            bound=f"at least {FEWEST_ALONE} of each kind of job, else preliminary",
            met=evidence.runs_alone >= FEWEST_ALONE,
        ),
        AnswerRule(
            name="active time",
            value=format_seconds(evidence.active_seconds),
            bound=f"at least {format_seconds(PUBLISHABLE_SECONDS)}, else preliminary",
            met=evidence.active_seconds >= PUBLISHABLE_SECONDS,
        ),
        AnswerRule(
            name="guideline",
            value="not known" if rate is None else f"{format_rate(rate)} per core ({evidence.device_basis})",
            bound=f"{format_rate(evidence.guideline_bytes_per_second_per_core)} per core; decides nothing",
            met=evidence.guideline_met,
        ),
        *nodes_rules(evidence),
    ]


def _other_work(evidence: Evidence) -> AnswerRule:
    """Whether other work used the processors; not known where either share is not, and none is too much."""
    both = (evidence.others_alone, evidence.others_measured)
    alone, measured = ("not known" if one.ratio is None else format_percent(one.ratio) for one in both)
    met = None if any(one.ratio is None for one in both) else True
    return AnswerRule(
        name="other work",
        value=f"{alone} during the times alone, {measured} during the measured runs",
        bound=f"at most {format_percent(MOST_FOREIGN_RATIO)} of the processor time in each run",
        met=met if evidence.busy is None else False,
    )


def _reasons_of_missing(evidence: Evidence) -> dict[str, str]:
    found = evidence.missing
    no_times = found.get("slowdown", NO_TIMES)
    reasons: dict[str, str] = {}
    for name, estimate in (
        ("figures", evidence.whole),
        ("carried", evidence.whole),
        ("compute", evidence.compute),
        ("storage", evidence.storage),
    ):
        if estimate is None:
            reasons |= {
                f"{name}.{field}": no_times for field in ("slowdown", "slowdown_low", "slowdown_high")
            }
    no_energy = found.get("energy", "the runs hold no energy")
    unjudged = "the storage was neither probed nor did it limit a run, so the guideline judges nothing"
    rate = found.get("device", "the throughput of the devices is not known")
    for path, value, reason in (
        ("figures.device_bytes_per_second_per_core", evidence.device_bytes_per_second_per_core, rate),
        ("figures.device_basis", evidence.device_basis, rate),
        ("figures.guideline_met", evidence.guideline_met, found.get("guideline", unjudged)),
        ("figures.jobs_per_hour", evidence.jobs_per_hour, "no run has a length and finished jobs"),
        ("figures.joules_per_job", evidence.joules_per_job, no_energy),
        ("figures.energy_scope", evidence.energy_scope, no_energy),
        ("figures.alone_others_cpu_ratio", evidence.others_alone.ratio, evidence.others_alone.reason),
        (
            "figures.measured_others_cpu_ratio",
            evidence.others_measured.ratio,
            evidence.others_measured.reason,
        ),
        ("limit", evidence.limit, found.get("limit", "no run has a limit that its samples show")),
        ("fits.sessions", evidence.fits.sessions, evidence.fits.reason or "no forecast was made"),
        ("fits.low", evidence.fits.low, evidence.fits.reason or "the number has no interval"),
        ("fits.high", evidence.fits.high, evidence.fits.reason or "the number has no interval"),
    ):
        if value is None:
            reasons[path] = reason
    if evidence.limit is not None:
        where = "the limit is not storage, or lies on no single role, direction or directory"
        for field in ("role", "direction", "place", "active_ratio"):
            if getattr(evidence.limit, field) is None:
                reasons[f"limit.{field}"] = where
    reasons |= _reasons_of_missing_in_system(evidence)
    if not evidence.changes:
        reasons["changes"] = found.get("changes", "no single change was found that would help")
    for number, change in enumerate(evidence.changes):
        for field in ("sessions", "sessions_low", "sessions_high", "gain_ratio", "range_basis"):
            if getattr(change, field) is None:
                reasons[f"changes.{number}.{field}"] = change.reason or "it was not simulated"
    return reasons


def _reasons_of_missing_in_system(evidence: Evidence) -> dict[str, str]:
    if evidence.system is None:
        return {"system": "no run names its machine"}
    unread = "the machine does not say it"
    why = {
        "cpu_quota": "the jobs were held to no CPU quota",
        "memory_limit_bytes": "the jobs were held to no limit",
        "virtual": "nothing shows that it is a virtual machine",
    }
    reasons = {
        f"system.{field}": why.get(field, unread)
        for field, value in msgspec.structs.asdict(evidence.system).items()
        if value is None
    }
    for number, one in enumerate(evidence.during):
        reasons |= {
            f"during.{number}.{field}": "no run sampled it, or no such request was made"
            for field, value in msgspec.structs.asdict(one).items()
            if value is None
        }
    return reasons
