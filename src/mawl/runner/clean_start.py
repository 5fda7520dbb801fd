"""A clean start: what the file systems of the roles still have to write is written before the gate opens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from mawl.measure.dirty import Sync, dirty_of, machine_dirty_bytes, removed_unwritten_bytes
from mawl.model.dirty import DirtyPages
from mawl.runner.request import Opening
from mawl.spec.program_options import ROLES
from mawl.volumes import Volumes


class CleanStart(Opening):
    """Keeps the gate shut until ``syncfs`` has ended, then leaves it to ``opening``.

    An interrupt meanwhile opens the gate for nobody: the loop stops its jobs, and the sync is left alone.
    """

    def __init__(
        self, volumes: Volumes, opening: Opening, begin: Callable[[Sequence[Path]], Sync] = Sync
    ) -> None:
        self._directories = [place for role in ROLES for place in volumes.directories[role]]
        self._run_places = volumes.run_places
        self._opening, self._begin = opening, begin
        self._sync: Sync | None = None
        self._jobs = 0
        self._removed = 0
        self.facts: DirtyPages | None = None
        """What is known of dirty pages; None until the gate may open."""

    def ready(self, jobs: int) -> None:
        """The jobs wait at the gate: begin to write."""
        self._jobs = jobs
        self._sync = self._begin(self._directories)

    def pause_seconds(self) -> float | None:
        """None while the sync goes on; then what ``opening`` says."""
        if self.facts is None:
            if self._sync is None or not self._sync.ended():
                return None
            self.facts = DirtyPages(
                sync_seconds=self._sync.seconds,
                sync_reason=self._sync.reason,
                machine_at_gate_bytes=machine_dirty_bytes(),
            )
            self._removed = removed_unwritten_bytes() or 0
            self._opening.ready(self._jobs)
        return self._opening.pause_seconds()

    def at_end(self, group_written_bytes: int | None) -> DirtyPages:
        """The facts of the whole run; to be asked when its last job has ended, before files are removed."""
        if self._sync is not None:
            self._sync.leave()
        own, source = dirty_of(self._run_places())
        removed = removed_unwritten_bytes()
        before = self.facts or DirtyPages(sync_reason="the run ended before its gate opened")
        return msgspec.structs.replace(
            before,
            machine_at_end_bytes=machine_dirty_bytes(),
            own_at_end_bytes=own,
            own_source=source,
            removed_bytes=None if removed is None or self.facts is None else removed - self._removed,
            group_written_bytes=group_written_bytes,
        )
