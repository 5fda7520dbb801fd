"""What a plan will need: input tables, bytes moved, disk space and memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import msgspec

from mawl.model.options import ROLES, Role
from mawl.plan.command import undeclared
from mawl.plan.entry import program_of
from mawl.plan.programs import Direction, Program
from mawl.plan.workload import JobPlan, Plan

ZYGOTE_BYTES = 256 * 2**20
"""Resident size of the zygote with every library of the catalogue imported, rounded up."""

SPAWNED_BYTES = 224 * 2**20
"""What each job holds by itself when it starts as a new interpreter."""

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
    space_bytes: dict[Role, int]
    """Disk at most: input tables and all results under data, tables of jobs side by side elsewhere."""
    memory_bytes: int
    """Declared peaks of the jobs side by side, plus the zygote once."""
    programs: dict[str, int]
    """Jobs of each program."""


def tables_of(plan: Plan, catalogue: Mapping[str, Program]) -> tuple[TableNeed, ...]:
    """Every input table that the plan's jobs read, once each, in a stable order."""
    needed = {
        TableNeed(table.name, job.scale, job.replica, table.bytes(job.scale))
        for job in plan.jobs()
        for table in catalogue[job.program].inputs
    }
    return tuple(sorted(needed))


def with_commands(plan: Plan, catalogue: Mapping[str, Program]) -> dict[str, Program]:
    """The catalogue, what users' programs of the plan declare, and an empty declaration of each command."""
    commands = {
        job.program: undeclared(job.program, job.program_class or "unknown")
        for job in plan.jobs()
        if job.command is not None
    }
    users = {job.program: program_of(job.entry) for job in plan.jobs() if job.entry is not None}
    return {**catalogue, **commands, **users}


def needs(plan: Plan, catalogue: Mapping[str, Program], *, spawn: bool = False) -> Needs:
    """Add up what a plan needs.

    Jobs side by side are bounded by each session's widest stage (in the quantity at hand), since
    sessions do not wait for each other.  ``spawn``: jobs start as new interpreters.
    """
    catalogue = with_commands(plan, catalogue)
    tables = tables_of(plan, catalogue)
    moved: dict[Role, dict[Direction, int]] = {role: {"read": 0, "written": 0} for role in ROLES}
    for job in plan.jobs():
        for role, directions in catalogue[job.program].bytes_by_role(job.scale).items():
            for direction, size in directions.items():
                moved[role][direction] += size
    space: dict[Role, int] = {
        role: int(SPACE_MARGIN * _side_by_side(plan, lambda job, r=role: _space(catalogue, job)[r]))  # type: ignore[misc]
        for role in ("work", "util")
    }
    # Results stay after their job: those of all jobs are there in the end.
    space["data"] = int(SPACE_MARGIN * sum(_space(catalogue, job)["data"] for job in plan.jobs()))
    space["data"] += int(SPACE_MARGIN * sum(table.bytes for table in tables))
    memory = _side_by_side(
        plan,
        lambda job: catalogue[job.program].memory_bytes(job.options) + (SPAWNED_BYTES if spawn else 0),
    )
    return Needs(
        tables=tables,
        undeclared=tuple(
            sorted({job.program for job in plan.jobs() if not catalogue[job.program].is_declared})
        ),
        declared_jobs=sum(catalogue[job.program].is_declared for job in plan.jobs()),
        moved=moved,
        space_bytes=space,
        memory_bytes=memory + (0 if spawn else ZYGOTE_BYTES),
        programs=dict(sorted(Counter(job.program for job in plan.jobs()).items())),
    )


def _space(catalogue: Mapping[str, Program], job: JobPlan) -> dict[Role, int]:
    return catalogue[job.program].space(job.scale)


def _side_by_side(plan: Plan, quantity: Callable[[JobPlan], int]) -> int:
    return sum(
        max(sum(quantity(job) for job in stage) for stage in session.stages) for session in plan.sessions
    )
