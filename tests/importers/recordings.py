"""What an importer of recordings makes of a file, for tests: the items, and counters as a run has them."""

from __future__ import annotations

import io
import math
from pathlib import Path

from mawl.importers.formats.sysstat_reports import Untimed
from mawl.importers.import_files import IMPORTERS
from mawl.importers.interface import Context, HostFigures, HostSettings, Item
from mawl.records.model.run import NodeFacts

RECORDED = Path(__file__).parent / "recorded"
"""A machine of two processors that wrote 300 MiB: sysstat 12.6.1 and nmon 16n, shortened."""

Point = tuple[float, float]


class Read:
    """A file as an importer reads it: ``series`` by name has (time, value), NaN where time is unknown."""

    def __init__(
        self, kind: str, content: str | bytes, name: str = "node.txt", untimed: Untimed | None = None
    ) -> None:
        data = content.encode() if isinstance(content, str) else content
        self.context = Context(name, kind, lambda seconds: seconds, lambda wanted: wanted, untimed)
        self.items: list[Item] = list(IMPORTERS[kind].read(io.BytesIO(data), self.context))
        self.nodes = {item.name: item for item in self.items if isinstance(item, NodeFacts)}
        self.settings = {item.node: item.values for item in self.items if isinstance(item, HostSettings)}
        self.series: dict[str, list[Point]] = {}
        for item in self.items:
            if isinstance(item, HostFigures):
                for figure, value in item.figures.items():
                    self.series.setdefault(figure, []).append((item.at, value))

    def points(self, name: str) -> list[Point]:
        """A series without its marks of unknown time."""
        return [point for point in self.series[name] if not math.isnan(point[1])]

    def gain(self, name: str) -> float:
        """What a counter gained from its first point to its last."""
        points = self.points(name)
        return points[-1][1] - points[0][1]

    def reasons(self) -> list[str]:
        """Why lines were left out."""
        return [skipped.reason for skipped in self.context.skipped]


def recorded(name: str) -> bytes:
    """A file of the folder ``recorded``."""
    return (RECORDED / name).read_bytes()
