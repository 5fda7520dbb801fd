"""What the storage of the roles did around one command: its devices' counters and what memory still held."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.measure.block_devices import volume_facts
from mawl.measure.dirty import Sync, dirty_of, machine_dirty_bytes
from mawl.measure.host.devices import Devices
from mawl.measure.host.files import Figures
from mawl.model.dirty import DirtyPages
from mawl.model.run import VolumeFacts
from mawl.spec.program_options import Role

COARSE_CLOCK_SECONDS = 0.05
"""Files carry the time of the kernel's last tick, which may be this much before the clock's."""


class StorageCounters(msgspec.Struct, frozen=True, kw_only=True):
    """Series ``device.NAME.*`` before the command, at its end and after the sync (else as at the end).

    ``dirty_at_end`` is what memory held when the command ended, ``dirty`` what it held at last;
    ``sync_seconds`` is None without a sync, or with ``sync_reason`` where it did not end.
    """

    volumes: list[VolumeFacts]
    seconds: float
    before: Figures
    at_end: Figures
    after: Figures
    dirty_at_end: DirtyPages
    dirty: DirtyPages
    sync_seconds: float | None = None
    sync_reason: str | None = None


class StorageAround:
    """Looks at the storage of the roles when it is made, and again when the command has ended."""

    def __init__(
        self,
        roles: Mapping[Role, Sequence[Path]],
        node: str,
        proc: Path = Path("/proc"),
        sys: Path = Path("/sys"),
    ) -> None:
        there = {role: [place for place in places if place.is_dir()] for role, places in roles.items()}
        self._places = [place for places in there.values() for place in places]
        self._volumes = volume_facts(there, node, proc, sys)
        self._proc = proc
        self._devices = Devices(proc, sys, {device for one in self._volumes for device in one.devices})
        self._began = time.time()
        self._monotonic = time.monotonic()
        self._machine = machine_dirty_bytes(proc)
        self._before = self._look()

    def ended(self, *, sync: bool) -> StorageCounters:
        """The command has ended: look, and with ``sync`` wait until its file systems are written."""
        at_end, dirty_at_end = self._look(), self._dirty()
        after, dirty, syncing = at_end, dirty_at_end, None
        if sync:
            syncing = Sync(self._places)
            syncing.wait()
            after, dirty = self._look(), self._dirty()
        self._devices.close()
        return StorageCounters(
            volumes=self._volumes,
            seconds=time.monotonic() - self._monotonic,
            before=self._before,
            at_end=at_end,
            after=after,
            dirty_at_end=dirty_at_end,
            dirty=dirty,
            sync_seconds=syncing.seconds if syncing else None,
            sync_reason=syncing.reason if syncing else None,
        )

    def _look(self) -> Figures:
        found: Figures = {}
        self._devices.read(found)
        return found

    def _dirty(self) -> DirtyPages:
        own, source = dirty_of(self._places, since=self._began - COARSE_CLOCK_SECONDS)
        return DirtyPages(
            sync_reason="a command is measured as it is found: nothing is synced before it",
            machine_at_gate_bytes=self._machine,
            machine_at_end_bytes=machine_dirty_bytes(self._proc),
            own_at_end_bytes=own,
            own_source=source,
            removed_bytes=0,
        )
