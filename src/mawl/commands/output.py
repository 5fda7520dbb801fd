"""Where a verb's text goes: the terminal, or the file of --output."""

from __future__ import annotations

import sys
from collections.abc import Callable

from mawl.commands.terminal import escape_controls
from mawl.records.store.output import OutputFile


def write_text(output: str | None, made: Callable[[], str], option: str = "--output") -> None:
    """Write what ``made`` returns to the file ``output``, or to the terminal if ``output`` is None.

    ``option`` is the option that named the file.  The file is tried first, so that a bad path fails before
    any work (``UsageError``).  If the work or the writing fails
    (``UnsuitableMachineError``), an old file keeps its content, and no new file is left.
    """
    if output is None:
        sys.stdout.write(made())
        return
    with OutputFile(output, option) as file:
        file.write(encoded(made()))


def encoded(text: str) -> bytes:
    """Text for a file, with the escapes that a terminal gets, because a file may be shown on one."""
    return escape_controls(text).encode()
