"""The keys of a workload file that make a job a command or a user's program, checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping
from pathlib import Path

import msgspec

from mawl.base.errors import InvalidFileError, UsageError
from mawl.plan.catalogue import user_entry, user_program
from mawl.plan.command import Command, default_name, located, placeholder_error
from mawl.plan.spec import CommandSpec, JobSpec

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


def check_commands(commands: Mapping[str, CommandSpec], catalogue: Container[str], where: str) -> None:
    """The names and vectors of the commands of a file, used or not.

    Raises ``InvalidFileError`` for the first that is wrong.
    """
    for name, spec in commands.items():
        if name in catalogue or name != default_name([name]):
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
            raise wrong(name, "a number above 0", f"{value:g}")
