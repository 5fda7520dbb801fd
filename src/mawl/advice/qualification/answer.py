"""The answer as a function of its evidence."""

from __future__ import annotations

import msgspec

from mawl.advice import answer as answers
from mawl.advice.answer import LEAST_ACTIVE_SECONDS, PUBLISHABLE_SECONDS, decide, times_words
from mawl.advice.limit.costs import NO_SLOWDOWN
from mawl.advice.limit.verdict import NO_SECOND
from mawl.advice.next_step import Lack
from mawl.advice.qualification.evidence import Evidence, next_step_of, sentence_of
from mawl.advice.qualification.fits import missing_of_nodes, nodes_answer, nodes_rules
from mawl.advice.validity.host import MOST_FOREIGN_RATIO
from mawl.base.units import counted_noun, format_percent, format_rate, format_ratio, format_seconds
from mawl.records.model.qualification import (
    AnswerPart,
    AnswerRule,
    Fits,
    QualificationAnswer,
    QualificationFigures,
)
from mawl.records.model.summary.judgement import COST_ABSENT, AnswerWord
from mawl.records.model.thresholds import count_of

FEWEST_RUNS = count_of("qualification.fewest_runs")
WHY_OF_NO_LOAD: dict[Lack, str] = {
    "others": "the measured runs ran beside other programs",
    "reach": "a cache served part of the bytes of the measured runs",
}
PARTS_UNKNOWN = "the waits of more than a twentieth of the real time are not known"


def answer_from(evidence: Evidence) -> QualificationAnswer:
    """The whole answer; what is null in it has its reason in ``missing``."""
    decision = decision_of(evidence)
    whole = part_of("answer", evidence, decision.answer, decision.reason)
    evidence = _without_disturbed_figures(evidence, decision)
    preliminary = _lacks_to_publish(evidence)
    nodes = nodes_answer(evidence, whole.answer)
    found, cores = evidence.slowdown, evidence.delivered_cores
    return QualificationAnswer(
        sentence=sentence_of(evidence, decision, preliminary, nodes),
        carried=whole,
        preliminary=bool(preliminary),
        reference=evidence.reference,
        outside=evidence.outside,
        sessions=evidence.sessions,
        figures=QualificationFigures(
            slowdown=None if found is None else found.middle,
            slowdown_low=None if found is None else found.low,
            slowdown_high=None if found is None else found.high,
            answer_bound=evidence.answer_bound,
            parts=evidence.parts,
            delivered_cores=None if cores is None else cores.middle,
            delivered_cores_low=None if cores is None else cores.low,
            delivered_cores_high=None if cores is None else cores.high,
            device_bytes_per_second_per_core=evidence.device_bytes_per_second_per_core,
            device_basis=evidence.device_basis,
            guideline_bytes_per_second_per_core=evidence.guideline_bytes_per_second_per_core,
            guideline_met=evidence.guideline_met,
            jobs_per_hour=evidence.jobs_per_hour,
            calibration_others_cpu_ratio=evidence.others_calibration.ratio,
            measured_others_cpu_ratio=evidence.others_measured.ratio,
            joules_per_job=evidence.joules_per_job,
            energy_scope=evidence.energy_scope,
        ),
        limit=evidence.limit,
        fits=evidence.fits,
        changes=evidence.changes,
        next_step=next_step_of(evidence, decision, preliminary, nodes),
        cautions=evidence.cautions,
        rules=rules_of(evidence),
        system=evidence.system,
        during=evidence.during,
        nodes=msgspec.UNSET if nodes is None else nodes,
        missing=_reasons_of_missing(evidence) | missing_of_nodes(nodes),
    )


def decision_of(evidence: Evidence) -> answers.Decision:
    """By the rule of every run, over the range of all of them."""
    return decide(
        answers.AnswerEvidence(
            slowdown=evidence.slowdown,
            bound=evidence.answer_bound,
            failed=evidence.failed,
            unknown=evidence.unknown,
            raised=evidence.raised,
            lowered=evidence.lowered,
        )
    )


def part_of(name: str, evidence: Evidence, word: AnswerWord, reason: str | None) -> AnswerPart:
    """The answer by its name, with its sentence."""
    found, bound = evidence.slowdown, evidence.answer_bound
    if found is None:
        return AnswerPart(answer=word, sentence=f"{name}: {word}: {reason}")
    figures = f"{times_words(found.middle, bound)} times the reference time ({found.words()}; bound "
    figures += format_ratio(bound) + ")"
    return AnswerPart(
        answer=word,
        sentence=f"{name}: {word}: {figures}" + ("" if reason is None else f"; {reason}"),
        slowdown=found.middle,
        slowdown_low=found.low,
        slowdown_high=found.high,
    )


def _lacks_to_publish(evidence: Evidence) -> list[str]:
    found = [] if evidence.preliminary_scale is None else [evidence.preliminary_scale]
    provisional = [] if evidence.reference is None else evidence.reference.provisional
    found += [f"provisional reference times of {', '.join(provisional)}"] if provisional else []
    if evidence.runs < FEWEST_RUNS:
        found.append(f"{counted_noun(evidence.runs, 'measured run')} of {FEWEST_RUNS}")
    if evidence.active_seconds < PUBLISHABLE_SECONDS:
        needed = f"{PUBLISHABLE_SECONDS / 60:g} min"
        found.append(f"{format_seconds(evidence.active_seconds)} of load where {needed} are needed")
    return found


def _without_disturbed_figures(evidence: Evidence, decision: answers.Decision) -> Evidence:
    """No number that fits and no change where the answer is not known since the runs were not of this load.

    Other programs took part of the processors or devices, or a cache served part of the bytes.
    """
    if decision.answer != "not known" or decision.lack not in WHY_OF_NO_LOAD:
        return evidence
    reason = WHY_OF_NO_LOAD[decision.lack]
    return msgspec.structs.replace(
        evidence,
        fits=Fits(sessions=None, reason=reason),
        changes=[],
        missing={**evidence.missing, "changes": reason},
    )


def rules_of(evidence: Evidence) -> list[AnswerRule]:
    bound, found = evidence.answer_bound, evidence.slowdown
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
            value="not known" if found is None else found.words(),
            bound=f"the whole range at most {format_ratio(bound)}",
            met=None if found is None or found.holds(bound) else found.high < bound,
        ),
        AnswerRule(
            name="storage tested",
            value="yes" if evidence.lowered is None else evidence.lowered[0],
            bound=f"80 % of the bytes reach a device, {format_seconds(LEAST_ACTIVE_SECONDS)} of load",
            met=evidence.lowered is None,
        ),
        _no_other_load(evidence),
        AnswerRule(
            name="runs",
            value=str(evidence.runs),
            bound=f"at least {FEWEST_RUNS}, else preliminary",
            met=evidence.runs >= FEWEST_RUNS,
        ),
        AnswerRule(
            name="scale",
            value=evidence.preliminary_scale or "between quick and 0.2",
            bound="between quick and 0.2, where reference times are measured, else preliminary",
            met=evidence.preliminary_scale is None,
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


def _no_other_load(evidence: Evidence) -> AnswerRule:
    """Whether other work used processors or devices; not known where a share is not, and none is too much."""
    both = (evidence.others_calibration, evidence.others_measured)
    calibration, measured = ("not known" if one.ratio is None else format_percent(one.ratio) for one in both)
    shares = f"{calibration} of the processors during the calibration, {measured} during the measured runs"
    at_devices = [one.reason for one in evidence.raised if one.kind == "devices"]
    if not at_devices and not evidence.foreign_bytes_known:
        at_devices = ["bytes of others at the devices are not known"]
    known = evidence.foreign_bytes_known and all(one.ratio is not None for one in both)
    return AnswerRule(
        name="no other load",
        value="; ".join([shares, *at_devices]),
        bound=f"other programs use at most {format_percent(MOST_FOREIGN_RATIO)} of the processors and of the "
        "bytes at the devices in each run",
        met=False if evidence.raised or any(one.busy for one in both) else known or None,
    )


def _reasons_of_missing(evidence: Evidence) -> dict[str, str]:
    found = evidence.missing
    reasons: dict[str, str] = {}
    if evidence.slowdown is None:
        why = (evidence.unknown or ("no job has a reference time", ""))[0]
        names = ("slowdown", "slowdown_low", "slowdown_high")
        reasons |= {f"{place}.{name}": why for place in ("figures", "carried") for name in names}
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
        ("figures.parts", evidence.parts, PARTS_UNKNOWN),
        ("reference", evidence.reference, "no run has reference times"),
        *(
            (f"figures.delivered_cores{end}", evidence.delivered_cores, "a run lacks slowdown or length")
            for end in ("", "_low", "_high")
        ),
        (
            "figures.calibration_others_cpu_ratio",
            evidence.others_calibration.ratio,
            evidence.others_calibration.reason,
        ),
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
    reasons |= _reasons_of_missing_in_reference(evidence)
    if evidence.limit is not None:
        limit = evidence.limit
        if limit.second is None:
            reasons["limit.second"] = found.get("limit.second", NO_SECOND)
        reasons |= {"limit.named": NO_SLOWDOWN} if limit.named is None else {}
        for number, cost in enumerate(limit.costs):
            fields = [name for name in COST_ABSENT if getattr(cost, name) is None]
            reasons |= {f"limit.costs.{number}.{name}": COST_ABSENT[name] for name in fields}
    reasons |= _reasons_of_missing_in_system(evidence)
    if not evidence.changes:
        reasons["changes"] = found.get("changes", "no single change was found that would help")
    for number, change in enumerate(evidence.changes):
        for field in ("sessions", "sessions_low", "sessions_high", "gain_ratio", "range_basis"):
            if getattr(change, field) is None:
                reasons[f"changes.{number}.{field}"] = change.reason or "it was not simulated"
    return reasons


def _reasons_of_missing_in_reference(evidence: Evidence) -> dict[str, str]:
    reasons: dict[str, str] = {}
    if evidence.reference is not None:
        given = evidence.reference
        no_file, no_version = "the reference times are mawl's own", "the reference times are of a file"
        reasons |= {"reference.file": no_file} if given.file is None else {}
        reasons |= {"reference.version": no_version} if given.version is None else {}
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
