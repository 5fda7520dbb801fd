"""The arguments of ``mawl run`` that make a campaign of it, and which of them go together."""

from __future__ import annotations

import argparse

from mawl.analysis.comparison.statistics import FEWEST_RUNS
from mawl.errors import UsageError
from mawl.model.campaign import CampaignKind
from mawl.plan.mix import MOST_SESSIONS
from mawl.spec.record import DEFAULT_WORKLOAD

RUNS_AT_THE_KNEE = 3
MOST_REPEATS = 1000
MOST_NODES = 4096

KINDS: dict[str, CampaignKind] = {"ab": "ab", "find_sessions": "find-sessions", "scaling": "scaling"}


def add_campaign_arguments(parser: argparse.ArgumentParser) -> None:
    """--repeat, --ab, --find-sessions, --scaling, --continue."""
    parser.add_argument(
        "--repeat",
        type=int,
        metavar="N",
        help="a campaign: the same run N times, with median, range and interval; with another campaign N "
        f"runs of each of its arms (default: {FEWEST_RUNS} a side for --ab, {RUNS_AT_THE_KNEE} at the knee "
        "for --find-sessions, 1 for --scaling)",
    )
    parser.add_argument(
        "--ab",
        nargs=2,
        metavar=("A.toml", "B.toml"),
        help="a campaign: A against B in the order A B B A, then compared; each is a file of options of "
        "mawl run (docs/guides/campaigns.md), or a workload",
    )
    parser.add_argument(
        "--find-sessions",
        action="store_true",
        help="a campaign: sessions grow until they are no longer carried, and the largest number that is "
        "carried is found with its interval; with --sessions N it begins at N",
    )
    parser.add_argument(
        "--most-sessions",
        type=int,
        metavar="N",
        help=f"with --find-sessions: go no further than N (default: {MOST_SESSIONS})",
    )
    parser.add_argument(
        "--scaling",
        metavar="N,N,...",
        help="a campaign, with --cluster or --ssh: the run on the first 1, 2, 4 nodes, say, with speedup "
        "and efficiency",
    )
    parser.add_argument(
        "--warm-up",
        choices=("yes", "no"),
        help="with --repeat, --ab and --scaling: make one run of the first arm before all others and leave "
        "it out of every figure (default: yes)",
    )
    parser.add_argument(
        "--continue",
        dest="continue_campaign",
        metavar="FOLDER",
        help="go on with a campaign that was cut short: what is finished is kept, the rest is made; alone",
    )


def kind_of(arguments: argparse.Namespace) -> CampaignKind | None:
    """Which campaign is asked for, None for a single run; UsageError for what does not go together."""
    asked = [name for name in KINDS if getattr(arguments, name)]
    if len(asked) > 1:
        raise UsageError(f"{_option(asked[0])} and {_option(asked[1])} do not go together")
    kind = KINDS[asked[0]] if asked else None if arguments.repeat is None else "repeat"
    if arguments.most_sessions is not None and kind != "find-sessions":
        raise UsageError("--most-sessions goes with --find-sessions")
    if arguments.warm_up is not None and kind in (None, "find-sessions"):
        raise UsageError("--warm-up goes with --repeat, --ab or --scaling")
    if kind is not None:
        _check(arguments, kind, _option(asked[0]) if asked else "--repeat")
    return kind


def _check(arguments: argparse.Namespace, kind: CampaignKind, option: str) -> None:
    several = arguments.cluster is not None or arguments.ssh is not None
    if arguments.repeat is not None and not 1 <= arguments.repeat <= MOST_REPEATS:
        raise UsageError(f"--repeat {arguments.repeat}: expected a number of runs from 1 to {MOST_REPEATS}")
    if arguments.dry_run:
        raise UsageError(
            f"{option} does not go with --dry-run", cure="leave one out: a dry run is the same each time"
        )
    if kind == "find-sessions" and several:
        raise UsageError(
            "--find-sessions does not go with a run on several nodes",
            why="it finds the size of one machine",
            cure="run it on a node, then --scaling over the nodes",
        )
    if kind == "scaling" and not several:
        raise UsageError("--scaling goes over the nodes of a cluster", cure="name it with --cluster or --ssh")
    for name in ("on", "nodes") if kind == "scaling" else ():
        if getattr(arguments, name):
            raise UsageError(f"--{name} does not go with --scaling, which chooses the nodes itself")


def only_continues(arguments: argparse.Namespace) -> None:
    """UsageError where --continue is given with more than how to report: the campaign knows its options."""
    for name, value in vars(arguments).items():
        known = name in ("continue_campaign", "json", "fail_on", "junit", "debug", "verb", "run_verb")
        if known or value in (None, False, []) or (name, value) == ("workload", DEFAULT_WORKLOAD):
            continue
        given = "a workload" if name == "workload" else _option(name)
        raise UsageError(
            f"--continue does not go with {given}",
            why="a campaign continues with the options it began with",
            cure="leave everything else out",
        )


def node_counts(text: str) -> list[int]:
    """The numbers of ``--scaling``, ascending; UsageError for anything else."""
    parts = text.split(",")
    counts = [int(part) for part in parts if part.strip().isdecimal() and len(part) < 10]
    if len(counts) < len(parts) or not all(1 <= count <= MOST_NODES for count in counts):
        raise UsageError(f"--scaling {text}: expected numbers of nodes, such as 1,2,4")
    if len(set(counts)) < len(counts) or len(counts) < 2:
        raise UsageError(f"--scaling {text}: expected at least two numbers of nodes, each once")
    return sorted(counts)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
