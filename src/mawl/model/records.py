"""What a run folder holds: one record per job, step and event."""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.model.role_io import IoByRole, VolumeBytes, Waits
from mawl.model.step_notes import StepNotes
from mawl.model.usage import Usage
from mawl.spec.answer import RunOutcome as RunOutcome

ProgramClass = Literal["compute", "memory", "io", "unknown"]
StepKind = Literal["startup", "data", "procedure", "verify", "view", "nested"]
JobOutcome = Literal["finished", "failed", "timed_out", "stopped", "lost", "not_started"]
Answer = dict[str, float | int | str]


class StepRecord(msgspec.Struct, frozen=True, kw_only=True, tag="step", gc=False):
    """One measured part of a job.

    ``data`` and ``procedure`` steps (as in SAS) make up the job; ``startup`` (fork or imports) and
    ``verify`` (checking the answer) are recorded but left out of the job's own figures.
    A ``view`` (imported SAS logs) is read by the step after it, and a ``nested`` step was run by it; that
    step has their time, too, so both are left out, as well.  ``io`` is None where I/O by role was not
    measured; the times of an imported step are None where its log has no timestamps.  ``direct_*_bytes``
    are those of the program's requests that passed by the page cache (O_DIRECT); None where nobody counts
    them: commands, and runs of formats before 1.2.
    ``notes`` is what notes of a SAS log tell of the step's tables; None for steps that have no such log.
    """

    job: str
    number: int
    name: str
    kind: StepKind
    started_at: float | None
    ended_at: float | None
    usage: Usage
    rows_read: int | None = None
    rows_written: int | None = None
    direct_read_bytes: int | None = None
    direct_written_bytes: int | None = None
    variables_written: int | None = None
    io: IoByRole | None = None
    waits: Waits = Waits()
    notes: StepNotes | None = None


class JobRecord(msgspec.Struct, frozen=True, kw_only=True, tag="job"):
    """One execution of a program by one process tree.

    ``usage`` is the job's own (``total`` less ``startup`` and ``verify``); ``total`` is what an
    outside account of the process tree sees.  ``real_time_seconds`` of ``usage`` runs from the
    release of the job (after the gate) to its end, less ``verify``.
    ``io`` (by role) and ``waits`` are the job's own, too; ``counted_*_bytes`` are all that its calls
    moved by the same counters, whether or not to files: over the kernel's ``application_*`` bytes
    they are the coverage.  ``io_remark`` says what the counters could not see.  ``direct_*_bytes`` are
    the sums of the steps, ``verify`` left out.  ``volume_bytes`` are its bytes of ``io``
    by volume, numbered as ``RunFacts.volumes``; None where they were not told apart.
    ``submitted_at`` and ``queue_seconds`` of an imported job come from the history of its scheduler
    (docs/design/queue-time.md).
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
    private_memory_bytes: int | None = None
    """Peak of memory that the job shared with no other process, ``verify`` included."""
    direct_read_bytes: int | None = None
    direct_written_bytes: int | None = None
    volume_bytes: VolumeBytes | None = None
    submitted_at: float | None = None
    queue_seconds: float | None = None


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
