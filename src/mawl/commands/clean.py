"""Remove what interrupted runs left: processes, control groups, and marked directories under the roles.

Looks under the roles that the options name, under those that runs in RUNS used, and in directories that
were probed.  A run may be killed after it wrote how it ended, so its outcome says nothing about what it left.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from mawl.cluster.tokens import leftover_tokens
from mawl.commands.arguments import add_role_arguments, settings, volumes_of
from mawl.errors import MawlError
from mawl.launch.sweep import kill_run, live_runs
from mawl.model.options import ROLES
from mawl.model.run import RunFacts
from mawl.runner.counting import leftover_counters
from mawl.runner.restrict import leftover_groups
from mawl.store.facts import read_facts
from mawl.units import format_bytes
from mawl.volumes import Volumes, leftovers_under, remove_leftover, run_of

NAME = "clean"
HELP = "remove what interrupted runs left in the roles"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``mawl clean [DIR...]``."""
    parser.add_argument(
        "directories", nargs="*", metavar="DIR", help="directories beside the roles that were probed"
    )
    add_role_arguments(parser)
    parser.add_argument("--runs", metavar="DIR", help="where run folders are (default: ./runs)")
    parser.add_argument("--dry-run", action="store_true", help="say what would go, remove nothing")


def run(arguments: argparse.Namespace) -> int:
    """Clean up; a run that is alive is left alone.  1 when something could not be removed."""
    chosen = settings()
    named = volumes_of(arguments, chosen).directories
    known = list(known_runs(chosen.runs(arguments.runs)))
    volumes = Volumes(
        {
            role: list(
                dict.fromkeys([*named[role], *(Path(p) for f in known for p in f.roles.get(role, []))])
            )
            for role in ROLES
        }
    )
    leftovers = volumes.leftovers()
    for place in arguments.directories:
        leftovers += [found for found in leftovers_under(Path(place).absolute()) if found not in leftovers]
    leftovers += leftover_counters(
        {run_of(directory) for directory in leftovers} | {facts.run_id for facts in known},
        chosen.runs(arguments.runs),
    )
    abandoned = {run_of(directory) for directory in leftovers}
    verb = "would remove" if arguments.dry_run else "removed"
    found, failed = False, False
    alive = live_runs()
    for run_id in sorted(abandoned & alive.keys()):
        found = True
        count = len(alive.pop(run_id)) if arguments.dry_run else kill_run(run_id)
        print(f"{verb} {count} processes of run {run_id}")
    for directory in leftovers:
        found = True
        try:
            size = 0 if arguments.dry_run else remove_leftover(directory)
        except (OSError, MawlError) as error:
            failed = True
            print(f"could not remove {directory}: {getattr(error, 'strerror', None) or error}")
            continue
        print(f"{verb} {directory}" + ("" if arguments.dry_run else f" ({format_bytes(size)})"))
    ended = (abandoned | {facts.run_id for facts in known}) - alive.keys()
    for token in leftover_tokens(place for places in volumes.directories.values() for place in places):
        found = True
        if not arguments.dry_run:
            token.unlink(missing_ok=True)
        print(f"{verb} {token}")
    for group in leftover_groups(ended):
        found = True
        try:
            if not arguments.dry_run:
                group.rmdir()
        except OSError as error:
            failed = True
            print(f"could not remove control group {group}: {error.strerror}")
            continue
        print(f"{verb} control group {group}")
    if not found:
        print("nothing to clean")
    return 1 if failed else 0


def known_runs(runs: Path) -> Iterator[RunFacts]:
    """Facts of the runs in a directory, those of campaigns too, that were measured here and can be read."""
    for folder in sorted({*runs.glob("*/run.json"), *runs.glob("*/*/run.json")}):
        try:
            facts, _ = read_facts(folder.parent)
        except MawlError:
            continue
        if facts.kind == "measured":
            yield facts
