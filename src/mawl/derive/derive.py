"""A stored run (of imported logs, or one that mawl measured) as derived jobs with their evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from re import Pattern

import msgspec

from mawl.base.errors import UsageError
from mawl.base.units import format_instant
from mawl.derive.evidence import (
    DerivedEvidence,
    HostBytes,
    JobEvidence,
    LeftOut,
    UnknownBytes,
    host_of,
    in_night,
    programs_of,
    queue_of,
    result_of,
    rules_used,
)
from mawl.derive.jobs import Arrival, Arrivals, Growth, TableSizes, places, renamed, steps_of
from mawl.derive.step_bytes import SPILLS, UNCOUNTED_BYTES, Inference, Loads, counts_reads, device_share
from mawl.derive.steps import BlockUnit, Names, StepFigures, step_figures
from mawl.derive.tables import Libraries
from mawl.figures.nights import Night
from mawl.figures.view import StoredView
from mawl.records.model.derived import MOST_SECONDS, MOST_STEPS, DerivedJob, DerivedStep, DerivedWorkload
from mawl.records.model.node import periods_of
from mawl.records.model.records import JobRecord
from mawl.records.model.run import PLATFORM_NOT_NAMED, PLATFORM_SEPARATOR
from mawl.records.spec.program_options import Role
from mawl.records.store import Run
from mawl.simulation.demand import Logged, LoggedBytes

MOST_NAMED = 5
WORKING = ("data", "procedure")
"""The kinds of steps that are derived."""


class DeriveRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What of a run to derive, and how; ``only`` and ``without`` are patterns of programs' names.

    ``core_speed`` is that of the cores behind the logs (None: not known).
    """

    night: Night | None = None
    arrivals: Arrivals = "clock"
    growth: float = 1.0
    scale: float = 1.0
    only: Sequence[str] = ()
    without: Sequence[str] = ()
    keep_names: bool = False
    core_speed: float | None = None
    key: bytes | None = None
    libraries: Mapping[Role, Sequence[Pattern[str]]] = {}


class Derivation(msgspec.Struct, frozen=True):
    """The workload and its evidence."""

    workload: DerivedWorkload
    evidence: DerivedEvidence


def derive(run: Run, request: DeriveRequest) -> Derivation:
    """Derive the jobs of a run.

    Raises ``UsageError`` where no job is left, and where the jobs lie hours apart and no
    night says which are meant.
    """
    records = started_jobs(run)
    in_window = records if request.night is None else in_night(records, request.night)
    chosen = [job for job in in_window if _chosen(job.program, request)]
    if request.night is None:
        _check_one_night(chosen)
    steps, others = derivable_steps(run, chosen)
    worked = [job for job in chosen if steps.get(job.job)]
    beyond = sum(max(len(steps[job.job]) - MOST_STEPS, 0) for job in worked)
    if not worked:
        raise _nothing(records, in_window, chosen, request)
    starts_at = request.night.starts_at if request.night else _first_start(worked)
    libraries = Libraries(request.libraries)
    worked.sort(key=lambda job: (job.started_at is None, job.started_at or 0.0))
    known = steps if len(in_window) == len(chosen) else derivable_steps(run, in_window)[0]
    libraries.learn(table for step in chain.from_iterable(known.values()) for table in step.tables)
    share = device_share(((step, job.job) for job in worked for step in steps[job.job]), libraries)
    names = Names(keep=request.keep_names, key=request.key)
    jobs, evidence, tables = _jobs(worked, steps, starts_at, share, names, libraries, request)
    window = request.night.ends_at - request.night.starts_at if request.night else None
    untimed = sum(job.started_at is None for job in records)
    return Derivation(
        DerivedWorkload(tables=tables.records(), jobs=tuple(jobs)),
        DerivedEvidence(
            jobs_in_logs=len(records),
            names="kept" if request.keep_names else "hashed",
            arrivals=request.arrivals,
            growth=request.growth,
            scale=request.scale,
            window_seconds=window,
            night=None if window is None else result_of(jobs, evidence, window, request.growth),
            device_share=share,
            host=_host(run, evidence, request) if len(worked) == len(records) else None,
            queue=queue_of(worked, sum(bool(job.after) and job.start_seconds > 0 for job in jobs)),
            left_out=LeftOut(
                jobs_outside_the_night=len(records) - len(in_window) - (untimed if request.night else 0),
                jobs_without_times=untimed if request.night else 0,
                jobs_not_chosen=len(in_window) - len(chosen),
                jobs_without_steps=len(chosen) - len(worked),
                views_and_startup_steps=others,
                tables_of_databases=sum(step.remote_tables for job in worked for step in steps[job.job]),
                tables_beyond_the_first=sum(
                    step.tables_left_out for job in worked for step in steps[job.job]
                ),
                steps_beyond_the_first=beyond,
                lines_skipped=sum(source.skipped_lines for source in run.facts.sources),
            ),
            not_told=_unknown_bytes(worked, steps, evidence, libraries),
            programs=programs_of(evidence),
            jobs=tuple(evidence),
            rules=rules_used(evidence),
        ),
    )


def _unknown_bytes(
    worked: Sequence[JobRecord],
    steps: Mapping[str, list[StepFigures]],
    evidence: Sequence[JobEvidence],
    libraries: Libraries,
) -> UnknownBytes:
    units: list[BlockUnit | None] = []
    spilling: list[float] = []
    for job, mine in zip(worked, evidence, strict=True):
        for step, found in zip(steps[job.job], mine.steps, strict=False):
            units.append(step.blocks)
            roles = {libraries.role_of(table) for table in step.tables}
            if step.io is None and step.procedure in SPILLS and "util" not in roles:
                parts = (*found.read_bytes.values(), *found.written_bytes.values())
                spilling.append(math.fsum(part.value for part in parts))
    return UnknownBytes(
        steps_of_unknown_block_size=units.count("unknown"),
        steps_of_assumed_block_size=units.count("assumed"),
        steps_without_utility_files=len(spilling),
        bytes_of_these=math.fsum(spilling),
    )


def _jobs(
    worked: Sequence[JobRecord],
    steps: Mapping[str, list[StepFigures]],
    starts_at: float,
    share: float | None,
    names: Names,
    libraries: Libraries,
    request: DeriveRequest,
) -> tuple[list[DerivedJob], list[JobEvidence], TableSizes]:
    place = places(worked, starts_at, request.arrivals)
    inference = Inference(libraries, reads_told=counts_reads(share))
    tables = TableSizes(names, libraries)
    size = Growth(rows=request.growth, load=request.scale)
    programs = {job.program: names.of("p", job.program) for job in worked}
    called = {job.job: names.fresh(f"{programs[job.program]}.{number}") for job, number in _numbered(worked)}
    jobs, evidence = [], []
    for job in worked:
        found = steps_of(steps[job.job][:MOST_STEPS], job.job, inference, tables, names, size)
        made = _job(job, called, place[job.job], names, tuple(step for step, _ in found), request)
        jobs.append(made if request.arrivals == "closed" else _on_the_clock(made, job, starts_at, request))
        evidence.append(
            JobEvidence(
                job=called[job.job],
                program=programs[job.program],
                started_seconds=None if job.started_at is None else job.started_at - starts_at,
                ended_seconds=None if job.ended_at is None else job.ended_at - starts_at,
                queue_seconds=job.queue_seconds,
                steps=tuple(one for _, one in found),
            )
        )
    return jobs, evidence, tables


def _host(run: Run, jobs: Sequence[JobEvidence], request: DeriveRequest) -> HostBytes | None:
    """Not for loads that were made larger or smaller than those of the logs."""
    if request.growth != 1 or request.scale != 1 or not run.rows("samples"):
        return None
    return host_of(StoredView(run), jobs)


def _numbered(jobs: Sequence[JobRecord]) -> list[tuple[JobRecord, int]]:
    counts: dict[str, int] = {}
    found = []
    for job in jobs:
        counts[job.program] = counts.get(job.program, 0) + 1
        found.append((job, counts[job.program]))
    return found


def _job(
    job: JobRecord,
    called: Mapping[str, str],
    place: Arrival,
    names: Names,
    steps: tuple[DerivedStep, ...],
    request: DeriveRequest,
) -> DerivedJob:
    return DerivedJob(
        name=called[job.job],
        steps=steps,
        session=names.of("s", place.lane),
        after=renamed(place, called),
        start_seconds=min(place.start_seconds * request.scale, MOST_SECONDS),
        scale=request.scale,
        growth=request.growth,
        core_speed=request.core_speed,
    )


def _on_the_clock(made: DerivedJob, job: JobRecord, starts_at: float, request: DeriveRequest) -> DerivedJob:
    """The job with the second at which it ended in the logs, and by which it must have ended."""
    night = request.night
    end = None if job.ended_at is None else (job.ended_at - starts_at) * request.scale
    due = None if night is None else (night.ends_at - night.starts_at) * request.scale
    return msgspec.structs.replace(
        made,
        end_seconds=None if end is None or not 0 <= end <= MOST_SECONDS else end,
        due_seconds=None if due is None or due > MOST_SECONDS else due,
    )


def derivable_steps(run: Run, jobs: Sequence[JobRecord]) -> tuple[dict[str, list[StepFigures]], int]:
    """The DATA and PROC steps of each of these jobs, in order, and how many other steps they have."""
    units = {node.name: block_unit(node.kernel) for node in run.facts.nodes}
    nodes = {job.job: job.node for job in jobs}
    found: dict[str, list[StepFigures]] = {}
    others = 0
    for step in run.step_records(list(nodes)):
        if step.kind in WORKING:
            unit = units.get(nodes[step.job], "assumed")
            found.setdefault(step.job, []).append(step_figures(step, unit))
        else:
            others += 1
    for mine in found.values():
        mine.sort(key=lambda figures: figures.number)
    return found, others


def block_unit(kernel: str | None) -> BlockUnit:
    """The unit of block operations on a node whose logs name this platform, or several platforms.

    It is assumed if some logs of the node name no platform.  mawl's own logs have only the release of Linux.
    """
    if kernel is None:
        return "assumed"
    every = kernel.split(PLATFORM_SEPARATOR)
    named = [one for one in every if one != PLATFORM_NOT_NAMED]
    if not all(one.startswith("Linux") or one[:1].isdigit() for one in named):
        return "unknown"
    return "linux" if named == every else "assumed"


def unsized_nodes(run: Run) -> frozenset[str]:
    """The nodes on which the size of a block operation is unknown."""
    return frozenset(node.name for node in run.facts.nodes if block_unit(node.kernel) == "unknown")


def chosen_jobs(run: Run, request: DeriveRequest) -> list[JobRecord]:
    """The jobs that ``only`` and ``without`` leave, of any night."""
    return [job for job in started_jobs(run) if _chosen(job.program, request)]


def started_jobs(run: Run) -> list[JobRecord]:
    """The jobs of a run that began."""
    return [job for job in run.job_records() if job.outcome != "not_started"]


def _chosen(program: str, request: DeriveRequest) -> bool:
    if request.only and not any(fnmatchcase(program, pattern) for pattern in request.only):
        return False
    return not any(fnmatchcase(program, pattern) for pattern in request.without)


def _first_start(jobs: Sequence[JobRecord]) -> float:
    return min((job.started_at for job in jobs if job.started_at is not None), default=0.0)


def _check_one_night(jobs: Sequence[JobRecord]) -> None:
    periods = periods_of(
        (job.started_at, max(job.started_at, job.ended_at))
        for job in jobs
        if job.started_at is not None and job.ended_at is not None
    )
    if len(periods) > 1:
        shown = "; ".join(f"{_clock(start)} to {_clock(end)}" for start, end in periods[:MOST_NAMED])
        raise UsageError(
            f"the jobs lie in {len(periods)} periods with hours between them: one night is derived at a time",
            why=f"the first are {shown} (UTC)",
            cure="name the night: --night 2026-03-02T20:00/06:00",
        )


def _nothing(
    records: Sequence[JobRecord],
    in_window: Sequence[JobRecord],
    chosen: Sequence[JobRecord],
    request: DeriveRequest,
) -> UsageError:
    if chosen:
        why = "none of the jobs has a DATA or PROC step with figures"
    elif in_window:
        why = f"--only and --without leave none of {len(in_window)} jobs"
    elif request.night is not None:
        timed = [job.started_at for job in records if job.started_at is not None]
        why = (
            f"none of {len(records)} jobs has a time"
            if not timed
            else f"no job started within the night; the jobs started from {_clock(min(timed))} to "
            f"{_clock(max(timed))} (UTC)"
        )
    else:
        why = "the run has no job"
    return UsageError("no job can be derived", why=why, cure="give logs of one night, or another --night")


def _clock(at: float) -> str:
    return format_instant(at)[:16].replace("T", " ")


class LoggedRun(msgspec.Struct, frozen=True, kw_only=True):
    """The steps of a run of logs.

    ``without_blocks`` counts the steps without bytes at the devices.  ``device_share`` is the share of reads
    of known size that block operations count (None: not known).
    """

    steps: Logged
    without_blocks: int
    device_share: float | None


def logged_bytes(run: Run) -> LoggedRun:
    """Bytes of each DATA and PROC step by role, as ``mawl derive`` infers them, and at the devices."""
    jobs = sorted(started_jobs(run), key=lambda job: (job.started_at is None, job.started_at or 0.0))
    steps, _ = derivable_steps(run, jobs)
    libraries = Libraries({})
    every = [(step, job.job) for job in jobs for step in steps.get(job.job, [])]
    libraries.learn(table for step, _ in every for table in step.tables)
    share = device_share(every, libraries)
    inference = Inference(libraries, reads_told=counts_reads(share))
    found = {(job, step.number): _bytes(step, inference.loads(step, job)) for step, job in every}
    return LoggedRun(
        steps=found,
        without_blocks=sum(
            one.device_read_bytes is None and one.device_written_bytes is None for one in found.values()
        ),
        device_share=share,
    )


def _bytes(step: StepFigures, loads: Loads) -> LoggedBytes:
    """Block operations are bytes at the devices, unless the file system does not count them."""
    counted = not (step.written_bytes == 0 and loads.written_range[0] >= UNCOUNTED_BYTES)
    return LoggedBytes(
        read={role: part.value for role, part in loads.read.items() if part.value},
        written={role: part.value for role, part in loads.written.items() if part.value},
        device_read_bytes=float(step.read_bytes) if counted and step.read_bytes is not None else None,
        device_written_bytes=(
            float(step.written_bytes) if counted and step.written_bytes is not None else None
        ),
    )
