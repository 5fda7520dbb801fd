"""The blocks of a summary that are sums, ratios and counts over jobs, and the reasons of its nulls."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import product
from typing import Any

import msgspec

from mawl.figures.imported import why_not_one_run
from mawl.figures.missing import NO_JOB_COUNTS, NO_TIMES, Missing, counted, ratio, total
from mawl.figures.sessions import Timeline
from mawl.figures.threads import adjusted_cpu_block
from mawl.figures.waits import without_run_queue
from mawl.records.model.fields import ANY, Path, Place, places
from mawl.records.model.records import JobRecord, Usage
from mawl.records.model.role_io import WAIT_FIELDS
from mawl.records.model.run import Overhead, RunFacts
from mawl.records.model.summary.programs import ProgramFigures, ProgramWaits, RealTimes
from mawl.records.model.summary.summary import Summary
from mawl.records.model.summary.time import (
    CpuAccount,
    CpuReal,
    CpuTimes,
    Jobs,
    JobsLeftOut,
    KnownCpuReal,
    KnownJobs,
    KnownTimes,
    Observed,
    OwnCost,
    Period,
    Time,
)

CPU_FIELDS = ("user_cpu_seconds", "system_cpu_seconds", "cpu_seconds")
SUMMED = (*("real_time_seconds", "cpu_seconds", "user_cpu_seconds", "system_cpu_seconds"),
          *("memory_bytes", "os_memory_bytes"))  # fmt: skip
"""Figures of which the sums over the jobs stand in the block ``time``."""
UNKNOWN_PEAK = (
    "below the peak of mawl's process before exec, which the kernel's figure includes; the program did not "
    "count its own (a static or killed program, for example)"
)
NONE_HAS_IT = "no job that counts has this figure"


def jobs_block(facts: RunFacts, jobs: Sequence[JobRecord], line: Timeline | None, missing: Missing) -> Jobs:
    """Counts by outcome, and how many ran at once."""
    outcomes = [job.outcome for job in jobs]
    missing["jobs.mean_concurrent"] = "the jobs took no time"
    why = line.at_once_unknown if line else NO_TIMES
    if why is not None:
        missing |= {
            f"jobs.{name}": why for name in ("peak_concurrent", "seconds_near_peak", "mean_concurrent")
        }
    if line is not None and (apart := why_not_one_run(line)) is not None:
        missing["jobs.mean_concurrent"] = apart
    return Jobs(
        total=len(jobs),
        finished=outcomes.count("finished"),
        failed=outcomes.count("failed") + outcomes.count("timed_out"),
        timed_out=outcomes.count("timed_out"),
        stopped=outcomes.count("stopped"),
        lost=outcomes.count("lost"),
        not_started=outcomes.count("not_started"),
        unverified=sum(job.outcome == "finished" and job.verified is not True for job in jobs),
        counted=len(counted(jobs)),
        left_out=_left_out(jobs),
        planned_peak_concurrent=facts.workload.planned_peak_concurrent,
        peak_concurrent=line.peak_concurrent if line else None,
        seconds_near_peak=line.seconds_near_peak if line else None,
        mean_concurrent=line.mean_concurrent if line else None,
    )


def _left_out(jobs: Sequence[JobRecord]) -> JobsLeftOut:
    """The jobs that do not count, each under one reason: total less counted is their sum."""
    left_out = [job for job in jobs if not counted([job])]
    reasons = ["wrong_answer" if job.verified is False else job.outcome for job in left_out]
    return JobsLeftOut(**{name: reasons.count(name) for name in JobsLeftOut.__struct_fields__})


def time_block(
    facts: RunFacts,
    jobs: Sequence[JobRecord],
    line: Timeline | None,
    observed: Observed | None,
    periods: list[Period],
    missing: Missing,
) -> Time:
    """Phases of the run, and the papers' sums over the jobs that count (memory is summed, too)."""
    if line is None:
        missing |= {
            f"time.{name}": NO_TIMES for name in ("elapsed_seconds", "active_seconds", "tail_seconds")
        }
    apart = why_not_one_run(line) if line else None
    if line is not None and (why := apart or line.tail_unknown) is not None:
        missing |= {f"time.{name}": why for name in ("active_seconds", "tail_seconds")}
    if apart is not None:
        missing["time.elapsed_seconds"] = apart
    elapsed_known = line is not None and apart is None
    tail_known = line is not None and apart is None and line.tail_unknown is None
    found = Time(
        elapsed_seconds=line.elapsed_seconds if line and elapsed_known else None,
        active_seconds=line.active_seconds if line and tail_known else None,
        tail_seconds=line.tail_seconds if line and tail_known else None,
        startup_seconds=facts.phases.startup_seconds,
        **{field: total(jobs, field, f"time.{field}", missing) for field in SUMMED},
        known=_known_sums(jobs, missing),
        adjusted_cpu_seconds=adjusted_cpu_block(facts, jobs, missing),
        observed=observed,
        periods=periods,
    )
    if jobs and facts.kind == "measured" and found.os_memory_bytes is None:
        for field in ("memory_bytes", "os_memory_bytes"):
            missing[f"time.{field}"] += f": {UNKNOWN_PEAK}"
    return found


def _known_sums(jobs: Sequence[JobRecord], missing: Missing) -> KnownTimes:
    """Of each figure the sum over the jobs that have it, and by its name in ``jobs`` how many these are."""
    columns = {
        field: [value for job in jobs if (value := getattr(job.usage, field)) is not None] for field in SUMMED
    }
    why = NONE_HAS_IT if jobs else NO_JOB_COUNTS
    missing |= {f"time.known.{field}": why for field, values in columns.items() if not values}
    return KnownTimes(
        **{field: sum(values) if values else None for field, values in columns.items()},
        jobs=KnownJobs(**{field.rpartition("_")[0]: len(values) for field, values in columns.items()}),
    )


def cpu_real_block(time: Time, jobs: Sequence[JobRecord], missing: Missing) -> CpuReal:
    """CPU over real time: of the sums, and mean, sample standard deviation and range of the jobs'."""
    times = [
        (job.usage.cpu_seconds, job.usage.real_time_seconds)
        for job in jobs
        if job.usage.cpu_seconds is not None and job.usage.real_time_seconds is not None
    ]
    ratios = [used / lasted for used, lasted in times if lasted]
    if not ratios:
        why = "no job that counts has both times"
        missing |= {f"cpu_real_ratio.{name}": why for name in ("mean", "range", "known.of_sums")}
    if len(ratios) < 2:
        missing["cpu_real_ratio.stddev"] = "fewer than two jobs that count have both times"
    parts = ("time.cpu_seconds", "time.real_time_seconds")
    of_sums = ratio(time.cpu_seconds, time.real_time_seconds, "cpu_real_ratio.of_sums", missing, parts)
    lack = f"{len(jobs) - len(ratios)} of the {len(jobs)} jobs that count lack one of the times"
    if jobs and len(ratios) < len(jobs) and "cpu_real_ratio.of_sums" in missing and ratios:
        missing["cpu_real_ratio.of_sums"] += f"; {lack}, and mean, deviation and range are of the others"
    known = sum(used for used, _ in times) / sum(lasted for _, lasted in times) if ratios else None
    return CpuReal(
        of_sums=of_sums,
        known=KnownCpuReal(of_sums=known, jobs=len(times)),
        mean=statistics.fmean(ratios) if ratios else None,
        stddev=statistics.stdev(ratios) if len(ratios) > 1 else None,
        range=max(ratios) - min(ratios) if ratios else None,
        without_run_queue=without_run_queue(jobs, missing),
    )


def programs_block(jobs: Sequence[JobRecord]) -> dict[str, ProgramFigures]:
    """Per program: its jobs, and the figures of those that count.

    ``memory_bytes`` is the largest of a job, the others are sums; real time also as median,
    smallest and largest.
    """
    programs: dict[str, ProgramFigures] = {}
    for name in sorted({job.program for job in jobs}):
        own = [job for job in jobs if job.program == name]
        good = counted(own)
        real = [value for job in good if (value := job.usage.real_time_seconds) is not None]
        memory = [value for job in good if (value := job.usage.memory_bytes) is not None]
        sums = {
            field: total(good, field, f"programs.*.{field}", {})
            for field in (
                "cpu_seconds",
                "user_cpu_seconds",
                "system_cpu_seconds",
                "application_read_bytes",
                "application_written_bytes",
            )
        }
        programs[name] = ProgramFigures(
            jobs=len(own),
            counted=len(good),
            real_time_seconds=RealTimes(
                median=statistics.median(real) if real else None,
                min=min(real, default=None),
                max=max(real, default=None),
                sum=total(good, "real_time_seconds", "programs.*.real_time_seconds.sum", {}),
            ),
            **sums,
            memory_bytes=max(memory, default=None),
            joules_per_job=None,
            wait=_waits(good),
        )
    return programs


def _waits(jobs: Sequence[JobRecord]) -> ProgramWaits:
    columns = {field: [getattr(job.waits, field) for job in jobs] for field in WAIT_FIELDS}
    return ProgramWaits(
        **{field: None if not jobs or None in column else sum(column) for field, column in columns.items()}
    )


def cpu_account_block(facts: RunFacts, jobs: Sequence[JobRecord], missing: Missing) -> CpuAccount:
    """User and system CPU seconds of every job, whatever its end: what an outside account sees.

    ``jobs`` is the jobs' own, ``total`` the kernel's figure for their process trees plus the
    launcher: no sum where one of them left no account.  The parts are sums of what is known.
    """
    lost = sum(job.outcome == "lost" for job in jobs)
    gone = [f"{lost} lost jobs" if lost > 1 else "a lost job"] if lost else []
    if facts.launcher.cpu_seconds is None:
        gone.append("the launcher")
    if gone:
        reason = f"{' and '.join(gone)} left no account"
        missing.update(
            {f"cpu_account.total.{field}": reason for field in CPU_FIELDS}
            | {f"cpu_account.launcher.{field}": "the launcher left no account" for field in CPU_FIELDS}
        )
    fields = {"jobs": "usage", "startup": "startup", "verify": "verify", "total": "total"}
    every = {name: [getattr(job, field) for job in jobs] for name, field in fields.items()}
    for (name, usages), field in product(every.items(), CPU_FIELDS):
        whole = [usage for usage in usages if usage.cpu_seconds is not None]
        if name != "total" and not whole:
            missing[f"cpu_account.{name}.{field}"] = "no job has such a CPU time"
        elif unsplit := sum(getattr(usage, field) is None for usage in whole):
            verb = "has" if unsplit == 1 else "have"
            why = f"{unsplit} of the {len(whole)} jobs with CPU time {verb} no split into user and system"
            missing.setdefault(f"cpu_account.{name}.{field}", why)
    return CpuAccount(
        **{name: _cpu(usages) for name, usages in every.items() if name != "total"},
        launcher=_cpu([facts.launcher]),
        total=_cpu([] if gone else [*every["total"], facts.launcher]),
    )


def _cpu(usages: Sequence[Usage]) -> CpuTimes:
    return CpuTimes(**{field: _known_sum(usages, field) for field in CPU_FIELDS})


def _known_sum(usages: Sequence[Usage], field: str) -> float | None:
    """The sum of what is known: a job that was lost or never started has no figure to add.

    None where a job has CPU time without the split into user and system: a sum of the others' would be
    taken for the whole beside the time that holds all.
    """
    if any(usage.cpu_seconds is not None and getattr(usage, field) is None for usage in usages):
        return None
    known = [value for usage in usages if (value := getattr(usage, field)) is not None]
    return sum(known) if known else None


NOT_RECORDED = "the record of the run does not contain it"


@cache
def _places() -> dict[Path, Place]:
    return {place.path: place for place in places(Summary)}


@cache
def _many() -> frozenset[Path]:
    return frozenset(path for path, one in _places().items() if one.many)


_MOST_PATHS = 65_536


def own_cost(overhead: Overhead, account: CpuAccount, elapsed_seconds: float | None) -> OwnCost:
    """The overhead of a run of so many seconds, with its share and its growth."""
    own, startup = overhead.cpu_seconds, overhead.startup_cpu_seconds
    jobs = account.jobs.cpu_seconds
    running = None if own is None or startup is None else max(own - startup, 0.0)
    return OwnCost(
        **msgspec.structs.asdict(overhead),
        cpu_ratio=None if own is None or not jobs else own / (own + jobs),
        running_cpu_ratio=None if running is None or not elapsed_seconds else running / elapsed_seconds,
    )


def reasons(summary: Summary, found: Mapping[str, str], recorded: Mapping[str, str]) -> Missing:
    """The reason of every null in a summary, by its dotted path (``*`` for any member without its own).

    ``found`` are reasons from working the summary out, ``recorded`` those of the run's facts.
    """
    unknown = [path for path in found if not _is_figure(path)]
    assert not unknown, f"reasons of what a summary does not have: {unknown}"
    result: Missing = {}
    for path in nulls(msgspec.to_builtins(summary)):
        place = generalised(path)
        exact, general = ".".join(path), ".".join(place)
        if exact != general and found.get(exact):
            result[exact] = found[exact]
            continue
        candidates = (
            recorded.get(exact),
            recorded.get(general),
            found.get(general),
            _places()[place].figure.absent,
            _places()[place[:1]].figure.within,
        )
        result.setdefault(general, next((reason for reason in candidates if reason), NOT_RECORDED))
    return dict(sorted(result.items()))


@lru_cache(_MOST_PATHS)
def _is_figure(path: str) -> bool:
    return generalised(tuple(path.split("."))) in _places()


def reason_of(missing: Mapping[str, str], path: Path) -> str | None:
    """Why a figure of a summary is null: its own reason, or that of the block it would be in."""
    for length in range(len(path), 0, -1):
        for own in (path[:length], generalised(path[:length])):
            if (reason := missing.get(".".join(own))) is not None:
                return reason
    return None


def gaps(summary: Summary) -> dict[str, str]:
    """The reason of every null that is a gap, not an answer, by its path."""
    return {path: why for path, why in summary.missing.items() if not _null_answers(path)}


def _null_answers(path: str) -> bool:
    place = generalised(tuple(path.split(".")))
    return any(_places()[place[:length]].figure.null_answers for length in range(1, len(place) + 1))


def nulls(value: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of all nulls; list members by their index."""
    paths: list[Path] = []
    _add_nulls(value, path, paths)
    return iter(paths)


def _add_nulls(value: Any, path: Path, paths: list[Path]) -> None:
    """Without generators, which a summary of thousands of figures would pass each null up through."""
    members: Any = ()
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
    elif value is None:
        paths.append(path)
    for name, member in members:
        if member is None:
            paths.append((*path, str(name)))
        elif isinstance(member, dict | list):
            _add_nulls(member, (*path, str(name)), paths)


@lru_cache(_MOST_PATHS)
def generalised(path: Path) -> Path:
    """The path with ``*`` for the members of lists and mappings."""
    result: Path = ()
    for part in path:
        result = (*result, ANY if result in _many() else part)
    return result
