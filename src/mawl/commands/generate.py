"""Build the input tables that a workload reads, or check those that are there."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import msgspec

from mawl.base.units import format_bytes, format_seconds
from mawl.commands.arguments import (
    add_options,
    add_role_arguments,
    add_workload_arguments,
    spec_of_arguments,
    volumes_of,
)
from mawl.commands.inputs import inputs_with_progress
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.needs import needs
from mawl.plan.output import write_plan
from mawl.plan.run_plan import plan_of
from mawl.programs.datagen.generate import Status
from mawl.programs.datagen.workers import usual_processes
from mawl.records.spec.run_spec import RunSpec
from mawl.records.store.output import write_output
from mawl.run.runner.facts import Inputs

NAME = "generate"
HELP = "build or check the input tables that a workload reads"


class MadeTable(msgspec.Struct, frozen=True, kw_only=True):
    """An input table as ``--json`` prints it; ``bytes`` are those of its files."""

    table: str
    replica: int
    rows: int
    bytes: int
    status: Status
    directory: str


class InputsFound(msgspec.Struct, frozen=True, kw_only=True):
    """All input tables, and how long it took to make or check them."""

    seconds: float
    tables: list[MadeTable]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_workload_arguments(parser)
    add_role_arguments(parser)
    add_options(parser, "volume_order")
    parser.add_argument("--processes", metavar="N", help="processes that build (default: one a core)")
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="also write the plan as a workload file with these directories: mawl run FILE runs it",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Build what is missing, continue what was cut short, verify what is finished, repair the rest."""
    spec = spec_of_arguments(arguments, leave=("output",))
    inputs = generate_inputs(spec)
    if arguments.output is not None:
        write_plan(Path(arguments.output), plan_of(spec), spec, write_output)
    rows = [
        MadeTable(
            table=made.request.table,
            replica=made.request.replica,
            rows=made.manifest.rows,
            bytes=made.manifest.bytes,
            status=made.status,
            directory=str(made.directory),
        )
        for made in inputs.generated
    ]
    if arguments.json:
        print(json.dumps(msgspec.to_builtins(InputsFound(seconds=inputs.seconds, tables=rows)), indent=2))
        return 0
    for made in inputs.generated:
        request = made.request
        print(
            f"{made.status:<9} {request.table:<14} replica {request.replica:<3} "
            f"{format_bytes(made.manifest.bytes):>9}  {made.directory}"
        )
    total = format_bytes(sum(made.manifest.bytes for made in inputs.generated))
    print(f"{len(rows)} tables, {total}, {format_seconds(inputs.seconds)}")
    return 0


def generate_inputs(spec: RunSpec) -> Inputs:
    """The inputs that a spec's workload reads, made or checked."""
    plan, volumes = plan_of(spec), volumes_of(spec)
    volumes.ensure("data")
    return inputs_with_progress(
        plan,
        volumes,
        needs(plan, CATALOGUE),
        order=spec.volume_order,
        processes=spec.processes or usual_processes(),
        verify=True,
    )
