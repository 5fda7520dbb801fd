"""A plan as text: JSON (``mawl plan --json``), and ``plan.toml``, a workload file that runs again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import tomli_w

from mawl.plan.catalogue import Command
from mawl.plan.derived_jobs import derived_of, encoded
from mawl.plan.environment import digest_of
from mawl.plan.needs import Demand, Needs
from mawl.plan.workload import JobPlan, Plan, shipped
from mawl.records.definitions import block, count, flag, listing, rate, seconds, share, size, text, unitless
from mawl.records.model.derived import FILE
from mawl.records.spec.program_options import AUTO, ROLES, Options, Role
from mawl.records.spec.run_spec import RunSpec
from mawl.records.spec.sources import keys_of_plan
from mawl.records.store.files import PLAN, replace_file

FILES_PAGE = "docs/guides/workload-files.md"
PROGRAMS_PAGE = "docs/reference/programs.md"
MEMORY_PAGE = "docs/design/memory.md"
NOT_DECLARED = "no program of the plan declares its bytes"
ASKED_UNKNOWN = "asked_basis has the reason"


class PlannedBytes(msgspec.Struct, frozen=True, kw_only=True):
    """What jobs move in a role."""

    read_bytes: Annotated[
        int | None,
        size("Application bytes that the programs declare to read.", PROGRAMS_PAGE, absent=NOT_DECLARED),
    ]
    written_bytes: Annotated[
        int | None, size("Application bytes that they declare to write.", PROGRAMS_PAGE, absent=NOT_DECLARED)
    ]


class PlannedRequests(msgspec.Struct, frozen=True, kw_only=True):
    """The requests that move these bytes."""

    sequential_reads: Annotated[
        int | None, count("Reads that continue a stream.", PROGRAMS_PAGE, absent=NOT_DECLARED)
    ]
    sequential_writes: Annotated[
        int | None, count("Writes that continue a stream.", PROGRAMS_PAGE, absent=NOT_DECLARED)
    ]
    random_reads: Annotated[int | None, count("Reads at random places.", PROGRAMS_PAGE, absent=NOT_DECLARED)]
    random_writes: Annotated[
        int | None, count("Writes at random places.", PROGRAMS_PAGE, absent=NOT_DECLARED)
    ]


class PlannedDemand(msgspec.Struct, frozen=True, kw_only=True):
    """What the jobs ask of a role for each second of their CPU time."""

    read_bytes_per_cpu_second: Annotated[
        float | None,
        rate("Bytes read over the CPU seconds of all jobs.", PROGRAMS_PAGE, absent=ASKED_UNKNOWN),
    ]
    written_bytes_per_cpu_second: Annotated[
        float | None,
        rate("Bytes written over the CPU seconds of all jobs.", PROGRAMS_PAGE, absent=ASKED_UNKNOWN),
    ]


class PlannedSpace(msgspec.Struct, frozen=True, kw_only=True):
    """The disk space of a role."""

    space_bytes: Annotated[
        int | None,
        size(
            "Disk space at most, with a margin of 5 %: under data all inputs and results, "
            "under work and util the tables of jobs side by side.",
            PROGRAMS_PAGE,
            absent=NOT_DECLARED,
        ),
    ]


class PlannedTable(msgspec.Struct, frozen=True, kw_only=True):
    """An input table that some job reads."""

    table: Annotated[str, text("Its name.", PROGRAMS_PAGE)]
    scale: Annotated[float, unitless("Its scale, as a factor of full.", FILES_PAGE)]
    replica: Annotated[int, unitless("Which copy of the inputs it belongs to.", FILES_PAGE)]
    bytes: Annotated[int, size("Bytes of its values.", PROGRAMS_PAGE)]


class PrintedPlanJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job of a stage."""

    job: Annotated[str, text("Its name.", FILES_PAGE)]
    program: Annotated[str, text("The program that it runs.", FILES_PAGE)]
    command: Annotated[list[str] | None, listing("Its words, for a command; null for a program.", FILES_PAGE)]
    replica: Annotated[int, unitless("Which copy of the inputs it reads.", FILES_PAGE)]
    scale: Annotated[float, unitless("Its scale, as a factor of full.", FILES_PAGE)]
    after: Annotated[list[str], listing("Jobs that must have succeeded before it starts.", FILES_PAGE)]
    gate: Annotated[
        str | None, text("The gate that it waits for with other jobs; null: it waits for none.", FILES_PAGE)
    ]
    trail_out: Annotated[bool, flag("Whether it is marked as a job of the tail.", FILES_PAGE)]


class PlannedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session: its stages one after another, and the jobs of a stage side by side."""

    session: Annotated[str, text("Its name.", FILES_PAGE)]
    stages: list[list[PrintedPlanJob]]


class PrintedPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A plan: counts, and bytes in base units."""

    workload: Annotated[str, text("Name of the workload.", FILES_PAGE)]
    scale: Annotated[float, unitless("Its scale, as a factor of full.", FILES_PAGE)]
    seed: Annotated[int, count("Seed of the input tables.", FILES_PAGE)]
    saving_ratio: Annotated[float, share("The share by which zstd-1 shrinks the inputs.", FILES_PAGE)]
    sessions: Annotated[int, count("Sessions.", FILES_PAGE)]
    jobs: Annotated[int, count("Jobs of all sessions.", FILES_PAGE)]
    peak_concurrent: Annotated[int, count("Jobs side by side at most.", FILES_PAGE)]
    gate_jobs: Annotated[int, count("Jobs that the gate releases together.", FILES_PAGE)]
    programs: Annotated[dict[str, int], block("Jobs of each program.", PROGRAMS_PAGE, member="program")]
    undeclared: Annotated[
        list[str],
        listing(
            "Programs that declare no bytes and no space; their memsize is in the memory.", PROGRAMS_PAGE
        ),
    ]
    bytes: Annotated[dict[Role, PlannedBytes], block(member="role")]
    requests: Annotated[dict[Role, PlannedRequests], block(member="role")]
    asked: Annotated[dict[Role, PlannedDemand], block(member="role")]
    asked_bytes_per_cpu_second: Annotated[
        float | None,
        rate(
            "Bytes read and written in all roles over the CPU seconds of all jobs.",
            PROGRAMS_PAGE,
            absent=ASKED_UNKNOWN,
        ),
    ]
    asked_basis: Annotated[
        str, text("Which CPU seconds these figures are by, or why they are null.", PROGRAMS_PAGE)
    ]
    space: Annotated[dict[Role, PlannedSpace], block(member="role")]
    memory_bytes: Annotated[
        int, size("Memory of the jobs side by side at most, and of the launcher.", MEMORY_PAGE)
    ]
    memory_basis: Annotated[str, text("Where the memory peaks of the jobs come from.", MEMORY_PAGE)]
    inputs: list[PlannedTable]
    plan: list[PlannedSession]
    elapsed_seconds: Annotated[
        float | None,
        seconds(
            "Time from the first job to the last, simulated from the calibration that a qualification made "
            "on this machine.",
            "docs/design/simulation.md",
            absent="elapsed_basis has the reason",
        ),
    ]
    elapsed_basis: Annotated[
        str, text("Where elapsed_seconds comes from, or why it is null.", "docs/design/simulation.md")
    ]


def printed_plan(
    plan: Plan, needed: Needs, asked: Demand, *, elapsed_seconds: float | None, elapsed_basis: str
) -> PrintedPlan:
    """The plan with what it needs; bytes are null if no program declares them."""
    declared = bool(needed.declared_jobs)
    rates = asked.by_role or {}
    return PrintedPlan(
        workload=plan.workload,
        scale=plan.scale,
        seed=plan.seed,
        saving_ratio=plan.saving,
        sessions=len(plan.sessions),
        jobs=sum(1 for _ in plan.jobs()),
        peak_concurrent=plan.peak_concurrent,
        gate_jobs=plan.gate_jobs,
        programs=needed.programs,
        undeclared=list(needed.undeclared),
        bytes={
            role: PlannedBytes(
                read_bytes=moved["read"] if declared else None,
                written_bytes=moved["written"] if declared else None,
            )
            for role, moved in needed.moved.items()
        },
        requests={
            role: PlannedRequests(
                sequential_reads=counts["read"].sequential if declared else None,
                sequential_writes=counts["written"].sequential if declared else None,
                random_reads=counts["read"].random if declared else None,
                random_writes=counts["written"].random if declared else None,
            )
            for role, counts in needed.requests.items()
        },
        asked={
            role: PlannedDemand(
                read_bytes_per_cpu_second=rates[role]["read"] if rates else None,
                written_bytes_per_cpu_second=rates[role]["written"] if rates else None,
            )
            for role in ROLES
        },
        asked_bytes_per_cpu_second=asked.total,
        asked_basis=asked.basis,
        space={
            role: PlannedSpace(space_bytes=needed.space_bytes[role] if declared else None) for role in ROLES
        },
        memory_bytes=needed.memory_bytes,
        memory_basis=needed.memory_basis,
        inputs=[
            PlannedTable(table=table.table, scale=table.scale, replica=table.replica, bytes=table.bytes)
            for table in needed.tables
        ],
        plan=[
            PlannedSession(
                session=session.name,
                stages=[[_printed_job(job) for job in stage] for stage in session.stages],
            )
            for session in plan.sessions
        ],
        elapsed_seconds=elapsed_seconds,
        elapsed_basis=elapsed_basis,
    )


def _printed_job(job: JobPlan) -> PrintedPlanJob:
    return PrintedPlanJob(
        job=job.job,
        program=job.program,
        command=None if job.command is None else list(job.command.argv),
        replica=job.replica,
        scale=job.scale,
        after=list(job.after),
        gate=job.gate,
        trail_out=job.trail_out,
    )


TOML_HEADER = (
    "# The exact plan of a run, written by mawl: replicas, sizes and options of every job are explicit.\n"
)


def write_plan(
    path: Path,
    plan: Plan,
    spec: RunSpec | None = None,
    write: Callable[[Path, bytes], None] = replace_file,
) -> None:
    """The file of ``plan_toml``, and beside it that of its derived jobs, where it has some.

    Raises what ``write`` raises: OSError where one cannot be written.
    """
    derived = derived_of(plan)
    name = FILE if path.name == PLAN else f"{path.stem}.{FILE}"
    if derived is not None:
        write(path.with_name(name), encoded(derived))
    write(path, plan_toml(plan, spec, derived=name).encode())


def plan_toml(
    plan: Plan, spec: RunSpec | None = None, *, derived: str = FILE, key: bytes | None = None
) -> str:
    """The plan as the text of a workload file; expanding that file gives the same plan.

    ``spec`` is the run that was asked for: the file then holds its options too.  ``derived`` is what the file
    of derived jobs is called that lies beside it, where the plan has such jobs.  The file has no values of
    environment variables; with a ``key`` it has a digest of them.
    """
    environment = any(job.command is not None and job.command.environment for job in plan.jobs())
    file = None if spec is None or spec.workload in shipped() else str(Path(spec.workload).absolute())
    return TOML_HEADER + tomli_w.dumps(
        {
            "name": plan.workload,
            "title": plan.title,
            "scale": plan.scale,
            "seed": plan.seed,
            "saving": plan.saving,
            "scale_options": False,
            "options": _toml_options(plan.options),
            **({} if spec is None else {"run": keys_of_plan(spec)}),
            **({"derived": derived} if any(job.derived is not None for job in plan.jobs()) else {}),
            **({"workload_file": file} if environment and file is not None else {}),
            "sessions": [
                {
                    "name": session.name,
                    "start_delay_seconds": session.start_delay_seconds,
                    "stages": [[_toml_job(job, plan, key) for job in stage] for stage in session.stages],
                }
                for session in plan.sessions
            ],
        }
    )


def nodes_toml(places: Mapping[str, str]) -> str:
    """``plan.toml`` of a run on several nodes: where each node's exact plan lies, below the run's folder."""
    return "# A run on several nodes: each has its own plan, which runs again as it is.\n" + tomli_w.dumps(
        {"nodes": dict(places)}
    )


def _toml_job(job: JobPlan, plan: Plan, key: bytes | None) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "program": job.entry or job.program,
        "name": job.job,
        "replica": job.replica,
        "size": job.scale / plan.scale,
        "options": _toml_options(job.options),
        "trail_out": job.trail_out,
    }
    if job.command is not None:
        entry |= _toml_command(job.command, key)
        entry["program_class"] = job.program_class
    if job.after:
        entry["after"] = list(job.after)
    if job.start_delay_seconds:
        entry["start_delay_seconds"] = job.start_delay_seconds
    if job.timeout_seconds is not None:
        entry["timeout_seconds"] = job.timeout_seconds
    return entry


def _toml_command(command: Command, key: bytes | None) -> dict[str, Any]:
    known = key is not None and all(value is not None for _, value in command.environment)
    keys: dict[str, Any] = {
        "command": list(command.argv),
        "check": list(command.check),
        "environment_names": [name for name, _ in command.environment],
        "environment_digest": digest_of(command, key) if key and known and command.environment else None,
        "success_exit_codes": list(command.success_exit_codes),
        "log": command.log,
        "log_format": command.log_format,
        "cpu_seconds": command.cpu_seconds,
        "core_speed": None if command.core_speed == 1.0 else command.core_speed,
    }
    return {key: value for key, value in keys.items() if value not in (None, [], {})}


def _toml_options(options: Options) -> dict[str, int | bool | str]:
    return {
        "memsize": options.memsize_bytes,
        "sortsize": options.sortsize_bytes,
        "bufsize": options.bufsize_bytes,
        "cpucount": "auto" if options.cpucount == AUTO else options.cpucount,
        "queue_depth": options.queue_depth,
        "compress": options.compress,
        "fullstimer": options.fullstimer,
        "direct": options.direct,
    }
