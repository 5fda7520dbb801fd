"""Can this machine run what I ask, and if not, what to do?

Looks at Python and the libraries, the compiler, space under the roles, memory, limits, containers,
the clock and other load. Space and memory are compared with what WORKLOAD needs at --scale.
With --ssh, --hosts or --cluster: a table of the nodes, and what keeps each from one run together.
A problem stops a run (exit status 1), a notice does not.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from mawl.base.private_text import secrets_in
from mawl.base.units import format_bytes, format_memory
from mawl.commands.arguments import spec_of_arguments, volumes_of
from mawl.commands.cluster_run import show_check
from mawl.commands.earlier_runs import Peaks
from mawl.commands.verbs import Arguments, Verb, operand, option, options_of_run, repeated, switch
from mawl.measure.devices import MEMORY_FILE_SYSTEMS, mounts_below
from mawl.measure.machine import Machine, read_machine
from mawl.measure.space import (
    EPHEMERAL,
    EPHEMERAL_CURE,
    FileSystem,
    ephemeral_storage,
    file_systems,
    in_memory_bytes,
)
from mawl.measure.suitability import (
    ClockWatch,
    NoiseWatch,
    Status,
    SuitabilityCheck,
    clock_checks,
    compiler_check,
    container_check,
    library_checks,
    limit_checks,
    memory_check,
    memory_limit_check,
    noise_checks,
    proc_checks,
    worst_status,
)
from mawl.plan.needs import Needs
from mawl.plan.run_plan import plan_of
from mawl.plan.workload import shipped
from mawl.records.spec.program_options import ROLES, Role, VolumeOrder
from mawl.records.spec.run_spec import DEFAULT_WORKLOAD
from mawl.records.spec.sources import NODE_OPTIONS
from mawl.records.volumes import INPUTS
from mawl.run.runner.preparation import larger_limit
from mawl.version import __version__

LOOK_SECONDS = 1.0
"""How long clock and load are watched."""

_SENTENCES = {
    "ok": "this machine can run mawl",
    "notice": "this machine can run mawl; the notices say what will be missing or disturbed",
    "problem": "a run cannot work here until the problems are solved",
}


class DoctorMachine(Machine, frozen=True, kw_only=True):
    """The facts of the machine with its number of ``cores``."""

    cores: int | None


class DoctorAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What ``--json`` prints; ``status`` is that of the worst check."""

    mawl_version: str
    status: Status
    checks: list[SuitabilityCheck]
    machine: DoctorMachine


class DoctorArguments(Arguments):
    workload: str = operand(
        "WORKLOAD",
        f"a shipped workload or a TOML file that should fit (default: {DEFAULT_WORKLOAD})",
        default=DEFAULT_WORKLOAD,
        group="workload",
    )
    sessions: Any = options_of_run("sessions")
    scale: str | None = option(
        None, "the scale it should fit at: a name, or a factor of full", group="workload"
    )
    memory_limit: str | None = option(
        "SIZE", "the limit for jobs and page cache that its run would have", group="limits"
    )
    option: list[str] = repeated(
        "NAME=VALUE",
        "a run option that changes its memory: memsize, sortsize; may be repeated",
        group="workload",
    )
    run_options: Any = options_of_run("start", *ROLES, "volume_order", "runs", *NODE_OPTIONS)
    json: bool = switch("print one JSON object", group="result")


def run(arguments: DoctorArguments) -> int:
    spec = spec_of_arguments(arguments)
    if spec.nodes is not None:
        return show_check(spec, spec.nodes, for_scripts=arguments.json)
    clock, noise = ClockWatch(), NoiseWatch()
    started_at = time.monotonic()
    plan = plan_of(spec)
    needed = Peaks(plan, spec).needs(plan)
    directories, limit = volumes_of(spec).directories, spec.memory_limit_bytes
    machine = read_machine()
    checks = [
        SuitabilityCheck("python", "ok", f"{platform.python_version()} on {platform.machine()}"),
        *library_checks(),
        compiler_check(os.environ),
        *space_checks(directories, needed, spec.volume_order),
        memory_check(
            machine,
            needed.memory_bytes,
            needed.memory_basis,
            in_memory_bytes(directories, needed.space_bytes, by_free_space=spec.volume_order == "free-space"),
        ),
        *([_memory_limit_check(limit, needed)] if limit else []),
        *secret_checks(spec.workload),
        *limit_checks(machine),
        container_check(machine),
        *proc_checks(),
    ]
    time.sleep(max(started_at + LOOK_SECONDS - time.monotonic(), 0.0))
    checks += [*clock_checks(machine, clock.look()), *noise_checks(machine, noise.look())]
    checks += core_speed_checks()
    if arguments.json:
        print(json.dumps(msgspec.to_builtins(as_json(machine, checks)), indent=2))
    else:
        print(as_text(machine, checks))
    return 1 if worst_status(checks) == "problem" else 0


def secret_checks(workload: str) -> list[SuitabilityCheck]:
    """A notice where a workload file holds words that look like secrets; its letters are not shown."""
    if workload in shipped():
        return []
    lines = Path(workload).read_text(errors="replace").splitlines()
    numbers = [str(number) for number, line in enumerate(lines, 1) if secrets_in(line)]
    if not numbers:
        return []
    said = f"{workload}: {'lines' if len(numbers) > 1 else 'line'} {', '.join(numbers[:5])} may hold a secret"
    cure = "set the value in the environment of mawl, and put the variable's name into environment_names"
    return [SuitabilityCheck("secrets", "notice", said, cure)]


def core_speed_checks() -> list[SuitabilityCheck]:
    try:
        from mawl.programs.derived_job import core_speed
    except ImportError:  # library_checks() says so
        return []
    text = f"{core_speed():.2f}, where a core of the machine of the reference times has 1"
    return [SuitabilityCheck("core speed", "ok", text)]


def _memory_limit_check(limit_bytes: int, needed: Needs) -> SuitabilityCheck:
    return memory_limit_check(limit_bytes, needed.memory_bytes, needed.memory_basis, larger_limit(needed))


def space_checks(
    directories: Mapping[Role, Sequence[Path]], needed: Needs, order: VolumeOrder = "rotation"
) -> list[SuitabilityCheck]:
    """One line for each file system under the roles, and one for each directory that cannot be used."""
    checks = []
    by_free_space = order == "free-space"
    systems = file_systems(directories, needed.space_bytes, by_free_space=by_free_space)
    for system in [
        *systems,
        *ephemeral_storage(directories, needed.space_bytes, by_free_space=by_free_space),
    ]:
        for directory in system.unwritable:
            cure = "name a writable directory with --data, --work or --util"
            checks.append(
                SuitabilityCheck("space", "problem", f"{directory} cannot be made or written", cure)
            )
        checks.append(_space_check(system, present_inputs(directories, needed)))
    cure = "name directories without mounts below them"
    checks += [SuitabilityCheck("mounts", "notice", mount, cure) for mount in mounts_below(directories)]
    return checks


def present_inputs(directories: Mapping[Role, Sequence[Path]], needed: Needs) -> int:
    """Bytes of input tables that lie under data, at most as many as the plan reads.

    Whether they are the right ones only their manifests tell, which `mawl generate` reads.
    """
    held = sum(
        file.stat().st_size
        for volume in directories["data"]
        for file in (volume / INPUTS).rglob("*")
        if file.is_file()
    )
    return min(held, sum(table.bytes for table in needed.tables))


def _space_check(system: FileSystem, present_bytes: int) -> SuitabilityCheck:
    roles = " and ".join(
        [", ".join(system.roles[:-1]), system.roles[-1]] if system.roles[1:] else system.roles
    )
    kind = f" ({system.kind})" if system.kind else ""
    text = f"{roles}: {format_bytes(system.free_bytes)} free{kind} under {', '.join(system.directories)}"
    if system.needed_bytes is not None:
        text += f", {format_bytes(system.needed_bytes)} needed"
        present = present_bytes if "data" in system.roles else 0
        if system.needed_bytes - present > system.free_bytes:
            names = ", ".join(f"--{role}" for role in system.roles)
            cure = f"free space, choose a smaller --scale or other {names}"
            return SuitabilityCheck(
                "space", "problem", text, EPHEMERAL_CURE if system.kind == EPHEMERAL else cure
            )
        if system.needed_bytes > system.free_bytes:
            text += f", of which {format_bytes(present)} of inputs may lie there already"
            return SuitabilityCheck("space", "notice", text, "mawl generate says for certain")
    if system.kind in MEMORY_FILE_SYSTEMS:
        cure = "name directories on a disk to measure one"
        return SuitabilityCheck("space", "notice", f"{text}, which is memory and no device", cure)
    return SuitabilityCheck("space", "ok", text)


def as_text(machine: Machine, checks: Sequence[SuitabilityCheck]) -> str:
    size = "unknown memory" if machine.memory_bytes is None else format_memory(machine.memory_bytes)
    lines = [
        f"mawl {__version__} on {machine.name}: {machine.cpu_model or 'unknown CPU'}, "
        f"{machine.cores} x {machine.core_basis}, {size}, Linux {machine.kernel}",
        "",
    ]
    width = max(len(check.name) for check in checks)
    for check in checks:
        cure = f"; {check.cure}" if check.cure else ""
        lines.append(f"{check.status:<7}  {check.name:<{width}}  {check.text}{cure}")
    return "\n".join([*lines, "", _SENTENCES[worst_status(checks)]])


def as_json(machine: Machine, checks: Sequence[SuitabilityCheck]) -> DoctorAnswer:
    facts = {name: getattr(machine, name) for name in (*machine.__struct_fields__, "cores")}
    return DoctorAnswer(
        mawl_version=__version__,
        status=worst_status(checks),
        checks=list(checks),
        machine=DoctorMachine(**facts),
    )


VERBS = {"doctor": Verb(DoctorArguments, run, grouped=True)}
