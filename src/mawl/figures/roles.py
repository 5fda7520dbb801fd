"""I/O by role: bytes, shares, sequential share and latencies as the jobs' own calls had them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mawl.figures.missing import NO_JOB_COUNTS, NOT_IN_FILES, Missing, ratio
from mawl.records.model.records import JobRecord
from mawl.records.model.role_io import FILE_ROLES, Histogram, RoleIo, quantile, sum_by_role, typical
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.io import Direct, Latency, RequestBytes, RoleFigures, SyncLatency
from mawl.records.spec.program_options import ROLES

LATENCIES = {"p50": 0.5, "p99": 0.99}


def by_role_block(
    facts: RunFacts,
    jobs: Sequence[JobRecord],
    peaks: Mapping[str, Mapping[str, float | None]],
    missing: Missing,
) -> dict[str, RoleFigures] | None:
    """Sums of the jobs that count and whose calls were counted; None where none was.

    A job that could not be counted has a remark, and ``coverage_ratio`` falls by its bytes.  ``peaks`` are
    the highest window means of the latency by role and direction.
    """
    known = [job.io for job in jobs if job.io is not None]
    if not known:
        why = facts.missing.get("io.by_role")
        if seen := io_remarks(jobs):
            why = f"not measured: {'; '.join(seen)}"
        elif not jobs or facts.kind == "imported":
            why = NOT_IN_FILES if jobs else NO_JOB_COUNTS
        if why is not None:
            missing |= dict.fromkeys(("io.by_role", "io.coverage_ratio"), why)
        return None
    sums = sum_by_role(known)
    every = sum(io.read_bytes + io.written_bytes for io in sums.values())
    return {
        role: _role(
            sums[role],
            every,
            list(facts.roles.get(role, [])) if role != "other" else [],
            peaks.get(role, {}),
            missing,
        )
        for role in FILE_ROLES
    }


def coverage_ratio(jobs: Sequence[JobRecord], missing: Missing) -> float | None:
    """Bytes that counted calls moved, files or not, over the kernel's; jobs without counters, whose bytes are
    in the kernel's only, lower it."""
    path = "io.coverage_ratio"
    if not any(job.io is not None for job in jobs):
        return None
    whole = 0
    for job in jobs:
        if (moved := kernel_bytes(job)) is None:
            missing[path] = f"the kernel's count of the bytes of {job.job} is not known"
            return None
        whole += moved
    counted = sum((job.counted_read_bytes or 0) + (job.counted_written_bytes or 0) for job in jobs)
    return ratio(counted, whole, path, missing)


def kernel_bytes(job: JobRecord) -> int | None:
    """Bytes that a job moved as the kernel counts them: of its calls (rchar and wchar).

    If it mapped files of roles, what was charged to it where that is more: no call moves their pages.
    """
    usage = job.usage
    if usage.application_read_bytes is None or usage.application_written_bytes is None:
        return None
    calls = usage.application_read_bytes + usage.application_written_bytes
    if job.io is None or not any(job.io[role].mapped_bytes for role in ROLES):
        return calls
    return max(calls, (usage.own_read_bytes or 0) + (usage.charged_written_bytes or 0))


def direct_block(jobs: Sequence[JobRecord], missing: Missing) -> Direct:
    """Bytes past the page cache, of the jobs whose programs count theirs; null where none does."""
    known = [job for job in jobs if job.direct_read_bytes is not None]
    if not known:
        for name in ("read_bytes", "written_bytes"):
            missing[f"io.direct.{name}"] = "no job's program counted its direct requests"
    moved = {job.program for job in known if job.direct_read_bytes or job.direct_written_bytes}
    return Direct(
        read_bytes=sum(job.direct_read_bytes or 0 for job in known) if known else None,
        written_bytes=sum(job.direct_written_bytes or 0 for job in known) if known else None,
        programs=sorted(moved),
    )


def io_remarks(jobs: Sequence[JobRecord]) -> list[str]:
    """What the counters could not see: each kind of sentence once, with its first job's numbers."""
    found: dict[str, list[str]] = {}
    for job in jobs:
        for sentence in (job.io_remark or "").split("; "):
            if sentence:
                kind = "".join(letter for letter in sentence if not letter.isdigit())
                found.setdefault(kind, []).append(sentence)
    return [
        sentences[0] if len(sentences) == 1 else f"{sentences[0]} (and in {len(sentences) - 1} more jobs)"
        for sentences in found.values()
    ]


def _role(
    io: RoleIo, every: int, volumes: list[str], peaks: Mapping[str, float | None], missing: Missing
) -> RoleFigures:
    path = "io.by_role.*"
    moved = io.read_bytes + io.written_bytes
    sequential = io.sequential_read_bytes + io.sequential_written_bytes
    return RoleFigures(
        reads=io.reads,
        writes=io.writes,
        syncs=io.syncs,
        read_bytes=io.read_bytes,
        written_bytes=io.written_bytes,
        share_ratio=ratio(moved, every, f"{path}.share_ratio", missing),
        sequential_ratio=ratio(sequential, moved, f"{path}.sequential_ratio", missing),
        read_latency_seconds=_latency(
            io.reads,
            io.read_seconds,
            io.longest_read_seconds,
            io.read_nanoseconds_histogram,
            peaks.get("read"),
        ),
        write_latency_seconds=_latency(
            io.writes,
            io.write_seconds,
            io.longest_write_seconds,
            io.write_nanoseconds_histogram,
            peaks.get("write"),
        ),
        read_request_bytes=_sizes(io.reads, io.read_bytes, io.read_size_bytes_histogram),
        write_request_bytes=_sizes(io.writes, io.written_bytes, io.write_size_bytes_histogram),
        uncaching_seconds=io.uncaching_seconds,
        sync_latency_seconds=SyncLatency(mean=io.sync_seconds / io.syncs if io.syncs else None),
        volumes=volumes,
    )


def _sizes(calls: int, moved_bytes: int, histogram: Histogram) -> RequestBytes:
    """Bytes that a call moved: the mean of all calls, quantiles of those that did not fail."""
    quantiles = {name: typical(histogram, share) for name, share in LATENCIES.items()}
    return RequestBytes(mean=moved_bytes / calls if calls else None, **quantiles)


def _latency(calls: int, seconds: float, longest: float, histogram: Histogram, peak: float | None) -> Latency:
    """Mean and maximum as they were; quantiles out of buckets, within 6 %."""
    values = {name: quantile(histogram, share) for name, share in LATENCIES.items()}
    return Latency(
        mean=seconds / calls if calls else None,
        **{
            name: None if value is None else min(value / 1e9, longest or value / 1e9)
            for name, value in values.items()
        },
        max=longest if calls else None,
        peak=peak,
    )
