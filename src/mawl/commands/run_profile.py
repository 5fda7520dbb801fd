"""``--profile FILE``: what a profile of run options sets where the command line says nothing."""

from __future__ import annotations

import argparse
from pathlib import Path

from mawl.config.run_profile import load_run_profile
from mawl.model.options import ROLES


def add_profile_argument(parser: argparse.ArgumentParser) -> None:
    """--profile: a file that mawl tune search wrote, or one like it."""
    parser.add_argument(
        "--profile",
        metavar="FILE",
        help="run options of a file, such as mawl tune search writes; what the command line names goes over "
        "it, and it over the environment and mawl.toml",
    )


def apply_profile(arguments: argparse.Namespace) -> None:
    """Put what the profile sets among the arguments, under what the user gave."""
    if arguments.profile is None:
        return
    profile = load_run_profile(Path(arguments.profile))
    arguments.option = [*(f"{name}={value}" for name, value in profile.options.items()), *arguments.option]
    if arguments.sessions is None:
        arguments.sessions = profile.sessions
    if arguments.volume_order is None:
        arguments.volume_order = profile.volume_order
    for role in ROLES:
        if not getattr(arguments, role):
            setattr(arguments, role, profile.directories(role))
