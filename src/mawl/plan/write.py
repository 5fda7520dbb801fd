"""``plan.toml``: the exact plan of a run, as a workload file that runs again as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tomli_w

from mawl.model.derived import FILE
from mawl.plan.command import Command
from mawl.plan.derived import derived_of, encoded
from mawl.plan.workload import JobPlan, Plan
from mawl.spec.files import keys_of_plan
from mawl.spec.program_options import AUTO, Options
from mawl.spec.record import RunSpec
from mawl.store.files import replace_file
from mawl.store.layout import PLAN

HEADER = (
    "# The exact plan of a run, written by mawl: replicas, sizes and options of every job are explicit.\n"
)


def write_plan(
    path: Path,
    plan: Plan,
    spec: RunSpec | None = None,
    write: Callable[[Path, bytes], None] = replace_file,
) -> None:
    """The file of :func:`plan_toml`, and beside it that of its derived jobs, where it has some.

    Raises what ``write`` raises: OSError where one cannot be written.
    """
    derived = derived_of(plan)
    name = FILE if path.name == PLAN else f"{path.stem}.{FILE}"
    if derived is not None:
        write(path.with_name(name), encoded(derived))
    write(path, plan_toml(plan, spec, derived=name).encode())


def plan_toml(plan: Plan, spec: RunSpec | None = None, *, derived: str = FILE) -> str:
    """The plan as the text of a workload file; expanding that file gives the same plan.

    ``spec`` is the run that was asked for: the file then holds its options too.  ``derived`` is what the file
    of derived jobs is called that lies beside it, where the plan has such jobs.
    """
    return HEADER + tomli_w.dumps(
        {
            "name": plan.workload,
            "title": plan.title,
            "scale": plan.scale,
            "seed": plan.seed,
            "saving": plan.saving,
            "scale_options": False,
            "options": _options(plan.options),
            **({} if spec is None else {"run": keys_of_plan(spec)}),
            **({"derived": derived} if any(job.derived is not None for job in plan.jobs()) else {}),
            "sessions": [
                {
                    "name": session.name,
                    "start_delay_seconds": session.start_delay_seconds,
                    "stages": [[_job(job, plan) for job in stage] for stage in session.stages],
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


def _job(job: JobPlan, plan: Plan) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "program": job.entry or job.program,
        "name": job.job,
        "replica": job.replica,
        "size": job.scale / plan.scale,
        "options": _options(job.options),
        "trail_out": job.trail_out,
    }
    if job.command is not None:
        entry |= _command(job.command)
        entry["program_class"] = job.program_class
    if job.after:
        entry["after"] = list(job.after)
    if job.start_delay_seconds:
        entry["start_delay_seconds"] = job.start_delay_seconds
    if job.timeout_seconds is not None:
        entry["timeout_seconds"] = job.timeout_seconds
    return entry


def _command(command: Command) -> dict[str, Any]:
    keys: dict[str, Any] = {
        "command": list(command.argv),
        "check": list(command.check),
        "environment": dict(command.environment),
        "success_exit_codes": list(command.success_exit_codes),
        "log": command.log,
        "log_format": command.log_format,
    }
    return {key: value for key, value in keys.items() if value not in (None, [], {})}


def _options(options: Options) -> dict[str, int | bool | str]:
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
