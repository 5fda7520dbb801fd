"""Host figures into the samples: at the gate, and then beside those of the jobs each second."""

from __future__ import annotations

from mawl.measure.host.collector import HostCollector
from mawl.store.folder import RunWriter


class HostSampling:
    """Writes what a collector reads; the first look, at the gate, is what later ones differ from."""

    def __init__(self, node: str, collector: HostCollector, writer: RunWriter) -> None:
        self.node = node
        self.collector = collector
        self.writer = writer

    def look(self, now: float) -> None:
        """One row for each series that the host has at this moment (seconds since the epoch)."""
        self.writer.figures(self.node, now, self.collector.read())
