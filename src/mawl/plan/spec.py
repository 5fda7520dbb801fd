"""What a workload file may say: sessions of stages of jobs, their scale and memory, and commands."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping
from pathlib import Path

import msgspec

from mawl.base.errors import InvalidFileError, UsageError
from mawl.base.units import format_plain
from mawl.plan.catalogue import (
    CATALOGUE,
    Command,
    LogFormat,
    default_name,
    located,
    placeholder_error,
    user_entry,
    user_program,
)
from mawl.records.model.records import ProgramClass
from mawl.records.spec.program_options import MIB, Options
from mawl.records.spec.sources import RunOfPlan


class CommandSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A command in a workload file (``Command``); ``program_class`` is for tables.

    ``environment_names`` are variables whose values the file does not hold: the plan of a run has all of a
    command there, with a digest of their values.
    """

    command: list[str] | None = None
    check: list[str] = []
    environment: dict[str, str] = {}
    environment_names: list[str] = []
    environment_digest: str | None = None
    success_exit_codes: list[int] = msgspec.field(default_factory=lambda: [0])
    log: str | None = None
    log_format: LogFormat | None = None
    cpu_seconds: float | None = None
    core_speed: float = 1.0
    program_class: ProgramClass | None = None


class JobSpec(CommandSpec, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job in a workload file; the short form is the program's name alone.

    With ``command`` any other program: ``program`` is then what its jobs are called in tables.
    ``size`` multiplies the scale for this job; ``after`` names jobs that must have ended well;
    ``start_delay_seconds`` counts from the moment its stage opens.
    """

    program: str | None = None
    name: str | None = None
    replica: int | None = None
    size: float = 1.0
    options: dict[str, int | str | bool] = {}
    after: list[str] = []
    start_delay_seconds: float = 0.0
    timeout_seconds: float | None = None
    trail_out: bool = False


class SessionSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A session in a workload file: stages run one after another, the jobs of a stage side by side."""

    name: str
    stages: list[list[str | JobSpec]]
    start_delay_seconds: float = 0.0
    trail_out: bool = False


class WorkloadSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A workload file.

    ``scale`` fixes the scale (nano does), ``seed`` and ``saving`` the input tables; else the command
    line chooses.  ``scale_options = false`` gives jobs the memory options as they stand instead of
    shrinking them with the scale; the ``plan.toml`` of a run says so, and is itself a workload file.
    ``commands`` are named here and used like programs.  ``run`` holds options of ``mawl run``, such as
    ``work`` and ``cache``: they count instead of ``mawl.toml`` and the environment, and under a profile and
    the command line.
    ``derived`` is a file of derived jobs (``records.model.derived``) beside this one, whose jobs are used
    like programs; a workload that names one and has no ``sessions`` runs them all, as they arrived.
    ``workload_file`` is, in the plan of a run, the file that has the values of ``environment_names``.
    """

    name: str
    sessions: list[SessionSpec] = []
    title: str = ""
    scale: float | None = None
    seed: int | None = None
    saving: float | None = None
    scale_options: bool = True
    options: dict[str, int | str | bool] = {}
    run: RunOfPlan | None = None
    commands: dict[str, CommandSpec] = {}
    derived: str | None = None
    workload_file: str | None = None


SCALES: dict[str, float] = {"smoke": 0.0005, "quick": 0.005, "standard": 0.05, "full": 1.0}

SMALLEST_SORTSIZE = 4 * MIB
SMALLEST_MEMSIZE = 64 * MIB


def parse_scale(text: str | float) -> float:
    """A scale factor from its name or a positive number."""
    if isinstance(text, str) and text in SCALES:
        return SCALES[text]
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= 100.0:
        known = ", ".join(f"{name} ({value:g})" for name, value in SCALES.items())
        raise UsageError(f"expected a scale ({known}) or a number above 0 and at most 100, found {text!r}")
    return value


def scale_name(scale: float) -> str:
    """The scale's name, or the number where it has none."""
    return next((name for name, value in SCALES.items() if value == scale), format_plain(scale, 6))


def shown_scale(name: str | None, scale: float | None) -> str | None:
    """The scale's name, or the factor in plain decimals if it has none; None if neither is known."""
    if name is None or name[:1].isdigit() or name[:1] == ".":
        return None if scale is None else format_plain(scale)
    return name


def scaled_options(options: Options, scale: float) -> Options:
    """The options as jobs get them at a scale.

    Memory and sort memory shrink tenfold more slowly than the inputs, down to a floor:
    at 0.1 and above they are what was asked, at ``quick`` a twentieth of it.  The input of
    wide_sort is then 17 (smoke), 54 (quick, standard) and 540 (full) times sortsize, so that its
    sorts spill at every scale; see docs/design/scales.md.
    """
    share = min(1.0, scale * 10.0)
    return msgspec.structs.replace(
        options,
        sortsize_bytes=min(
            options.sortsize_bytes, max(SMALLEST_SORTSIZE, int(options.sortsize_bytes * share))
        ),
        memsize_bytes=min(options.memsize_bytes, max(SMALLEST_MEMSIZE, int(options.memsize_bytes * share))),
    )


MOST_TEXT = 100_000
"""Characters of one argument at most; Linux takes 128 KiB (MAX_ARG_STRLEN)."""

COMMAND_KEYS = (
    "check",
    "environment",
    "environment_names",
    "environment_digest",
    "success_exit_codes",
    "log",
    "log_format",
    "cpu_seconds",
    "core_speed",
    "program_class",
)
_PLAIN = JobSpec()


def check_commands(commands: Mapping[str, CommandSpec], where: str) -> None:
    """The names and vectors of the commands of a file, used or not.

    Raises ``InvalidFileError`` for the first that is wrong.
    """
    for name, spec in commands.items():
        if name in CATALOGUE or name != default_name([name]):
            expected = "letters, digits, -, _ and ., and no program of mawl"
            raise InvalidFileError(f"key commands: expected {expected}, found {name!r}", where=where)
        if not spec.command:
            raise InvalidFileError(
                f"key commands.{name}.command: expected the command's file and its arguments, found none",
                where=where,
            )


def with_command(job: JobSpec, commands: Mapping[str, CommandSpec]) -> JobSpec:
    """A job with the keys of the command that it names; as it is where it names none or has its own."""
    if job.command is not None or job.program is None or job.program not in commands:
        return job
    given = commands[job.program]
    return msgspec.structs.replace(job, **{key: getattr(given, key) for key in given.__struct_fields__})


def checked_entry(program: str, taken: Container[str], where: str, key: str) -> str | None:
    """``module:Class`` of a user's program, its declaration checked; None where nothing is called so.

    Raises ``InvalidFileError`` where it keeps no contract or has a name that is taken.
    """
    entry = user_entry(program)
    if entry is None:
        return None
    try:
        found = user_program(entry).name
    except UsageError as error:
        raise InvalidFileError(f"key {key}.program: {error}", where=where) from None
    if found in taken:
        raise InvalidFileError(
            f"key {key}.program: expected a name that nothing else has, found {found!r} of {entry}",
            where=where,
        )
    return entry


def command_of(spec: JobSpec, where: str, key: str) -> Command | None:
    """The command of a job, None for a program; ``{here}`` is the directory of the file ``where``.

    Raises ``InvalidFileError`` naming file, key, expected and found.
    """

    def wrong(name: str, expected: str, found: str) -> InvalidFileError:
        return InvalidFileError(f"key {key}.{name}: expected {expected}, found {found}", where=where)

    if spec.command is None:
        for name in COMMAND_KEYS:
            if getattr(spec, name) != getattr(_PLAIN, name):
                raise wrong(name, "it together with a command only", "it together with a program of mawl")
        return None
    if not spec.success_exit_codes or not all(0 <= code <= 255 for code in spec.success_exit_codes):
        raise wrong("success_exit_codes", "numbers from 0 to 255", str(spec.success_exit_codes))
    command = Command(
        argv=tuple(spec.command),
        check=tuple(spec.check),
        environment=(
            *spec.environment.items(),
            *((name, None) for name in dict.fromkeys(spec.environment_names) if name not in spec.environment),
        ),
        success_exit_codes=tuple(spec.success_exit_codes),
        log=spec.log,
        log_format=spec.log_format,
        cpu_seconds=spec.cpu_seconds,
        core_speed=spec.core_speed,
    )
    _check_numbers(command, wrong)
    for name, text in command.texts().items():
        if "\0" in text or len(text) > MOST_TEXT:
            raise wrong(name, f"a text of at most {MOST_TEXT} characters without NUL", repr(text[:40]))
        if (error := placeholder_error(text)) is not None:
            raise wrong(name, *error)
    for name in (*spec.environment, *spec.environment_names):
        if not name or "=" in name or "\0" in name or name.startswith("MAWL_"):
            raise wrong("environment", "names of variables that are not mawl's own (MAWL_...)", repr(name))
    if spec.log is not None and spec.log_format is None:
        raise wrong("log", 'it together with log_format = "sas"', "no log_format")
    return located(command, Path(where).parent)


def _check_numbers(command: Command, wrong: Callable[[str, str, str], InvalidFileError]) -> None:
    for name in ("cpu_seconds", "core_speed"):
        value = getattr(command, name)
        if value is not None and not 0.0 < value < math.inf:
            raise wrong(name, "a number above 0", format_plain(value, 6))
