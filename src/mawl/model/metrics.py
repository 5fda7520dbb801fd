"""The registry of metrics: every figure that a run folder or a summary holds, defined once.

Names of a job's and a step's figures are the columns of their tables; names with a dot are paths
in the JSON summary, whose types define them (:mod:`mawl.model.summary`), ``*`` for any program, node or job.
docs/reference/metrics.md is printed from here; a source that is a page of docs/ names the heading there.
"""

from __future__ import annotations

from mawl.definitions.metric import (
    MEMORY,
    PROC_IO,
    REAL,
    RUSAGE,
    SAMPLES,
    SIGNATURE_PAGE,
    VOLUME_PAGE,
    VOLUME_SPACE,
    Metric,
    bytes_metric,
    count_metric,
    object_metric,
    seconds_metric,
)
from mawl.model.fields import metrics_of
from mawl.model.role_metrics import ROLE_COLUMNS, ROLE_SERIES
from mawl.model.signature import SIGNATURE
from mawl.model.summary.queue import QUEUE_PAGE
from mawl.model.summary.summary import Summary

SERIES = "in samples cumulative, the sum over all jobs so far, start-up and verify included."

USAGE_METRICS: tuple[Metric, ...] = (
    seconds_metric(
        "real_time_seconds",
        "Wall time of a step from its start to its end; of a job from its release to the end of its main "
        "process, less the time of its verify steps.",
        REAL,
    ),
    seconds_metric("user_cpu_seconds", "CPU time in user mode of the whole process tree.", RUSAGE),
    seconds_metric("system_cpu_seconds", "CPU time in the kernel of the whole process tree.", RUSAGE),
    bytes_metric(
        "memory_bytes", "Peak resident size less the resident size when the process was ready.", MEMORY
    ),
    bytes_metric(
        "os_memory_bytes",
        "Peak resident size of one process; of a job the largest of its steps other than verify.",
        f"{MEMORY}; {RUSAGE}",
    ),
    count_metric("page_faults", "Page faults that needed I/O (major).", RUSAGE),
    count_metric("page_reclaims", "Page faults served without I/O (minor).", RUSAGE),
    count_metric(
        "page_swaps",
        "Times the process was swapped out: null, since Linux does not count it (ru_nswap).",
        RUSAGE,
    ),
    count_metric("voluntary_context_switches", "Times the process gave up the CPU to wait.", RUSAGE),
    count_metric("involuntary_context_switches", "Times the scheduler took the CPU away.", RUSAGE),
    Metric(
        "block_input_operations",
        "512-byte blocks",
        "integer",
        "Reads from block devices, in 512-byte units: follows own_read_bytes.",
        RUSAGE,
    ),
    Metric(
        "block_output_operations",
        "512-byte blocks",
        "integer",
        "Pages that became dirty, in 512-byte units: follows charged_written_bytes, cancelled or not.",
        RUSAGE,
    ),
    bytes_metric(
        "application_read_bytes",
        f"Bytes that read calls returned, cache hits included (rchar); {SERIES}",
        PROC_IO,
    ),
    bytes_metric("application_written_bytes", f"Bytes that write calls took (wchar); {SERIES}", PROC_IO),
    count_metric("read_calls", "Read calls (syscr).", PROC_IO),
    count_metric("write_calls", "Write calls (syscw).", PROC_IO),
    bytes_metric(
        "own_read_bytes", f"Bytes that block devices were asked for (read_bytes); {SERIES}", PROC_IO
    ),
    bytes_metric(
        "charged_written_bytes",
        f"Bytes of pages that became dirty in memory (write_bytes), cancelled or not; {SERIES}",
        PROC_IO,
    ),
    bytes_metric(
        "cancelled_written_bytes",
        "Charged bytes that were never written, since the file was removed or cut short first "
        "(cancelled_write_bytes); charged less cancelled is dirtied.",
        PROC_IO,
    ),
    seconds_metric(
        "unsplit_cpu_seconds",
        "User and system CPU time where only their sum is known: SAS logs with STIMER, imported.",
        "docs/design/importers.md, CPU time of STIMER",
    ),
)

SIGNATURE_ROWS: tuple[Metric, ...] = tuple(
    Metric(f"signature.{row.name}", row.unit, "object", row.definition, SIGNATURE_PAGE) for row in SIGNATURE
)

SAMPLE_METRICS: tuple[Metric, ...] = (
    count_metric("jobs_running", "Jobs with a process at that second.", SAMPLES),
    bytes_metric(
        "jobs_resident_bytes", "Resident size of the running jobs' process trees at that second.", SAMPLES
    ),
    seconds_metric(
        "mawl_cpu_seconds",
        "Cumulative user and system CPU time of runner and launcher, since each of them began.",
        SAMPLES,
    ),
)
"""Series of ``samples`` that no job has; the others are a usage figure summed over all jobs so far."""

VOLUME_SERIES: tuple[Metric, ...] = (
    bytes_metric(
        "volume.*.used_bytes", "Space that the run's files take on a volume, by its number.", VOLUME_SPACE
    ),
)

VOLUME_COLUMNS: tuple[Metric, ...] = (
    object_metric("volume_read_bytes", "Bytes of a job read by volume: its number to bytes.", VOLUME_PAGE),
    object_metric("volume_written_bytes", "Bytes of a job written by volume.", VOLUME_PAGE),
)

QUEUE_COLUMNS: tuple[Metric, ...] = (
    Metric(
        "submitted_at",
        "time",
        "text",
        "When an imported job was submitted, by the clock of its scheduler.",
        QUEUE_PAGE,
    ),
    seconds_metric(
        "queue_seconds",
        "Queue time of an imported job: from the time at which it could run to its start, by its scheduler.",
        QUEUE_PAGE,
    ),
)

METRICS: tuple[Metric, ...] = (
    *USAGE_METRICS,
    *metrics_of(Summary),
    *SIGNATURE_ROWS,
    *ROLE_COLUMNS,
    *SAMPLE_METRICS,
    *ROLE_SERIES,
    *VOLUME_COLUMNS,
    *QUEUE_COLUMNS,
    *VOLUME_SERIES,
)
