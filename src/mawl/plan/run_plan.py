"""The plan that a spec asks for, what it asks of its run, and the reference times of its jobs.

Reference times come from mawl's table, a file of the user's, or what a job declares. CPU seconds that
somebody declares, or that logs say, count times the speed of the core that they were measured on; real time
never does (docs/design/answer.md).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from mawl.base.errors import InvalidFileError, UsageError
from mawl.base.units import format_plain
from mawl.plan.derived_jobs import derived_jobs
from mawl.plan.derived_program import cpu_seconds
from mawl.plan.mix import is_of_catalogue, mixed
from mawl.plan.needs import programs_in
from mawl.plan.programs import Program, reference_times
from mawl.plan.spec import WorkloadSpec, parse_scale
from mawl.plan.workload import JobPlan, Plan, load_workload, make_plan, shipped
from mawl.records.model.run import Reference
from mawl.records.spec import toml
from mawl.records.spec.program_options import AUTO, Options
from mawl.records.spec.run_spec import DEFAULT_WORKLOAD, RunSpec
from mawl.records.spec.sources import Layer, layer_of_plan


def parse_cores(text: str) -> tuple[int, ...]:
    """Processors from ``4`` (the first four this process may use) or a list (``0,2-5``)."""
    usable = sorted(os.sched_getaffinity(0))
    text = text.strip()
    if text.isdecimal():
        if not 1 <= int(text) <= len(usable):
            raise UsageError(
                f"--cores {text}: expected 1 to {len(usable)}, the processors this process may use"
            )
        return tuple(usable[: int(text)])
    chosen: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not (first.isdecimal() and (last.isdecimal() if dash else not last)) or int(last or first) < int(
            first
        ):
            raise UsageError(f"--cores {text}: expected a count (4) or a list (0,2-5)")
        # The first that is not usable is enough to refuse a range, however long it is.
        chosen.update(range(int(first), min(int(last or first), max(int(first), usable[-1] + 1)) + 1))
    missing = chosen - set(usable)
    if missing:
        raise UsageError(
            f"--cores {text}: processor {min(missing)} is not among those this process may use",
            cure=f"choose from {usable[0]}-{usable[-1]}",
        )
    return tuple(sorted(chosen))


def processors_of(cores: str | None) -> tuple[int, ...]:
    """Those that a run may use: what ``--cores`` names, or all that this process may use."""
    return parse_cores(cores) if cores else tuple(sorted(os.sched_getaffinity(0)))


def asks_for_threads(plan: Plan) -> bool:
    """Whether any job has ``cpucount=auto``."""
    return any(job.options.cpucount == AUTO for job in plan.jobs())


def with_threads(plan: Plan, processors: int) -> Plan:
    """The plan with a number in place of ``cpucount=auto``: processors by sessions, at least one.

    A job that runs alone (``--solo``) gets what it gets in the run, so that both can be compared.
    """
    threads = max(processors // max(len(plan.sessions), 1), 1)

    def known(options: Options) -> Options:
        return msgspec.structs.replace(options, cpucount=threads) if options.cpucount == AUTO else options

    def job_with(job: JobPlan) -> JobPlan:
        return msgspec.structs.replace(job, options=known(job.options))

    sessions = tuple(
        msgspec.structs.replace(
            session, stages=tuple(tuple(map(job_with, stage)) for stage in session.stages)
        )
        for session in plan.sessions
    )
    return msgspec.structs.replace(plan, options=known(plan.options), sessions=sessions)


def plan_of(spec: RunSpec) -> Plan:
    """The workload expanded at its scale; UsageError where it cannot have that scale or those sessions."""
    workload, where = _workload(spec)
    if workload.scale is not None and spec.scale is not None:
        raise UsageError(f"{where} fixes its scale at {format_plain(workload.scale, 6)}; leave --scale out")
    derived = derived_jobs(workload, where)
    if spec.arrivals == "closed" and (not derived or workload.sessions):
        raise UsageError(
            f"--arrivals {spec.arrivals} does not go with {where}",
            why="only a file of derived jobs without sessions of its own says how its jobs arrived",
            cure="leave --arrivals out",
        )
    usual = "full" if derived else spec.usual_scale
    plan = make_plan(
        workload,
        where=where,
        scale=parse_scale(usual if spec.scale is None else spec.scale),
        options=spec.options,
        seed=spec.seed,
        saving=spec.saving,
        derived=derived,
        arrivals=spec.arrivals,
    )
    # Each of several nodes divides its own processors.
    if spec.nodes or not asks_for_threads(plan):
        return plan
    return with_threads(plan, len(processors_of(spec.cores)))


def with_run_of(workload: str, settings: Layer) -> Layer:
    """What ``[run]`` of a workload file sets over ``settings``; a workload without it sets nothing."""
    if workload in shipped():
        return settings
    spec, where = load_workload(workload)
    return settings if spec.run is None else layer_of_plan(spec.run, where, settings)


def _workload(spec: RunSpec) -> tuple[WorkloadSpec, str]:
    if spec.sessions is None:
        return load_workload(spec.workload)
    if spec.workload != DEFAULT_WORKLOAD:
        raise UsageError(
            f"--sessions {spec.sessions} does not go with the workload {spec.workload}",
            why=f"only {DEFAULT_WORKLOAD} has a rule to scale it by, any other has the sessions of its file",
            cure=f"leave --sessions out, or choose {DEFAULT_WORKLOAD}",
        )
    return mixed(spec.sessions), f"workload {DEFAULT_WORKLOAD} in {spec.sessions} sessions"


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
