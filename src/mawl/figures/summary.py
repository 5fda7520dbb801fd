"""A run's summary: the names of docs/reference/metrics.md, which other tools may rely on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from mawl.base.units import format_instant, format_percent
from mawl.figures.arrays import arrays_block
from mawl.figures.caps import caps_block
from mawl.figures.cluster import cluster_block
from mawl.figures.demand import storage_block
from mawl.figures.energy import energy_block, share_energy
from mawl.figures.host import host_block
from mawl.figures.imported import observed_of, observed_remark, period_figures, queue_block
from mawl.figures.io import COMPRESSED, compressed_roles, io_block
from mawl.figures.job_sums import (
    cpu_account_block,
    cpu_real_block,
    jobs_block,
    own_cost,
    programs_block,
    reasons,
    time_block,
)
from mawl.figures.missing import Missing
from mawl.figures.roles import kernel_bytes
from mawl.figures.series import partial_remark
from mawl.figures.signature import SignatureParts, signature_block
from mawl.figures.volumes import roles_block, volumes_block
from mawl.figures.waits import is_unseen, times_alone_of, wait_block
from mawl.figures.window_states import busy_cores, window_figures
from mawl.records.model.compressibility import compressibility_figures
from mawl.records.model.records import JobRecord
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.host import Host
from mawl.records.model.summary.storage import CachedInputs
from mawl.records.model.summary.summary import Summary
from mawl.records.model.summary.time import JobFailure, Recorded

if TYPE_CHECKING:
    from mawl.figures.view import RunView

DAMAGED = "are damaged, and no figure here is of them"
"""What a remark says of a table that is there and cannot be read."""


def summary_of(view: RunView) -> Summary:
    """A run's summary; ``missing`` gives the reason of every null by its path.

    Times and bytes are sums over the jobs that count (``counted``);
    what happened when, and the CPU account, over all.  Without samples there are no figures over time; the
    events say which jobs of a run that did not go through had started.
    """
    facts, jobs, samples, good, windows = view.facts, view.jobs, view.samples, view.counted, view.windows
    edges = windows.edges if windows else None
    found: Missing = dict(view.damage)
    observed = observed_of(view.line, found)
    periods = period_figures(view.line, jobs, samples, view.device, found)
    counts = jobs_block(facts, jobs, view.line, found)
    account = cpu_account_block(facts, jobs, found)
    time = time_block(facts, good, view.line, observed, periods, found)
    io = io_block(view, time.elapsed_seconds, found)
    programs = programs_block(jobs)
    host = host_block(facts, samples, edges, found)
    energy = energy_block(facts, samples, edges, jobs, found)
    share_energy(programs, energy, jobs, found)
    volumes = volumes_block(facts, good, samples, edges, found)
    busy = busy_cores(samples, windows) if samples and windows else None
    parts = SignatureParts(jobs=counts, time=time, io=io, programs=programs, busy_cores=busy)
    summary = Summary(
        run_id=facts.run_id,
        format_version=facts.format_version,
        mawl_version=facts.mawl_version,
        kind=facts.kind,
        workload=facts.workload,
        outcome=facts.outcome,
        outcome_reason=facts.outcome_reason,
        started_at=format_instant(facts.started_at),
        ended_at=None if facts.ended_at is None else format_instant(facts.ended_at),
        start_mode=facts.start_mode,
        nodes=facts.nodes,
        recorded=Recorded(
            jobs=len(jobs), **{name: view.rows.get(name) for name in ("steps", "samples", "events")}
        ),
        jobs=counts,
        time=time,
        cpu_real_ratio=cpu_real_block(time, good, found),
        io=io,
        wait=wait_block(facts, good, found),
        queue=queue_block(jobs, view.line, found),
        programs=programs,
        cpu_account=account,
        outside_cpu=facts.outside_cpu,
        overhead=own_cost(facts.overhead, account, time.elapsed_seconds),
        cluster=cluster_block(facts, jobs, samples, windows, found),
        windows=[window_figures(moment) for moment in view.moments],
        failures=failures(jobs),
        remarks=_remarks(view, host),
        host=host,
        energy=energy,
        storage=storage_block(facts, io.by_role, jobs, windows, samples, view.probe, found),
        caps=caps_block(facts, found),
        arrays=arrays_block(facts, samples, windows, view.arrays, found),
        volume_order=facts.volume_order,
        volumes=volumes,
        roles=roles_block(facts, volumes, samples, found),
        inputs=inputs_block(facts, found),
        compressibility=compressibility_figures(facts.compressibility) if facts.compressibility else None,
        limit=None,
        times_alone=times_alone_of(jobs, facts),
        smt=None,
        signature=signature_block(facts, parts, found),
        missing={},
    )
    summary.missing = reasons(summary, found, facts.missing)
    return summary


def _remarks(view: RunView, host: Host | None) -> list[str]:
    remarks = list(view.facts.remarks)
    if compressed := compressed_roles(view.facts):
        remarks.append(f"{COMPRESSED.format(' and '.join(compressed))}; own bytes are missing")
    remarks += uncovered_remark(view)
    remarks += observed_remark(view.line)
    remarks += [view.device.remark] if view.device.remark else []
    if view.windows is not None:
        remarks += partial_remark(host, view.windows.edges[-1] - view.windows.edges[0])
    return remarks + [
        f"{path.removeprefix('recorded.')} {DAMAGED}: {why}" for path, why in view.damage.items()
    ]


MOST_JOBS_NAMED = 5


def uncovered_remark(view: RunView) -> list[str]:
    """Which jobs ``--cache none`` did not cover, and their share of the bytes that the kernel counted."""
    if view.facts.cache is None or view.facts.cache.mode != "none":
        return []
    outside = [job for job in view.counted if is_unseen(job)]
    if not outside:
        return []
    whole = sum(kernel_bytes(job) or 0 for job in view.counted)
    counted = sum((job.counted_read_bytes or 0) + (job.counted_written_bytes or 0) for job in outside)
    lost = max(sum(kernel_bytes(job) or 0 for job in outside) - counted, 0)
    names = ", ".join(job.job for job in outside[:MOST_JOBS_NAMED])
    more = f" and {len(outside) - MOST_JOBS_NAMED} more" if len(outside) > MOST_JOBS_NAMED else ""
    share = f", {format_percent(lost / whole)} of the bytes that the kernel counted" if whole else ""
    return [f"--cache none did not cover {names}{more}{share}: {outside[0].io_remark}"]


def inputs_block(facts: RunFacts, missing: Missing) -> CachedInputs | None:
    cache = facts.cache
    if cache is None:
        missing["inputs"] = "nothing looked at which inputs the page cache held before the start"
        return None
    if cache.reason is not None:
        missing["inputs.resident_bytes"] = missing["inputs.resident_ratio"] = cache.reason
    resident = cache.resident_bytes
    share = None if resident is None or not cache.input_bytes else resident / cache.input_bytes
    return CachedInputs(**msgspec.structs.asdict(cache), resident_ratio=share)


def failures(jobs: Sequence[JobRecord]) -> list[JobFailure]:
    return [
        JobFailure(job=job.job, program=job.program, outcome=job.outcome, reason=job.reason)
        for job in jobs
        if job.outcome != "finished"
    ]
