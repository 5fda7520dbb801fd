"""Derived jobs: what a job of a shop did, step by step, in numbers that kernels reproduce.

``mawl derive`` writes them to a file next to the workload file, and ``mawl run`` runs them.  They have
only numbers and plain names: no text of a log, no path, no program.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from mawl.records.definitions import block, count, listing, seconds, share, size, text
from mawl.records.spec.program_options import ROLES, Role

PAGE = "docs/design/derived-jobs.md"

FORMAT: Literal[1] = 1
"""Of the file.  History: 1, the first."""

FILE = "derived.json"
"""Its name in the folder of ``mawl derive`` and in every run folder."""

MOST_BYTES = 10**15
"""Of a step in a role and direction, of a table, of memory: a petabyte."""

MOST_ROWS = 10**13
MOST_REQUESTS = 10**11
MOST_SECONDS = 10**7
"""Of a run's clock, and CPU seconds of a step: 115 days."""

MOST_THREADS = 4096
SLOWEST_CORE, FASTEST_CORE = 0.01, 100.0
MOST_STEPS = 10_000
MOST_JOBS = 100_000

Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}\Z")]
Bytes = Annotated[int, Meta(ge=0, le=MOST_BYTES)]
Requests = Annotated[int, Meta(ge=0, le=MOST_REQUESTS)]
Seconds = Annotated[float, Meta(ge=0, le=MOST_SECONDS)]

Kernel = Literal["scan", "sort", "join", "summarise", "look_up", "write", "dense", "sparse", "hold"]
"""The kind of work that a step does in addition to its input and output."""

KERNELS: dict[Kernel, str] = {
    "scan": "tests conditions over every row and counts what holds",
    "sort": "orders rows by a key",
    "join": "finds rows by key in a hash table",
    "summarise": "adds values up by class",
    "look_up": "reads single rows at random places",
    "write": "makes rows from their numbers",
    "dense": "multiplies dense matrices",
    "sparse": "multiplies sparse matrices and vectors",
    "hold": "fills memory and passes over it",
}
"""Every kernel, and what it computes."""


class RoleLoad(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a step moves in one role."""

    read_bytes: Annotated[Bytes, size("Bytes read.", PAGE)] = 0
    written_bytes: Annotated[Bytes, size("Bytes written.", PAGE)] = 0
    random_reads: Annotated[
        Requests,
        count("Requests at random places that the bytes are read in; 0: in sequence, by bufsize.", PAGE),
    ] = 0
    random_writes: Annotated[Requests, count("The same of the bytes written.", PAGE)] = 0


class DerivedStep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One step of a derived job.

    A step can read from ``work`` and ``util`` only what the job wrote there, in this step or before it,
    and from ``data`` only the tables that it names; the bytes read may be more than there are (several
    passes) or less.
    """

    name: Annotated[Name, text("The step's name; no two steps of a job share one.", PAGE)]
    procedure: Annotated[Name, text("DATA, or the procedure as SAS calls it: SORT, SQL, MEANS.", PAGE)]
    kernel: Annotated[Kernel, text("The kind of work.", PAGE)]
    rows: Annotated[
        Annotated[int, Meta(ge=0, le=MOST_ROWS)] | None,
        count("Rows that the step read, or wrote where it read none.", PAGE, absent="the log tells no rows"),
    ] = None
    cpu_seconds: Annotated[
        Seconds, seconds("CPU time, user and system, of all threads, at the job's core_speed.", PAGE)
    ] = 0.0
    threads: Annotated[
        Annotated[int, Meta(ge=1, le=MOST_THREADS)], count("Threads that computed side by side.", PAGE)
    ] = 1
    memory_bytes: Annotated[
        Bytes,
        size("Peak memory beyond the process when ready, as the line memory of FULLSTIMER.", PAGE),
    ] = 0
    real_seconds: Annotated[
        Seconds | None,
        seconds(
            "Elapsed time in the logs: no target, but what a run is compared with.",
            PAGE,
            absent="the log does not tell it",
        ),
    ] = None
    tables: Annotated[
        tuple[Name, ...],
        listing("Tables of data that it reads: each in proportion to its size.", PAGE),
    ] = ()
    data: Annotated[RoleLoad, block("Permanent tables.", PAGE)] = RoleLoad()
    work: Annotated[RoleLoad, block("Temporary tables of the job.", PAGE)] = RoleLoad()
    util: Annotated[RoleLoad, block("Utility files of sorts and joins.", PAGE)] = RoleLoad()

    def load(self, role: Role) -> RoleLoad:
        loads: dict[Role, RoleLoad] = {"data": self.data, "work": self.work, "util": self.util}
        return loads[role]

    @property
    def moved_bytes(self) -> int:
        return sum(self.load(role).read_bytes + self.load(role).written_bytes for role in ROLES)


class DerivedJob(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One job of a shop.

    It starts when all jobs of ``after`` have ended and the clock of the run is at ``start_seconds``, which is
    0 for a job that followed others, unless it was in a queue before they ended.  Jobs of one ``session`` ran
    one after another: with ``--arrivals closed`` each starts when the one before it in the file ended,
    whatever the clock.
    """

    name: Annotated[Name, text("The job's name; no two jobs of a file share one.", PAGE)]
    steps: Annotated[
        Annotated[tuple[DerivedStep, ...], Meta(min_length=1, max_length=MOST_STEPS)],
        listing("Its steps, in order.", PAGE),
    ]
    session: Annotated[Name, text("The session that it ran in.", PAGE)]
    after: Annotated[tuple[Name, ...], listing("Jobs that must have ended before it starts.", PAGE)] = ()
    start_seconds: Annotated[
        Seconds, seconds("The second of the run's clock before which it does not start.", PAGE)
    ] = 0.0
    end_seconds: Annotated[
        Seconds | None,
        seconds("The second of the clock at which it ended in the logs.", PAGE, absent="the logs tell none"),
    ] = None
    due_seconds: Annotated[
        Seconds | None,
        seconds("The second of the clock by which it must have ended.", PAGE, absent="no window was named"),
    ] = None
    weight: Annotated[
        Annotated[float, Meta(gt=0, le=1e6)],
        share("Jobs of the logs that this one stands for; 1: itself alone.", PAGE),
    ] = 1.0
    scale: Annotated[
        Annotated[float, Meta(gt=0, le=1e6)],
        share("Factor of every figure of the logs and every time of the clock.", PAGE),
    ] = 1.0
    growth: Annotated[
        Annotated[float, Meta(gt=0, le=1e6)],
        share(
            "Factor, in addition to scale, of rows, bytes, CPU seconds, and memory that grows with rows.",
            PAGE,
        ),
    ] = 1.0
    core_speed: Annotated[
        Annotated[float, Meta(ge=SLOWEST_CORE, le=FASTEST_CORE)] | None,
        share(
            "Speed of the core that spent the CPU seconds, where the reference core has 1.",
            PAGE,
            absent="not known: the CPU seconds are reproduced as they are on any core",
        ),
    ] = None


class DerivedTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A permanent table that exists before the run: mawl generates it; jobs that name it share it."""

    name: Annotated[Name, text("The table's name; no two tables of a file share one.", PAGE)]
    size_bytes: Annotated[Bytes, size("Bytes of its rows at scale 1.", PAGE)]


class DerivedWorkload(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file: every table and every job."""

    format: Literal[1] = FORMAT
    tables: tuple[DerivedTable, ...] = ()
    jobs: Annotated[tuple[DerivedJob, ...], Meta(min_length=1, max_length=MOST_JOBS)]
