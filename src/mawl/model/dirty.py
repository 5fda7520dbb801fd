"""What memory still held of a node's writes: before the first job, and when the last one had ended."""

from __future__ import annotations

import msgspec


class DirtyPages(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes in the page cache that their devices did not have yet (``Dirty`` and ``Writeback``).

    ``sync_seconds`` is how long ``syncfs`` on the file systems of the roles took right before the gate;
    None with ``sync_reason`` where it did not end.  ``machine_*`` are of the whole machine (/proc/meminfo).
    ``own_at_end_bytes`` are of the files of the run, by ``own_source``.  ``removed_bytes`` were dropped with
    files that mawl removed: the kernel takes them off the account of mawl and not of the job that wrote them.
    ``group_written_bytes`` is what the run's own control group wrote to the roles' devices (``io.stat``,
    version 2); None where no group accounts for writeback.
    """

    sync_seconds: float | None = None
    sync_reason: str | None = None
    machine_at_gate_bytes: int | None = None
    machine_at_end_bytes: int | None = None
    own_at_end_bytes: int | None = None
    own_source: str | None = None
    removed_bytes: int | None = None
    group_written_bytes: int | None = None
