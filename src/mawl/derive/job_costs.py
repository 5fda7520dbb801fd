"""What jobs cost, what faster storage of a role could save at most, and where processors were taken away.

Logs do not say what a job waited for.  Real time less CPU time bounds it, and the steps that may read or
write a role bound what that role's storage can save.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated

import msgspec

from mawl.base.units import (
    counted_noun,
    format_instant,
    format_percent,
    format_plain,
    format_ratio,
    format_seconds,
)
from mawl.derive.step_bytes import Inference, counts_reads, device_share
from mawl.derive.steps import StepFigures
from mawl.derive.tables import Libraries
from mawl.figures.imported import last_chain
from mawl.figures.missing import ended_with_errors
from mawl.records.definitions import block, count, flag, instant, listing, seconds, text, unitless
from mawl.records.model.records import JobRecord
from mawl.records.spec.program_options import ROLES, Role
from mawl.reports.layout import ABSENT, figure, format_count, short_instant

PAGE = "docs/design/derive.md, Which steps cost most"
MOST_JOBS = 10
NOT_TOLD = "no log tells it"
NO_CHAIN = "no job has both a start and an end"


class JobCost(msgspec.Struct, frozen=True, kw_only=True):
    """What one job used."""

    job: Annotated[str, text("The job.", PAGE)]
    with_errors: Annotated[bool, flag("Whether its log has an ERROR; its time counts.", PAGE)]
    started_at: Annotated[str | None, instant("When it started.", PAGE, absent=NOT_TOLD)]
    real_seconds: Annotated[float | None, seconds("Real time of the job.", PAGE, absent=NOT_TOLD)]
    cpu_seconds: Annotated[float | None, seconds("User and system CPU time.", PAGE, absent=NOT_TOLD)]
    involuntary_switches: Annotated[
        int | None, count("Times that a processor was taken from it.", PAGE, absent=NOT_TOLD)
    ]


class RoleBound(msgspec.Struct, frozen=True, kw_only=True):
    """What faster storage of one role saves at most."""

    role: Annotated[str, text("The role.", PAGE)]
    steps: Annotated[int, count("Steps that may read or write it.", PAGE)]
    waiting_at_most_seconds: Annotated[
        float | None, seconds("Real time less CPU time of these steps.", PAGE, absent=NOT_TOLD)
    ]
    chain_seconds: Annotated[
        float | None, seconds("The same, of the chain of jobs that ended last.", PAGE, absent=NO_CHAIN)
    ]


class JobCosts(msgspec.Struct, frozen=True, kw_only=True):
    """The jobs of a run that cost most, and bounds for its roles."""

    jobs: Annotated[int, count("Jobs of the run.", PAGE)]
    real_seconds: Annotated[float | None, seconds("Real time of all jobs.", PAGE, absent=NOT_TOLD)]
    cpu_seconds: Annotated[float | None, seconds("CPU time of all jobs.", PAGE, absent=NOT_TOLD)]
    involuntary_switches: Annotated[
        int | None, count("Involuntary context switches of all jobs.", PAGE, absent=NOT_TOLD)
    ]
    switches_per_cpu_second: Annotated[
        float | None,
        unitless("The same for each second of CPU time of the jobs that count them.", PAGE, absent=NOT_TOLD),
    ]
    costliest: Annotated[list[JobCost], listing("The jobs with the longest real time.", PAGE)]
    most_switched: Annotated[
        JobCost | None, block("The job with most involuntary switches.", PAGE, absent=NOT_TOLD)
    ]
    chain_jobs: Annotated[int, count("Jobs of the chain that ended last.", PAGE)]
    chain_ended_at: Annotated[str | None, instant("When it ended.", PAGE, absent=NO_CHAIN)]
    bounds: Annotated[list[RoleBound], listing("What faster storage of each role saves at most.", PAGE)]


def job_costs(jobs: Sequence[JobRecord], steps: Mapping[str, Sequence[StepFigures]]) -> JobCosts:
    """The costs of the jobs that began, with the ``steps`` of each in their order."""
    costs = [
        JobCost(
            job=job.job,
            with_errors=ended_with_errors(job),
            started_at=None if job.started_at is None else format_instant(job.started_at),
            real_seconds=job.usage.real_time_seconds,
            cpu_seconds=job.usage.cpu_seconds,
            involuntary_switches=job.usage.involuntary_context_switches,
        )
        for job in jobs
    ]
    last = last_chain(jobs)
    chain = {job.job for job in last}
    counting = [one for one in costs if one.involuntary_switches is not None]
    switches = sum(one.involuntary_switches or 0 for one in counting)
    used = _sum(one.cpu_seconds for one in counting)
    return JobCosts(
        jobs=len(jobs),
        real_seconds=_sum(one.real_seconds for one in costs),
        cpu_seconds=_sum(one.cpu_seconds for one in costs),
        involuntary_switches=switches if counting else None,
        switches_per_cpu_second=switches / used if used else None,
        costliest=sorted(costs, key=lambda one: (-(one.real_seconds or 0.0), one.job))[:MOST_JOBS],
        most_switched=max(counting, key=lambda one: one.involuntary_switches or 0, default=None),
        chain_jobs=len(chain),
        chain_ended_at=None if not last or last[-1].ended_at is None else format_instant(last[-1].ended_at),
        bounds=list(_bounds(jobs, steps, chain)),
    )


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) if known else None


def ordered_inference(
    jobs: Sequence[JobRecord], steps: Mapping[str, Sequence[StepFigures]]
) -> tuple[list[JobRecord], Libraries, Inference]:
    """The jobs by their starts, and what infers the bytes of their steps in that order."""
    ordered = sorted(jobs, key=lambda one: (one.started_at is None, one.started_at or 0.0))
    libraries = Libraries()
    every = [(step, job.job) for job in ordered for step in steps.get(job.job, ())]
    libraries.learn(table for step, _ in every for table in step.tables)
    share = device_share(every, libraries)
    return ordered, libraries, Inference(libraries, reads_told=counts_reads(share))


def _bounds(
    jobs: Sequence[JobRecord], steps: Mapping[str, Sequence[StepFigures]], chain: set[str]
) -> Iterator[RoleBound]:
    waits: dict[Role, list[tuple[str, float | None]]] = {role: [] for role in ROLES}
    ordered, _, inference = ordered_inference(jobs, steps)
    for job in ordered:
        for step in steps.get(job.job, ()):
            loads = inference.loads(step, job.job)
            for role, mine in waits.items():
                if any(parts[role].high for parts in (loads.read, loads.written) if role in parts):
                    mine.append((job.job, _waiting(step)))
    for role, mine in waits.items():
        yield RoleBound(
            role=role,
            steps=len(mine),
            waiting_at_most_seconds=_sum(wait for _, wait in mine) if mine else 0.0,
            chain_seconds=(_sum(wait for job, wait in mine if job in chain) or 0.0) if chain else None,
        )


def _waiting(step: StepFigures) -> float | None:
    if step.real_seconds is None or step.cpu_seconds is None:
        return None
    return max(step.real_seconds - step.cpu_seconds, 0.0)


def job_lines(costs: JobCosts) -> Iterator[tuple[str, str]]:
    """What jobs cost, what faster WORK saves at most, and where processors were short."""
    yield "jobs", _most(costs)
    [work] = [one for one in costs.bounds if one.role == "work"]
    yield "storage", _saving(work, costs)
    yield "processors", _switches(costs)


def _most(costs: JobCosts) -> str:
    first = costs.costliest[0]
    if first.real_seconds is None or not costs.real_seconds:
        return "not known: no log tells a real time"
    errors = ", ended with errors" if first.with_errors else ""
    share = format_percent(first.real_seconds / costs.real_seconds)
    return (
        f"{first.job} cost most{errors}: {format_seconds(first.real_seconds)} of real time, {share} of "
        f"{counted_noun(costs.jobs, 'job')}, and {figure(first.cpu_seconds, format_seconds)} of CPU time"
    )


def _saving(work: RoleBound, costs: JobCosts) -> str:
    if work.waiting_at_most_seconds is None:
        return "what faster WORK saves is not known: no step has real and CPU time (STIMER writes both)"
    steps = counted_noun(work.steps, "step")
    every = (
        f"{steps} that may read or write WORK waited {format_seconds(work.waiting_at_most_seconds)} at most"
    )
    if work.chain_seconds is None:
        return f"{every}; what of it the night would save, times of day would tell (FULLSTIMER)"
    return (
        f"faster WORK saves at most {format_seconds(work.chain_seconds)} of the night: so long its steps "
        f"waited in the {_chain(costs)}; {every} in all. "
        "How much of it was WORK, a recording of the host tells (nmon, sar -d)"
    )


def _chain(costs: JobCosts) -> str:
    what = "job" if costs.chain_jobs == 1 else f"chain of {costs.chain_jobs} jobs"
    return f"{what} that ended last ({short_instant(costs.chain_ended_at)} UTC)"


def _switches(costs: JobCosts) -> str:
    if costs.involuntary_switches is None:
        return "not known: no log counts involuntary switches; FULLSTIMER on UNIX and Linux does"
    most = costs.most_switched or costs.costliest[0]
    rate = ""
    if costs.switches_per_cpu_second is not None:
        rate = (
            f", {format_plain(costs.switches_per_cpu_second)} for each CPU second of the jobs that count them"
        )
    switches = "switch" if costs.involuntary_switches == 1 else "switches"
    return (
        f"{format_count(costs.involuntary_switches)} involuntary {switches}{rate}; {most.job} has most, "
        f"{figure(most.involuntary_switches, format_count)}. How long jobs waited for a processor, a "
        "recording of the host tells (nmon, sar -q)"
    )


JOB_HEAD = ("job", "started (UTC)", "real", "CPU", "CPU/real", "involuntary switches", "ended")


def job_rows(costs: JobCosts) -> list[tuple[str, ...]]:
    """The rows of the table of jobs."""
    return [
        (
            one.job,
            short_instant(one.started_at),
            figure(one.real_seconds, format_seconds),
            figure(one.cpu_seconds, format_seconds),
            ABSENT
            if one.cpu_seconds is None or not one.real_seconds
            else format_ratio(one.cpu_seconds / one.real_seconds),
            figure(one.involuntary_switches, format_count),
            "with errors" if one.with_errors else "",
        )
        for one in costs.costliest
    ]
