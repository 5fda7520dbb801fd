"""The interface between the engine and the machine: everything that takes time or touches the machine.

Tests put a fake in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from mawl.records.model.qualification import CacheMode, Fits, QualifyNode
from mawl.records.model.records import RunOutcome
from mawl.records.spec.program_options import Role


class WritableSpace(msgspec.Struct, frozen=True, kw_only=True):
    """A file system under the roles: its kind, and what may still be written there, by so many nodes."""

    roles: list[Role]
    directories: list[str]
    free_bytes: int
    kind: str | None = None
    unwritable: list[str] = []
    nodes: int = 1


class ObservedMachine(msgspec.Struct, frozen=True, kw_only=True):
    """What a look at the machine shows.  ``cores`` are those that jobs may use.

    ``uncached`` is False, with ``uncached_reason``, where ``--cache none`` cannot hold.  Where there are
    ``nodes``, cores and memory are those of the node that has fewest.  ``places`` says what each directory
    lies on, ``made`` which directories the user named that were not there.
    """

    cores: int
    memory_bytes: int
    systems: list[WritableSpace]
    uncached: bool = True
    uncached_reason: str | None = None
    has_fio: bool = True
    notices: list[str] = []
    nodes: list[QualifyNode] = []
    places: list[str] = []
    made: list[str] = []


class Mix(msgspec.Struct, frozen=True, kw_only=True):
    """The forecast of one run: elapsed and active seconds, and W."""

    elapsed_seconds: float
    active_seconds: float
    slowdown: float


class Model(Protocol):
    """What the calibration makes of this machine: forecasts of runs at any scale and number of sessions.

    ``overhead_seconds`` is what a run takes beyond its jobs, ``input_bytes_per_second`` how fast input tables
    are made, ``core_speed`` this core's over that of the reference times.  ``mutual_slowing_ratio`` is the
    CPU seconds of jobs in the mix over those of the same jobs alone; jobs of ``cpu_seconds`` and ``mix`` are
    slowed by it.  The reach is that of the
    calibration, None where it was not measured.  ``others_cpu_ratio`` is the share of all processor time
    that other work used during the calibration, None where it is not known.
    """

    overhead_seconds: float
    input_bytes_per_second: float
    core_speed: float
    mutual_slowing_ratio: float | None
    others_cpu_ratio: float | None
    read_reach_ratio: float | None
    write_reach_ratio: float | None

    def cpu_seconds(self, program: str, scale: float) -> float:
        """Of one job on a core of this machine, without start-up and verification."""

    def mix(self, sessions: int, scale: float) -> Mix:
        """One measured run."""


class RunWish(msgspec.Struct, frozen=True, kw_only=True):
    """One run to make: the mix in so many sessions, or (None) each program alone.

    Where there are several nodes, it is on one of them or on ``all_nodes``.
    """

    sessions: int | None
    scale: float
    cache: CacheMode
    all_nodes: bool = False


class ObservedRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a finished run shows; ``slowdown`` is None where W is not known.

    ``others_cpu_ratio`` is the share of all processor time that other work used, None where not known.
    ``disturbance`` says what other work did, where that was too much, and ``heavy`` the processes that
    used most, in words.
    """

    run_id: str
    outcome: RunOutcome
    reason: str | None
    seconds: float
    elapsed_seconds: float | None
    active_seconds: float | None
    slowdown: float | None
    bad_jobs: int = 0
    others_cpu_ratio: float | None = None
    disturbance: str | None = None
    heavy: list[str] = []


class Work(Protocol):
    """The machine under test, and what is known of it from folders."""

    def look(self) -> ObservedMachine:
        """What the machine is; raises MawlError where mawl cannot work on it."""

    def probe(self, folder: Path, seconds: float, streams: int, finished: Callable[[], None]) -> str:
        """Probe each target for so many seconds in all, as far as its file is not in the folder yet.

        ``streams`` are the requests that the load can have under way.  Calls ``finished`` after each target.
        A sentence on what was found; the whole lies in ``probe.json``.
        """

    def generate(self, wish: RunWish, log: Path) -> None:
        """Make the input tables of a run, as far as they are not there."""

    def run(self, wish: RunWish, folder: Path, log: Path) -> None:
        """Make a run in a folder that is not there yet; raises what stops it before its end."""

    def outcome(self, folder: Path) -> RunOutcome | None:
        """What became of the run in a folder; None where it did not begin or is no run."""

    def read(self, folder: Path, repeats: int) -> ObservedRun:
        """What a finished run shows; ``repeats``, the runs of its kind, become a part of its facts."""

    def model(self, calibration: Path, mix: Path, probe: Path) -> Model:
        """Forecasts from both runs of the calibration, and from the probe where there is one."""

    def fitting(self, runs: Sequence[Path], probe: Path, sessions: int, answer_bound: float) -> Fits:
        """The number of sessions that fits, forecast from measured runs of so many sessions."""
