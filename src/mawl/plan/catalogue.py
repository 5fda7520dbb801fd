"""The programs that a workload can name: mawl's own with their input tables, users' classes, and commands.

Mawl's own are data only: a declaration lies in the folder of its program and imports no engine, so that
plans, reports and simulations work without one.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Literal, cast, get_args

import msgspec

from mawl.base.errors import UsageError
from mawl.plan.columns import InputTable
from mawl.plan.programs import Program
from mawl.records.model.records import ProgramClass

LogFormat = Literal["sas"]

PLACEHOLDERS: dict[str, str] = {
    "work": "the job's own empty directory under work, removed when it ends; of several volumes the next "
    "in turn; where the command starts",
    "util": "the same under util",
    "data": "the directory of the role data itself, where permanent inputs lie; of several the next in turn",
    "results": "the job's own directory under data; what is in it stays",
    "here": "the directory of the workload file",
    "log": "the file that takes the command's output; it stays in the run folder",
    "memsize": "memory of the job in bytes, at this scale",
    "memsize_mib": "the same in whole MiB",
    "sortsize": "memory of a sort in bytes, at this scale",
    "sortsize_mib": "the same in whole MiB",
    "bufsize": "size of a sequential request in bytes",
    "bufsize_kib": "the same in whole KiB",
    "cpucount": "threads of the job",
    "scale": "the job's scale, 1 for full",
    "seed": "the seed of the plan",
    "replica": "a number that no two sessions share, from 1",
    "session": "the session's name",
    "stage": "the number of the stage, from 1",
    "job": "the job's name",
    "run_id": "the run's id",
}
"""Every placeholder, and what stands in its place; ``{{`` and ``}}`` are braces."""

_BRACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A command, its placeholders not yet filled: argument vectors, no shell.

    ``environment`` has names and values; None is a value that the plan does not hold (``plan.environment``).
    ``log`` is where the command writes its own log (None: its output), read for steps in ``log_format``.
    ``cpu_seconds`` are what it takes alone on a core of ``core_speed``, None where the file does not say it.
    Exit codes other than ``success_exit_codes`` and a check that ends with another status than 0 are
    failures.
    """

    argv: tuple[str, ...]
    check: tuple[str, ...] = ()
    environment: tuple[tuple[str, str | None], ...] = ()
    success_exit_codes: tuple[int, ...] = (0,)
    log: str | None = None
    log_format: LogFormat | None = None
    cpu_seconds: float | None = None
    core_speed: float = 1.0

    def texts(self) -> dict[str, str]:
        """Every text that may hold placeholders, by its key in a workload file."""
        return {
            **{f"command[{number}]": text for number, text in enumerate(self.argv)},
            **{f"check[{number}]": text for number, text in enumerate(self.check)},
            **{f"environment.{name}": text for name, text in self.environment if text is not None},
            **({} if self.log is None else {"log": self.log}),
        }


def default_name(argv: Sequence[str]) -> str:
    """What a command's jobs are called in tables: the name of its file, as far as names may go."""
    name = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in Path(argv[0]).name)
    return name.strip("-_.")[:80] or "command"


def placeholder_error(text: str) -> tuple[str, str] | None:
    """What was expected and what was found where a text has a brace that is no placeholder; else None."""
    for match in _BRACE.finditer(text):
        if match[0] in ("{{", "}}") or match[1] in PLACEHOLDERS:
            continue
        found = repr(match[0]) + (" alone" if match[1] is None else "")
        return f"one of {', '.join(PLACEHOLDERS)} in braces, or {{{{ and }}}} for braces", found
    return None


def filled(command: Command, values: Mapping[str, str]) -> Command:
    """A command as it starts: every placeholder replaced.  KeyError for one without a value."""

    def whole(text: str) -> str:
        return _BRACE.sub(lambda match: match[0][0] if match[1] is None else values[match[1]], text)

    return _changed(command, whole)


def located(command: Command, here: Path) -> Command:
    """A command with ``{here}`` replaced, so that it means the same from any other file."""
    place = literal(str(here.absolute()))
    return _changed(command, lambda text: _BRACE.sub(lambda one: place if one[1] == "here" else one[0], text))


def literal(text: str) -> str:
    """A text in which no brace means a placeholder."""
    return text.replace("{", "{{").replace("}", "}}")


def _changed(command: Command, change: Callable[[str], str]) -> Command:
    return msgspec.structs.replace(
        command,
        argv=tuple(map(change, command.argv)),
        check=tuple(map(change, command.check)),
        environment=tuple(
            (name, None if text is None else change(text)) for name, text in command.environment
        ),
        log=None if command.log is None else change(command.log),
    )


def command_program(name: str, program_class: ProgramClass) -> Program:
    """What the catalogue would say of a command: its name and class, and that nothing else is declared."""
    return Program(
        name=name,
        program_class=program_class,
        title="a command of the workload file",
        temporaries=(),
        steps=(),
        size_knob="not declared",
        check="the command's own, where it has one",
        modules=(),
        own_cpu_seconds=0.0,
        memory_floor_bytes=0,
        memory_per_memsize=1.0,
        is_declared=False,
    )


_DECLARATIONS = (
    "census_load",
    "census_query",
    "wide_sort",
    "dimension_load",
    "random_access",
    "customer_profile",
    "ledger_update",
    "stress_projection",
    "pension_cube",
    "stepwise_selection",
    "gee_repeated",
    "mixed_model",
    "survey_logistic",
    "factorial_design",
    "tree_ensemble",
    "segmentation",
    "forecasting",
    "text_topics",
    "portfolio_optimization",
)
"""The modules of ``programs/declarations``, in the order of reports."""

CATALOGUE: dict[str, Program] = {
    program.name: program
    for name in _DECLARATIONS
    for program in vars(import_module(f"mawl.programs.declarations.{name}")).values()
    if isinstance(program, Program)
}
INPUTS: dict[str, InputTable] = {
    table.name: table for program in CATALOGUE.values() for table in program.inputs
}


ENTRY_POINT_GROUP = "mawl.programs"
"""The entry points of installed packages that are programs."""

_CONTRACT = "a class with name, program_class, inputs (names of mawl's tables, may be empty) and run(context)"


def user_entry(program: str) -> str | None:
    """``module:Class`` of a program that is none of the catalogue's; None where nothing is called so."""
    if ":" in program:
        return program
    return next((point.value for point in metadata.entry_points(group=ENTRY_POINT_GROUP, name=program)), None)


def load_class(entry: str) -> Any:
    """The class behind ``module:Class``.

    Raises ``UsageError`` where it cannot be imported or is not there.
    """
    module, _, name = entry.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(
            f"the program {entry} cannot be imported",
            why=str(error),
            cure="install its package where mawl is installed, or put its directory on PYTHONPATH",
        ) from None


@functools.cache
def user_program(entry: str) -> Program:
    """The declaration of a user's program: name, class and inputs; bytes and space are not declared.

    Raises ``UsageError`` where the class does not keep the contract.
    """
    found = load_class(entry)
    name = getattr(found, "name", None)
    kind = getattr(found, "program_class", None)
    inputs = getattr(found, "inputs", ())
    wrong = None
    if not isinstance(name, str) or name != default_name([name or "."]):
        wrong = f"name {name!r}"
    elif kind not in get_args(ProgramClass):
        wrong = f"program_class {kind!r}"
    elif isinstance(inputs, str) or not set(inputs) <= set(INPUTS):
        wrong = f"inputs {inputs!r}"
    elif not callable(getattr(found, "run", None)):
        wrong = "no run"
    if wrong is not None:
        raise UsageError(f"the program {entry} keeps no contract", why=f"expected {_CONTRACT}, found {wrong}")
    return Program(
        name=cast(str, name),
        program_class=cast(ProgramClass, kind),
        title=f"a program of a user, {entry}",
        inputs=tuple(INPUTS[table] for table in inputs),
        temporaries=(),
        steps=(),
        size_knob="not declared",
        check="its own",
        modules=(entry.partition(":")[0],),
        own_cpu_seconds=0.0,
        memory_floor_bytes=0,
        memory_per_memsize=1.0,
        is_declared=False,
    )
