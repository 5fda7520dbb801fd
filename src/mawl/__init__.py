"""mawl (Mixed Analytics WorkLoad): can this system carry an analytics shop's mixed load?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mawl.version import __version__

if TYPE_CHECKING:
    import os

    from mawl.store import Run

__all__ = ["__version__", "open_run"]


def open_run(run: str | os.PathLike[str] = "latest", runs: str | os.PathLike[str] = "runs") -> Run:
    """Open a stored run by its folder, its id under ``runs``, or ``latest``.

    Returns a :class:`mawl.store.Run`: ``facts``, and ``jobs``, ``steps``, ``events`` and
    ``samples`` as Arrow tables (columns: docs/design/run-folder.md).  Raises
    :class:`mawl.errors.MawlError` with a sentence for what cannot be read.
    """
    from mawl.store import open_run as open_stored  # Arrow is not imported by `import mawl`

    return open_stored(run, runs)
