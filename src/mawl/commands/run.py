"""Run a workload: make its inputs, run its sessions over the three roles, write a run folder, report it."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from mawl.commands.arguments import (
    add_role_arguments,
    add_volume_order_argument,
    add_workload_arguments,
    plan_of,
    settings,
    volume_order_of,
    volumes_of,
)
from mawl.commands.campaign import run_campaign
from mawl.commands.campaign_arguments import add_campaign_arguments
from mawl.commands.cluster import add_cluster_arguments, on_nodes, run_on_nodes
from mawl.commands.extras import require_programs
from mawl.commands.finished import EXIT_OF_OUTCOME, show
from mawl.commands.inputs import shown_inputs
from mawl.commands.live import view
from mawl.commands.plan import as_json, as_text
from mawl.commands.run_profile import add_profile_argument, apply_profile
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
from mawl.store.layout import PROBE
from mawl.store.probe import read_probe, write_probe
from mawl.units import parse_size
from mawl.volumes import Volumes

NAME = "run"
HELP = "run a workload and write a run folder"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``mawl run [WORKLOAD]``."""
    add_workload_arguments(parser)
    add_role_arguments(parser)
    add_volume_order_argument(parser)
    add_profile_argument(parser)
    parser.add_argument("--runs", metavar="DIR", help="where run folders go (default: ./runs)")
    parser.add_argument("--output", metavar="DIR", help="the run folder itself (default: RUNS/RUN_ID)")
    parser.add_argument(
        "--start",
        choices=("zygote", "spawn"),
        help="how jobs start: forked from a process that has the libraries imported (default), "
        "or as new interpreters, the reference mode",
    )
    parser.add_argument(
        "--on-failure",
        choices=("continue", "abort"),
        help="after a failed job: go on (default), or stop everything",
    )
    parser.add_argument("--timeout", metavar="SECONDS", type=float, help="time limit of each job")
    parser.add_argument(
        "--cores", metavar="N|LIST", help="use only N processors, or those of a list such as 0,2-5"
    )
    parser.add_argument(
        "--memory-limit",
        metavar="SIZE",
        help="memory for jobs and page cache together, held by a control group (needs the permission)",
    )
    parser.add_argument(
        "--cache",
        choices=("cold", "warm"),
        help="before the start take the input tables out of the page cache (cold: file by file, without "
        "root) or read them into it (warm); without it they stay as they are, and the report says how "
        "much of them was there",
    )
    parser.add_argument(
        "--drop-caches",
        action="store_true",
        help="with --cache cold: drop the caches of the whole machine, too (root; it disturbs others)",
    )
    parser.add_argument(
        "--solo",
        action="store_true",
        help="first run each program of the workload alone, one job at a time, as far as that is not known; "
        "with these times the report says how much the mix stretches its jobs, and whether it is carried",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="check workload, options and memory, print the plan, start nothing",
    )
    parser.add_argument(
        "--html", choices=("yes", "no"), help="whether to leave report.html in the run folder (default: yes)"
    )
    parser.add_argument(
        "--compressibility",
        choices=("yes", "no"),
        help="whether to sample what compression would save: on work and util while the jobs have them, on "
        "data afterwards; part of mawl's overhead (default: no)",
    )
    parser.add_argument(
        "--probe", metavar="FILE", help="what mawl probe kept: goes into the run folder, for its reports"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="with --dry-run: print the plan as JSON; with a campaign: its report",
    )
    add_campaign_arguments(parser)
    add_cluster_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check, make inputs, run, report; exit status by outcome."""
    campaign = run_campaign(arguments, _parse)
    if campaign is not None:
        return campaign
    apply_profile(arguments)
    if on_nodes(arguments):
        return run_on_nodes(arguments)
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
    latest = None if arguments.output else runs
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
    show(folder, chosen, html=html == "yes")
    return EXIT_OF_OUTCOME[facts.outcome]


def _parse(words: Sequence[str]) -> argparse.Namespace:
    """Arguments of this verb from words."""
    parser = argparse.ArgumentParser(prog=f"mawl {NAME}")
    add_arguments(parser)
    return parser.parse_args(words)


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
