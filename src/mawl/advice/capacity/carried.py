"""Carried or not: no job failed, compute carries, storage carries; and what to do where that is not known."""

from __future__ import annotations

from mawl.advice.capacity.answers import (
    Answer,
    CapacityPart,
    Lack,
    compute_part,
    is_preliminary,
    storage_part,
    whole_part,
    words_of,
)
from mawl.advice.capacity.bounds import CapacityBounds
from mawl.advice.capacity.guideline import NOT_ASKED, guideline_of
from mawl.advice.capacity.next_step import next_step
from mawl.advice.capacity.slowdown import slowdown_of, slowdowns
from mawl.analysis.blocks import Missing, counted
from mawl.analysis.endings import bad_sentence, failed
from mawl.analysis.recordings import NO_JOBS
from mawl.analysis.unended import CUT
from mawl.analysis.view import RunView
from mawl.model.probe import Probe
from mawl.model.summary.judgement import Capacity, Guideline, Limit
from mawl.units import format_rate, format_ratio

NONE_ALONE = "the imported files do not say what the jobs took alone"


def capacity_of(
    reading: RunView,
    bounds: CapacityBounds,
    missing: Missing,
    limit: Limit | None = None,
    probe: Probe | None = None,
) -> Capacity:
    """``capacity`` of the summary: an answer for compute, for storage, and for both with the jobs.

    ``carried`` is false where a job failed or one of both is not carried, true where all are, null where
    that is not known.  Of a run that did not go through, or not yet, only a job that failed speaks: the rest
    is of a part of its load.  ``limit`` is that block of the summary; ``probe`` what the storage can do.
    """
    imported = reading.facts.kind == "imported"
    found = slowdowns(reading.jobs, reading.facts.alone)
    most = bounds.most_slowdown
    compute, storage = compute_part(found, most), storage_part(found, most, reading, limit)
    if imported and not found.jobs:
        compute, storage = (
            CapacityPart(answer="not known", slowdown=None, reason=NONE_ALONE, lack="imported")
            for _ in range(2)
        )
    well, sentence = _jobs(reading)
    cut = reading.facts.outcome in CUT or sentence == NO_JOBS
    whole = whole_part(found, most)
    parts = (compute, storage, whole)
    answer = _answer(well, *("not known" if cut else part.answer for part in parts))
    lacks: list[Lack] = [] if answer != "not known" else [part.lack for part in parts if part.lack]
    if imported and answer == "not carried" and counted(reading.jobs):
        lacks = ["imported"]  # some jobs failed; the logs of the others are a load all the same
    preliminary = is_preliminary(reading) if well and answer != "not known" else None
    _reasons(compute, storage, well, sentence, found.jobs == [], missing)
    guideline = guideline_of(reading, limit, probe, bounds, missing)
    return Capacity(
        answer=answer,
        carried={"carried": True, "not carried": False, "not known": None}[answer],
        preliminary=preliminary,
        compute=compute.of_compute(),
        storage=storage.of_storage(),
        slowdown=slowdown_of(found, whole.slowdown, len(counted(reading.jobs)), most),
        guideline=guideline,
        reasons=[
            sentence,
            *_whole(whole, most),
            *_parts(compute, storage, most),
            _beside(guideline, missing),
        ],
        next_step=next_step(reading, lacks),
    )


def _answer(well: bool | None, compute: Answer, storage: Answer, whole: Answer) -> Answer:
    """Both together: what slows jobs less than the bound each may slow them more in sum."""
    if well is False or "not carried" in (compute, storage):
        return "not carried"
    return whole if well and compute == storage == "carried" else "not known"


def _whole(whole: CapacityPart, most: float) -> list[str]:
    interval = whole.slowdown
    if interval is None:
        return []
    return [
        f"jobs took {_times(interval.median)} as long as alone (median; {words_of(interval)}; "
        f"bound {format_ratio(most)})"
    ]


def _reasons(
    compute: CapacityPart,
    storage: CapacityPart,
    well: bool | None,
    sentence: str,
    unmatched: bool,
    missing: Missing,
) -> None:
    """The reasons of what is null in the block."""
    for name, part in (("compute", compute), ("storage", storage)):
        why = part.reason or "nothing to explain"
        missing |= {f"capacity.{name}.{figure}": why for figure in ("median", "low", "high")}
        missing[f"capacity.{name}.reason"] = "nothing to explain"
    if unmatched:
        why = compute.reason or ""
        missing |= {
            f"capacity.slowdown.{figure}": why for figure in ("median", "low", "high", "p90", "longest")
        }
    missing["capacity.storage.asked_bytes_per_second"] = "no window of the device's throughput is known"
    missing["capacity.next_step"] = "no answer lacks anything that another run would give"
    missing["capacity.preliminary"] = "there is no answer, or a failed job gave it"
    unknown = [sentence] if well is None else []
    unknown += [
        f"{name}: {part.reason}" for name, part in (("compute", compute), ("storage", storage)) if part.reason
    ]
    missing["capacity.carried"] = "; ".join(unknown) or sentence


def _jobs(reading: RunView) -> tuple[bool | None, str]:
    jobs, planned = reading.summary.jobs, reading.facts.workload.jobs
    if reading.facts.outcome in CUT:
        return _cut_short(reading)
    if not jobs.total and reading.facts.kind == "imported":
        return None, NO_JOBS
    bad = max(jobs.total, planned) - jobs.counted
    if bad and reading.facts.kind == "imported":
        return False, f"{bad} of {jobs.total} imported jobs failed or are cut short"
    if bad:
        return False, bad_sentence(reading.jobs, max(jobs.total, planned), bad)
    return True, "its 1 job finished" if jobs.total == 1 else f"all {jobs.total} jobs finished"


def _cut_short(reading: RunView) -> tuple[bool | None, str]:
    """Of a run that was killed or interrupted, or goes on: only a job that failed says something.

    Jobs that were lost or stopped with the run, or never started, say nothing about the system.
    """
    jobs, planned = reading.summary.jobs, reading.facts.workload.jobs
    left_out = jobs.left_out
    bad = sum(getattr(left_out, name) for name in ("wrong_answer", "failed", "timed_out"))
    if bad:
        broken = [job for job in reading.jobs if failed(job)]
        return False, bad_sentence(broken, max(jobs.total, planned), bad)
    ended = f"{jobs.finished} of {max(jobs.total, planned)} jobs finished"
    if reading.facts.outcome == "running":
        return None, f"the run goes on: {ended} so far"
    return None, f"the run did not go through: {ended}"


def _parts(compute: CapacityPart, storage: CapacityPart, most: float) -> list[str]:
    """A sentence for each part; one for both where the same thing lacks."""
    if compute.answer == storage.answer == "not known" and compute.reason == storage.reason:
        return [f"compute and storage: not known: {compute.reason}"]
    return [
        _sentence("compute", "by waiting for processors", compute, most),
        _sentence("storage", "by waiting for storage", storage, most),
    ]


def _sentence(name: str, cause: str, part: CapacityPart, most: float) -> str:
    """The answer with its figures and, where it is not known, the reason."""
    said = {
        "carried": f"{name} carries{part.words}",
        "not carried": f"{name} does not carry{part.words}",
        "not known": f"{name}: not known",
    }[part.answer]
    if part.answer == "not known":
        return f"{said}: {part.reason}"
    interval = part.slowdown
    assert interval is not None, "an answer has its interval"
    return (
        f"{said}: {_times(interval.median)} as long as alone {cause} ({words_of(interval)}; "
        f"bound {format_ratio(most)})"
    )


def _times(ratio: float) -> str:
    return f"{format_ratio(ratio)} times"


def _beside(guideline: Guideline, missing: Missing) -> str:
    value = guideline.bytes_per_second_per_core
    if value is None:
        return f"guideline: not known: {missing['capacity.guideline.met']}"
    bounds = (
        f"{format_rate(guideline.warn_bytes_per_second_per_core)} (good: "
        f"{format_rate(guideline.good_bytes_per_second_per_core)})"
    )
    source = {"probe": "a probe found", "run": "the storage gave", None: "the run moved"}[guideline.basis]
    sentence = f"{source} {format_rate(value)} per {guideline.core_basis or 'core'}"
    if guideline.met is None:
        why = missing["capacity.guideline.met"]
        why = "use mawl probe" if why == NOT_ASKED else why
        return f"guideline {bounds}: not judged: {sentence}; {why}"
    return f"guideline {bounds}: {'met' if guideline.met else 'not met'}: {sentence}"
