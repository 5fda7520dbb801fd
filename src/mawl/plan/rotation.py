"""Where each job of a plan begins in the rotation over the volumes of a role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mawl.plan.programs import Program
from mawl.plan.workload import JobPlan, Plan
from mawl.spec.program_options import ROLES, Role, VolumeOrder

SPREAD_PARTS = " parts"
"""Partition files (``wide parts``): many of about the same size, which take turns by themselves."""


def turns(
    plan: Plan, catalogue: Mapping[str, Program], volumes: Mapping[Role, int], order: VolumeOrder
) -> dict[str, dict[Role, int]]:
    """The first turn of each job in each role; ``volumes`` are how many directories a role has.

    By free space it is the job's place in the plan, so that jobs at once take different points.  By
    rotation the jobs are taken from the one that moves most to the one that moves least, and each begins
    where the busiest volume stays least busy, by the bytes that its program declares: a handful of jobs
    moves most of the bytes, and if all of them began at the first volume (or in the order of the plan)
    it would get several times the bytes of another.
    """
    jobs = list(plan.jobs())
    if order == "free-space":
        return {job.job: dict.fromkeys(ROLES, place) for place, job in enumerate(jobs)}
    found: dict[str, dict[Role, int]] = {job.job: {} for job in jobs}
    for role in ROLES:
        files = {job.job: _files(catalogue[job.program], job, role) for job in jobs}
        moved = [0] * volumes[role]
        for place, job in enumerate(sorted(jobs, key=lambda job: -sum(files[job.job]))):
            if not any(files[job.job]):
                found[job.job][role] = place % len(moved)
                continue
            choices = [_after(moved, files[job.job], turn) for turn in range(len(moved))]
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


def _after(moved: Sequence[int], files: Sequence[int], turn: int) -> list[int]:
    """Bytes by volume with a job's files added from a turn on."""
    added = list(moved)
    for place, size in enumerate(files):
        added[(turn + place) % len(added)] += size
    return added


def _squares(values: Sequence[int]) -> list[int]:
    return [value * value for value in values]
