"""The registry of metrics: every figure that a run folder or a summary holds, defined once.

Names of a job's and a step's figures are the columns of their tables; names with a dot are paths
in the JSON summary, ``*`` for any program, node or job.  docs/reference/metrics.md is printed from
here; a source that is a page of docs/ names the heading there.
"""

from __future__ import annotations

from mawl.model.cluster_metrics import CLUSTER_METRICS
from mawl.model.compressibility_metrics import COMPRESSIBILITY_METRICS
from mawl.model.host_metrics import HOST_METRICS, NODE_METRICS
from mawl.model.io_metrics import IO_METRICS
from mawl.model.judgement_metrics import JUDGEMENT_METRICS
from mawl.model.metric import (
    FACTS,
    MEMORY,
    MISSING,
    OPTIONS,
    PLAN,
    PROC_IO,
    REAL,
    RUSAGE,
    SAMPLES,
    Metric,
    bytes_metric,
    count_metric,
    flag_metric,
    object_metric,
    ratio_metric,
    seconds_metric,
    text_metric,
)
from mawl.model.probe_metrics import STORAGE_METRICS
from mawl.model.role_metrics import ROLE_COLUMNS, ROLE_METRICS, ROLE_SERIES
from mawl.model.summary_metrics import (
    JOB_METRICS,
    LATER_METRICS,
    SIGNATURE_METRICS,
    WINDOW_METRICS,
)
from mawl.model.volume_metrics import VOLUME_COLUMNS, VOLUME_METRICS, VOLUME_SERIES

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

RUN_METRICS: tuple[Metric, ...] = (
    text_metric("run_id", "Name of the run."),
    text_metric(
        "format_version", "Version of the run folder's format, MAJOR.MINOR.", "docs/design/run-folder.md"
    ),
    text_metric("mawl_version", "The mawl that wrote the run."),
    text_metric("kind", "measured, imported or simulated."),
    text_metric("outcome", "running, completed, failed (a job failed), aborted or interrupted."),
    text_metric("outcome_reason", "Why the run did not complete well."),
    Metric("started_at", "time", "text", "When the run began (UTC, ISO 8601).", FACTS),
    Metric("ended_at", "time", "text", "When the run ended (UTC, ISO 8601).", FACTS),
    text_metric("start_mode", "How jobs were started: zygote or spawn.", "docs/design/launch.md"),
    text_metric("workload.name", "Name of the workload.", PLAN),
    text_metric("workload.title", "What the workload is, in words.", PLAN),
    count_metric("workload.sessions", "Sessions of the workload.", PLAN),
    count_metric("workload.jobs", "Jobs of the workload.", PLAN),
    ratio_metric("workload.scale", "Size of the inputs beside scale full (1.0).", PLAN),
    text_metric("workload.scale_name", "Name of the scale.", PLAN),
    count_metric("workload.seed", "Seed of the input tables.", PLAN),
    count_metric("workload.planned_peak_concurrent", "Most jobs that the plan runs side by side.", PLAN),
    count_metric("workload.gate_jobs", "Jobs that are released together at the start.", PLAN),
    object_metric("workload.options", "The options a run carries.", OPTIONS),
    bytes_metric("workload.options.memsize_bytes", "Memory a job may use.", OPTIONS),
    bytes_metric(
        "workload.options.sortsize_bytes",
        "Memory a step that declares util bytes may use.",
        OPTIONS,
    ),
    bytes_metric("workload.options.bufsize_bytes", "Size of a sequential request.", OPTIONS),
    count_metric("workload.options.cpucount", "Threads of one job.", OPTIONS),
    text_metric("workload.options.direct", "Whether direct I/O is used: auto, yes or no.", OPTIONS),
    flag_metric("workload.options.compress", "Whether tables are stored compressed.", OPTIONS),
    flag_metric("workload.options.fullstimer", "Whether SAS-style logs are written.", OPTIONS),
    text_metric("nodes.*.name", "Name of the node."),
    text_metric("nodes.*.kernel", "Its kernel.", "uname(2)"),
    text_metric("nodes.*.python", "Its Python."),
    text_metric("nodes.*.cpu_model", "Its processor.", "proc_cpuinfo(5)"),
    count_metric("nodes.*.cores", "Its cores, counted in core_basis.", FACTS),
    text_metric("nodes.*.core_basis", "physical core, or vCPU on a virtual machine."),
    bytes_metric("nodes.*.memory_bytes", "Its memory.", "proc_meminfo(5)"),
    Metric("nodes.*.cpus_used", "-", "list", "Logical CPUs the jobs were held to; null for all.", FACTS),
    bytes_metric("nodes.*.memory_limit_bytes", "Memory the jobs were held to; null for all.", FACTS),
    *NODE_METRICS,
    text_metric("failures.*.job", "A job that did not finish."),
    text_metric("failures.*.program", "Its program."),
    text_metric("failures.*.outcome", "failed, timed_out, stopped, lost or not_started."),
    text_metric("failures.*.reason", "The sentence that says why."),
    Metric("remarks.*", "-", "text", "What a reader found wrong with the folder and left out.", FACTS),
    Metric("missing.*", "-", "text", "Path of a null to the reason.", MISSING),
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

METRICS: tuple[Metric, ...] = (
    *USAGE_METRICS,
    *RUN_METRICS,
    *JOB_METRICS,
    *IO_METRICS,
    *WINDOW_METRICS,
    *SIGNATURE_METRICS,
    *JUDGEMENT_METRICS,
    *STORAGE_METRICS,
    *HOST_METRICS,
    *LATER_METRICS,
    *COMPRESSIBILITY_METRICS,
    *ROLE_METRICS,
    *ROLE_COLUMNS,
    *SAMPLE_METRICS,
    *ROLE_SERIES,
    *VOLUME_METRICS,
    *VOLUME_COLUMNS,
    *VOLUME_SERIES,
    *CLUSTER_METRICS,
)
