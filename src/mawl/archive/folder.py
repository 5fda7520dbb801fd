"""The files of a run folder that belong into a pack."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from mawl.foreign import open_regular
from mawl.model.derived import FILE as DERIVED
from mawl.store import Run, open_run
from mawl.store.layout import ARRAYS, FACTS, LOGS, NODES, PLAN, PROBE, TABLES

NEEDED = (FACTS, PLAN, *(f"{name}.parquet" for name in TABLES))
"""Files that every finished run has."""


def files_of(folder: Path) -> Iterator[str]:
    """Names of the files below a run folder, ``/`` between folders; those of each node's run folder, too.

    Left out: pages, which the tables give again, links, and what is not mawl's.
    """
    for name in (*NEEDED, DERIVED, PROBE, ARRAYS):
        if (folder / name).is_file() and not (folder / name).is_symlink():
            yield name
    for name in _names(folder / LOGS):
        path = folder / LOGS / name
        if path.is_file() and not path.is_symlink():
            yield f"{LOGS}/{name}"
    for node in _names(folder / NODES):
        if (folder / NODES / node / FACTS).is_file():
            yield from (f"{NODES}/{node}/{name}" for name in files_of(folder / NODES / node))


def node_runs(folder: Path) -> dict[str, Run]:
    """The runs of the nodes of a cluster's run, by their place below its folder; of another run none.

    Raises :class:`~mawl.errors.UnreadableRunError` where one cannot be read.
    """
    places = [f"{NODES}/{node}" for node in _names(folder / NODES)]
    return {
        place: open_run(folder / place, compacting=False)
        for place in places
        if (folder / place / FACTS).is_file()
    }


def content_of(folder: Path, name: str) -> bytes:
    """A file's bytes; OSError where it is none, or a link leads out of the folder."""
    with open_regular(folder / name, inside=folder) as file:
        return file.read()


def _names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder)) if folder.is_dir() and not folder.is_symlink() else []
