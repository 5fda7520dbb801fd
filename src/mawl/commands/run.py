"""Run a workload: make its inputs, run its sessions over the three roles, write a run folder, report it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from mawl.commands.arguments import add_role_arguments, add_volume_order_argument, add_workload_arguments
from mawl.commands.campaign_arguments import add_campaign_arguments, kind_of
from mawl.commands.cluster import run_on_nodes
from mawl.commands.cluster_arguments import add_cluster_arguments, on_nodes
from mawl.commands.failing import FAILING_EXIT_CODES, Failing, add_fail_on_arguments, refuse_slower
from mawl.commands.help_pages import Groups
from mawl.commands.run_profile import add_profile_argument, apply_profile
from mawl.imports import importing

NAME = "run"
HELP = "run a workload and write a run folder"
EXIT_CODES = FAILING_EXIT_CODES
GROUPS: Groups = {
    "workload": {
        "WORKLOAD": None,
        "--sessions": None,
        "--scale": None,
        "--seed": None,
        "--option": "an option of the programs, such as memsize=512M or cpucount=2; may be repeated",
    },
    "places": {
        "--data": "input tables and results (default: ./mawl-data)",
        "--work": "temporary tables (default: ./mawl-work)",
        "--util": "sort and spill files (default: ./mawl-util)",
        "--runs": None,
        "--output": None,
    },
    "limits": {
        "--cores": None,
        "--memory-limit": "memory for jobs and page cache together",
        "--timeout": None,
        "--cache": "what the page cache holds of the files; none: the storage serves every request",
    },
    "start": {
        "--solo": "first time each program alone in three runs, to say what the mix costs",
        "--dry-run": None,
        "--probe": None,
    },
    "campaign": {
        "--repeat": "the same run N times, with median, range and interval",
        "--ab": "A against B in the order A B B A, then compared",
        "--find-sessions": "the largest number of sessions that is carried",
        "--continue": "go on with a campaign that was cut short",
    },
    "nodes": {
        "--ssh": "run on these hosts, which are started over ssh",
        "--cluster": "run on every worker of a Dask cluster",
        "--scaling": "a campaign: the run on the first 1, 2, 4 nodes, say",
    },
}


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
        choices=("cold", "warm", "none"),
        help="cold: take the input tables out of the page cache before the start, file by file, without "
        "root; warm: read them into it; none: as cold, and keep all files of data, work and util out of the "
        "page cache during the run, so that the storage serves every request at any scale. Default: leave "
        "the cache as it is; the report says how much of the inputs was in it",
    )
    parser.add_argument(
        "--drop-caches",
        action="store_true",
        help="with --cache cold: drop the caches of the whole machine, too (root; it disturbs others)",
    )
    parser.add_argument(
        "--solo",
        action="store_true",
        help="first time each program alone in three runs, unless already measured; the report then says "
        "how much longer jobs take in the mix, and whether compute and storage carry the load",
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
    add_fail_on_arguments(parser, "not-carried", "below-guideline", "slower")
    add_campaign_arguments(parser)
    add_cluster_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check, make inputs, run, report; exit status by outcome."""
    failing = Failing(NAME, arguments)
    if arguments.continue_campaign is not None or kind_of(arguments) is not None:
        with importing():
            from mawl.commands.campaign import run_campaign
        return run_campaign(arguments, _parse, failing)
    refuse_slower(failing)
    apply_profile(arguments)
    if on_nodes(arguments):
        return run_on_nodes(arguments, failing)
    with importing():  # what it takes to run jobs a run on several nodes has in the nodes' processes
        from mawl.commands.run_here import run_here
    return run_here(arguments, failing)


def _parse(words: Sequence[str]) -> argparse.Namespace:
    """Arguments of this verb from words."""
    parser = argparse.ArgumentParser(prog=f"mawl {NAME}")
    add_arguments(parser)
    return parser.parse_args(words)
