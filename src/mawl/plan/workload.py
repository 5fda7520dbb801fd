"""Workload files: sessions of stages of jobs, in TOML, and their expansion into an exact plan.

Sessions of derived jobs: as the clock brought them, or one after another.

The most jobs that dependencies allow to run at the same time.
"""

from __future__ import annotations

import graphlib
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import msgspec

from mawl.base.errors import InvalidFileError, UsageError, meant
from mawl.base.units import format_plain
from mawl.plan.catalogue import CATALOGUE, Command, default_name, user_program
from mawl.plan.derived_program import DerivedJobPlan, options_of_record
from mawl.plan.spec import (
    JobSpec,
    SessionSpec,
    WorkloadSpec,
    check_commands,
    checked_entry,
    command_of,
    scaled_options,
    with_command,
)
from mawl.records.model.derived import MOST_JOBS, DerivedJob
from mawl.records.model.records import ProgramClass
from mawl.records.spec import toml
from mawl.records.spec.program_options import Arrivals, Options, parse_options
from mawl.records.spec.run_spec import DEFAULT_SAVING, DEFAULT_SEED


def sessions_of(jobs: Sequence[DerivedJob], arrivals: Arrivals) -> list[SessionSpec]:
    """The sessions of a file of derived jobs, in the order in which they first appear.

    ``clock``: a job starts when those of its ``after`` have ended and the run has lasted its
    ``start_seconds``, however late the others are; so a slower system has more jobs side by side.
    ``closed``: a job starts when the one before it in its session and those of its ``after`` have ended,
    whatever the clock; so a slower system takes longer.
    """
    lanes: dict[str, list[JobSpec]] = {}
    for job in jobs:
        lanes.setdefault(job.session, []).append(
            JobSpec(
                program=job.name,
                name=job.name,
                after=list(job.after),
                start_delay_seconds=job.start_seconds if arrivals == "clock" else 0.0,
            )
        )
    return [
        SessionSpec(name=name, stages=[[*lane]] if arrivals == "clock" else [[job] for job in lane])
        for name, lane in lanes.items()
    ]


def widest(before: Mapping[str, Collection[str]], barriers: Collection[str] = ()) -> int:
    """Size of the largest set of jobs none of which must wait for another.

    ``before`` maps each job to what it waits for directly; it has no cycle.  ``barriers`` are keys that are
    no jobs: what waits for one waits for all before it.  By Dilworth's theorem the size is the number of jobs
    less a maximum matching in the order's transitive closure, which is walked and not stored.
    """
    order = list(graphlib.TopologicalSorter(before).static_order())
    place = {job: number for number, job in enumerate(order)}
    direct = [[place[name] for name in before.get(job, ())] for job in order]
    jobs = [number for number, job in enumerate(order) if job not in barriers]
    matching = _Matching(direct, {place[barrier] for barrier in barriers})
    return len(jobs) - sum(map(matching.give, jobs))


class _Matching:
    """A matching of jobs with earlier jobs; ``direct`` lists the numbers that each number waits for."""

    def __init__(self, direct: list[list[int]], barriers: Collection[int]) -> None:
        self._direct, self._barriers = direct, barriers
        self._taken_by: dict[int, int] = {}
        self._holds: dict[int, int] = {}

    def give(self, job: int) -> bool:
        """Match a job with an earlier one, rematching others if needed; False if no earlier job is free."""
        came_from: dict[int, int] = {}
        queue = [job]
        for later in queue:  # grows while it is walked
            waits = [later]
            for waiting in waits:  # grows, too
                for number in self._direct[waiting]:
                    if number in came_from:
                        continue
                    came_from[number] = later
                    waits.append(number)
                    if number in self._taken_by:
                        queue.append(self._taken_by[number])
                    elif number not in self._barriers:
                        self._pass_on(number, came_from)
                        return True
        return False

    def _pass_on(self, number: int, came_from: Mapping[int, int]) -> None:
        passed_on: int | None = number
        while passed_on is not None:
            taker, taken = came_from[passed_on], passed_on
            self._taken_by[taken] = taker
            passed_on, self._holds[taker] = self._holds.get(taker), taken


Number = TypeVar("Number", int, float)

SHIPPED = Path(__file__).parent / "workloads"
START_GATE = "start"


class JobPlan(msgspec.Struct, frozen=True, kw_only=True):
    """One job, exactly: ``options`` are those the job gets, ``gate`` what releases it."""

    job: str
    program: str
    session: str
    stage: int
    replica: int
    scale: float
    options: Options
    after: tuple[str, ...] = ()
    start_delay_seconds: float = 0.0
    timeout_seconds: float | None = None
    trail_out: bool = False
    gate: str | None = None
    command: Command | None = None
    program_class: ProgramClass | None = None
    """Of a command; the catalogue has those of its programs."""
    entry: str | None = None
    """``module:Class`` of a user's program."""
    derived: DerivedJobPlan | None = None
    """Of a derived job: its record, at scale 1."""


class SessionPlan(msgspec.Struct, frozen=True, kw_only=True):
    """One session: ``stages`` in order, each a tuple of jobs that run side by side."""

    name: str
    stages: tuple[tuple[JobPlan, ...], ...]
    start_delay_seconds: float = 0.0


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A workload at a scale: enough to run it, and to run it again (``plan.toml`` of a run)."""

    workload: str
    title: str
    scale: float
    seed: int
    saving: float
    options: Options
    sessions: tuple[SessionPlan, ...]

    def jobs(self) -> Iterator[JobPlan]:
        for session in self.sessions:
            for stage in session.stages:
                yield from stage

    @property
    def peak_concurrent(self) -> int:
        """Jobs side by side at most, as stages and dependencies allow, however long each takes."""
        if not any(job.after for job in self.jobs()):
            return sum(max(map(len, session.stages)) for session in self.sessions)
        before = precedence(self)
        return widest(before, before.keys() - {job.job for job in self.jobs()})

    @property
    def gate_jobs(self) -> int:
        return sum(job.gate == START_GATE for job in self.jobs())

    @property
    def first_start_seconds(self) -> float:
        """How long after the start of the run the first job may start, by the delays of the plan.

        A job that others must precede is not the first.
        """
        return min(
            session.start_delay_seconds + job.start_delay_seconds
            for session in self.sessions
            for job in session.stages[0]
            if not job.after
        )


def precedence(plan: Plan) -> dict[str, list[str]]:
    """What each job waits for directly: the end of the stage before it in its session, and its dependencies.

    The end of a stage has a key, too, which is no name of a job, and waits for the jobs of the stage.
    """
    graph: dict[str, list[str]] = {}
    for session in plan.sessions:
        before: list[str] = []
        for number, stage in enumerate(session.stages, 1):
            graph |= {job.job: [*before, *job.after] for job in stage}
            before = [f"stage {number} of {session.name}"]
            graph[before[0]] = [job.job for job in stage]
    return graph


def shipped() -> dict[str, Path]:
    """Name to file of the workloads that come with mawl."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.toml"), key=lambda path: path.stem)}


def load_workload(name_or_path: str) -> tuple[WorkloadSpec, str]:
    """A shipped workload by name, or a file; with where it came from, for messages."""
    known = shipped()
    if name_or_path in known:
        return toml.load(known[name_or_path], WorkloadSpec), f"workload {name_or_path}"
    path = Path(name_or_path)
    if path.suffix != ".toml" and not path.exists():
        raise UsageError(
            f"no workload is called {name_or_path!r}",
            cure=f"{meant(name_or_path, known)}choose one of {', '.join(known)} or give a TOML file",
        )
    return toml.load(path, WorkloadSpec), str(path)


def make_plan(
    spec: WorkloadSpec,
    *,
    where: str,
    scale: float,
    options: Options | None = None,
    seed: int = DEFAULT_SEED,
    saving: float = DEFAULT_SAVING,
    derived: Mapping[str, DerivedJobPlan] = MappingProxyType({}),
    arrivals: Arrivals = "clock",
) -> Plan:
    """Expand and check a workload.

    ``options`` are the user's; those of the workload file and then of each job go over them.  ``derived`` are
    the jobs of its file of derived jobs (``derived_jobs``), by name.
    Raises ``InvalidFileError`` naming file, key, expected and found.
    """
    scale = spec.scale if spec.scale is not None else scale
    if not 0.0 < scale <= 100.0:
        raise InvalidFileError(
            f"key scale: expected a number above 0 and at most 100, found {format_plain(scale, 6)}",
            where=where,
        )
    base = parse_options(spec.options, where=f"{where}: options", base=options)
    if not _plain(spec.name):
        raise InvalidFileError(
            f"key name: expected letters, digits, -, _ and ., at most 80 of them, found {spec.name[:100]!r}",
            where=where,
        )
    check_commands(spec.commands, where)
    _check_derived(derived, (*CATALOGUE, *spec.commands), where)
    if derived and not spec.sessions:
        sessions = sessions_of([one.job for one in derived.values()], arrivals)
        spec = msgspec.structs.replace(spec, sessions=sessions)
    if not spec.sessions:
        raise InvalidFileError("key sessions: expected at least one session, found none", where=where)
    twice = [name for name, count in Counter(session.name for session in spec.sessions).items() if count > 1]
    if twice:
        raise InvalidFileError(f"key sessions: two sessions are called {twice[0]!r}", where=where)
    expansion = _Expansion(where, scale, base, spec, derived)
    plan = Plan(
        workload=spec.name,
        title=spec.title,
        scale=scale,
        seed=_checked("seed", seed if spec.seed is None else spec.seed, 0, 2**32 - 1, where),
        saving=_checked("saving", saving if spec.saving is None else spec.saving, 0.3, 0.95, where),
        options=base,
        sessions=tuple(expansion.session(number, session) for number, session in enumerate(spec.sessions)),
    )
    _check_dependencies(plan, where)
    return plan


def _check_derived(derived: Mapping[str, DerivedJobPlan], taken: Container[str], where: str) -> None:
    for name in derived:
        if name in taken:
            raise InvalidFileError(
                f"key derived: expected jobs with names that no program and no command has, found {name!r}",
                where=where,
            )


def _checked(key: str, value: Number, low: float, high: float, where: str) -> Number:
    if not low <= value <= high:
        raise InvalidFileError(f"key {key}: expected {low} to {high}, found {value}", where=where)
    return value


class _Expansion:
    """Gives jobs their names, replicas and options while it walks the sessions in order."""

    def __init__(
        self,
        where: str,
        scale: float,
        options: Options,
        spec: WorkloadSpec,
        derived: Mapping[str, DerivedJobPlan],
    ) -> None:
        self.where, self.scale, self.options = where, scale, options
        self.derived = derived
        self.scale_options, self.commands = spec.scale_options, spec.commands
        self.names: set[str] = set()
        self.numbers: defaultdict[str, int] = defaultdict(lambda: 1)
        self.lanes: dict[str, dict[tuple[int, int], int]] = {}
        self.classes: dict[str, ProgramClass] = {}

    def session(self, number: int, spec: SessionSpec) -> SessionPlan:
        key = f"sessions[{number}]"
        if not _plain(spec.name):
            raise self.wrong(f"{key}.name", "letters, digits, - and _", repr(spec.name))
        if not spec.stages or not all(spec.stages):
            raise self.wrong(f"{key}.stages", "stages of at least one job each", "an empty list")
        self.not_negative(f"{key}.start_delay_seconds", spec.start_delay_seconds)
        stages = []
        for stage_number, stage in enumerate(spec.stages):
            seen: Counter[str] = Counter()
            jobs = []
            for position, given in enumerate(stage):
                job = JobSpec(program=given) if isinstance(given, str) else given
                job = with_command(job, self.commands)
                key_of_job = f"{key}.stages[{stage_number}][{position}]"
                program = self.program(key_of_job, job)
                seen[program] += 1
                jobs.append(
                    self.job(
                        key_of_job,
                        job,
                        program,
                        spec,
                        stage_number + 1,
                        lane=(number, seen[program]),
                    )
                )
            stages.append(tuple(jobs))
        return SessionPlan(name=spec.name, stages=tuple(stages), start_delay_seconds=spec.start_delay_seconds)

    def job(
        self,
        key: str,
        spec: JobSpec,
        program: str,
        session: SessionSpec,
        stage: int,
        lane: tuple[int, int],
    ) -> JobPlan:
        if not 0.0 < spec.size <= 1000.0:
            raise self.wrong(f"{key}.size", "a factor above 0 and at most 1000", format_plain(spec.size, 6))
        if spec.replica is not None and spec.replica < 1:
            raise self.wrong(f"{key}.replica", "a whole number from 1", str(spec.replica))
        if spec.timeout_seconds is not None and not spec.timeout_seconds > 0:
            raise self.wrong(
                f"{key}.timeout_seconds", "a number above 0", format_plain(spec.timeout_seconds, 6)
            )
        self.not_negative(f"{key}.start_delay_seconds", spec.start_delay_seconds)
        lanes = self.lanes.setdefault(program, {})
        replica = spec.replica or lanes.setdefault(lane, len(lanes) + 1)
        scale = self.scale * spec.size
        try:
            options = parse_options(spec.options, where=f"{self.where}: key {key}.options", base=self.options)
        except UsageError as error:
            raise InvalidFileError(str(error)) from None
        at_gate = (
            stage == 1
            and not spec.after
            and spec.start_delay_seconds == 0
            and session.start_delay_seconds == 0
        )
        if self.scale_options:
            options = scaled_options(options, scale)
        derived = None if spec.command is not None else self.derived.get(program)
        return JobPlan(
            job=self.name(key, spec, program, session.name, stage),
            program=program,
            session=session.name,
            stage=stage,
            replica=replica,
            scale=scale,
            options=options if derived is None else options_of_record(options, derived.job, scale),
            after=tuple(spec.after),
            start_delay_seconds=spec.start_delay_seconds,
            timeout_seconds=spec.timeout_seconds,
            trail_out=spec.trail_out or session.trail_out,
            gate=START_GATE if at_gate else None,
            command=command_of(spec, self.where, key),
            entry=None if spec.command or spec.program is None else self.entry(key, spec.program),
            program_class=spec.program_class or ("unknown" if spec.command else None),
            derived=derived,
        )

    def entry(self, key: str, program: str) -> str | None:
        """``module:Class`` of a user's program; None where it is the catalogue's, or nobody's."""
        taken = (*CATALOGUE, *self.commands, *self.derived)
        return (
            None
            if program in CATALOGUE or program in self.derived
            else checked_entry(program, taken, self.where, key)
        )

    def program(self, key: str, spec: JobSpec) -> str:
        """The program's name: the catalogue's, or what a command's jobs are called."""
        if spec.command is None:
            if spec.program is not None and spec.program in self.derived:
                return spec.program
            entry = None if spec.program is None else self.entry(key, spec.program)
            if entry is not None:
                return user_program(entry).name
            if spec.program is None or spec.program not in CATALOGUE:
                found = "no program and no command" if spec.program is None else repr(spec.program)
                known = (*CATALOGUE, *self.commands, *self.derived)
                like = meant(spec.program or "", known)
                raise self.wrong(
                    f"{key}.program", f"one of {', '.join(known)}", f"{found}{like and f'; {like}'.rstrip()}"
                )
            return spec.program
        if not spec.command or not spec.command[0]:
            raise self.wrong(f"{key}.command", "the command's file and its arguments", "none")
        name = spec.program or default_name(spec.command)
        if not _plain(name) or name in CATALOGUE or name in self.derived:
            raise self.wrong(
                f"{key}.program", "a name for the command that no program of mawl has", repr(name)
            )
        found_class = self.classes.setdefault(name, spec.program_class or "unknown")
        if found_class != (spec.program_class or "unknown"):
            raise self.wrong(
                f"{key}.program_class", f"{found_class}, as before for {name}", repr(spec.program_class)
            )
        return name

    def name(self, key: str, spec: JobSpec, program: str, session: str, stage: int) -> str:
        if spec.name is not None:
            if not _plain(spec.name):
                raise self.wrong(f"{key}.name", "letters, digits, -, _ and .", repr(spec.name))
            if spec.name in self.names:
                raise self.wrong(f"{key}.name", "its own name", f"{spec.name!r} a second time")
            name = spec.name
        else:
            stem = name = f"{session}.{stage}.{program}"
            while name in self.names:
                self.numbers[stem] += 1
                name = f"{stem}-{self.numbers[stem]}"
        self.names.add(name)
        if len(self.names) > MOST_JOBS:
            raise self.wrong(key, f"at most {MOST_JOBS:,} jobs", "more")
        return name

    def not_negative(self, key: str, value: float) -> None:
        if not 0 <= value < 1e7:
            raise self.wrong(key, "a number of seconds from 0", format_plain(value, 6))

    def wrong(self, key: str, expected: str, found: str) -> InvalidFileError:
        return InvalidFileError(f"key {key}: expected {expected}, found {found}", where=self.where)


def _plain(name: str) -> bool:
    return (
        bool(name)
        and len(name) <= 80
        and name[0].isalnum()
        and all(c.isalnum() or c in "-_." for c in name)
        and name.isascii()
    )


def _check_dependencies(plan: Plan, where: str) -> None:
    names = {job.job for job in plan.jobs()}
    for job in plan.jobs():
        unknown = [name for name in job.after if name not in names]
        if unknown:
            raise InvalidFileError(
                f"job {job.job}: key after: expected the name of a job, found {unknown[0]!r}",
                where=where,
                cure="mawl plan --json lists the names",
            )
    try:
        graphlib.TopologicalSorter(precedence(plan)).prepare()
    except graphlib.CycleError as error:
        circle = " -> ".join(error.args[1])
        raise InvalidFileError(f"key after: jobs wait for each other: {circle}", where=where) from None
