"""Makes a run on this machine, from the checks of its spec to its run folder.

Makes one run as its spec asks: on this machine or on several nodes.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from mawl.base.units import format_seconds
from mawl.campaigns.qualify.model import duration_of
from mawl.commands.arguments import volumes_of
from mawl.commands.earlier_runs import Peaks, SoloTimes
from mawl.commands.plan import as_json, as_text, asked_by_jobs, inputs_with_progress
from mawl.commands.progress import view
from mawl.commands.terminal import width_for
from mawl.importers.probe_files import load_probe, on_node
from mawl.measure.machine import read_machine
from mawl.measure.space import in_memory_bytes
from mawl.plan.environment import with_values
from mawl.plan.mix import job_kinds, solo_plan
from mawl.plan.needs import Needs
from mawl.plan.run_plan import parse_cores, plan_of, reference_of
from mawl.plan.workload import Plan
from mawl.programs.datagen.workers import usual_processes
from mawl.records.model.probe import Probe
from mawl.records.model.run import Alone, RunFacts
from mawl.records.spec.run_spec import RunSpec
from mawl.records.store.files import PROBE, lies_in
from mawl.records.store.side_files import write_probe
from mawl.records.volumes import Volumes
from mawl.run.runner.facts import Inputs, check_space
from mawl.run.runner.preparation import check_memory, core_speed_for, free_space, load_before
from mawl.run.runner.request import RunRequest
from mawl.run.runner.run import run_plan

QUIET_SECONDS = 10.0
"""Without a job for longer than this, a person would take the run for stuck."""


def show_plan(spec: RunSpec, *, for_scripts: bool) -> None:
    """``--dry-run``: check what a run needs and print its plan, as JSON ``for_scripts``; nothing is made."""
    plan = plan_of(spec)
    reference_of(plan, None if spec.reference is None else Path(spec.reference))
    needed = Peaks(plan, spec).needs(plan)
    if spec.nodes is None:
        _limits(spec)
        _check_memory(needed, spec)
    asked = asked_by_jobs(plan)
    if for_scripts:
        print(as_json(plan, needed, asked, duration_of(plan, Path(spec.runs))))
    else:
        print(as_text(plan, needed, asked, width_for(None)))


def run_here(spec: RunSpec, command: Sequence[str]) -> tuple[Path, RunFacts]:
    """Make the inputs, run; the run folder and its facts, whatever became of the run.

    ``command`` is what a person typed, or would type.  Raises MawlError where the run cannot begin.
    """
    cpus, probed = _limits(spec)
    plan, runs = with_values(plan_of(spec), spec.workload, os.environ), Path(spec.runs)
    file = None if spec.reference is None else Path(spec.reference)
    reference, reference_seconds = reference_of(plan, file)
    peaks = Peaks(plan, spec)
    needed = peaks.needs(plan)
    # With --solo each program runs alone first; the check of the whole plan then has measured peaks.
    _check_memory(peaks.needs(solo_plan(plan, job_kinds(plan))) if spec.solo else needed, spec)
    volumes = volumes_of(spec)
    volumes.ensure()
    check_space(plan, needed, volumes, spec.volume_order)
    run_id = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{plan.workload}-{secrets.token_hex(2)}"
    folder = Path(spec.output) if spec.output else runs / run_id
    processes = spec.processes or usual_processes(cpus)
    inputs = inputs_with_progress(plan, volumes, needed, order=spec.volume_order, processes=processes)
    request = RunRequest(
        run_id=run_id,
        folder=folder.absolute(),
        plan=plan,
        inputs=inputs.directories,
        spec=spec,
        cpus=cpus,
        core_speed=core_speed_for(plan),
        reference=reference,
        reference_seconds=reference_seconds,
    )
    alone_times: tuple[Alone, ...] = ()
    if spec.solo:
        times = SoloTimes(request, volumes, runs, read_machine())
        alone = times.measure(lambda solo: _carry(solo, volumes, inputs, None, command, peaks))
        alone_times = times.alone()
        if alone is not None and alone.outcome == "interrupted":
            return folder, alone
        _check_memory(peaks.needs(plan), spec)
    if (notice := wait_notice(plan)) is not None:
        print(notice, file=sys.stderr)
    facts = _carry(
        msgspec.structs.replace(
            request,
            alone=alone_times,
            load_before=load_before(),
            free_space=free_space(volumes, needed, spec.volume_order),
        ),
        volumes,
        inputs,
        runs if lies_in(folder, runs) else None,
        command,
        peaks,
    )
    if probed is not None:
        write_probe(folder / PROBE, on_node(probed, facts.nodes[0].name) if facts.nodes else probed)
    return folder, facts


def wait_notice(plan: Plan) -> str | None:
    """A sentence where no job starts for some time: a night whose window begins before its first job, say."""
    if plan.first_start_seconds <= QUIET_SECONDS:
        return None
    wait = format_seconds(plan.first_start_seconds)
    clock = "; --arrivals closed ignores the clock" if any(job.derived for job in plan.jobs()) else ""
    return f"notice: the first job of {plan.workload} starts {wait} into the run{clock}"


def _limits(spec: RunSpec) -> tuple[tuple[int, ...] | None, Probe | None]:
    cpus = parse_cores(spec.cores) if spec.cores else None
    return cpus, load_probe(Path(spec.probe)) if spec.probe else None


def _check_memory(needed: Needs, spec: RunSpec) -> None:
    by_free_space = spec.volume_order == "free-space"
    held = in_memory_bytes(volumes_of(spec).directories, needed.space_bytes, by_free_space=by_free_space)
    warning = check_memory(needed, spec.memory_limit_bytes, held)
    if warning is not None:
        print(f"warning: {warning}", file=sys.stderr)


def _carry(
    request: RunRequest,
    volumes: Volumes,
    inputs: Inputs,
    latest: Path | None,
    command: Sequence[str],
    peaks: Peaks,
) -> RunFacts:
    with contextlib.closing(view()) as watcher:
        facts = run_plan(
            request,
            volumes,
            watcher,
            command=list(command),
            generate_seconds=inputs.seconds,
            generate_cpu_seconds=inputs.cpu_seconds,
            runs=latest,
        )
    peaks.keep(request.plan, request.folder)
    return facts
