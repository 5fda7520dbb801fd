"""A published result under the names of a summary, with what follows from it per core and in shape."""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.model.published import (
    Citation,
    Compression,
    CpuAccounting,
    JobRatios,
    Latencies,
    PaperChange,
    PaperDevice,
    PaperPrograms,
    PaperRange,
    PaperSystem,
    PaperTimes,
)
from mawl.spec.program_options import Role


class Cited(Citation, frozen=True, kw_only=True):
    """Where a result was published, and the same as one line."""

    citation: str


class PublishedWorkload(msgspec.Struct, frozen=True, kw_only=True):
    """What ran; ``sessions`` are those of all nodes."""

    nodes: int
    sessions_per_node: int | None
    sessions: int | None
    programs: PaperPrograms | None


class PublishedJobs(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs, and how many ran at once."""

    total: int | None
    peak_concurrent: int | None


class PublishedTimes(PaperTimes, frozen=True, kw_only=True):
    """The printed times; ``adjusted_cpu_seconds`` have AIX's scaled accounting undone."""

    adjusted_cpu_seconds: PaperRange | None


class PublishedRatios(JobRatios, frozen=True, kw_only=True):
    """CPU over real time: of the sums, and what is printed of single jobs."""

    of_sums: float | None


class PublishedIo(msgspec.Struct, frozen=True, kw_only=True):
    """What devices moved, and where that was measured."""

    device: PaperDevice
    measured_where: str | None


class PublishedHost(msgspec.Struct, frozen=True, kw_only=True):
    """The processors."""

    cpu_busy_ratio: float | None
    cpu_iowait_ratio: float | None
    cores: int | None
    core_basis: str | None


class PublishedLimit(msgspec.Struct, frozen=True, kw_only=True):
    """What limited it, as the paper says."""

    verdict: str


class PerCore(msgspec.Struct, frozen=True, kw_only=True):
    """Throughput, sessions and memory per physical core."""

    core_basis: str | None
    cores: int | None
    peak_bytes_per_second: float | None
    initial_bytes_per_second: float | None
    sustained_bytes_per_second: float | None
    sessions: float | None
    memory_bytes: float | None


class PublishedShape(msgspec.Struct, frozen=True, kw_only=True):
    """Ratios that do not depend on how large or old a machine is."""

    read_ratio: float | None
    work_util_ratio: PaperRange | None
    cpu_real_ratio: float | None
    system_cpu_ratio: float | None
    peak_per_sustained: float | None
    initial_per_peak: float | None
    active_ratio: float | None
    jobs_per_session: float | None
    peak_jobs_per_session: float | None
    memory_per_job_bytes: float | None
    device_bytes_per_input_byte: float | None
    plateau_bytes_per_core_second: float | None
    bytes_per_cpu_second: float | None


class PublishedFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A result; what a paper does not give is None."""

    id: str
    kind: Literal["published"] = "published"
    title: str
    source: Cited
    caveats: list[str]
    workload: PublishedWorkload
    jobs: PublishedJobs
    time: PublishedTimes
    cpu_accounting: CpuAccounting | None
    cpu_real_ratio: PublishedRatios
    io: PublishedIo
    latency: Latencies
    host: PublishedHost
    system: PaperSystem
    limit: PublishedLimit | None
    compression: dict[Role, Compression]
    change: PaperChange | None
    per_core: PerCore
    shape: PublishedShape
    findings: list[str]
