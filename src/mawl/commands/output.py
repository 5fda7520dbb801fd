"""Where a verb's text goes: the terminal, or the file of --output."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from mawl.commands.terminal import Printing
from mawl.errors import UsageError


def write_text(output: str | None, made: Callable[[], str]) -> None:
    """Write what ``made`` returns to ``output``, or to the terminal where it is None.

    The file is opened first, so that a bad path fails before any work (:class:`~mawl.errors.UsageError`);
    where the work fails, what the file held is kept, and a file that was not there is not left behind.
    """
    if output is None:
        sys.stdout.write(made())
        return
    path = Path(output)
    new = not path.exists()
    with _opened(path) as file:
        try:
            text = made()
        except BaseException:
            if new:
                path.unlink()
            raise
        if path.is_file():
            file.truncate(0)
        Printing(file).write(text)  # as the terminal gets it: a file may be shown on one


def _opened(path: Path) -> TextIO:
    try:
        return path.open("a", encoding="utf-8")
    except OSError as error:
        raise UsageError(
            "cannot be written",
            where=str(path),
            why=(error.strerror or str(error)).lower(),
            cure="name a file in a directory that is there and that you may write to: --output FILE",
        ) from None
