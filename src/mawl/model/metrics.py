"""The registry of metrics: every figure that a run folder or a summary holds, defined once.

Names of a job's and a step's figures are the columns of their tables; names with a dot are paths
in the JSON summary, ``*`` for any program, node or job.  docs/reference/metrics.md is printed from
here.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Unit = Literal[
    "seconds", "bytes", "ratio", "count", "bytes per second", "512-byte blocks", "time", "text", "-"
]
Kind = Literal["float", "integer", "text", "boolean", "object", "list"]

RUSAGE = "getrusage(2), wait4(2)"
PROC_IO = "proc_pid_io(5)"
JOB = "DESIGN.md section 4, Job"
FIGURES = "DESIGN.md section 5"
PLAN = "plan.toml of the run"
FACTS = "run.json of the run"
LATER = "DESIGN.md section 5; null in this version"


class Metric(msgspec.Struct, frozen=True):
    """One figure: what it is called, counted in, and means (one sentence), and where from."""

    name: str
    unit: Unit
    type: Kind
    definition: str
    source: str


def _count(name: str, definition: str, source: str = FIGURES) -> Metric:
    return Metric(name, "count", "integer", definition, source)


def _seconds(name: str, definition: str, source: str = FIGURES) -> Metric:
    return Metric(name, "seconds", "float", definition, source)


def _bytes(name: str, definition: str, source: str = FIGURES) -> Metric:
    return Metric(name, "bytes", "integer", definition, source)


def _ratio(name: str, definition: str, source: str = FIGURES) -> Metric:
    return Metric(name, "ratio", "float", definition, source)


def _text(name: str, definition: str, source: str = FACTS) -> Metric:
    return Metric(name, "text", "text", definition, source)


def _object(name: str, definition: str, source: str = LATER) -> Metric:
    return Metric(name, "-", "object", definition, source)


USAGE_METRICS: tuple[Metric, ...] = (
    _seconds(
        "real_time_seconds", "Wall time from the release of the job (or start of the step) to its end.", JOB
    ),
    _seconds("user_cpu_seconds", "CPU time in user mode of the whole process tree.", RUSAGE),
    _seconds("system_cpu_seconds", "CPU time in the kernel of the whole process tree.", RUSAGE),
    _bytes("memory_bytes", "Peak resident size less the resident size when the process was ready.", JOB),
    _bytes("os_memory_bytes", "Peak resident size of the largest process.", f"{JOB}; {RUSAGE}"),
    _count("page_faults", "Page faults that needed I/O (major).", RUSAGE),
    _count("page_reclaims", "Page faults served without I/O (minor).", RUSAGE),
    _count("page_swaps", "Times the process was swapped out (Linux always says 0).", RUSAGE),
    _count("voluntary_context_switches", "Times the process gave up the CPU to wait.", RUSAGE),
    _count("involuntary_context_switches", "Times the scheduler took the CPU away.", RUSAGE),
    Metric(
        "block_input_operations",
        "512-byte blocks",
        "integer",
        "Reads from block devices, in 512-byte units.",
        RUSAGE,
    ),
    Metric(
        "block_output_operations",
        "512-byte blocks",
        "integer",
        "Writes to block devices, in 512-byte units.",
        RUSAGE,
    ),
    _bytes("application_read_bytes", "Bytes that read calls returned, cache hits included (rchar).", PROC_IO),
    _bytes("application_written_bytes", "Bytes that write calls took (wchar).", PROC_IO),
    _count("read_calls", "Read calls (syscr).", PROC_IO),
    _count("write_calls", "Write calls (syscw).", PROC_IO),
    _bytes("device_read_bytes", "Bytes fetched from block devices (read_bytes).", PROC_IO),
    _bytes(
        "device_written_bytes",
        "Bytes charged to block devices when pages became dirty (write_bytes).",
        PROC_IO,
    ),
    _bytes(
        "cancelled_written_bytes",
        "Bytes charged but never written, since the file was removed first (cancelled_write_bytes).",
        PROC_IO,
    ),
)

RUN_METRICS: tuple[Metric, ...] = (
    _text("run_id", "Name of the run."),
    _text("format_version", "Version of the run folder's format, MAJOR.MINOR.", "docs/design/run-folder.md"),
    _text("mawl_version", "The mawl that wrote the run."),
    _text("kind", "measured, imported or simulated."),
    _text("outcome", "running, completed, failed (a job failed), aborted or interrupted."),
    _text("outcome_reason", "Why the run did not complete well."),
    Metric("started_at", "time", "text", "When the run began (UTC, ISO 8601).", FACTS),
    Metric("ended_at", "time", "text", "When the run ended (UTC, ISO 8601).", FACTS),
    _text("start_mode", "How jobs were started: zygote or spawn.", JOB),
    _text("workload.name", "Name of the workload.", PLAN),
    _text("workload.title", "What the workload is, in words.", PLAN),
    _count("workload.sessions", "Sessions of the workload.", PLAN),
    _count("workload.jobs", "Jobs of the workload.", PLAN),
    _ratio("workload.scale", "Size of the inputs beside scale full (1.0).", PLAN),
    _text("workload.scale_name", "Name of the scale.", PLAN),
    _count("workload.seed", "Seed of the input tables.", PLAN),
    _count("workload.planned_peak_concurrent", "Most jobs that the plan runs side by side.", PLAN),
    _count("workload.gate_jobs", "Jobs that are released together at the start.", PLAN),
    _object("workload.options", "The options a run carries.", "DESIGN.md section 7"),
    _bytes("workload.options.memsize_bytes", "Memory a job may use.", "DESIGN.md section 7"),
    _bytes(
        "workload.options.sortsize_bytes",
        "Memory a step that declares util bytes may use.",
        "DESIGN.md section 7",
    ),
    _bytes("workload.options.bufsize_bytes", "Size of a sequential request.", "DESIGN.md section 7"),
    _count("workload.options.cpucount", "Threads of one job.", "DESIGN.md section 7"),
    Metric(
        "workload.options.compress",
        "-",
        "boolean",
        "Whether tables are stored compressed.",
        "DESIGN.md section 7",
    ),
    Metric(
        "workload.options.fullstimer",
        "-",
        "boolean",
        "Whether SAS-style logs are written.",
        "DESIGN.md section 7",
    ),
    _text("nodes.*.name", "Name of the node."),
    _text("nodes.*.kernel", "Its kernel.", "uname(2)"),
    _text("nodes.*.python", "Its Python."),
    _text("nodes.*.cpu_model", "Its processor.", "proc_cpuinfo(5)"),
    _count("nodes.*.cores", "Its cores, counted in core_basis."),
    _text("nodes.*.core_basis", "physical core, or vCPU on a virtual machine."),
    _bytes("nodes.*.memory_bytes", "Its memory.", "proc_meminfo(5)"),
    Metric("nodes.*.cpus_used", "-", "list", "Logical CPUs the jobs were held to; null for all.", FACTS),
    _bytes("nodes.*.memory_limit_bytes", "Memory the jobs were held to; null for all.", FACTS),
    _text("failures.*.job", "A job that did not finish."),
    _text("failures.*.program", "Its program."),
    _text("failures.*.outcome", "failed, timed_out, stopped, lost or not_started."),
    _text("failures.*.reason", "The sentence that says why."),
    Metric("remarks.*", "-", "text", "What a reader found wrong with the folder and left out.", FACTS),
    Metric("missing.*", "-", "text", "Path of a null to the reason.", FIGURES),
)

JOB_METRICS: tuple[Metric, ...] = (
    _count("jobs.total", "Jobs with a record, however they ended."),
    _count("jobs.finished", "Jobs that ended well."),
    _count("jobs.failed", "Jobs that failed, a wrong answer and a time limit included."),
    _count("jobs.timed_out", "Those of the failed that ran into their time limit."),
    _count("jobs.stopped", "Jobs that were stopped with the run."),
    _count("jobs.lost", "Jobs that had started but left no account of their end."),
    _count("jobs.not_started", "Jobs that never got a process."),
    _count("jobs.unverified", "Finished jobs whose answer was not shown to be right."),
    _count("jobs.counted", "Jobs whose figures are summed: finished, no answer known to be wrong."),
    _count("jobs.planned_peak_concurrent", "Most jobs that the plan runs side by side.", PLAN),
    _count("jobs.peak_concurrent", "Most jobs that ran at once.", "DESIGN.md section 4, Gate"),
    _seconds(
        "jobs.seconds_near_peak", "Time with at least 90 % of the observed peak.", "DESIGN.md section 4, Gate"
    ),
    _ratio("jobs.mean_concurrent", "Sum of the jobs' times from start to end over the elapsed time."),
    _seconds("time.elapsed_seconds", "First start of a job to last end."),
    _seconds("time.active_seconds", "Elapsed time before the tail."),
    _seconds(
        "time.tail_seconds",
        "Elapsed time after fewer than max(3, 10 % of the sessions) jobs, or only trail_out jobs, ran.",
    ),
    _seconds("time.startup_seconds", "Wall time from the launcher's start until the first job could start."),
    _seconds(
        "time.real_time_seconds",
        "Sum of the jobs' real time: the papers' workload response time.",
        "the papers",
    ),
    _seconds("time.user_cpu_seconds", "Sum of the jobs' user CPU time.", "the papers"),
    _seconds("time.system_cpu_seconds", "Sum of the jobs' system CPU time.", "the papers"),
    _seconds("time.adjusted_cpu_seconds", "CPU time without AIX's scaled accounting; AIX sources only."),
    _bytes("time.memory_bytes", "Sum of the jobs' memory.", "the papers"),
    _bytes("time.os_memory_bytes", "Sum of the jobs' peak resident sizes."),
    _ratio("cpu_real_ratio.of_sums", "Summed CPU time over summed real time.", "the papers"),
    _ratio("cpu_real_ratio.mean", "Mean of the jobs' own ratios.", "the papers"),
    _ratio("cpu_real_ratio.stddev", "Sample standard deviation of the jobs' own ratios.", "the papers"),
    _ratio("cpu_real_ratio.range", "Largest less smallest of the jobs' own ratios.", "the papers"),
    _ratio(
        "cpu_real_ratio.without_run_queue",
        "Summed CPU time over summed real time less run-queue time.",
        LATER,
    ),
    _count("programs.*.jobs", "Jobs of the program."),
    _count("programs.*.counted", "Those of them whose figures are summed."),
    _seconds("programs.*.real_time_seconds.median", "Median real time of a job."),
    _seconds("programs.*.real_time_seconds.min", "Shortest real time of a job."),
    _seconds("programs.*.real_time_seconds.max", "Longest real time of a job."),
    _seconds("programs.*.user_cpu_seconds", "Sum of the jobs' user CPU time."),
    _seconds("programs.*.system_cpu_seconds", "Sum of the jobs' system CPU time."),
    _bytes("programs.*.application_read_bytes", "Sum of the jobs' application bytes read."),
    _bytes("programs.*.application_written_bytes", "Sum of the jobs' application bytes written."),
    _bytes("programs.*.memory_bytes", "Largest memory of a job."),
    _ratio("programs.*.stretch", "Median of a job's real time in the mix over alone.", LATER),
    *(
        _seconds(f"cpu_account.{name}.{mode}cpu_seconds", f"{title} CPU time of {what}.", JOB)
        for name, what in (
            ("jobs", "all jobs' own work, however they ended"),
            ("startup", "starting the jobs' processes"),
            ("verify", "checking answers"),
            ("launcher", "the launcher, imports included"),
            ("total", "all jobs' process trees and the launcher"),
        )
        for mode, title in (("user_", "User"), ("system_", "System"), ("", "User and system"))
    ),
    _object("outside_cpu", "The same by an account that is not mawl's.", FACTS),
    _text("outside_cpu.source", "Whose account it is."),
    _seconds("outside_cpu.cpu_seconds", "User and system CPU time by that account.", FACTS),
    _seconds("outside_cpu.user_cpu_seconds", "User CPU time by that account.", FACTS),
    _seconds("outside_cpu.system_cpu_seconds", "System CPU time by that account.", FACTS),
    _seconds("overhead.cpu_seconds", "CPU time of mawl itself: runner, collectors and launcher."),
    _seconds("overhead.startup_cpu_seconds", "The part of it before the first job could start."),
    _bytes("overhead.peak_memory_bytes", "Peak resident size of mawl itself."),
)

IO_METRICS: tuple[Metric, ...] = (
    *(
        metric
        for side, what in (
            ("application", "asked for by programs, cache hits included"),
            ("device", "that reached devices"),
        )
        for metric in (
            _bytes(f"io.{side}.read_bytes", f"Bytes read {what}.", PROC_IO),
            _bytes(f"io.{side}.written_bytes", f"Bytes written {what}.", PROC_IO),
            _ratio(f"io.{side}.read_ratio", "Bytes read over bytes read and written."),
            _object(f"io.{side}.peak", "Throughput of the highest window."),
            _object(
                f"io.{side}.initial", "Throughput of the first window after all first-stage jobs started."
            ),
            _object(f"io.{side}.sustained", "Throughput of the median window of the active phase."),
            _object(f"io.{side}.active_mean", "Mean throughput of the active phase."),
            _object(f"io.{side}.run_mean", "Mean throughput of the run."),
            Metric(
                f"io.{side}.sustained_bytes_per_second_per_core",
                "bytes per second",
                "float",
                "Sustained throughput per core.",
                LATER,
            ),
            _seconds(
                f"io.{side}.window_seconds", "Length of a window: max(5 s, 1 % of the active phase).", LATER
            ),
        )
    ),
    _object("io.by_role", "Bytes, latencies and shares of data, work and util."),
    _ratio("io.reach.read_ratio", "Bytes read from devices over bytes that programs read."),
    _ratio("io.reach.write_ratio", "Bytes written to devices over bytes that programs wrote."),
    _ratio("io.coverage_ratio", "Share of the kernel's byte count that is known by role.", LATER),
)

LATER_METRICS: tuple[Metric, ...] = (
    _object("host", "CPU, memory, devices and network of the nodes."),
    _object("wait", "Where jobs' time went: on CPU, waiting for one, blocked by role."),
    _object("signature", "What makes the workload what it is, with ranges."),
    _object("capacity", "Whether the system carries the sessions."),
    _object("limit", "What limits the system."),
    _object("validity", "Whether the run may be published."),
)

SAMPLE_METRICS: tuple[Metric, ...] = (
    _count("jobs_running", "Jobs with a process at that second.", "the runner"),
    _bytes("jobs_resident_bytes", "Resident size of the running jobs' process trees.", "proc_pid_stat(5)"),
)
"""Series of ``samples`` that no job has; the others are a usage figure summed over all jobs so far."""

METRICS: tuple[Metric, ...] = (
    *USAGE_METRICS,
    *RUN_METRICS,
    *JOB_METRICS,
    *IO_METRICS,
    *LATER_METRICS,
    *SAMPLE_METRICS,
)
