"""The nights of an import of many nights, each as a separate run."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pyarrow as pa
from pyarrow import compute

from mawl.advice.capacity.bounds import CapacityBounds
from mawl.advice.judge import judged
from mawl.analysis.comparison.sides import ComparedRun, JobTime, compared_run
from mawl.analysis.nights.logged import LoggedNight, logged_nights
from mawl.analysis.series import RunSamples
from mawl.analysis.view import RunView, StoredView

MARGIN_SECONDS = 3600.0
"""Samples up to this long before and after a night's jobs belong to the night: recordings sample every few
minutes."""


class NightsOfImport(msgspec.Struct, frozen=True, kw_only=True):
    """The last nights of an import, in order, and how many earlier ones are ``left_out``."""

    runs: tuple[ComparedRun, ...]
    left_out: int


def nights_of_import(view: StoredView, bounds: CapacityBounds) -> NightsOfImport | None:
    """The nights by the rules of the HTML report (:mod:`mawl.analysis.nights.logged`), each judged by itself.

    None if the run is no import, or an import of a single night.
    """
    if view.facts.kind != "imported":
        return None
    found = logged_nights(view.jobs, view.facts.sources)
    if found is None:
        return None
    return NightsOfImport(
        runs=tuple(_run(view, night, bounds) for night in found.nights), left_out=found.left_out
    )


def by_program(run: ComparedRun) -> ComparedRun:
    """The run with its jobs named by program and number: ``load_sales.2`` is the second of ``load_sales``.

    An import names jobs by their files, and these have other names every night.
    """
    counts: dict[str, int] = {}
    jobs: dict[str, JobTime] = {}
    # Jobs with a time come first, so that a job that failed does not shift the numbers of the others.
    for job in sorted(run.jobs.values(), key=lambda job: job.real_time_seconds is None):
        counts[job.program] = counts.get(job.program, 0) + 1
        jobs[f"{job.program}.{counts[job.program]}"] = job
    return msgspec.structs.replace(run, jobs=jobs)


def _run(view: StoredView, night: LoggedNight, bounds: CapacityBounds) -> ComparedRun:
    jobs = sorted(night.jobs, key=lambda job: (job.started_at or 0.0, job.job))
    names = {job.job for job in jobs}
    facts = msgspec.structs.replace(
        view.facts,
        run_id=f"{view.facts.run_id}, night of {night.label}",
        started_at=night.started_at,
        ended_at=night.ended_at,
        workload=msgspec.structs.replace(view.facts.workload, jobs=len(jobs)),
        planned_jobs=[job for job in view.facts.planned_jobs if job.job in names],
    )
    own = RunView(facts, jobs, _samples(view, night), rows=view.rows, damage=view.damage)
    return by_program(compared_run(own, judged(own, bounds), over_time=False))


def _samples(view: StoredView, night: LoggedNight) -> RunSamples | None:
    if view.samples is None:
        return None
    table = view.run.samples
    last = max(night.started_at, night.ended_at or night.started_at)
    edges = [
        pa.scalar(round(at * 1e6), pa.int64()).cast(table.schema.field("sampled_at").type)
        for at in (night.started_at - MARGIN_SECONDS, last + MARGIN_SECONDS)
    ]
    times = table["sampled_at"]
    within = compute.and_(compute.greater_equal(times, edges[0]), compute.less_equal(times, edges[1]))
    found = RunSamples(table.filter(within), [one.node for one in view.facts.storage_runs])
    return found if found.nodes else None


def own_nights(nights: Sequence[NightsOfImport]) -> frozenset[str]:
    """The ids of the runs that are each a whole night, even if the next night begins soon after."""
    return frozenset(run.facts.run_id for one in nights for run in one.runs)
