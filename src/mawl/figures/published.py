"""A published result in the terms of a summary, per core and in shape: what may be compared with a run.

Machines of different years are never equal, so totals are shown and not compared; figures per core and
ratios are.  All of it is computed from what the papers print, and null where they do not give a part of it.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from mawl.records.model.published import (
    Cited,
    Paper,
    PaperRange,
    PerCore,
    PublishedFigures,
    PublishedHost,
    PublishedIo,
    PublishedJobs,
    PublishedLimit,
    PublishedRatios,
    PublishedResult,
    PublishedShape,
    PublishedTimes,
    PublishedWorkload,
    ThreadShare,
)


def published_block(
    result: PublishedResult,
    paper: Paper,
    *,
    input_bytes: float | None = None,
    thread_shares: Mapping[str, ThreadShare] | None = None,
) -> PublishedFigures:
    """The result under the names of a summary, with ``per_core`` and ``shape`` added.

    ``input_bytes`` are the inputs of one instance of each program; ``thread_shares`` undo AIX's scaled
    accounting where CPU times are raw, which gives a range (docs/design/published.md).
    """
    sessions = result.sessions_per_node
    return PublishedFigures(
        id=result.id,
        title=result.title,
        source=Cited(**msgspec.structs.asdict(paper.source), citation=str(paper.source)),
        caveats=list(result.caveats),
        workload=PublishedWorkload(
            nodes=result.nodes,
            sessions_per_node=sessions,
            sessions=None if sessions is None else sessions * result.nodes,
            programs=result.programs,
        ),
        jobs=PublishedJobs(total=result.jobs, peak_concurrent=result.peak_concurrent_jobs),
        time=PublishedTimes(
            **msgspec.structs.asdict(result.time),
            adjusted_cpu_seconds=adjusted_cpu_seconds(result, thread_shares or {}),
        ),
        cpu_accounting=result.cpu_accounting,
        cpu_real_ratio=PublishedRatios(
            of_sums=over(cpu_seconds(result), result.time.real_time_seconds),
            **msgspec.structs.asdict(result.cpu_real_ratio),
        ),
        io=PublishedIo(device=result.device, measured_where=result.measured_where),
        latency=result.latency,
        host=PublishedHost(
            cpu_busy_ratio=result.cpu_busy_ratio,
            cpu_iowait_ratio=result.cpu_iowait_ratio,
            cores=result.cores,
            core_basis=None if result.cores is None else "physical core",
        ),
        system=result.system,
        limit=None if result.limit is None else PublishedLimit(verdict=result.limit),
        compression=result.compression,
        change=result.change,
        per_core=per_core(result),
        shape=shape(result, input_bytes),
        findings=list(paper.findings),
    )


def per_core(result: PublishedResult) -> PerCore:
    """Throughput, sessions and memory per physical core; a printed figure only where no total is given."""
    cores, device = result.cores, result.device
    memory, sessions = result.system.memory_bytes_per_node, result.sessions_per_node
    sustained = over(device.sustained.total_bytes_per_second, cores)
    return PerCore(
        core_basis=None if cores is None else "physical core",
        cores=cores,
        peak_bytes_per_second=over(device.peak.total_bytes_per_second, cores),
        initial_bytes_per_second=over(device.initial.total_bytes_per_second, cores),
        sustained_bytes_per_second=device.sustained_bytes_per_second_per_core
        if sustained is None
        else sustained,
        sessions=over(times(sessions, result.nodes), cores),
        memory_bytes=over(times(memory, result.nodes), cores),
    )


def shape(result: PublishedResult, input_bytes: float | None = None) -> PublishedShape:
    device, time, jobs = result.device, result.time, result.jobs
    sessions = times(result.sessions_per_node, result.nodes)
    moved = plus(device.read_bytes, device.written_bytes)
    cpu = cpu_seconds(result)
    peak, sustained = device.peak.total_bytes_per_second, device.sustained.total_bytes_per_second
    return PublishedShape(
        read_ratio=over(device.read_bytes, moved) if device.read_ratio is None else device.read_ratio,
        work_util_ratio=device.work_util_ratio,
        cpu_real_ratio=over(cpu, time.real_time_seconds),
        system_cpu_ratio=over(time.system_cpu_seconds, cpu),
        peak_per_sustained=over(peak, sustained),
        initial_per_peak=over(device.initial.total_bytes_per_second, peak),
        active_ratio=over(time.active_seconds, time.elapsed_seconds),
        jobs_per_session=over(jobs, sessions),
        peak_jobs_per_session=over(result.peak_concurrent_jobs, sessions),
        memory_per_job_bytes=over(time.memory_bytes, jobs),
        device_bytes_per_input_byte=over(moved, input_bytes),
        plateau_bytes_per_core_second=over(sustained, times(result.cores, result.cpu_busy_ratio)),
        bytes_per_cpu_second=over(moved, cpu),
    )


def cpu_seconds(result: PublishedResult) -> float | None:
    return plus(result.time.user_cpu_seconds, result.time.system_cpu_seconds)


def adjusted_cpu_seconds(result: PublishedResult, shares: Mapping[str, ThreadShare]) -> PaperRange | None:
    """CPU time with the share of a core that one thread can use undone; None where that is not due.

    Due for raw times of a processor whose shares are published: 180 s / 0.56 = 321 s (REDP-5288,
    appendix B).  The share is a range, and so is the result.
    """
    share = shares.get(result.system.processor or "")
    cpu = cpu_seconds(result)
    if result.cpu_accounting != "raw" or share is None or cpu is None:
        return None
    span = share.smt.get(str(result.system.smt))
    return None if span is None else unscaled_cpu_seconds(cpu, span)


def unscaled_cpu_seconds(cpu_seconds: float, share: PaperRange) -> PaperRange:
    """Scaled CPU time as time of a core: a range, since the share of a core that one thread can use is."""
    return PaperRange(low=cpu_seconds / share.high, high=cpu_seconds / share.low)


def published_input_bytes(papers: tuple[Paper, ...]) -> float | None:
    """Inputs of one instance of each of the twenty programs, from the paper that gives them."""
    for paper in papers:
        if paper.workload is not None and paper.workload.jobs_by_sessions:
            return plus(paper.workload.io_input_bytes, paper.workload.compute_input_bytes)
    return None


def over(part: float | None, whole: float | None) -> float | None:
    """The quotient; None where either is missing or there is nothing to divide by."""
    return None if part is None or not whole else part / whole


def plus(one: float | None, other: float | None) -> float | None:
    """The sum; None where either is missing."""
    return None if one is None or other is None else one + other


def times(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one * other
