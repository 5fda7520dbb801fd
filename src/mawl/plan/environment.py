"""Values of the environment variables of commands: they stay in the workload file that has them.

A stored plan holds the names, and a digest of the values keyed per directory of runs, so that two runs of it
can be compared and nobody can guess a value (docs/design/secrets.md).  What must start the commands again
takes the values from the workload file, else from its own environment.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from mawl.base.errors import MawlError, UsageError
from mawl.base.foreign import LARGEST_TOML_BYTES, read_regular
from mawl.plan.catalogue import Command, default_name, literal
from mawl.plan.spec import JobSpec, WorkloadSpec, command_of, with_command
from mawl.plan.workload import JobPlan, Plan, load_workload
from mawl.records.spec import toml
from mawl.records.store.files import LIBRARY_KEY, PLAN

_DEEPEST_RUN = 3
_MOST_PLANS = 3
"""A stored plan names its workload file, which may itself be the stored plan of another run."""


def digest_of(command: Command, key: bytes) -> str:
    """HMAC-SHA-256 of names and values; equal for equal ones under one key."""
    content = msgspec.json.encode(sorted(command.environment))
    return hmac.new(key, content, hashlib.sha256).hexdigest()


class StoredEnvironment(msgspec.Struct, frozen=True, kw_only=True):
    """Variables of a job's command in a stored plan; ``digest`` is that of their values, under a key.

    ``library`` identifies the key: equal for equal keys, None if the key cannot be read.
    """

    names: tuple[str, ...]
    digest: str | None
    library: str | None


def stored_environments(folder: Path) -> dict[str, StoredEnvironment]:
    """Of each job of a run folder whose command has variables; empty if its plan cannot be read."""
    try:
        text = read_regular(folder / PLAN, LARGEST_TOML_BYTES, inside=folder).decode()
        if "environment_names" not in text:  # most plans, and a large one takes seconds
            return {}
        spec = toml.loads(text, WorkloadSpec, where=PLAN)
    except (OSError, MawlError, ValueError):
        return {}
    library = _library_of(folder.absolute())
    return {
        job.name or "": StoredEnvironment(
            names=tuple(job.environment_names), digest=job.environment_digest, library=library
        )
        for session in spec.sessions
        for stage in session.stages
        for job in stage
        if isinstance(job, JobSpec) and job.environment_names
    }


def _library_of(folder: Path) -> str | None:
    """The key is in the directory of runs, and a run of a campaign lies deeper in it."""
    for place in folder.parents[:_DEEPEST_RUN]:
        with contextlib.suppress(OSError):
            return hashlib.sha256(read_regular(place / LIBRARY_KEY, 64, inside=place)).hexdigest()
    return None


def without_values(plan: Plan) -> Plan:
    """The plan with the names alone: what may leave the machine."""
    return _changed(plan, lambda _job, _name, _value: None)


def with_values(plan: Plan, workload: str, environment: Mapping[str, str]) -> Plan:
    """The plan with the values that it lacks: of the workload file, else of ``environment``.

    Raises ``UsageError`` that names what is in neither.
    """
    if all(value is not None for job in plan.jobs() for _, value in _environment(job)):
        return plan
    of_file = dict(values_of_file(workload))
    missing: dict[str, None] = {}

    def value_of(job: JobPlan, name: str, value: str | None) -> str | None:
        if value is not None:
            return value
        if (job.program, name) in of_file:
            return of_file[job.program, name]
        if name not in environment:
            missing[name] = None
        return literal(environment.get(name, ""))

    changed = _changed(plan, value_of)
    if missing:
        raise UsageError(
            f"the values of the variables {', '.join(missing)} are missing",
            where=workload,
            why="a stored plan and a node have only the names",
            cure="set them in the environment of mawl, or run the workload file",
        )
    return changed


def _environment(job: JobPlan) -> tuple[tuple[str, str | None], ...]:
    return () if job.command is None else job.command.environment


def _changed(plan: Plan, value_of: Callable[[JobPlan, str, str | None], str | None]) -> Plan:
    def changed(job: JobPlan) -> JobPlan:
        if job.command is None or not job.command.environment:
            return job
        values = tuple((name, value_of(job, name, value)) for name, value in job.command.environment)
        return msgspec.structs.replace(job, command=msgspec.structs.replace(job.command, environment=values))

    return msgspec.structs.replace(
        plan,
        sessions=tuple(
            msgspec.structs.replace(
                session, stages=tuple(tuple(changed(job) for job in stage) for stage in session.stages)
            )
            for session in plan.sessions
        ),
    )


def values_of_file(workload: str) -> Iterator[tuple[tuple[str, str], str]]:
    """(program, variable) and its value in a workload file, or in the one that a stored plan names."""
    for _ in range(_MOST_PLANS):
        try:
            spec, where = load_workload(workload)
            for command, program in _commands(spec, where):
                for name, value in command.environment:
                    if value is not None:
                        yield (program, name), value
        except MawlError:
            return  # gone, or changed since; the environment may still have them
        if spec.workload_file is None or not Path(spec.workload_file).is_file():
            return
        workload = spec.workload_file


def _commands(spec: WorkloadSpec, where: str) -> Iterator[tuple[Command, str]]:
    for session in spec.sessions:
        for stage in session.stages:
            for given in stage:
                job = JobSpec(program=given) if isinstance(given, str) else given
                job = with_command(job, spec.commands)
                command = command_of(job, where, "sessions")
                if command is not None:
                    yield command, job.program or default_name(command.argv)
