"""Host figures into the samples: at the gate, and then beside those of the jobs each second."""

from __future__ import annotations

from collections.abc import Collection

from mawl.measure.host.collector import HostCollector
from mawl.runner.sample_budget import SampleBudget
from mawl.store.folder import RunWriter


class HostSampling:
    """Writes what a collector reads; the first look, at the gate, is what later ones differ from."""

    def __init__(
        self, node: str, collector: HostCollector, writer: RunWriter, named: Collection[str] = ()
    ) -> None:
        """``named``: the devices that the file systems of the roles name."""
        self.node = node
        self.collector = collector
        self.writer = writer
        self._budget = SampleBudget(named)

    def look(self, now: float, *, whole: bool = False) -> None:
        """One row for each series that is due at this moment (seconds since the epoch), or for all."""
        self.writer.figures(self.node, now, self._budget.due(now, self.collector.read(), whole=whole))

    def remarks(self) -> list[str]:
        """What was sampled more seldom than each second, or not at all, in sentences."""
        return [*self._budget.remarks(), *self.collector.remarks()]
