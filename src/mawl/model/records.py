"""What a run folder holds: one record per job, step and event."""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.model.role_io import IoByRole, Waits
from mawl.model.usage import Usage

ProgramClass = Literal["compute", "memory", "io"]
StepKind = Literal["startup", "data", "procedure", "verify"]
JobOutcome = Literal["finished", "failed", "timed_out", "stopped", "lost", "not_started"]
RunOutcome = Literal["running", "completed", "failed", "aborted", "interrupted"]
Answer = dict[str, float | int | str]


class StepRecord(msgspec.Struct, frozen=True, kw_only=True, tag="step"):
    """One measured part of a job.

    ``data`` and ``procedure`` steps (as in SAS) make up the job; ``startup`` (fork or imports) and
    ``verify`` (checking the answer) are recorded but left out of the job's own figures.
    ``io`` is None where I/O by role was not measured.
    """

    job: str
    number: int
    name: str
    kind: StepKind
    started_at: float
    ended_at: float
    usage: Usage
    rows_read: int | None = None
    rows_written: int | None = None
    io: IoByRole | None = None
    waits: Waits = Waits()


class JobRecord(msgspec.Struct, frozen=True, kw_only=True, tag="job"):
    """One execution of a program by one process tree.

    ``usage`` is the job's own (``total`` less ``startup`` and ``verify``); ``total`` is what an
    outside account of the process tree sees.  ``real_time_seconds`` of ``usage`` runs from the
    release of the job (after the gate) to its end, less ``verify``.
    ``io`` (by role) and ``waits`` are the job's own, too; ``counted_*_bytes`` are all that its calls
    moved by the same counters, whether or not to files: over the kernel's ``application_*`` bytes
    they are the coverage.  ``io_remark`` says what the counters could not see.
    Points in time are seconds since the epoch here and ISO 8601 (UTC) in files.
    """

    job: str
    program: str
    program_class: ProgramClass
    session: str
    stage: int
    node: str
    replica: int
    gate: str | None
    trail_out: bool
    outcome: JobOutcome
    verified: bool | None
    reason: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    ready_at: float | None = None
    started_at: float | None = None
    ended_at: float | None = None
    usage: Usage
    startup: Usage
    verify: Usage
    total: Usage
    steps: int
    leftover_processes: int = 0
    answer: Answer = {}
    io: IoByRole | None = None
    waits: Waits = Waits()
    counted_read_bytes: int | None = None
    counted_written_bytes: int | None = None
    io_remark: str | None = None


class EventRecord(msgspec.Struct, frozen=True, kw_only=True, tag="event"):
    """Something that happened to the run as a whole, or to one job before it had a record."""

    happened_at: float
    event: Literal[
        "run_started",
        "launcher_ready",
        "gate_released",
        "job_started",
        "job_failed",
        "job_ended",
        "stop_requested",
        "kill_requested",
        "abort",
        "launcher_lost",
        "run_ended",
    ]
    job: str | None = None
    detail: str | None = None


class SampleRecord(msgspec.Struct, frozen=True, kw_only=True, tag="sample"):
    """One figure of one node in one second; ``series`` is a name of the metric registry."""

    node: str
    sampled_at: float
    series: str
    value: float
