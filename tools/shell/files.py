"""Every file for a shell, by its name in ``src/mawl/commands/shell``."""

from __future__ import annotations

from tools.shell import bash, fish, man, zsh
from tools.shell.tree import Verb, tree


def files(mawl: Verb | None = None) -> dict[str, str]:
    """Names and contents, for the command line as it is unless another is given."""
    mawl = mawl or tree()
    return {
        bash.NAME: bash.script(mawl),
        fish.NAME: fish.script(mawl),
        zsh.NAME: zsh.script(mawl),
        man.NAME: man.page(mawl),
    }
