"""The answer: whether W, the real time of the jobs over their reference time, is within its bound.

One function decides for one run and for several (``decide``); what it needs is W with its range, and what can
have spoiled it on one side only (docs/design/answer.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Literal

import msgspec

from mawl.advice.next_step import Lack, next_step
from mawl.advice.validity.host import MOST_FOREIGN_RATIO, foreign_bytes, foreign_cpu_ratio
from mawl.base.units import counted_noun, format_percent, format_plain, format_ratio, format_seconds
from mawl.figures.io import REACHES_STORAGE_RATIO
from mawl.figures.layers import NO_JOBS
from mawl.figures.missing import NO_JOB_COUNTS, Missing
from mawl.figures.open_jobs import CUT, bad_sentence, cut_nodes, failed
from mawl.figures.statistics import Interval, interval_of
from mawl.figures.view import RunView
from mawl.figures.waits import LEAST_COVERED_RATIO, JobSums, job_sums, other_options, outside_of
from mawl.plan.programs import LEAST_SCALE, MOST_SCALE, reference_times
from mawl.records.model.node import NodeRun
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.judgement import (
    Answer,
    AnswerReference,
    AnswerWord,
    Parts,
)
from mawl.records.model.summary.summary import Summary
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import ROLES

LEAST_DIRECTION_RATIO = value_of("answer.least_direction_ratio")
LEAST_ACTIVE_SECONDS = value_of("answer.least_active_seconds")
PUBLISHABLE_SECONDS = value_of("answer.publishable_active_seconds")

IMPORTED = "imported files have no reference times, because other programs ran"
SIMULATED = "the simulated run has no reference times, because the run it began with has none"
ONLY_TIMES = "the run only times programs alone (mawl run --solo)"
OF_OLD = "the run is of format {version}, before reference times: its answer was of the old definition"


class Disturbance(msgspec.Struct, frozen=True, kw_only=True):
    """Other programs, which can only raise W: ``most`` is what they may have made of it; None: not known."""

    kind: Literal["processors", "devices"]
    reason: str
    lack: Lack
    most: float | None


class AnswerEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What the answer rests on.

    ``failed`` says which jobs failed, ``stopped`` why not all of the load ran, ``unknown`` why there is no W;
    ``lowered`` is what can only have lowered W.
    """

    slowdown: Interval | None
    bound: float
    failed: str | None = None
    stopped: str | None = None
    unknown: tuple[str, Lack] | None = None
    raised: Sequence[Disturbance] = ()
    lowered: tuple[str, Lack] | None = None


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The answer; ``reason`` says why it is not known, or which jobs failed, ``lack`` what is missing."""

    answer: AnswerWord
    reason: str | None = None
    lack: Lack = ""


def decide(evidence: AnswerEvidence) -> Decision:
    """YES or NO only where the whole range of W lies on one side of the bound that nothing spoils."""
    found, bound = evidence.slowdown, evidence.bound
    if evidence.failed is not None:
        return Decision(answer="not carried", reason=evidence.failed)
    if evidence.stopped is not None:
        return Decision(answer="not known", reason=evidence.stopped, lack="stopped")
    if found is None:
        reason, lack = evidence.unknown or ("no job has a reference time", "reference")
        return Decision(answer="not known", reason=reason, lack=lack)
    if found.high <= bound:
        if evidence.lowered:
            reason, lack = evidence.lowered
            return Decision(answer="not known", reason=reason, lack=lack)
        return Decision(answer="carried")
    if found.low > bound and found.low - most_raised(evidence.raised) > bound:
        return Decision(answer="not carried")
    if found.low > bound:
        first = evidence.raised[0]
        reason = f"{first.reason}, which may have raised it above the bound"
        return Decision(answer="not known", reason=reason, lack=first.lack)
    reason = f"the bound lies in the range {found.words()}"
    if evidence.raised:
        first = evidence.raised[0]
        return Decision(answer="not known", reason=f"{reason}, and {first.reason}", lack=first.lack)
    return Decision(answer="not known", reason=reason, lack="spread")


def most_raised(raised: Sequence[Disturbance]) -> float:
    """What other programs may have made of W at most; infinite where that is not known of one of them."""
    return sum(inf if one.most is None else one.most for one in raised)


def raised_by(view: RunView, parts: dict[str, float] | None, core_speed: float = 1.0) -> list[Disturbance]:
    """What other programs may have added to the W of a run: at processors, and at the devices of the roles.

    Of the processors: the run queue, and CPU time beyond the reference time on a core of ``core_speed``,
    since caches and hardware threads are shared.
    """
    at_processors = at_devices = None
    if parts:
        at_processors = parts["run_queue"] + max(parts["on_cpu"] - 1.0 / core_speed, 0.0)
        at_devices = sum(parts[role] for role in ROLES)
    found = []
    if (ratio := foreign_cpu_ratio(view)) and ratio > MOST_FOREIGN_RATIO:
        reason = f"other programs used {format_percent(ratio)} of the processors"
        found.append(Disturbance(kind="processors", reason=reason, lack="others", most=at_processors))
    if said := foreign_bytes(view.summary):
        found.append(Disturbance(kind="devices", reason=said, lack="others", most=at_devices))
    return found


def lowered_by(summary: Summary) -> tuple[str, Lack] | None:
    """Why a run may have been faster than the storage can do: a cache served bytes, or it was short."""
    return served_by_cache(summary) or short(summary.time.active_seconds)


VERB_OF_WAY = {"read": "read", "write": "written"}


def served_by_cache(summary: Summary) -> tuple[str, Lack] | None:
    """Which direction did not reach a device with enough of its bytes; None where each did."""
    io = summary.io
    moved = {way: getattr(io.application, f"{name}_bytes") for way, name in VERB_OF_WAY.items()}
    if None in moved.values():
        return "how many bytes the programs moved is not known", "reach"
    whole = sum(moved.values())
    if not whole:
        return "the programs moved no bytes", "reach"
    for way, name in VERB_OF_WAY.items():
        if moved[way] < LEAST_DIRECTION_RATIO * whole:
            continue
        reach = getattr(io.reach, f"{way}_ratio")
        if reach is None:
            return f"how many of the bytes {name} reached a device is not known", "reach"
        if reach < REACHES_STORAGE_RATIO:
            reached = f"only {format_percent(reach)} of the bytes {name} reached a device"
            return f"{reached} ({format_percent(REACHES_STORAGE_RATIO)} required)", "reach"
    return None


def short(active: float | None) -> tuple[str, Lack] | None:
    """Why an active phase of so many seconds says too little of the storage."""
    if active is not None and active >= LEAST_ACTIVE_SECONDS:
        return None
    lasted = "of unknown length" if active is None else f"only {format_seconds(active)} long"
    return f"the active phase is {lasted} ({format_seconds(LEAST_ACTIVE_SECONDS)} required)", "duration"


def preliminary_scale(facts: RunFacts) -> str | None:
    """Why an answer at this scale is not fit to be published; None where it is."""
    scale = facts.workload.scale
    measured = reference_times().knots[0].programs
    if scale is None or not any(job.program in measured for job in facts.planned_jobs):
        return None
    if scale < LEAST_SCALE:
        shown = format_plain(scale)
        return f"scale {shown} is below quick ({LEAST_SCALE:g}), where jobs ask less of the storage"
    if scale > MOST_SCALE:
        return f"at scale {format_plain(scale)} the reference times are extrapolated (above {MOST_SCALE:g})"
    return None


def reference_block(reading: RunView, sums: JobSums, missing: Missing) -> AnswerReference:
    """``answer.reference``: which reference times W is measured by."""
    facts, found = reading.facts, reading.facts.reference
    version, file = (None, None) if found is None else (found.version, found.file)
    why, _ = _why_no_slowdown(reading, sums)
    missing |= {
        "answer.reference.version": why if file is None else "the reference times are of a file",
        "answer.reference.file": why if version is None else "the reference times are mawl's own",
        "answer.reference.covered_ratio": _why_no_time(reading),
        "answer.reference.seconds": why,
    }
    return AnswerReference(
        version=version,
        file=file,
        seconds=sums.reference or None,
        covered_ratio=sums.covered / sums.real if sums.real else None,
        provisional=[] if found is None else found.provisional,
        outside=outside_of(facts),
    )


PART_WORDS = {
    "on_cpu": "on processors",
    "run_queue": "waiting for processors",
    "data": "data",
    "work": "work",
    "util": "util",
    "other": "other waits",
    "unknown": "not known",
}


def parts_words(parts: Mapping[str, float]) -> str:
    """``on processors 1.05, work 0.40``: what W is the sum of, without what reads 0.00."""
    shown = {PART_WORDS[name]: format_ratio(value) for name, value in parts.items()}
    return ", ".join(f"{name} {value}" for name, value in shown.items() if value != format_ratio(0.0))


WORDS: dict[AnswerWord, Literal["YES", "NO", "NOT KNOWN"]] = {
    "carried": "YES",
    "not carried": "NO",
    "not known": "NOT KNOWN",
}


def took_words(sessions: int, slowdown: float, bound: float, file: str | None = None) -> str:
    """``20 sessions took 1.62 times mawl's reference time``; with three decimals next to the bound."""
    whose = "mawl's reference time" if file is None else f"the reference time of {file}"
    return f"{counted_noun(sessions, 'session')} took {times_words(slowdown, bound)} times {whose}"


def times_words(slowdown: float, bound: float) -> str:
    """With two decimals; with three where it would read like the bound, and is not."""
    text = f"{slowdown:.2f}"
    return f"{slowdown:.3f}" if text == f"{bound:.2f}" else text


def answer_of(reading: RunView, bound: float, missing: Missing) -> Answer:
    """``answer`` of the summary of one run."""
    facts, summary = reading.facts, reading.summary
    sums = job_sums(reading.jobs, facts)
    interval = None if sums.slowdown is None else interval_of([sums.slowdown])
    parts = sums.slowdown_parts
    jobs_failed, stopped = _whether_jobs_finished(reading)
    evidence = AnswerEvidence(
        slowdown=interval,
        bound=bound,
        failed=jobs_failed,
        stopped=stopped,
        unknown=_why_no_slowdown(reading, sums),
        raised=raised_by(reading, parts),
        lowered=lowered_by(summary),
    )
    decision = decide(evidence)
    lack = decision.lack
    if facts.kind == "imported" and (summary.jobs.counted or decision.answer == "not known"):
        lack = "imported"  # some jobs may have failed; the logs of the others are a load all the same
    elapsed = summary.time.elapsed_seconds
    _reasons_of_missing(reading, decision, sums, missing)
    why = _why_preliminary(summary, facts)
    settled = decision.answer != "not known" and jobs_failed is None
    return Answer(
        answer=decision.answer,
        carried={"carried": True, "not carried": False, "not known": None}[decision.answer],
        preliminary=bool(why) if settled else None,
        slowdown=sums.slowdown,
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
        bound=bound,
        parts=Parts(**(dict.fromkeys(Parts.__struct_fields__) if parts is None else parts)),
        reference=reference_block(reading, sums, missing),
        delivered_cores=sums.reference / elapsed if sums.slowdown is not None and elapsed else None,
        reason=decision.reason,
        reasons=_sentences(reading, evidence, decision, why if settled else []),
        next_step=next_step(reading, lack),
    )


def _sentences(
    reading: RunView,
    evidence: AnswerEvidence,
    decision: Decision,
    why: Sequence[str],
) -> list[str]:
    facts, found = reading.facts, evidence.slowdown
    sentences = [] if evidence.failed is None else [evidence.failed]
    if found is not None:
        took = took_words(facts.workload.sessions, found.middle, evidence.bound, facts.reference_file)
        sentences.append(f"{took} ({found.words()}; bound {format_ratio(evidence.bound)})")
    sentences += [] if decision.reason in (None, evidence.failed) else [decision.reason]
    sentences += [f"preliminary: {'; '.join(why)}"] if why else []
    if options := other_options(facts):
        sentences.append(f"reference times are of other options than {', '.join(options)}")
    return [*sentences, *([] if facts.reference is None else facts.reference.remarks)]


def _why_preliminary(summary: Summary, facts: RunFacts) -> list[str]:
    active = summary.time.active_seconds
    lasted = "of unknown length" if active is None else f"{format_seconds(active)} long"
    provisional = [] if facts.reference is None else facts.reference.provisional
    scale = preliminary_scale(facts)
    return [
        *([] if scale is None else [scale]),
        *([f"provisional reference times of {', '.join(provisional)}"] if provisional else []),
        *(
            [f"the active phase is {lasted}, and {PUBLISHABLE_SECONDS / 60:g} min are needed"]
            if active is None or active < PUBLISHABLE_SECONDS
            else []
        ),
    ]


def _why_no_slowdown(reading: RunView, sums: JobSums) -> tuple[str, Lack]:
    facts = reading.facts
    if facts.kind == "imported":
        return IMPORTED, "imported"
    if facts.reference is None and facts.kind == "simulated":
        return SIMULATED, "reference"
    if facts.reference is None:
        return OF_OLD.format(version=facts.format_version), "reference"
    if facts.reference.version is None and facts.reference.file is None:
        return ONLY_TIMES, ""
    if not sums.real:
        return _why_no_time(reading), "stopped"
    return (
        f"reference times are known for {format_percent(sums.covered / sums.real)} of the real time of "
        f"the jobs ({format_percent(LEAST_COVERED_RATIO)} required)",
        "reference",
    )


def _why_no_time(reading: RunView) -> str:
    return "no job that counts has a real time" if reading.counted else NO_JOB_COUNTS


def _whether_jobs_finished(reading: RunView) -> tuple[str | None, str | None]:
    """Which jobs failed, and why not all of the load ran; None twice where every job finished.

    Of a run that was killed or interrupted, or goes on, only a job that failed says something: jobs that were
    lost or stopped with the run, or never started, say nothing about the system.  On a node that was lost a
    job may have failed with it; only a wrong answer counts there.
    """
    jobs, planned = reading.summary.jobs, reading.facts.workload.jobs
    whole = max(jobs.total, planned)
    cut = cut_nodes(reading.facts)
    if reading.facts.outcome in CUT or cut:
        names = {run.node for run in cut}
        broken = [job for job in reading.jobs if failed(job)]
        broken = [job for job in broken if job.verified is False or job.node not in names]
        so_far = " so far" if reading.facts.outcome == "running" else ""
        stopped = f"{_how_cut(reading.facts, cut)}: {jobs.finished} of {whole} jobs finished{so_far}"
        return (bad_sentence(broken, whole, len(broken)) if broken else None), stopped
    if not jobs.total and reading.facts.kind == "imported":
        return None, NO_JOBS
    bad = whole - jobs.counted
    if reading.facts.kind == "imported":
        bad = jobs.total - jobs.finished
        return (f"{bad} of {jobs.total} imported jobs failed or ended early" if bad else None), None
    return (bad_sentence(reading.jobs, whole, bad) if bad else None), None


def _how_cut(facts: RunFacts, cut: Sequence[NodeRun]) -> str:
    """How a run was cut short."""
    if facts.outcome == "running":
        return "the run goes on"
    lost = [f"{run.node} was lost ({run.reason})" for run in cut if run.outcome == "lost"]
    lost += [f"{run.node} did not go through ({run.reason})" for run in cut if run.outcome == "failed"]
    return "; ".join(lost) or "the run did not go through"


def _reasons_of_missing(reading: RunView, decision: Decision, sums: JobSums, missing: Missing) -> None:
    unknown, _ = _why_no_slowdown(reading, sums)
    waits, cores = unknown, unknown
    if sums.slowdown is not None:
        waits = "the waits of more than a twentieth of the real time are not known"
        cores = reading.summary.missing.get("time.elapsed_seconds", "")
    missing |= {f"answer.{name}": unknown for name in ("slowdown", "low", "high")}
    missing |= {f"answer.parts.{name}": waits for name in Parts.__struct_fields__}
    settled = decision.answer != "not known"
    missing |= {
        "answer.delivered_cores": cores,
        "answer.carried": decision.reason or "",
        "answer.reason": "nothing to explain",
        "answer.preliminary": "a failed job gave the answer" if settled else "there is no answer",
        "answer.next_step": "the answer is known" if settled else ONLY_TIMES,
    }
