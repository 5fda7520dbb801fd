"""What a workload is and will need (sessions, bytes, space, memory), and the input tables that it reads."""

from __future__ import annotations

import contextlib
import json
import sys
import textwrap
import time
from pathlib import Path
from typing import Any, TextIO

import msgspec

from mawl.base.units import format_bytes, format_memory, format_percent, format_plain, format_seconds
from mawl.campaigns.qualify.model import Duration, duration_of
from mawl.commands.arguments import JSON, WorkloadArguments, spec_of_arguments, volumes_of
from mawl.commands.cluster_run import show_check
from mawl.commands.doctor import present_inputs
from mawl.commands.earlier_runs import Peaks
from mawl.commands.terminal import width_for
from mawl.commands.verbs import Verb, option, options_of_run, switch
from mawl.measure.space import EPHEMERAL, EPHEMERAL_CURE, FileSystem, ephemeral_storage
from mawl.plan.mix import is_of_catalogue
from mawl.plan.needs import Demand, JobSeconds, Needs, asked_per_cpu_second, needs
from mawl.plan.output import printed_plan, write_plan
from mawl.plan.programs import Direction, reference_times
from mawl.plan.run_plan import plan_of
from mawl.plan.spec import scale_name
from mawl.plan.workload import Plan
from mawl.programs.datagen.generate import GenerationProgress, Status
from mawl.programs.datagen.workers import usual_processes
from mawl.records.spec.program_options import ROLES, VolumeOrder
from mawl.records.spec.run_spec import RunSpec
from mawl.records.spec.sources import NODE_OPTIONS, OPTIONS
from mawl.records.store.output import write_output
from mawl.records.volumes import Volumes
from mawl.reports.layout import LINE_WIDTH, wrapped
from mawl.reports.run_lines import scale_text
from mawl.run.runner.facts import Inputs, make_inputs
from mawl.run.runner.preparation import larger_limit


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


def run_generate(arguments: GenerateArguments) -> int:
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


class PlanArguments(WorkloadArguments):
    """Show what a workload is and what it will need: sessions, stages, jobs, bytes, space and memory."""

    run_options: Any = options_of_run(
        *(field for field, option in OPTIONS.items() if "plan" in option.places), "runs", *NODE_OPTIONS
    )
    output: str | None = option(
        "FILE",
        "write the plan as a workload file with these options of its run: mawl run FILE runs it",
        group="result",
    )
    json: bool = switch("print one JSON object", group="result")


def run_plan(arguments: PlanArguments) -> int:
    spec = spec_of_arguments(arguments, leave=("output",))
    plan = plan_of(spec)
    if arguments.output is not None:
        write_plan(Path(arguments.output), plan, spec, write_output)
    needed, limit = Peaks(plan, spec).needs(plan), spec.memory_limit_bytes
    asked, duration = asked_by_jobs(plan), duration_of(plan, Path(spec.runs))
    if arguments.json:
        print(as_json(plan, needed, asked, duration))
        return 0
    width = width_for(None)
    print(as_text(plan, needed, asked, width))
    known = "not known" if duration.seconds is None else f"about {format_seconds(duration.seconds)}"
    texts = [f"time from the first job to the last: {known}", f"  {duration.basis}"]
    if limit is not None:
        said = "is enough" if limit >= needed.memory_bytes else f"is too small: {larger_limit(needed)}"
        texts.append(f"--memory-limit {format_memory(limit)} {said}.")
    directories = volumes_of(spec).directories
    for storage in ephemeral_storage(
        directories, needed.space_bytes, by_free_space=spec.volume_order == "free-space"
    ):
        texts += in_pod(storage, present_inputs(directories, needed)).splitlines()
    print("\n".join(line for text in texts for line in wrapped(text, width, "  ")))
    if spec.nodes is None:
        return 0
    print()
    return show_check(spec, spec.nodes)


def in_pod(storage: FileSystem, present_bytes: int) -> str:
    """Whether what the plan puts into the ephemeral storage of this pod fits there.

    ``present_bytes`` of input tables may lie there already: these are in the need, and no longer free.
    """
    needed = storage.needed_bytes or 0
    present = present_bytes if "data" in storage.roles else 0
    said = "is enough" if needed - present <= storage.free_bytes else f"is too little: {EPHEMERAL_CURE}"
    if needed > storage.free_bytes >= needed - present:
        said += f" if the {format_bytes(present)} of inputs that lie there are those of this plan"
    return (
        f"{EPHEMERAL}: {format_bytes(storage.free_bytes)} free, {format_bytes(needed)} needed for "
        f"{', '.join(storage.roles)}\n  {said}"
    )


def asked_by_jobs(plan: Plan) -> Demand:
    """What the jobs of the catalogue ask for each second of their reference times."""
    table = reference_times()
    least, most = (format_plain(table.knots[end].scale) for end in (0, -1))
    seconds = JobSeconds(
        lambda program, job: program.cpu_seconds(job.scale) if is_of_catalogue(job) else None,
        "by reference times: the CPU seconds that each job took alone with the default options on "
        f"{table.machine}; measured at scales {least} to {most}, extrapolated outside them",
    )
    return asked_per_cpu_second(plan, seconds)


def as_json(plan: Plan, needed: Needs, asked: Demand, duration: Duration) -> str:
    """The plan for scripts."""
    printed = printed_plan(
        plan, needed, asked, elapsed_seconds=duration.seconds, elapsed_basis=duration.basis
    )
    return json.dumps(msgspec.to_builtins(printed), indent=2)


def as_text(plan: Plan, needed: Needs, asked: Demand, width: int = LINE_WIDTH) -> str:
    """The plan for people, in lines of ``width``; a job's name is never broken."""
    jobs = list(plan.jobs())
    head = [
        f"{plan.workload}: {plan.title}" if plan.title else plan.workload,
        f"scale {scale_text(scale_name(plan.scale), plan.scale)}, seed {plan.seed}, "
        f"inputs that zstd-1 shrinks by {format_percent(plan.saving)}",
        f"{len(plan.sessions)} sessions, {len(jobs)} jobs, {plan.gate_jobs} released together, "
        f"at most {plan.peak_concurrent} side by side",
    ]
    lines = [line for text in head for line in wrapped(text, width, "  ")]
    lines += [
        "",
        *wrapped(
            "Sessions (| parts stages, + jobs side by side, #n the replica of the inputs"
            + (", * jobs that trail out)" if any(job.trail_out for job in jobs) else ")"),
            width,
            "  ",
        ),
    ]
    names = max(len(session.name) for session in plan.sessions)
    for session in plan.sessions:
        stages = " | ".join(
            " + ".join(f"{job.program}#{job.replica}" + ("*" if job.trail_out else "") for job in stage)
            for stage in session.stages
        )
        lines += textwrap.wrap(
            stages,
            width,
            initial_indent=f"  {session.name:<{names}}  ",
            subsequent_indent=" " * (names + 6),
            break_long_words=False,
            break_on_hyphens=False,
        )
    lines += ["", f"{'Role':<6} {'reads':>10} {'writes':>10} {'space':>10} {'requests':>12} {'random':>12}"]
    for role in ROLES:
        moved = needed.moved[role]
        sizes = (moved["read"], moved["written"], needed.space_bytes[role])
        shown = [format_bytes(size) if needed.declared_jobs else "-" for size in sizes]
        requests = needed.requests[role]["read"] + needed.requests[role]["written"]
        counts = (requests.sequential + requests.random, requests.random)
        shown_counts = [f"{count:,}" if needed.declared_jobs else "-" for count in counts]
        lines.append(
            f"{role:<6} "
            + " ".join([f"{text:>10}" for text in shown] + [f"{text:>12}" for text in shown_counts])
        )
    lines += ["", *_asked_lines(asked, width)]
    ends = [
        f"memory for the jobs side by side and the launcher: {format_memory(needed.memory_bytes)} "
        f"({needed.memory_basis})",
        "Reads and writes are application bytes as the programs declare them; space has a margin of 5 %.",
    ]
    if needed.undeclared:
        names_left = ", ".join(needed.undeclared)
        ends.append(f"Not declared, and in no figure but memory (their memsize): {names_left}.")
    return "\n".join([*lines, "", *(line for text in ends for line in wrapped(text, width, "  "))])


def _asked_lines(asked: Demand, width: int) -> list[str]:
    """What the jobs ask of each role for a second of their CPU time, and by which CPU seconds."""
    if asked.by_role is None:
        return wrapped(f"For each CPU second: not known ({asked.basis}).", width, "  ")
    every = asked.by_role.values()
    total: dict[Direction, float] = {way: sum(ways[way] for ways in every) for way in ("read", "written")}
    rows = [*asked.by_role.items(), ("all", total)]
    return [
        f"{'For each CPU second':<20} {'reads':>10} {'writes':>10}",
        *(
            f"{role:<20} {format_bytes(ways['read']):>10} {format_bytes(ways['written']):>10}"
            for role, ways in rows
        ),
        *wrapped(f"Together {format_bytes(sum(total.values()))}, {asked.basis}.", width, "  "),
    ]


VERBS = {
    "generate": Verb(GenerateArguments, run_generate),
    "plan": Verb(PlanArguments, run_plan, grouped=True),
}
