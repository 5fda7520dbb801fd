"""Build the input tables that a workload reads, or check those that are there."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from pathlib import Path
from typing import Any, TextIO

import msgspec

from mawl.base.units import format_bytes, format_seconds
from mawl.commands.arguments import JSON, WorkloadArguments, spec_of_arguments, volumes_of
from mawl.commands.verbs import Verb, option, options_of_run
from mawl.plan.needs import Needs, needs
from mawl.plan.output import write_plan
from mawl.plan.run_plan import plan_of
from mawl.plan.workload import Plan
from mawl.programs.datagen.generate import GenerationProgress, Status
from mawl.programs.datagen.workers import usual_processes
from mawl.records.spec.program_options import ROLES, VolumeOrder
from mawl.records.spec.run_spec import RunSpec
from mawl.records.store.output import write_output
from mawl.records.volumes import Volumes
from mawl.run.runner.facts import Inputs, make_inputs


class GeneratedTable(msgspec.Struct, frozen=True, kw_only=True):
    """An input table as ``--json`` prints it; ``bytes`` are those of its files."""

    table: str
    replica: int
    rows: int
    bytes: int
    status: Status
    directory: str


class GeneratedInputs(msgspec.Struct, frozen=True, kw_only=True):
    """All input tables, and how long it took to make or check them."""

    seconds: float
    tables: list[GeneratedTable]


class GenerateArguments(WorkloadArguments):
    """Build the input tables that a workload reads, or check those that are there."""

    roles: Any = options_of_run(*ROLES, "volume_order")
    processes: str | None = option("N", "processes that build (default: one a core)")
    output: str | None = option(
        "FILE", "also write the plan as a workload file with these directories: mawl run FILE runs it"
    )
    json: bool = JSON


def run(arguments: GenerateArguments) -> int:
    """Build what is missing, continue what was cut short, verify what is finished, repair the rest."""
    spec = spec_of_arguments(arguments, leave=("output",))
    inputs = generate_inputs(spec)
    if arguments.output is not None:
        write_plan(Path(arguments.output), plan_of(spec), spec, write_output)
    rows = [
        GeneratedTable(
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
        print(json.dumps(msgspec.to_builtins(GeneratedInputs(seconds=inputs.seconds, tables=rows)), indent=2))
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
        needs(plan),
        order=spec.volume_order,
        processes=spec.processes or usual_processes(),
        verify=True,
    )


def inputs_with_progress(
    plan: Plan,
    volumes: Volumes,
    needed: Needs,
    *,
    order: VolumeOrder,
    processes: int,
    verify: bool = False,
) -> Inputs:
    """``make_inputs``, and how far it is on standard error."""
    with contextlib.closing(_View(sys.stderr)) as view:
        return make_inputs(
            plan, volumes, needed, order=order, processes=processes, verify=verify, progress=view.show
        )


class _View:
    """Progress of a generation: a rewritten line on a terminal, a plain line every 5 s elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._terminal = stream.isatty()
        self._next = time.monotonic() + (0.2 if self._terminal else 5.0)

    def show(self, progress: GenerationProgress) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (0.2 if self._terminal else 5.0)
        text = (
            f"{'checking' if progress.checking else 'generating'} {progress.table}: "
            f"{format_bytes(progress.done_bytes)} of {format_bytes(progress.total_bytes)}"
        )
        self._write(f"\r\x1b[K{text}" if self._terminal else f"{text}\n")

    def close(self) -> None:
        if self._terminal:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # a terminal that is gone ends no run
            self._stream.write(text)
            self._stream.flush()


VERBS = {
    "generate": Verb(GenerateArguments, run),
}
