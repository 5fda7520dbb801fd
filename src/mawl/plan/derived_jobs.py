"""The file of derived jobs that a workload names: read, checked, written."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec

from mawl.base.errors import InvalidFileError
from mawl.base.foreign import json_record, read_regular
from mawl.plan.derived_program import DerivedJobPlan, derived_program, planned
from mawl.plan.programs import Program
from mawl.plan.spec import WorkloadSpec
from mawl.plan.workload import Plan
from mawl.records.model.derived import FILE, DerivedJob, DerivedStep, DerivedWorkload, RoleLoad
from mawl.records.spec import toml
from mawl.records.spec.program_options import ROLES, Role

LARGEST_FILE_BYTES = 64 * 2**20
MOST_PARTS = 2_000_000
"""Some 60,000 steps; as records they take up to 0.3 GB of memory."""

_encode = msgspec.json.Encoder().encode


def encoded(workload: DerivedWorkload) -> bytes:
    """The file's content.

    Raises ``InvalidFileError`` where ``decoded`` would refuse it.
    """
    content = msgspec.json.format(_encode(workload), indent=1)
    decoded(content, where="derived jobs")
    return content


def load_derived(path: Path, *, inside: Path | None = None) -> DerivedWorkload:
    """The derived jobs of a file.

    Raises ``InvalidFileError`` naming file, key, expected and found.
    """
    try:
        content = read_regular(path, LARGEST_FILE_BYTES, inside=inside)
    except OSError as error:
        raise InvalidFileError(
            "cannot be read",
            where=str(path),
            why=(error.strerror or str(error)).lower(),
            cure="keep the file of derived jobs next to the workload file",
        ) from None
    return decoded(content, where=str(path))


def derived_jobs(spec: WorkloadSpec, where: str, *, inside: Path | None = None) -> dict[str, DerivedJobPlan]:
    """The derived jobs that a workload's file names, by their names; none where it names no file.

    A relative name is from the directory of the workload file ``where``.
    """
    if spec.derived is None:
        return {}
    workload = load_derived(Path(where).parent / spec.derived, inside=inside)
    tables = {table.name: table for table in workload.tables}
    return {job.name: planned(job, tables) for job in workload.jobs}


def derived_programs(folder: Path) -> dict[str, Program]:
    """The declarations of the derived jobs of a run folder, by name; none where it has no such jobs."""
    path = folder / FILE
    if not path.exists():
        return {}
    workload = load_derived(path, inside=folder)
    tables = {table.name: table for table in workload.tables}
    return {job.name: derived_program(planned(job, tables)) for job in workload.jobs}


def derived_of(plan: Plan) -> DerivedWorkload | None:
    """The file of the derived jobs of a plan; None where it has none."""
    jobs = {job.program: job.derived for job in plan.jobs() if job.derived is not None}
    if not jobs:
        return None
    tables = {table.name: table for job in jobs.values() for table in job.tables}
    return DerivedWorkload(tables=tuple(tables.values()), jobs=tuple(job.job for job in jobs.values()))


def digest_of(plan: Plan) -> str | None:
    """A short digest of a plan's derived jobs and of when they start; None where it has no such jobs.

    Plans of one digest ask for the same load of them.
    """
    jobs = [
        (job.job, job.session, job.stage, job.scale, job.after, job.start_delay_seconds, job.derived)
        for job in plan.jobs()
        if job.derived is not None
    ]
    return hashlib.blake2b(_encode(jobs), digest_size=8).hexdigest() if jobs else None


def decoded(content: bytes, *, where: str) -> DerivedWorkload:
    """As ``load_derived``, from the file's content."""
    try:
        found = json_record(content, DerivedWorkload, most_bytes=LARGEST_FILE_BYTES, most_parts=MOST_PARTS)
    except msgspec.ValidationError as error:
        raise toml.not_as_expected(error, DerivedWorkload, where) from None
    except ValueError as error:
        raise InvalidFileError("is not valid JSON", where=where, why=str(error)) from None
    _check(found, where)
    return found


def _check(workload: DerivedWorkload, where: str) -> None:
    tables = {table.name for table in workload.tables}
    _once("tables", (table.name for table in workload.tables), where)
    _once("jobs", (job.name for job in workload.jobs), where)
    for number, table in enumerate(workload.tables):
        if table.size_bytes == 0:
            raise _wrong(f"tables[{number}].size_bytes", "at least 1 byte", "0", where)
    for number, job in enumerate(workload.jobs):
        _check_job(job, tables, f"jobs[{number}]", where)


def _check_job(job: DerivedJob, tables: set[str], key: str, where: str) -> None:
    _once(f"{key}.steps", (step.name for step in job.steps), where)
    written: dict[Role, int] = {"work": 0, "util": 0}
    for number, step in enumerate(job.steps):
        at = f"{key}.steps[{number}]"
        unknown = [name for name in step.tables if name not in tables]
        if unknown:
            raise _wrong(f"{at}.tables", "names of tables of the file", repr(unknown[0]), where)
        if step.data.read_bytes and not step.tables:
            raise _wrong(f"{at}.tables", "the tables that its data bytes are read from", "none", where)
        for role in ROLES:
            _check_requests(step.load(role), f"{at}.{role}", where)
        for role in written:
            load = step.load(role)
            written[role] += load.written_bytes
            if load.read_bytes and not written[role]:
                expected = f"0, since the job has written nothing under {role} by then"
                raise _wrong(f"{at}.{role}.read_bytes", expected, str(load.read_bytes), where)
        _check_work(step, at, where)


def _check_work(step: DerivedStep, at: str, where: str) -> None:
    if step.kernel == "look_up" and not any(step.load(role).random_reads for role in ROLES):
        raise _wrong(f"{at}.kernel", "random_reads in some role of a step that looks up", "none", where)


def _check_requests(load: RoleLoad, at: str, where: str) -> None:
    for direction, requests, moved in (
        ("reads", load.random_reads, load.read_bytes),
        ("writes", load.random_writes, load.written_bytes),
    ):
        if requests > moved:
            raise _wrong(
                f"{at}.random_{direction}", f"at most one request a byte ({moved})", f"{requests}", where
            )


def _once(key: str, names: Iterable[str], where: str) -> None:
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise _wrong(key, "each name once", f"{twice[0]!r} a second time", where)


def _wrong(key: str, expected: str, found: str, where: str) -> InvalidFileError:
    return InvalidFileError(f"key {key}: expected {expected}, found {found}", where=where)
