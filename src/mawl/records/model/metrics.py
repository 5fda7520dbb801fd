"""The registry of metrics: every figure that a run folder or a summary holds, defined once.

Figures of jobs and steps have the names of their columns.  Names with a dot are paths in the JSON summary,
whose types define them (``records.model.summary``); ``*`` stands for any program, node or job.
docs/reference/metrics.md is printed from here; a source that is a page of docs/ names the heading there.
"""

from __future__ import annotations

from mawl.records.definitions import (
    SAMPLES,
    SIGNATURE_PAGE,
    VOLUME_PAGE,
    VOLUME_SPACE,
    WAITS,
    Metric,
    bytes_metric,
    count_metric,
    object_metric,
    seconds_metric,
    text_metric,
)
from mawl.records.model.fields import metrics_of
from mawl.records.model.records import Usage
from mawl.records.model.role_io import FILE_ROLES
from mawl.records.model.signature import SIGNATURE
from mawl.records.model.summary.io import CALLS, COVERAGE, DIRECT, LATENCY, SEQUENTIAL, UNCACHED
from mawl.records.model.summary.programs import QUEUE_PAGE
from mawl.records.model.summary.summary import Summary

_ONE = "of jobs and steps, ROLE is data, work, util or other (files under none of them)"

ROLE_COLUMNS: tuple[Metric, ...] = (
    *(
        count_metric(f"ROLE_{name}", f"{words}; {_ONE}.", CALLS)
        for name, words in (
            ("reads", "Read calls, failed ones included"),
            ("writes", "Write calls, failed ones included"),
            ("syncs", "Calls of fsync, fdatasync, sync_file_range and syncfs"),
            ("opens", "Files opened"),
            ("failed_reads", "Read calls that ended with an error"),
            ("failed_writes", "Write calls that ended with an error"),
        )
    ),
    *(
        bytes_metric(f"ROLE_{name}", f"{words}; {_ONE}.", source)
        for name, words, source in (
            ("read_bytes", "Bytes that read calls returned", CALLS),
            ("written_bytes", "Bytes that write calls took", CALLS),
            ("sequential_read_bytes", "Bytes of reads that continue a stream of their file", SEQUENTIAL),
            ("sequential_written_bytes", "Bytes of writes that continue a stream of their file", SEQUENTIAL),
            ("mapped_bytes", "Bytes mapped into memory, touched or not", COVERAGE),
            ("submitted_read_bytes", "Bytes asked of asynchronous reads, not in read_bytes", COVERAGE),
            ("submitted_written_bytes", "Bytes given to asynchronous writes, not in written_bytes", COVERAGE),
        )
    ),
    *(
        seconds_metric(f"ROLE_{name}_seconds", f"{words}; {_ONE}.", LATENCY)
        for name, words in (
            ("read", "Time inside read calls"),
            ("write", "Time inside write calls"),
            ("sync", "Time inside syncs"),
            ("open", "Time inside opens, closes and changes of a file's length"),
            ("longest_read", "The longest read call"),
            ("longest_write", "The longest write call"),
        )
    ),
    *(
        seconds_metric(
            f"ROLE_{name}_waited_seconds",
            f"The part of ROLE_{name}_seconds that was neither CPU nor waiting for a CPU.",
            WAITS,
        )
        for name in ("read", "write", "sync", "open")
    ),
    seconds_metric(
        "ROLE_uncaching_seconds",
        f"Time inside reads, writes and closes that --cache none added; {_ONE}.",
        UNCACHED,
    ),
    *(
        object_metric(f"ROLE_{name}_histogram", f"{words}: lower bound of a bucket to calls.", LATENCY)
        for name, words in (
            ("read_nanoseconds", "Latency of read calls"),
            ("write_nanoseconds", "Latency of write calls"),
            ("read_size_bytes", "Bytes of read calls"),
            ("write_size_bytes", "Bytes of write calls"),
        )
    ),
    bytes_metric("counted_read_bytes", "Bytes that all counted calls of a job read, files or not.", COVERAGE),
    bytes_metric(
        "counted_written_bytes", "Bytes that all counted calls of a job wrote, files or not.", COVERAGE
    ),
    text_metric("io_remark", "What of a job's I/O could not be counted.", COVERAGE),
    bytes_metric(
        "private_memory_bytes",
        "Peak of memory that a job shared with no other process, verify included.",
        "peak resident size less Rss and plus Private_Dirty at the end of the job, proc_pid_smaps(5)",
    ),
    bytes_metric("direct_read_bytes", "Bytes that a program's direct requests (O_DIRECT) read.", DIRECT),
    bytes_metric("direct_written_bytes", "Bytes that a program's direct requests (O_DIRECT) wrote.", DIRECT),
    *(
        seconds_metric(f"{name}_seconds", f"{words}: what the thread that its end depends on did.", WAITS)
        for name, words in (
            ("on_cpu", "Time of a job or step on a CPU"),
            ("run_queue", "Time of a job or step waiting for a CPU"),
            *((f"blocked_{role}", f"Time of a job or step blocked in {role}") for role in FILE_ROLES[:-1]),
            ("blocked_other", "Time of a job or step blocked in anything else"),
        )
    ),
)

ROLE_SERIES: tuple[Metric, ...] = (
    *(
        metric
        for role in FILE_ROLES
        for metric in (
            count_metric(f"role.{role}.reads", f"Read calls in {role}; cumulative.", CALLS),
            count_metric(f"role.{role}.writes", f"Write calls in {role}; cumulative.", CALLS),
            bytes_metric(f"role.{role}.read_bytes", f"Bytes read in {role}; cumulative.", CALLS),
            bytes_metric(f"role.{role}.written_bytes", f"Bytes written in {role}; cumulative.", CALLS),
            seconds_metric(
                f"role.{role}.read_seconds", f"Time inside read calls in {role}; cumulative.", LATENCY
            ),
            seconds_metric(
                f"role.{role}.write_seconds", f"Time inside write calls in {role}; cumulative.", LATENCY
            ),
            seconds_metric(f"role.{role}.sync_seconds", f"Time inside syncs in {role}; cumulative.", LATENCY),
            seconds_metric(
                f"role.{role}.waited_seconds",
                f"Time inside calls in {role} that was neither CPU nor waiting for a CPU; cumulative.",
                WAITS,
            ),
        )
    ),
    seconds_metric("jobs.on_cpu_seconds", "CPU time of all threads of all jobs; cumulative.", WAITS),
    seconds_metric(
        "jobs.run_queue_seconds", "Time that all threads of all jobs waited for a CPU; cumulative.", WAITS
    ),
    *(
        seconds_metric(f"jobs.{kind}.{state}_seconds", f"{what} {words}; cumulative.", WAITS)
        for kind, what in (
            ("followed", "Time that the first threads of jobs were"),
            ("joined", "Time that they slept while threads beside them were"),
        )
        for state, words in (
            ("on_cpu", "on a CPU"),
            ("run_queue", "waiting for a CPU"),
            *((role, f"waiting inside I/O calls in {role}") for role in FILE_ROLES),
        )
    ),
    *(
        seconds_metric(
            f"jobs.joined.{name}_{end}_seconds",
            f"The {end} that threads beside can have been {words} while the first ones slept; cumulative.",
            WAITS,
        )
        for name, words in (("run_queue", "waiting for a CPU"), ("io", "waiting in I/O of the roles"))
        for end in ("least", "most")
    ),
)
"""Series of ``samples``; all jobs, start-up and verify included."""


USAGE_METRICS: tuple[Metric, ...] = metrics_of(Usage)

SIGNATURE_ROWS: tuple[Metric, ...] = tuple(
    Metric(f"signature.{row.name}", row.definition, SIGNATURE_PAGE, row.unit, "object") for row in SIGNATURE
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
        "When an imported job was submitted, by the clock of its scheduler.",
        QUEUE_PAGE,
        "time",
        "text",
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
