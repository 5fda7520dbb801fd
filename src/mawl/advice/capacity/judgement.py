"""Whether a load is carried: no job failed, compute carries, storage carries; else what to do to know it."""

from __future__ import annotations

import shlex
from bisect import bisect_right
from collections.abc import Sequence
from datetime import UTC, datetime

from mawl.advice.capacity.answers import (
    NOT_ASKED,
    Answer,
    CapacityPart,
    Lack,
    compute_part,
    guideline_of,
    interval_words,
    is_preliminary,
    storage_part,
    whole_part,
)
from mawl.advice.capacity.bounds import CapacityBounds
from mawl.advice.capacity.slowdown import slowdown_of, slowdowns
from mawl.base.units import format_rate, format_ratio, format_seconds
from mawl.figures.missing import Missing, counted
from mawl.figures.open_jobs import CUT, bad_sentence, failed
from mawl.figures.recordings import NO_JOBS
from mawl.figures.view import RunView
from mawl.plan.spec import SCALES
from mawl.records.model.probe import Probe
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.judgement import Capacity, Guideline, Limit
from mawl.records.model.thresholds import count_of
from mawl.records.spec.forms import options_of
from mawl.records.spec.nodes import NodesSpec

MENDED_FIRST: tuple[Lack, ...] = ("imported", "times alone", "parts", "others", "reach", "duration", "spread")
"""What is mended first: without times alone nothing is answered, whatever else lacks."""

REPEATS = str(count_of("validity.repeats.fewest_runs"))


def next_step(reading: RunView, lacks: Sequence[Lack]) -> str | None:
    """What to do about the gravest of the lacks, in one sentence; None without any."""
    facts = reading.facts
    lack = next((one for one in MENDED_FIRST if one in lacks), None)
    if lack is None:
        return None
    if facts.outcome == "running":
        return "wait for the end of the run"
    if lack == "imported":
        return _derive_step(reading)
    if facts.node_runs and lack in ("times alone", "parts"):
        alone = _command_again(facts)
        return f"time the programs alone, on one node: {alone}"
    if lack == "parts":
        return f"install a C compiler, then time the programs alone again: {_command_again(facts)}"
    if lack == "others":
        return f"end other programs, then run again: {_command_again(facts)}"
    if lack == "reach" and (facts.cache is None or facts.cache.mode != "none"):
        return f"run without the page cache: {_command_again(facts, '--cache', 'none')}"
    if lack in ("reach", "duration"):
        larger = _larger_scale(facts)
        if larger is None:
            return "use a lower --memory-limit or more --sessions, so that less of the load fits the cache"
        return f"use a larger scale: {_command_again(facts, '--scale', larger)}"
    if lack == "spread":
        return f"repeat the run: {_command_again(facts, '--repeat', REPEATS)}"
    return f"time the programs alone: {_command_again(facts)}"


def _derive_step(reading: RunView) -> str:
    """The load of the imported logs as a workload; of several periods that of one."""
    if not reading.jobs:
        return "import the logs of the jobs, too: recordings alone have no jobs"
    command, logs = ["mawl", "derive", reading.called], "these logs"
    if (found := _period_to_derive(reading)) is not None:
        period, which = found
        # Derive takes times without a zone as those of --timezone, whose default is UTC.
        start, end = (datetime.fromtimestamp(at, UTC) for at in (period[0], period[1] + 60))
        command += ["--night", f"{start:%Y-%m-%dT%H:%M}/{end:%Y-%m-%dT%H:%M}"]
        length = format_seconds(period[1] - period[0])
        logs = f"the longest period{which} ({length}, in whole minutes)"
    command += ["--output", "derived"]
    return f"make a workload of {logs}, and run it on the system in question: {shlex.join(command)}"


def _period_to_derive(reading: RunView) -> tuple[tuple[float, float], str] | None:
    """Start and end of the longest period without a failed job, and the words `` without a failed job``.

    The words are empty if no job failed, or if one failed in every period: then it is the longest period that
    has jobs, since some may hold only a recording.  None if the import is not divided into periods.
    """
    periods = reading.line.periods if reading.line is not None else ()
    firsts = [period[0] for period in periods]
    jobs = reading.jobs
    whole = {id(job) for job in counted(jobs)}
    held: set[int] = set()
    broken: set[int] = set()
    for job in jobs:
        if job.started_at is not None:
            (held if id(job) in whole else broken).add(bisect_right(firsts, job.started_at) - 1)
    chosen = held - broken or held
    found = [periods[place] for place in chosen if place >= 0]
    if not found:
        return None
    longest = max(found, key=lambda period: period[1] - period[0])
    return longest, " without a failed job" if broken and held - broken else ""


def _larger_scale(facts: RunFacts) -> str | None:
    """The next named scale above that of the run; None above the largest."""
    scale = facts.workload.scale
    above = [
        name for name, factor in sorted(SCALES.items(), key=lambda item: item[1]) if factor > (scale or 0.0)
    ]
    return above[0] if above else None


def _command_again(facts: RunFacts, *options: str) -> str:
    """The command of the run with ``options`` and ``--solo``.

    It leaves out the output folder, which exists already, and the options that name the nodes of a run.
    """
    own = ["run", facts.workload.name]
    if len(facts.command) > 1 and facts.command[1] == "run":
        of_nodes = [one.flag for one in options_of(NodesSpec).values()] if facts.node_runs else []
        own = _without_options(facts.command[1:], ("--output", *of_nodes, *options[:1]))
    elif facts.workload.scale_name and "--scale" not in options:
        own += ["--scale", facts.workload.scale_name]
    flags = [] if "--solo" in own else ["--solo"]
    return shlex.join(["mawl", *own, *options, *flags])


def _without_options(words: Sequence[str], names: Sequence[str]) -> list[str]:
    kept: list[str] = []
    skip = False
    for word in words:
        if skip or word in names:
            skip = not skip and word in names
        elif not any(word.startswith(f"{name}=") for name in names):
            kept.append(word)
    return kept


NO_TIMES_ALONE_IN_FILES = "the imported files do not say what the jobs took alone"


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
            CapacityPart(answer="not known", slowdown=None, reason=NO_TIMES_ALONE_IN_FILES, lack="imported")
            for _ in range(2)
        )
    well, sentence = _whether_jobs_finished(reading)
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
            *_slowdown_sentences(whole, most),
            *_part_sentences(compute, storage, most),
            _guideline_sentence(guideline, missing),
        ],
        next_step=next_step(reading, lacks),
    )


def _answer(well: bool | None, compute: Answer, storage: Answer, whole: Answer) -> Answer:
    """Both together: what slows jobs less than the bound each may slow them more in sum."""
    if well is False or "not carried" in (compute, storage):
        return "not carried"
    return whole if well and compute == storage == "carried" else "not known"


def _slowdown_sentences(whole: CapacityPart, most: float) -> list[str]:
    interval = whole.slowdown
    if interval is None:
        return []
    return [
        f"jobs took {_times(interval.median)} as long as alone (median; {interval_words(interval)}; "
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


def _whether_jobs_finished(reading: RunView) -> tuple[bool | None, str]:
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


def _part_sentences(compute: CapacityPart, storage: CapacityPart, most: float) -> list[str]:
    if compute.answer == storage.answer == "not known" and compute.reason == storage.reason:
        return [f"compute and storage: not known: {compute.reason}"]
    return [
        _part_sentence("compute", "by waiting for processors", compute, most),
        _part_sentence("storage", "by waiting for storage", storage, most),
    ]


def _part_sentence(name: str, cause: str, part: CapacityPart, most: float) -> str:
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
        f"{said}: {_times(interval.median)} as long as alone {cause} ({interval_words(interval)}; "
        f"bound {format_ratio(most)})"
    )


def _times(ratio: float) -> str:
    return f"{format_ratio(ratio)} times"


def _guideline_sentence(guideline: Guideline, missing: Missing) -> str:
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
