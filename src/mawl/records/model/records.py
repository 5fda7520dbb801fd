"""The records of a run folder (jobs, steps, events, samples), what each used, and where its time went.

``Usage`` has the fields of the UNIX list of SAS FULLSTIMER, read from ``getrusage``/``wait4`` (times,
faults, switches, blocks) and ``/proc/PID/io`` (bytes).  ``None`` means not measured, never zero.
Waits are those of the first thread of a job's first process; while it sleeps outside I/O, they are those of
the other threads and processes of the job (docs/design/waits.md).  ``StepNotes``: docs/design/sas-log.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

import msgspec

from mawl.records.definitions import MEMORY, PROC_IO, REAL, RUSAGE, blocks, count, seconds, size
from mawl.records.model.role_io import FILE_ROLES, FileRole, IoByRole, VolumeBytes, Waits
from mawl.records.spec.task import RunOutcome as RunOutcome

SUMMED = "in samples cumulative, the sum over all jobs so far, start-up and verify included."


class Usage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one step or job used; charged less cancelled bytes are *dirtied*."""

    real_time_seconds: Annotated[
        float | None,
        seconds(
            "Wall time of a step from its start to its end; of a job from its release to the end of its "
            "main process, less the time of its verify steps.",
            REAL,
        ),
    ] = None
    user_cpu_seconds: Annotated[
        float | None, seconds("CPU time in user mode of the whole process tree.", RUSAGE)
    ] = None
    system_cpu_seconds: Annotated[
        float | None, seconds("CPU time in the kernel of the whole process tree.", RUSAGE)
    ] = None
    memory_bytes: Annotated[
        int | None, size("Peak resident size less the resident size when the process was ready.", MEMORY)
    ] = None
    os_memory_bytes: Annotated[
        int | None,
        size(
            "Peak resident size of one process; of a job the largest of its steps other than verify; of "
            "a command without what mawl held before exec, and null where that hides the command's own.",
            f"{MEMORY}; {RUSAGE}",
        ),
    ] = None
    page_faults: Annotated[int | None, count("Page faults that needed I/O (major).", RUSAGE)] = None
    page_reclaims: Annotated[int | None, count("Page faults served without I/O (minor).", RUSAGE)] = None
    page_swaps: Annotated[
        int | None,
        count("Times the process was swapped out: null, since Linux does not count it (ru_nswap).", RUSAGE),
    ] = None
    voluntary_context_switches: Annotated[
        int | None, count("Times the process gave up the CPU to wait.", RUSAGE)
    ] = None
    involuntary_context_switches: Annotated[
        int | None, count("Times the scheduler took the CPU away.", RUSAGE)
    ] = None
    block_input_operations: Annotated[
        int | None,
        blocks("Reads from block devices, in 512-byte units: follows own_read_bytes.", RUSAGE),
    ] = None
    block_output_operations: Annotated[
        int | None,
        blocks(
            "Pages that became dirty, in 512-byte units: follows charged_written_bytes, cancelled or not.",
            RUSAGE,
        ),
    ] = None
    application_read_bytes: Annotated[
        int | None, size(f"Bytes that read calls returned, cache hits included (rchar); {SUMMED}", PROC_IO)
    ] = None
    application_written_bytes: Annotated[
        int | None, size(f"Bytes that write calls took (wchar); {SUMMED}", PROC_IO)
    ] = None
    read_calls: Annotated[int | None, count("Read calls (syscr).", PROC_IO)] = None
    write_calls: Annotated[int | None, count("Write calls (syscw).", PROC_IO)] = None
    own_read_bytes: Annotated[
        int | None, size(f"Bytes that block devices were asked for (read_bytes); {SUMMED}", PROC_IO)
    ] = None
    charged_written_bytes: Annotated[
        int | None,
        size(
            f"Bytes of pages that became dirty in memory (write_bytes), cancelled or not; {SUMMED}", PROC_IO
        ),
    ] = None
    cancelled_written_bytes: Annotated[
        int | None,
        size(
            "Charged bytes that were never written, since the file was removed or cut short first "
            "(cancelled_write_bytes); charged less cancelled is dirtied.",
            PROC_IO,
        ),
    ] = None
    unsplit_cpu_seconds: Annotated[
        float | None,
        seconds(
            "User and system CPU time where only their sum is known: SAS logs with STIMER, imported.",
            "docs/design/importers.md, CPU time of STIMER",
        ),
    ] = None

    @property
    def cpu_seconds(self) -> float | None:
        """User plus system CPU seconds, their sum where only that is known, or None."""
        if self.user_cpu_seconds is None or self.system_cpu_seconds is None:
            return self.unsplit_cpu_seconds
        return self.user_cpu_seconds + self.system_cpu_seconds

    @property
    def shared_memory_bytes(self) -> int | None:
        """What a job shares with the process that it was started from; None: not known."""
        if self.os_memory_bytes is not None and self.memory_bytes is not None:
            return self.os_memory_bytes - self.memory_bytes
        return None


FIELDS: tuple[str, ...] = Usage.__struct_fields__
PEAKS = frozenset({"memory_bytes", "os_memory_bytes"})
"""Fields of which a sum is the maximum: they are peaks of one process's memory."""


def total(usages: Iterable[Usage]) -> Usage:
    """Add usages field by field (peaks: the maximum); a field missing in all of them stays None."""
    columns: dict[str, list[float]] = {name: [] for name in FIELDS}
    for usage in usages:
        for name in FIELDS:
            value = getattr(usage, name)
            if value is not None:
                columns[name].append(value)
    return Usage(
        **{
            name: (max(values) if name in PEAKS else sum(values)) if values else None
            for name, values in columns.items()
        }  # type: ignore[arg-type]
    )


def difference(whole: Usage, *parts: Usage) -> Usage:
    """``whole`` less ``parts``, for the fields that add up; peaks stay those of ``whole``.

    Never below zero: clocks of different calls may disagree by a tick.
    """
    taken = total(parts)

    def less(name: str) -> float | None:
        value = getattr(whole, name)
        if value is None or name in PEAKS:
            return value  # type: ignore[no-any-return]
        part = getattr(taken, name)
        return value if part is None else max(value - part, type(value)(0))  # type: ignore[no-any-return]

    return Usage(**{name: less(name) for name in FIELDS})  # type: ignore[arg-type]


SortNote = Literal["threaded", "single", "host", "sorted", "source"]
"""How a sort went: by SAS's threaded or single-threaded sort, by a sort of the host, not at all because the
rows were in order already, or in the database that holds the table."""

Count = Annotated[int, msgspec.Meta(ge=0, lt=10**18)]
"""What a log can count: SAS writes at most 18 digits here."""

MOST_TABLES = 100
"""Tables of one step that are kept; of more only their number."""


class TableNote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A table or a file that a step read or wrote, as far as a note tells.

    ``name`` is the table's as the log has it (``WORK.SALES``, or one word, which is a table of WORK); None
    where it cannot be read, and for external files, whose names can be paths.  ``longest_record_bytes`` and
    ``file_bytes`` are of external files.  In mawl's own logs ``file_bytes`` is also what a command moved in a
    role; ``name`` is then ``ROLE.PROGRAM``.  ``pages`` is told of compressed tables only, and counts pages of
    the table's own page size, which no log tells.  A ``remote`` table lies in a database or another session:
    the log tells the engine of its libref.  ``filtered``: ``rows`` are those that a WHERE let pass.
    A ``view`` has no rows of its own: the tables below it are notes of the same step.
    ``table_rows`` are those of the whole table, where ``rows`` were added to it.
    """

    direction: Literal["read", "written"]
    name: str | None = None
    external: bool = False
    remote: bool = False
    filtered: bool = False
    view: bool = False
    rows: Count | None = None
    table_rows: Count | None = None
    variables: Count | None = None
    shortest_record_bytes: Count | None = None
    longest_record_bytes: Count | None = None
    file_bytes: Count | None = None
    pages: Count | None = None
    uncompressed_pages: Count | None = None


class TableRemoval(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A table that a step deleted; with ``renamed_to`` it goes on under another name."""

    name: str
    renamed_to: str | None = None


MOST_REMOVALS = 1000


class StepNotes(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The notes above the performance note of a step, in their order.

    ``tables_left_out`` counts those beyond ``MOST_TABLES``.  ``indexes_used`` are those that answered a
    WHERE clause or a join (MSGLEVEL=I), ``indexes_made`` those that the step built.  ``removed`` are the
    first ``MOST_REMOVALS`` tables that the step deleted or renamed, in their order.
    """

    tables: tuple[TableNote, ...] = ()
    tables_left_out: Count = 0
    sort: SortNote | None = None
    indexes_made: Count = 0
    indexes_used: Count = 0
    removed: tuple[TableRemoval, ...] = ()
    removed_left_out: Count = 0


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


ERROR_IN_LOG = "the log has an ERROR"
"""How the reason of an imported job begins that ran to its end with errors."""


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


STATES: tuple[str, ...] = ("on_cpu", "run_queue", *FILE_ROLES)
"""On a CPU, waiting for one, inside I/O of a role's files; what is left is sleep elsewhere."""

Spent = Mapping[str, float]
"""Seconds by ``STATES``."""

BOUNDED: dict[str, tuple[str, ...]] = {"run_queue": ("run_queue",), "io": ("data", "work", "util")}
"""States that a verdict weighs, for which helpers at work side by side leave only bounds."""

CLOCKS_RATIO = 0.01
"""The clocks of a thread may run ahead of real time by this share; more is a fault of the sources."""

TICK_SECONDS = 0.01
"""CPU time that a process's own reading of its clocks takes at most."""


def spent(on_cpu: float, run_queue: float, waited: Mapping[FileRole, float]) -> dict[str, float]:
    """The seconds of one thread, or of all threads of a tree together."""
    return {"on_cpu": on_cpu, "run_queue": run_queue, **{role: waited.get(role, 0.0) for role in FILE_ROLES}}


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """Sums of a job so far: of its first thread, and of all its threads.  ``at`` is monotonic seconds;
    ``helpers`` is how many other threads ran since the look before.  While the first thread sleeps for a time
    that it chose, whether it waits for the others is not known."""

    at: float
    first: Spent
    tree: Spent
    helpers: int = 1
    first_sleeps_on_timer: bool = False


class FollowedInterval(msgspec.Struct, frozen=True, kw_only=True):
    """An interval of a job: what its first thread did, and what others did while it slept.

    ``bounds`` are the least and the most that ``joined`` can hold of each of ``BOUNDED``.
    """

    first: Spent
    joined: Spent
    bounds: dict[str, tuple[float, float]]


def share_of(
    real_seconds: float, first: Spent, tree: Spent, helpers: int = 1, *, waits_for_others: bool = True
) -> FollowedInterval:
    """Ask the others for the time that the first thread slept, in proportion, and for no more of it.

    Where it is not sure that it waited for them, the least is nothing.
    """
    asleep = max(real_seconds - sum(first.values()), 0.0)
    others = _gained(first, tree)
    busy = sum(others.values())
    part = min(asleep / busy, 1.0) if busy > 0.0 else 0.0
    bounds = {}
    for name, states in BOUNDED.items():
        here = sum([others[state] for state in states])
        least = _least(here, busy - here, asleep, helpers) if waits_for_others else 0.0
        bounds[name] = (least, min(here, asleep))
    return FollowedInterval(
        first=first, joined={state: value * part for state, value in others.items()}, bounds=bounds
    )


def _least(here: float, elsewhere: float, asleep: float, helpers: int) -> float:
    """The least time in which all helpers that were not asleep were in a state (as PSI's "full").

    One helper does one thing at a time.  Of several the one that was longest in the state was there for
    the mean at least, and all others may have done something else meanwhile.
    """
    if helpers <= 1:
        return max(min(asleep, here + elsewhere) - elsewhere, 0.0)
    return max(
        min(asleep, here / helpers) - elsewhere, min(here, helpers * asleep) - (helpers - 1) * asleep, 0.0
    )


def between(before: Look, after: Look) -> FollowedInterval:
    """What a job did between two looks."""
    first, tree = _gained(before.first, after.first), _gained(before.tree, after.tree)
    sure = not after.first_sleeps_on_timer
    return share_of(after.at - before.at, first, tree, after.helpers, waits_for_others=sure)


def _gained(less: Spent, more: Spent) -> Spent:
    return {state: gained if (gained := now - less[state]) > 0.0 else 0.0 for state, now in more.items()}


def waits_without_io(first: tuple[float, float] | None, cpu: float | None, run_delay: float | None) -> Waits:
    """Where calls were not counted: on CPU and run queue of a job whose first thread did all of the work.

    Of several threads at work nothing is said: whether the first slept in I/O is not known.
    """
    if first is None or cpu is None or run_delay is None:
        return Waits()
    if cpu + run_delay > (1.0 + CLOCKS_RATIO) * sum(first) + TICK_SECONDS:
        return Waits()
    return Waits(on_cpu_seconds=first[0], run_queue_seconds=first[1])


def waits_of(real_seconds: float | None, first: Spent | None, tree: Spent | None) -> Waits:
    """The time of a job or step by state; it adds up to ``real_seconds``.

    All are None where a part is not known, or where the thread's clocks ran ahead of real time by more
    than ``CLOCKS_RATIO``.
    """
    if real_seconds is None or real_seconds <= 0.0 or first is None or tree is None:
        return Waits()
    ahead = sum(first.values()) / real_seconds
    if ahead > 1.0 + CLOCKS_RATIO:
        return Waits()
    if ahead > 1.0:
        first = {state: value / ahead for state, value in first.items()}
    share = share_of(real_seconds, first, tree)
    states = {state: share.first[state] + share.joined[state] for state in STATES}
    known = sum(states[state] for state in STATES if state != "other")
    return Waits(
        on_cpu_seconds=states["on_cpu"],
        run_queue_seconds=states["run_queue"],
        blocked_data_seconds=states["data"],
        blocked_work_seconds=states["work"],
        blocked_util_seconds=states["util"],
        blocked_other_seconds=max(real_seconds - known, 0.0),
    )
