"""Where a verb's text goes: the terminal, or the file of --output."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path


def write_text(output: str | None, made: Callable[[], str]) -> None:
    """Write what ``made`` returns to ``output``, or to the terminal where it is None.

    The file is opened first, so that a bad path fails before any work (OSError); where the work
    fails, what the file held is kept, and a file that was not there is not left behind.
    """
    if output is None:
        sys.stdout.write(made())
        return
    path = Path(output)
    new = not path.exists()
    with path.open("a", encoding="utf-8") as file:
        try:
            text = made()
        except BaseException:
            if new:
                path.unlink()
            raise
        if path.is_file():
            file.truncate(0)
        file.write(text)
