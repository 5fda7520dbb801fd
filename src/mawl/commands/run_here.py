"""A run on this machine, from the checks of its arguments to the report on the terminal."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import sys
import time
from pathlib import Path

import msgspec

from mawl.commands.arguments import plan_of, settings, volume_order_of, volumes_of
from mawl.commands.extras import require_programs
from mawl.commands.failing import Failing, check_run
from mawl.commands.finished import EXIT_OF_OUTCOME, show
from mawl.commands.inputs import shown_inputs
from mawl.commands.live import view
from mawl.commands.plan import as_json, as_text
from mawl.commands.solo import Times
from mawl.config.settings import Settings
from mawl.errors import UsageError
from mawl.measure.machine import read_machine
from mawl.model.options import OnFailure, StartMode
from mawl.model.run import RunFacts
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.needs import Needs, needs, with_commands
from mawl.plan.workload import Plan
from mawl.runner.before import check_memory, free_space, load_before
from mawl.runner.inputs import Inputs, check_space
from mawl.runner.request import RunRequest
from mawl.runner.restrict import parse_cores
from mawl.runner.run import carry_out
from mawl.store.files import lies_in
from mawl.store.layout import PROBE
from mawl.store.probe import read_probe, write_probe
from mawl.units import parse_size
from mawl.volumes import Volumes


def run_here(arguments: argparse.Namespace, failing: Failing) -> int:
    """Check, make inputs, run, report; exit status by outcome."""
    if not arguments.dry_run:
        require_programs()
    chosen = settings()
    plan = plan_of(arguments, chosen)
    volumes = volumes_of(arguments, chosen)
    mode: StartMode = chosen.choice("start", arguments.start, ("zygote", "spawn"))
    policy: OnFailure = chosen.choice("on_failure", arguments.on_failure, ("continue", "abort"))
    html = chosen.choice("html", arguments.html, ("yes", "no"))
    sampled = chosen.choice("compressibility", arguments.compressibility, ("no", "yes")) == "yes"
    cores = chosen.optional_text("cores", arguments.cores)
    limit = chosen.optional_text("memory_limit", arguments.memory_limit)
    memory_limit = parse_size(limit) if limit else None
    cpus = parse_cores(cores) if cores else None
    if arguments.json and not arguments.dry_run:
        raise UsageError("--json goes with --dry-run", cure="for a finished run: mawl report --format json")
    if arguments.timeout is not None and not arguments.timeout > 0:
        raise UsageError(f"--timeout {arguments.timeout:g}: expected a number of seconds above 0")
    if arguments.drop_caches and arguments.cache != "cold":
        raise UsageError("--drop-caches goes with --cache cold")
    probed = read_probe(Path(arguments.probe)) if arguments.probe else None
    needed = needs(plan, CATALOGUE, spawn=mode == "spawn")
    warning = check_memory(needed, memory_limit)
    if warning is not None:
        print(f"warning: {warning}", file=sys.stderr)
    if arguments.dry_run:
        print(as_json_text(plan, needed) if arguments.json else as_text(plan, needed))
        return 0
    volumes.ensure()
    order = volume_order_of(arguments, chosen)
    check_space(plan, needed, volumes, order)
    runs = chosen.runs(arguments.runs)
    run_id = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{plan.workload}-{secrets.token_hex(2)}"
    folder = Path(arguments.output) if arguments.output else runs / run_id
    inputs = shown_inputs(plan, volumes, needed, order=order, processes=_processes(chosen, cpus))
    request = RunRequest(
        run_id=run_id,
        folder=folder.absolute(),
        plan=plan,
        catalogue=with_commands(plan, CATALOGUE),
        inputs=inputs.directories,
        start_mode=mode,
        on_failure=policy,
        cpus=cpus,
        memory_limit_bytes=memory_limit,
        timeout_seconds=arguments.timeout,
        volume_order=order,
        cache=arguments.cache,
        drop_caches=arguments.drop_caches,
        compressibility=sampled,
    )
    latest = runs if lies_in(folder, runs) else None
    times = Times(request, volumes, runs, read_machine())
    if arguments.solo:
        alone = times.measure(lambda solo: _carry(solo, volumes, inputs, None))
        if alone is not None and alone.outcome == "interrupted":
            return EXIT_OF_OUTCOME["interrupted"]
    facts = _carry(
        msgspec.structs.replace(
            request,
            alone=times.alone(),
            load_before=load_before(),
            free_space=free_space(volumes, needed, order),
        ),
        volumes,
        inputs,
        latest,
    )
    if probed is not None:
        write_probe(folder / PROBE, probed)
    try:
        summary = show(folder, chosen, html=html == "yes")
        sys.stdout.flush()
    except OSError:
        if facts.outcome == "completed":
            raise
        # The terminal may be gone, and with it who stopped the run: its outcome is what counts.
        return EXIT_OF_OUTCOME[facts.outcome]
    return check_run(failing, summary, EXIT_OF_OUTCOME[facts.outcome])


def _carry(request: RunRequest, volumes: Volumes, inputs: Inputs, latest: Path | None) -> RunFacts:
    """Carry a request out and show how far it is; ``latest`` is where the link to the newest run goes."""
    with contextlib.closing(view()) as watcher:
        return carry_out(
            request,
            volumes,
            watcher,
            command=sys.argv,
            generate_seconds=inputs.seconds,
            generate_cpu_seconds=inputs.cpu_seconds,
            runs=latest,
        )


def as_json_text(plan: Plan, needed: Needs) -> str:
    """The plan as JSON text."""
    return json.dumps(as_json(plan, needed), indent=2)


def _processes(chosen: Settings, cpus: tuple[int, ...] | None) -> int:
    """Processes that make inputs: as many as processors the run may use, unless set."""
    usable = len(cpus or os.sched_getaffinity(0))
    return chosen.whole("processes", None, usable, 1, 1024)
