"""The run folder: schema, journal, compaction (docs/design/run-folder.md)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mawl.records.store.reading import Run, locate, open_run

__all__ = ["Run", "locate", "open_run"]


def __getattr__(name: str) -> object:
    """What reads runs is imported once it is asked for: who wants names of files only needs no Arrow."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("mawl.records.store.reading"), name)
