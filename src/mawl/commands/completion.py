"""Print the completion script of a shell: verbs, options and their values at a press of Tab.

The script needs no other program and starts no Python.  For this session and this shell alone:
source <(mawl completion bash), or in fish: mawl completion fish | source.
"""

from __future__ import annotations

from importlib.resources import files

from mawl.commands.verbs import Arguments, Verb, operand

SCRIPTS = {"bash": "mawl.bash", "zsh": "_mawl", "fish": "mawl.fish"}
"""By shell its file in ``mawl/shell``."""


class CompletionArguments(Arguments):
    shell: str = operand(None, "the shell to complete in", choices=tuple(SCRIPTS))


def run(arguments: CompletionArguments) -> int:
    script = files("mawl.commands").joinpath("shell", SCRIPTS[arguments.shell])
    print(script.read_text(encoding="utf-8"), end="")
    return 0


VERBS = {"completion": Verb(CompletionArguments, run)}
