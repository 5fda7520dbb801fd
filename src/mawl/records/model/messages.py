"""The messages between runner, launcher and job: one JSON line each over pipes.

A line from a job must stay below PIPE_BUF (4096 bytes), since all jobs of a launcher share one
pipe and only such writes are atomic (POSIX write(2)).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.records.model.derived import DerivedJob
from mawl.records.model.records import Answer, StepRecord, Usage
from mawl.records.spec.program_options import Options, Role, VolumeOrder

LaunchMode = Literal["zygote", "spawn", "bare"]
"""How a launcher makes jobs: the two start modes of programs, and commands."""


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """All that a job's process needs to know."""

    run_id: str
    job: str
    program: str
    entry: str | None = None
    """``module:Class`` of a user's program; None for one of the catalogue."""
    derived: DerivedJob | None = None
    """A derived job as its record says, at scale 1; None for every other."""
    core_speed: float | None = None
    """Of this machine's cores, for derived jobs that know their own; None: not measured."""
    scale: float
    seed: int
    replica: int
    options: Options
    inputs: dict[str, str]
    """Table name to the directory of the replica this job reads."""
    results: str
    """The job's own directory under data for what it puts out; the job makes it if it needs it."""
    keeps_results: bool = True
    """Whether this directory stays when the job has ended well."""
    work: list[str]
    """The job's own directory on each volume of the role work; they exist and are empty."""
    util: list[str]
    log: str
    """File for the job's standard output and error."""
    volume_order: VolumeOrder = "rotation"
    """How the next volume is chosen, for each file that the job makes under work and util."""
    turns: dict[Role, int] = {}
    """Where this job begins in each role: its place in the rotation, or in the sequence of points."""
    counters: str | None = None
    """Counter file for I/O by role (mawl.measure.preload); None where it is not measured."""


class Start(msgspec.Struct, frozen=True, kw_only=True, tag="start"):
    """Make a job's process; with a gate it waits, ready, until the gate is released.

    ``command`` is an argument vector for the bare launcher; None for a program of the catalogue.
    It starts in ``directory`` (None: the launcher's), with ``environment`` over the launcher's.
    """

    assignment: Assignment
    gate: str | None = None
    command: list[str] | None = None
    directory: str | None = None
    environment: dict[str, str] = {}


class Release(msgspec.Struct, frozen=True, kw_only=True, tag="release"):
    """Let every job that waits at this gate go, at once."""

    gate: str


class Stop(msgspec.Struct, frozen=True, kw_only=True, tag="stop"):
    """End a job's whole process tree: SIGTERM, and SIGKILL after ``grace_seconds``."""

    job: str
    grace_seconds: float = 2.0


class Hello(msgspec.Struct, frozen=True, kw_only=True, tag="hello"):
    """The launcher is ready.  ``usage`` is its own start-up (imports), no job's."""

    pid: int
    mode: LaunchMode
    usage: Usage


class Forked(msgspec.Struct, frozen=True, kw_only=True, tag="forked"):
    """The job's processes exist; ``pid`` is the root of its tree: the keeper, which reaps all of it."""

    job: str
    pid: int


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag="ready"):
    """The job's process is made and imported; ``startup`` is what that cost."""

    job: str
    at: float
    resident_bytes: int
    startup: Usage


class Started(msgspec.Struct, frozen=True, kw_only=True, tag="started"):
    """The job passed its gate (or had none) and begins its first step.

    ``monotonic`` is the same moment on CLOCK_MONOTONIC, which all processes of a machine share and
    nobody sets: durations come from it, so that a step of the wall clock changes none.
    ``used`` is what the process had used until then, ``run_delay_seconds`` how long its threads had
    waited for a CPU: both are start-up.
    """

    job: str
    at: float
    monotonic: float | None = None
    used: Usage | None = None
    run_delay_seconds: float | None = None


class StepEnded(msgspec.Struct, frozen=True, kw_only=True, tag="step_ended"):
    step: StepRecord


class Answered(msgspec.Struct, frozen=True, kw_only=True, tag="answered"):
    """The program ended and its answer was right."""

    job: str
    answer: Answer
    shared_bytes: int | None = None
    """Of its resident size now: pages shared with other processes, and those that can be read again."""
    arrow_pool: str | None = None
    """The memory pool that Arrow used in the job, as Arrow names it."""


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """The program ended with an error; ``sentence`` says what, where, why and the cure.

    ``wrong_answer`` tells a failed check from every other failure.
    """

    job: str
    sentence: str
    wrong_answer: bool = False


class Reaped(msgspec.Struct, frozen=True, kw_only=True, tag="reaped"):
    """The job's process tree is gone; ``usage`` is the kernel's account of all of it.

    ``os_memory_bytes`` in it is the largest process of the tree, what the launcher's copy held before an exec
    included; ``memory_bytes`` is None.  ``orphan_memory_bytes`` is the largest of the processes that had lost
    their parent (0: there were none).
    ``application_*`` and ``device_*`` come from /proc/self/io of the job's keeper around each reap.
    ``leftover_processes`` outlived the job's main process and were killed; they are in ``usage``.
    ``exit_code`` and ``signal`` are the main process's; with both None its keeper was killed, what
    is known of the end is in a ``Failed`` before it, and ``usage`` may miss figures.
    ``run_delay_seconds`` is what the first threads of the processes that the keeper itself reaped had
    waited for a CPU; what else ran is in the job's counters.  ``first_*`` are of the first thread of the
    job's first process alone.
    """

    job: str
    ended_at: float
    exit_code: int | None
    signal: int | None
    usage: Usage
    leftover_processes: int
    ended_monotonic: float | None = None
    run_delay_seconds: float | None = None
    first_on_cpu_seconds: float | None = None
    first_run_delay_seconds: float | None = None
    orphan_memory_bytes: int = 0


ToLauncher = Start | Release | Stop
FromLauncher = Hello | Forked | Ready | Started | StepEnded | Answered | Failed | Reaped

encode = msgspec.json.Encoder().encode
decode_to_launcher = msgspec.json.Decoder(ToLauncher).decode
decode_from_launcher = msgspec.json.Decoder(FromLauncher).decode


def line(message: ToLauncher | FromLauncher) -> bytes:
    """The message as one JSON line."""
    return encode(message) + b"\n"
