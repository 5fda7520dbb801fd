"""Where a verb's text goes: the terminal, or the file of --output."""

from __future__ import annotations

import sys
from collections.abc import Callable

from mawl.commands.terminal import shown
from mawl.store.output import OutputFile


def write_text(output: str | None, made: Callable[[], str], option: str = "--output") -> None:
    """Write what ``made`` returns to ``output``, which ``option`` named, or to the terminal where it is None.

    The file is tried first, so that a bad path fails before any work (:class:`~mawl.errors.UsageError`).
    Where the work or the writing fails (:class:`~mawl.errors.UnsuitableMachineError`), what the file held is
    kept, and a file that was not there is not left behind.
    """
    if output is None:
        sys.stdout.write(made())
        return
    with OutputFile(output, option) as file:
        file.write(encoded(made()))


def encoded(text: str) -> bytes:
    """Text for a file, as the terminal gets it: a file may be shown on one."""
    return shown(text).encode()
