"""The run folder: schema, journal, compaction, upgrades (docs/design/run-folder.md)."""

from mawl.store.reading import Run, locate, open_run

__all__ = ["Run", "locate", "open_run"]
