"""What a plan will need: input tables, bytes moved, disk space by volume, and memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import msgspec

from mawl.plan.catalogue import CATALOGUE, command_program, user_program
from mawl.plan.columns import InputTable
from mawl.plan.derived_program import derived_program
from mawl.plan.mix import JobKind, is_of_catalogue, keeps_results, kind_of
from mawl.plan.programs import Direction, Program, Requests
from mawl.plan.workload import JobPlan, Plan
from mawl.records.spec.program_options import ROLES, Role, VolumeOrder
from mawl.records.store.side_files import Peak

ZYGOTE_BYTES = 256 * 2**20
"""Resident size of the zygote with every library of the catalogue imported, rounded up."""

SPAWNED_BYTES = 224 * 2**20
"""What each job holds by itself when it starts as a new interpreter."""

MEASURED_MARGIN = 1.1
"""Memory is planned 10 % above a measured peak: other runs of the same job differ by less."""

JOB_PAGES_BYTES = 8 * 2**20
"""What the kernel holds for a measured job: page tables 3.4 MiB, its counters 3.6 MiB (14 jobs at smoke)."""

SPACE_MARGIN = 1.05
"""Disk space is planned 5 % above the bytes of values: file formats and file systems add some."""


class TableNeed(msgspec.Struct, frozen=True, order=True):
    """One input table that some job reads: the same for all jobs with this key."""

    table: str
    scale: float
    replica: int
    bytes: int


class Needs(msgspec.Struct, frozen=True, kw_only=True):
    """What a plan needs; ``moved`` are application bytes by role and direction."""

    tables: tuple[TableNeed, ...]
    undeclared: tuple[str, ...] = ()
    """Programs whose bytes and space nobody declared; memory has their memsize, no other sum has them."""
    declared_jobs: int = 0
    moved: dict[Role, dict[Direction, int]]
    requests: dict[Role, dict[Direction, Requests]]
    """What these bytes are asked for in: in sequence, and at random places."""
    space_bytes: dict[Role, int]
    """Disk at most: input tables, results that stay, and tables of jobs side by side."""
    memory_bytes: int
    """Peaks of the jobs side by side, measured or else declared, and the zygote once."""
    memory_basis: str
    """Where these peaks are from, in words."""
    is_memory_measured: bool = False
    """Whether all of them were measured."""
    programs: dict[str, int]
    """Jobs of each program."""


def tables_of(plan: Plan) -> tuple[TableNeed, ...]:
    """Every input table that the plan's jobs read, once each, in a stable order."""
    programs = programs_in(plan)
    needed = {
        TableNeed(table.name, job.scale, job.replica, table.bytes(job.scale))
        for job in plan.jobs()
        for table in programs[job.program].inputs
    }
    return tuple(sorted(needed))


def inputs_of(plan: Plan) -> dict[str, InputTable]:
    """The input tables that the plan's jobs may read, by name."""
    programs = programs_in(plan)
    return {table.name: table for job in plan.jobs() for table in programs[job.program].inputs}


def programs_in(plan: Plan) -> dict[str, Program]:
    """The catalogue, what users' programs and derived jobs of the plan declare; commands declare nothing."""
    commands = {
        job.program: command_program(job.program, job.program_class or "unknown")
        for job in plan.jobs()
        if job.command is not None
    }
    users = {job.program: user_program(job.entry) for job in plan.jobs() if job.entry is not None}
    derived = {job.program: derived_program(job.derived) for job in plan.jobs() if job.derived is not None}
    return {**CATALOGUE, **commands, **users, **derived}


def needs(
    plan: Plan,
    *,
    spawn: bool = False,
    keeps_outputs: bool = False,
    measured: Mapping[JobKind, Peak] = MappingProxyType({}),
) -> Needs:
    """Add up what a plan needs.

    Jobs side by side are bounded by each session's widest stage (in the quantity at hand), since
    sessions do not wait for each other.  Of the derived jobs of a stage the largest counts: in the logs each
    arrived after the one before it had ended; where the clock overtakes a slower system, it needs more.
    ``spawn``: jobs start as new interpreters.  ``keeps_outputs``: what the programs put out under data stays
    (``keeps_results``).  ``measured`` are peaks that earlier runs found; the others
    are as declared.
    """
    programs, tables = programs_in(plan), tables_of(plan)
    moved: dict[Role, dict[Direction, int]] = {role: {"read": 0, "written": 0} for role in ROLES}
    requests: dict[Role, dict[Direction, Requests]] = {
        role: {"read": Requests(), "written": Requests()} for role in ROLES
    }
    for job in plan.jobs():
        for role, directions in programs[job.program].bytes_by_role(job.scale).items():
            for direction, size in directions.items():
                moved[role][direction] += size
        asked = programs[job.program].requests_by_role(job.scale, job.options.bufsize_bytes)
        for role, counts in asked.items():
            for direction, count in counts.items():
                requests[role][direction] += count
    # Results that stay are all there in the end.
    stay = sum(
        _space(programs, job)["data"]
        for job in plan.jobs()
        if keeps_results(job, keeps_outputs=keeps_outputs)
    )

    def goes(job: JobPlan, role: Role) -> int:
        if role == "data" and keeps_results(job, keeps_outputs=keeps_outputs):
            return 0
        return _space(programs, job)[role]

    space: dict[Role, int] = {
        role: int(SPACE_MARGIN * _side_by_side(plan, lambda job, r=role: goes(job, r)))  # type: ignore[misc]
        for role in ROLES
    }
    space["data"] += int(SPACE_MARGIN * (stay + sum(table.bytes for table in tables)))
    memory = _Memory(programs, measured, spawn=spawn)
    return Needs(
        tables=tables,
        undeclared=tuple(
            sorted({job.program for job in plan.jobs() if not programs[job.program].is_declared})
        ),
        declared_jobs=sum(programs[job.program].is_declared for job in plan.jobs()),
        moved=moved,
        requests=requests,
        space_bytes=space,
        memory_bytes=_side_by_side(plan, memory.job_bytes) + memory.zygote_bytes(plan),
        memory_basis=memory.basis(plan),
        is_memory_measured=memory.is_measured(plan),
        programs=dict(sorted(Counter(job.program for job in plan.jobs()).items())),
    )


class JobSeconds(msgspec.Struct, frozen=True):
    """CPU seconds of a job of a plan, or None where they are not known; ``basis`` says which they are."""

    of: Callable[[Program, JobPlan], float | None]
    basis: str


class Demand(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes that the jobs of a plan move for each second of their CPU time.

    ``by_role`` is null where the bytes or the CPU seconds of some job are not known; ``basis`` then has the
    reason, else it says which CPU seconds these are.
    """

    by_role: dict[Role, dict[Direction, float]] | None
    basis: str

    @property
    def total(self) -> float | None:
        """Of all roles, both directions."""
        return None if self.by_role is None else sum(sum(ways.values()) for ways in self.by_role.values())


def asked_per_cpu_second(plan: Plan, seconds: JobSeconds) -> Demand:
    """Bytes of all jobs by role and direction, over the CPU seconds of all jobs."""
    programs = programs_in(plan)
    moved: dict[Role, dict[Direction, int]] = {role: {"read": 0, "written": 0} for role in ROLES}
    unknown, cpu_seconds = set(), 0.0
    for job in plan.jobs():
        program = programs[job.program]
        took = seconds.of(program, job) if program.is_declared else None
        if took is None:
            unknown.add(job.program)
            continue
        cpu_seconds += took
        for role, directions in program.bytes_by_role(job.scale).items():
            for direction, size in directions.items():
                moved[role][direction] += size
    if unknown or not cpu_seconds:
        why = f"bytes or CPU seconds of {', '.join(sorted(unknown))} are not known"
        return Demand(by_role=None, basis=why if unknown else "the jobs have no CPU seconds")
    by_role: dict[Role, dict[Direction, float]] = {
        role: {way: size / cpu_seconds for way, size in ways.items()} for role, ways in moved.items()
    }
    return Demand(by_role=by_role, basis=seconds.basis)


def requests_under_way(plan: Plan) -> int:
    """The most requests to storage that the plan's jobs can have under way at a time.

    A thread of a job waits for each of its requests; a program that reads at random places keeps
    ``queue_depth`` of them under way.  Jobs side by side are bounded as in ``needs``.
    """
    programs = programs_in(plan)

    def of_job(job: JobPlan) -> int:
        at_random = programs[job.program].random_requests(job.scale) > 0
        return job.options.queue_depth if at_random else max(job.options.cpucount, 1)

    return _side_by_side(plan, of_job)


class _Memory:
    """What jobs hold: a measured peak of the same kind of job where there is one, else the declared one."""

    def __init__(
        self, programs: Mapping[str, Program], measured: Mapping[JobKind, Peak], *, spawn: bool
    ) -> None:
        self._programs, self._measured, self._spawn = programs, measured, spawn

    def job_bytes(self, job: JobPlan) -> int:
        """What one job shares with no other."""
        peak = self._peak(job)
        if peak is None:
            declared = self._programs[job.program].memory_bytes(job.options)
            return declared + (SPAWNED_BYTES if self._spawn else 0)
        return int(MEASURED_MARGIN * peak.private_bytes) + JOB_PAGES_BYTES

    def zygote_bytes(self, plan: Plan) -> int:
        """What all copies of the zygote share; measured where all kinds of jobs of the plan were."""
        if self._spawn:
            return 0
        if not self.is_measured(plan):
            return ZYGOTE_BYTES
        return max(peak.ready_bytes for job in plan.jobs() if (peak := self._peak(job)) is not None)

    def is_measured(self, plan: Plan) -> bool:
        return all(self._peak(job) is not None for job in plan.jobs())

    def basis(self, plan: Plan) -> str:
        programs = {job.program for job in plan.jobs()}
        declared = {job.program for job in plan.jobs() if self._peak(job) is None}
        if self.is_measured(plan):
            return "measured in earlier runs"
        if declared == programs:
            return "declared, not measured"
        known = len(programs) - len(declared)
        return f"measured for {known} of {len(programs)} programs, declared for the others"

    def _peak(self, job: JobPlan) -> Peak | None:
        return self._measured.get(kind_of(job)) if is_of_catalogue(job) else None


def _space(programs: Mapping[str, Program], job: JobPlan) -> dict[Role, int]:
    return programs[job.program].space(job.scale)


def _side_by_side(plan: Plan, quantity: Callable[[JobPlan], int]) -> int:
    return sum(max(_of_stage(stage, quantity) for stage in session.stages) for session in plan.sessions)


def _of_stage(stage: Sequence[JobPlan], quantity: Callable[[JobPlan], int]) -> int:
    """What the jobs of a stage have at most at once; its derived jobs followed each other in the logs."""
    derived = [quantity(job) for job in stage if job.derived is not None]
    return max(derived, default=0) + sum(quantity(job) for job in stage if job.derived is None)


SPREAD_PARTS = " parts"
"""Partition files (``wide parts``): many of about the same size, which take turns by themselves."""


def turns(plan: Plan, volumes: Mapping[Role, int], order: VolumeOrder) -> dict[str, dict[Role, int]]:
    """The first turn of each job in each role; ``volumes`` are how many directories a role has.

    By free space it is the job's place in the plan, so that jobs at once take different points.  By
    rotation the jobs are taken from the one that moves most to the one that moves least, and each begins
    where the busiest volume stays least busy, by the bytes that its program declares: a handful of jobs
    moves most of the bytes, and if all of them began at the first volume (or in the order of the plan)
    it would get several times the bytes of another.
    """
    jobs, programs = list(plan.jobs()), programs_in(plan)
    if order == "free-space":
        return {job.job: dict.fromkeys(ROLES, place) for place, job in enumerate(jobs)}
    found: dict[str, dict[Role, int]] = {job.job: {} for job in jobs}
    for role in ROLES:
        files = {job.job: _files(programs[job.program], job, role) for job in jobs}
        moved = [0] * volumes[role]
        for place, job in enumerate(sorted(jobs, key=lambda job: -sum(files[job.job]))):
            if not any(files[job.job]):
                found[job.job][role] = place % len(moved)
                continue
            choices = [_with_files(moved, files[job.job], turn) for turn in range(len(moved))]
            first = min(
                range(len(moved)), key=lambda turn: (max(choices[turn]), sum(_squares(choices[turn])))
            )
            found[job.job][role] = first
            moved = choices[first]
    return found


def _files(program: Program, job: JobPlan, role: Role) -> list[int]:
    """Declared bytes, both directions, of each file that a job makes in a role, in the order of declaration.

    The results of a job lie in one directory, so they count as one file.
    """
    sizes = {
        temporary.name: 0
        for temporary in program.temporaries
        if temporary.role == role and not temporary.name.endswith(SPREAD_PARTS)
    }
    for _, _, _, name, size in program.passes(job.scale):
        if name in sizes:
            sizes[name] += size
    return [sum(sizes.values())] if role == "data" else list(sizes.values())


def _with_files(moved: Sequence[int], files: Sequence[int], turn: int) -> list[int]:
    added = list(moved)
    for place, size in enumerate(files):
        added[(turn + place) % len(added)] += size
    return added


def _squares(values: Sequence[int]) -> list[int]:
    return [value * value for value in values]
