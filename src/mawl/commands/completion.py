"""Print the completion script of a shell: verbs, options and their values at a press of Tab.

The script needs no other program and starts no Python.  For this session and this shell alone:
source <(mawl completion bash), or in fish: mawl completion fish | source.
"""

from __future__ import annotations

import argparse
from importlib.resources import files

NAME = "completion"
HELP = "print the completion script of bash, zsh or fish"

SCRIPTS = {"bash": "mawl.bash", "zsh": "_mawl", "fish": "mawl.fish"}
"""By shell its file in ``mawl/shell``."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=tuple(SCRIPTS), help="the shell to complete in")


def run(arguments: argparse.Namespace) -> int:
    script = files("mawl.commands").joinpath("shell", SCRIPTS[arguments.shell])
    print(script.read_text(encoding="utf-8"), end="")
    return 0
