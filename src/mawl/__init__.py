"""mawl (Mixed Analytics WorkLoad): can this system carry an analytics shop's mixed load?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mawl.version import __version__

if sys.version_info < (3, 11):  # noqa: UP036 - pip refuses an older Python, a path to the sources does not
    _this = ".".join(map(str, sys.version_info[:3]))
    raise SystemExit(f"mawl needs Python 3.11 or later, and this is {_this}")

if TYPE_CHECKING:
    import os

    from mawl.commands.notebook import OpenedRun

__all__ = ["__version__", "open_run"]


def open_run(run: str | os.PathLike[str] = "latest", runs: str | os.PathLike[str] = "runs") -> OpenedRun:
    """Open a stored run by its folder, its id under ``runs``, or ``latest``.

    Returns an ``OpenedRun``: ``facts``; ``jobs``, ``steps``, ``events`` and
    ``samples`` as Arrow tables (columns: docs/design/run-folder.md); ``summary``, typed; and
    ``plot()`` for a chart.  In a notebook it shows itself as a table.  Raises
    ``mawl.base.errors.MawlError``, with the reason, if the run cannot be read.
    """
    # Arrow is not imported by `import mawl`.
    from mawl.commands.notebook import OpenedRun
    from mawl.records.store import open_run as open_stored

    return OpenedRun(open_stored(run, runs))
