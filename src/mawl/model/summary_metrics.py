"""Definitions of the figures that a summary holds beside the run's facts; names are paths in its JSON."""

from __future__ import annotations

from mawl.model.capacity_metrics import SLOWDOWN
from mawl.model.metric import (
    ADJUSTED,
    AT_ONCE,
    COUNTED,
    CPU_ACCOUNT,
    FACTS,
    HOST,
    IMPORTED_TIMES,
    MEMORY,
    PHASES,
    PLAN,
    RATIO,
    REAL,
    SIGNATURE_PAGE,
    TABLES,
    THROUGHPUT,
    WAITS,
    WINDOWS,
    Metric,
    bytes_metric,
    count_metric,
    flag_metric,
    object_metric,
    rate_metric,
    ratio_metric,
    seconds_metric,
    text_metric,
)
from mawl.model.options import ROLES
from mawl.model.signature import SIGNATURE

SUMMED = (
    (seconds_metric, "real_time_seconds", "real time"),
    (seconds_metric, "cpu_seconds", "CPU time"),
    (seconds_metric, "user_cpu_seconds", "user CPU time"),
    (seconds_metric, "system_cpu_seconds", "system CPU time"),
    (bytes_metric, "memory_bytes", "memory"),
    (bytes_metric, "os_memory_bytes", "peak resident size"),
)
KNOWN_SUMS: tuple[Metric, ...] = (
    *(
        metric(f"time.known.{name}", f"Sum of {what} over the jobs that count and have it.", COUNTED)
        for metric, name, what in SUMMED
    ),
    *(
        count_metric(f"time.known.jobs.{name.rpartition('_')[0]}", f"Jobs that count and have {what}.")
        for _, name, what in SUMMED
    ),
)

PERIODS: tuple[Metric, ...] = (
    object_metric("time.observed", "The part of an import that figures over time are of.", IMPORTED_TIMES),
    text_metric("time.observed.started_at", "Start of that part.", IMPORTED_TIMES),
    text_metric("time.observed.ended_at", "End of that part.", IMPORTED_TIMES),
    seconds_metric("time.observed.length_seconds", "Its length.", IMPORTED_TIMES),
    Metric(
        "time.periods",
        "-",
        "list",
        "Of an import that is not one run its periods, at least imported.least_gap_seconds apart.",
        IMPORTED_TIMES,
    ),
    text_metric(
        "time.periods.*.started_at", "First start of a job in a period of an import.", IMPORTED_TIMES
    ),
    seconds_metric("time.periods.*.length_seconds", "First start to last end in it.", IMPORTED_TIMES),
    count_metric("time.periods.*.jobs", "Jobs that started in it.", IMPORTED_TIMES),
    count_metric("time.periods.*.peak_concurrent", "Most jobs that ran at once in it.", AT_ONCE),
    seconds_metric(
        "time.periods.*.real_time_seconds", "Sum over its jobs that count and have a real time.", REAL
    ),
    seconds_metric("time.periods.*.recorded_seconds", "Time of it that recordings cover.", IMPORTED_TIMES),
    ratio_metric("time.periods.*.cpu_busy_ratio", "host.cpu_busy_ratio over what is recorded of it.", HOST),
    ratio_metric("time.periods.*.cpu_iowait_ratio", "host.cpu_iowait_ratio over the same.", HOST),
    rate_metric("time.periods.*.device_read_bytes_per_second", "Read at devices over the same.", THROUGHPUT),
    rate_metric(
        "time.periods.*.device_write_bytes_per_second", "Written at devices over the same.", THROUGHPUT
    ),
)

JOB_METRICS: tuple[Metric, ...] = (
    count_metric(
        "recorded.jobs", "Rows of jobs; for a killed run's planned job without one a reader adds it.", TABLES
    ),
    count_metric("recorded.steps", "Rows of steps.", TABLES),
    count_metric("recorded.samples", "Rows of samples: one per node, second and series.", TABLES),
    count_metric("recorded.events", "Rows of events.", TABLES),
    count_metric("jobs.total", "Jobs with a record, however they ended."),
    count_metric("jobs.finished", "Jobs that ended well."),
    count_metric("jobs.failed", "Jobs that failed, a wrong answer and a time limit included."),
    count_metric("jobs.timed_out", "Those of the failed that ran into their time limit."),
    count_metric("jobs.stopped", "Jobs that were stopped with the run."),
    count_metric("jobs.lost", "Jobs that had started but left no account of their end."),
    count_metric("jobs.not_started", "Jobs that never got a process."),
    count_metric("jobs.unverified", "Finished jobs whose answer was not shown to be right."),
    count_metric("jobs.counted", "Jobs whose figures are summed: finished, no answer known to be wrong."),
    count_metric("jobs.left_out.wrong_answer", "Jobs not counted because their answer was wrong."),
    count_metric("jobs.left_out.failed", "Jobs not counted because they failed in any other way."),
    count_metric("jobs.left_out.timed_out", "Jobs not counted because they ran into their time limit."),
    count_metric("jobs.left_out.stopped", "Jobs not counted because they were stopped with the run."),
    count_metric("jobs.left_out.lost", "Jobs not counted because they left no account of their end."),
    count_metric("jobs.left_out.not_started", "Jobs not counted because they never got a process."),
    count_metric("jobs.planned_peak_concurrent", "Most jobs that the plan runs side by side.", PLAN),
    count_metric(
        "jobs.peak_concurrent", "Most jobs that ran at once, those without an end included.", AT_ONCE
    ),
    seconds_metric("jobs.seconds_near_peak", "Time with at least 90 % of the observed peak.", AT_ONCE),
    ratio_metric(
        "jobs.mean_concurrent",
        "Sum of all jobs' times from start to end, verify included, over the elapsed time; a job that left "
        "no end runs until the last thing the run recorded.",
        AT_ONCE,
    ),
    seconds_metric(
        "time.elapsed_seconds", "First start of a job to last end (or record, without one).", PHASES
    ),
    seconds_metric("time.active_seconds", "Elapsed time before the tail; null where the tail is.", PHASES),
    seconds_metric(
        "time.tail_seconds",
        "Elapsed time after fewer than max(3, 10 % of the sessions) jobs, or only trail_out jobs, ran; "
        "0 with fewer than four sessions, null where a run that did not go through had jobs yet to start.",
        PHASES,
    ),
    seconds_metric(
        "time.startup_seconds",
        "Wall time from taking the roles and starting the launcher until the gate opened.",
        PHASES,
    ),
    seconds_metric(
        "time.real_time_seconds", "Sum of the jobs' real time: the papers' workload response time.", REAL
    ),
    seconds_metric(
        "time.cpu_seconds",
        "Sum of the jobs' CPU time, user and system, also where only both are known.",
        COUNTED,
    ),
    seconds_metric("time.user_cpu_seconds", "Sum of the jobs' user CPU time.", COUNTED),
    seconds_metric("time.system_cpu_seconds", "Sum of the jobs' system CPU time.", COUNTED),
    seconds_metric(
        "time.adjusted_cpu_seconds",
        "CPU time without AIX's scaled accounting, as {low, high}: a range, since the share of a core that a "
        "thread uses is one; AIX sources only, null for others.",
        ADJUSTED,
    ),
    bytes_metric("time.memory_bytes", "Sum of the jobs' memory.", MEMORY),
    bytes_metric("time.os_memory_bytes", "Sum of the jobs' peak resident sizes.", MEMORY),
    *KNOWN_SUMS,
    *PERIODS,
    ratio_metric("cpu_real_ratio.of_sums", "Summed CPU time over summed real time.", RATIO),
    ratio_metric("cpu_real_ratio.known.of_sums", "The same over the jobs that count and have both.", RATIO),
    count_metric("cpu_real_ratio.known.jobs", "How many jobs these are.", RATIO),
    ratio_metric("cpu_real_ratio.mean", "Mean of the jobs' own ratios.", RATIO),
    ratio_metric("cpu_real_ratio.stddev", "Sample standard deviation of the jobs' own ratios.", RATIO),
    ratio_metric("cpu_real_ratio.range", "Largest less smallest of the jobs' own ratios.", RATIO),
    ratio_metric(
        "cpu_real_ratio.without_run_queue",
        "Summed CPU time over summed real time less the time that jobs waited for a CPU.",
        RATIO,
    ),
    count_metric("programs.*.jobs", "Jobs of the program."),
    count_metric("programs.*.counted", "Those of them whose figures are summed."),
    seconds_metric("programs.*.real_time_seconds.median", "Median real time of a job that counts.", REAL),
    seconds_metric("programs.*.real_time_seconds.min", "Shortest real time of a job that counts.", REAL),
    seconds_metric("programs.*.real_time_seconds.max", "Longest real time of a job that counts.", REAL),
    seconds_metric("programs.*.real_time_seconds.sum", "Sum of the jobs' real time.", COUNTED),
    seconds_metric("programs.*.cpu_seconds", "Sum of the jobs' user and system CPU time.", COUNTED),
    seconds_metric("programs.*.user_cpu_seconds", "Sum of the jobs' user CPU time.", COUNTED),
    seconds_metric("programs.*.system_cpu_seconds", "Sum of the jobs' system CPU time.", COUNTED),
    bytes_metric("programs.*.application_read_bytes", "Sum of the jobs' application bytes read."),
    bytes_metric("programs.*.application_written_bytes", "Sum of the jobs' application bytes written."),
    bytes_metric("programs.*.memory_bytes", "Largest memory of a job that counts.", MEMORY),
    ratio_metric("programs.*.slowdown", "Median of a job's real time in the mix over alone.", SLOWDOWN),
    *(
        seconds_metric(f"programs.*.wait.{field}", f"Sum over the jobs that count: {what}.", WAITS)
        for field, what in (
            ("on_cpu_seconds", "time on a processor"),
            ("run_queue_seconds", "time waiting for one"),
            *((f"blocked_{role}_seconds", f"time blocked in I/O of {role}") for role in ROLES),
            ("blocked_other_seconds", "time blocked elsewhere"),
        )
    ),
    *(
        seconds_metric(f"cpu_account.{name}.{mode}cpu_seconds", f"{title} CPU time of {what}.", CPU_ACCOUNT)
        for name, what in (
            ("jobs", "all jobs' own work, however they ended"),
            ("startup", "starting the jobs' processes"),
            ("verify", "checking answers"),
            ("launcher", "the launcher, imports included"),
            ("total", "all jobs' process trees and the launcher, null where one left no account"),
        )
        for mode, title in (("user_", "User"), ("system_", "System"), ("", "User and system"))
    ),
    object_metric("outside_cpu", "The total of cpu_account by an account that is not mawl's.", CPU_ACCOUNT),
    text_metric("outside_cpu.source", "Whose account it is."),
    seconds_metric("outside_cpu.cpu_seconds", "User and system CPU time by that account.", FACTS),
    seconds_metric("outside_cpu.user_cpu_seconds", "User CPU time by that account.", FACTS),
    seconds_metric("outside_cpu.system_cpu_seconds", "System CPU time by that account.", FACTS),
    seconds_metric(
        "overhead.cpu_seconds",
        "CPU time of mawl itself: the runner with its collectors, and the launcher (cpu_account.launcher).",
        CPU_ACCOUNT,
    ),
    seconds_metric(
        "overhead.startup_cpu_seconds", "The part of it before the first job could start.", CPU_ACCOUNT
    ),
    bytes_metric(
        "overhead.peak_memory_bytes",
        "Peak resident size of the runner plus that of the launcher.",
        CPU_ACCOUNT,
    ),
)

WINDOW_METRICS: tuple[Metric, ...] = (
    seconds_metric(
        "windows.*.start_seconds",
        "Start of the window, from the first start of a job, or of time.observed.",
        WINDOWS,
    ),
    seconds_metric("windows.*.length_seconds", "Its length.", WINDOWS),
    text_metric("windows.*.phase", "active or tail.", WINDOWS),
    *(
        ratio_metric(f"windows.*.{name}", definition, WINDOWS)
        for name, definition in (
            ("jobs_running", "Mean number of jobs with a process."),
            ("jobs_on_cpu", "Mean number of jobs on a CPU."),
            ("jobs_in_run_queue", "Mean number of jobs that waited for a CPU."),
            *(
                (f"jobs_blocked.{place}", f"Mean number of jobs blocked {where}.")
                for place, where in (
                    ("data", "in I/O of data"),
                    ("work", "in I/O of work"),
                    ("util", "in I/O of util"),
                    ("other", "elsewhere"),
                )
            ),
            ("reach.read_ratio", "Device over application bytes read in the window."),
            ("reach.write_ratio", "Device over application bytes written in the window."),
            ("cpu_busy_ratio", "Share of the processors' time that was busy, as in host.cpu_busy_ratio."),
            *(
                (f"pressure.{name}_ratio", f"Share of the time in which {what}.")
                for name, what in (
                    ("cpu_some", "some task waited for a processor"),
                    ("io_some", "some task waited for I/O"),
                    ("io_full", "all tasks that were not idle waited for I/O"),
                    ("memory_some", "some task waited for memory"),
                    ("memory_full", "all tasks that were not idle waited for memory"),
                )
            ),
        )
    ),
    *(
        seconds_metric(
            f"windows.*.latency.{role}.{direction}_seconds",
            f"Mean time inside a {direction} call on {role} in the window.",
            WINDOWS,
        )
        for role in ("data", "work", "util")
        for direction in ("read", "write")
    ),
    *(
        rate_metric(
            f"windows.*.{side}_{direction}_bytes_per_second",
            f"Bytes {verb} per second in the window, {where}.",
            WINDOWS,
        )
        for side, where in (("application", "as programs asked for"), ("device", "at the device"))
        for direction, verb in (("read", "read"), ("write", "written"))
    ),
)

SIGNATURE_METRICS: tuple[Metric, ...] = (
    *(
        Metric(f"signature.{row.name}", row.unit, "object", row.definition, SIGNATURE_PAGE)
        for row in SIGNATURE
    ),
    Metric("signature.*.value", "-", "float", "The row's figure, in the row's unit.", SIGNATURE_PAGE),
    Metric("signature.*.low", "-", "float", "Lower end of the published range.", SIGNATURE_PAGE),
    Metric("signature.*.high", "-", "float", "Upper end of the published range.", SIGNATURE_PAGE),
    flag_metric("signature.*.inside", "Whether the value is in the range.", SIGNATURE_PAGE),
    flag_metric("signature.*.meaningful", "Whether the value may be held against the range.", SIGNATURE_PAGE),
    text_metric("signature.*.reason", "Why there is no value, or why it is not meaningful.", SIGNATURE_PAGE),
    text_metric("signature.*.source", "Where the range comes from.", SIGNATURE_PAGE),
)

LATER_METRICS: tuple[Metric, ...] = (
    object_metric("host", "CPU, memory, devices and network of the nodes.", HOST),
)
