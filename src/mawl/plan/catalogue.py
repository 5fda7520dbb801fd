"""The programs that a workload can name: mawl's own with their input tables, and users' classes.

Mawl's own are data only: a declaration lies in the folder of its program and imports no engine, so that
plans, reports and simulations work without one.
"""

from __future__ import annotations

import functools
import importlib
from importlib import import_module, metadata
from typing import Any, cast, get_args

from mawl.base.errors import UsageError
from mawl.plan.columns import InputTable
from mawl.plan.command import default_name
from mawl.plan.programs import Program
from mawl.records.model.records import ProgramClass

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
