"""The nodes of a run that ran on several: how each of them went, and by how much its clock differed."""

from __future__ import annotations

from typing import Literal

import msgspec

NodeOutcome = Literal["running", "completed", "failed", "aborted", "interrupted", "lost"]


class ClockFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A node's clock beside the controller's, just before the gate (docs/design/cluster.md).

    ``offset_seconds`` is the node's time less the controller's, and was taken off every time in the merged
    tables; it errs by at most ``error_seconds``, half the shortest round trip of ``exchanges``.
    ``drift_seconds`` is what the offset changed by until the node's end, None where that was not asked.
    """

    offset_seconds: float
    error_seconds: float
    exchanges: int
    drift_seconds: float | None = None


class NodeRun(msgspec.Struct, frozen=True, kw_only=True):
    """What one node ran.

    ``run_id`` is its own run's, whose folder is ``folder`` (below the merged run's folder).  ``lost``:
    it died, hung or left the network, and ``reason`` says how that was seen.  ``gate_after_seconds`` is
    when its gate opened, after the merged run's ``started_at``, by the controller's clock.
    ``left_behind`` names the folder on the node, where it could not be copied whole.
    """

    node: str
    run_id: str
    workload: str
    sessions: int
    jobs: int
    outcome: NodeOutcome
    reason: str | None = None
    folder: str | None = None
    left_behind: str | None = None
    clock: ClockFacts | None = None
    gate_after_seconds: float | None = None


class StorageRun(msgspec.Struct, frozen=True, kw_only=True):
    """A storage server that was watched while the nodes ran their sessions (``--storage-node``).

    It ran no session: its samples lie beside the nodes', by the same clock, and count in no sum over them.
    ``devices`` are the block devices that hold what it serves; empty: all that it has, each byte once.
    """

    node: str
    run_id: str
    devices: list[str] = []
    outcome: NodeOutcome
    reason: str | None = None
    folder: str | None = None
    left_behind: str | None = None
    clock: ClockFacts | None = None
