"""Reference times of the jobs of a plan: from mawl's table, a file of the user's, or what a job declares.

CPU seconds that somebody declares, or that logs say, count times the speed of the core that they were
measured on; real time never does (docs/design/answer.md).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from mawl.base.errors import InvalidFileError
from mawl.plan.derived_program import cpu_seconds
from mawl.plan.mix import is_of_catalogue
from mawl.plan.needs import programs_in
from mawl.plan.programs import Program, reference_times
from mawl.plan.workload import JobPlan, Plan
from mawl.records.model.run import Reference
from mawl.records.spec import toml

MOST_SECONDS = 1e9
SPEED_UNKNOWN = (
    "the logs do not state the speed of their cores (mawl derive --core-speed), so their CPU seconds count "
    "as those of this machine, and slow processors do not show"
)


class OwnReference(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of ``--reference``: CPU seconds of one job by program, measured on a core of ``core_speed``."""

    cpu_seconds: dict[str, float]
    core_speed: float = 1.0

    def seconds(self, program: str) -> float | None:
        found = self.cpu_seconds.get(program)
        return None if found is None else found * self.core_speed


def read_reference(path: Path) -> tuple[OwnReference, str]:
    """The file and what it is called in a run: its name and the beginning of a digest of what it says."""
    found = toml.load(path, OwnReference)
    if "core_speed" in found.cpu_seconds:
        raise InvalidFileError("core_speed: expected it before the table cpu_seconds", where=str(path))
    wrong = [name for name, value in found.cpu_seconds.items() if not 0.0 < value <= MOST_SECONDS]
    if wrong or not 0.0 < found.core_speed <= 1000.0:
        raise InvalidFileError(
            f"{f'cpu_seconds.{wrong[0]}' if wrong else 'core_speed'}: expected a number above 0",
            where=str(path),
        )
    digest = hashlib.sha256(msgspec.json.encode(found, order="sorted")).hexdigest()
    return found, f"{path.name}@{digest[:12]}"


def reference_of(plan: Plan, file: Path | None = None) -> tuple[Reference, dict[str, float]]:
    """Where the reference times of a plan come from, and those of its jobs, as far as they are known.

    Raises ``InvalidFileError`` for a ``file`` that cannot be read or names no program of the plan.
    """
    if file is None:
        table = reference_times()
        own_programs = {job.program for job in plan.jobs() if is_of_catalogue(job)}
        derived = [job.derived.job for job in plan.jobs() if job.derived is not None]
        unknown = any(job.core_speed is None for job in derived)
        reference = Reference(
            version=table.version,
            provisional=sorted(own_programs & set(table.provisional)),
            remarks=[SPEED_UNKNOWN] if unknown else [],
        )
        programs = programs_in(plan)
        known = {job.job: _seconds(job, programs) for job in plan.jobs()}
        return reference, {name: seconds for name, seconds in known.items() if seconds}
    own, called = read_reference(file)
    if not own.cpu_seconds.keys() & {job.program for job in plan.jobs()}:
        raise InvalidFileError("names no program of the workload", where=str(file))
    seconds = {job.job: own.seconds(job.program) for job in plan.jobs()}
    return Reference(version=None, file=called), {name: one for name, one in seconds.items() if one}


def _seconds(job: JobPlan, programs: Mapping[str, Program]) -> float | None:
    if job.command is not None:
        declared = job.command.cpu_seconds
        return None if declared is None else declared * job.command.core_speed
    if job.derived is not None:
        return cpu_seconds(job.derived.job) * job.scale * (job.derived.job.core_speed or 1.0)
    return None if job.entry is not None else programs[job.program].cpu_seconds(job.scale)
