"""Remove what interrupted runs left: processes, and directories under the roles that carry mawl's mark."""

from __future__ import annotations

import argparse
import contextlib

from mawl.commands.arguments import add_role_arguments, settings, volumes_of
from mawl.launch.sweep import kill_run, live_runs
from mawl.runner.restrict import GROUP_PREFIX, leftover_groups
from mawl.units import format_bytes
from mawl.volumes import RUN_PREFIX, remove_leftover

NAME = "clean"
HELP = "remove what interrupted runs left in the roles"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``mawl clean``."""
    add_role_arguments(parser)
    parser.add_argument("--dry-run", action="store_true", help="say what would go, remove nothing")


def run(arguments: argparse.Namespace) -> int:
    """Clean up; a run that is alive is left alone."""
    volumes = volumes_of(arguments, settings())
    leftovers = volumes.leftovers()
    abandoned = {directory.name.removeprefix(RUN_PREFIX) for directory in leftovers}
    verb = "would remove" if arguments.dry_run else "removed"
    alive = live_runs()
    found = False
    for run_id in sorted(abandoned & alive.keys()):
        found = True
        count = len(alive.pop(run_id)) if arguments.dry_run else kill_run(run_id)
        print(f"{verb} {count} processes of run {run_id}")
    for directory in leftovers:
        found = True
        if arguments.dry_run:
            print(f"{verb} {directory}")
        else:
            print(f"{verb} {directory} ({format_bytes(remove_leftover(directory))})")
    for group in leftover_groups():
        if group.name.removeprefix(GROUP_PREFIX) in alive.keys() - abandoned:
            continue
        found = True
        if not arguments.dry_run:
            with contextlib.suppress(OSError):
                group.rmdir()
        print(f"{verb} control group {group}")
    if not found:
        print("nothing to clean")
    return 0
