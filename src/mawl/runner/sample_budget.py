"""Which series of a node are sampled each second, within a budget; the others are sampled more seldom."""

from __future__ import annotations

import math
from collections.abc import Collection

from mawl.measure.host.files import Figures

MOST_SERIES = 400
"""Of a node each second: 10 hours of four nodes are then 58 million samples, up to 72 million with those that
are sampled more seldom."""

JOB_SERIES = 80
"""Of these the figures of the jobs: 8 in sum, 32 by role, 10 of what they wait for, one for each volume."""

SELDOM_SECONDS = 10.0
MOST_SELDOM_A_SECOND = 100
"""If the other series are more than a thousand, they are sampled more seldom than each 10 s, so that they add
so many samples a second in the mean."""

_DEVICE = "device."
_FIGURES = ("read_bytes", "written_bytes", "busy_seconds", "reads", "writes", "read_seconds", "write_seconds")
"""Of a device, the most wanted first: windows and answers ask for bytes, then for its load."""


class SampleBudget:
    """Chooses series as they come: those of the host, of devices that hold roles, and then all others.

    ``named`` are the devices of the roles.
    """

    def __init__(self, named: Collection[str], most: int = MOST_SERIES - JOB_SERIES) -> None:
        self._named, self._most = frozenset(named), most
        self._often: set[str] = set()
        self._seldom: set[str] = set()
        self._whole_at: float | None = None

    def due(self, now: float, figures: Figures, *, whole: bool = False) -> Figures:
        """The figures to keep of this look: all at the first, if ``whole``, and every ``seldom_seconds``."""
        if not self._often.issuperset(figures) and not (self._often | self._seldom).issuperset(figures):
            self._choose(figures)
        if not self._seldom:
            return figures
        if whole or self._whole_at is None or now - self._whole_at >= self.seldom_seconds:
            self._whole_at = now
            return figures
        return {name: value for name, value in figures.items() if name in self._often}

    @property
    def seldom_seconds(self) -> float:
        """How often the series beyond the budget are sampled."""
        return max(SELDOM_SECONDS, math.ceil(len(self._seldom) / MOST_SELDOM_A_SECOND))

    def remarks(self) -> list[str]:
        """A sentence on the series that were sampled more seldom, where there are any."""
        if not self._seldom:
            return []
        return [
            f"{len(self._seldom)} of {len(self._often) + len(self._seldom)} series of the host were sampled "
            f"every {self.seldom_seconds:g} s, not each second: a node has {MOST_SERIES} series a second"
        ]

    def _choose(self, figures: Figures) -> None:
        new = sorted(figures.keys() - self._often - self._seldom, key=self._rank)
        free = self._most - len(self._often)
        self._often |= set(new[:free])
        self._seldom |= set(new[free:])

    def _rank(self, series: str) -> tuple[int, int, str]:
        if series.startswith(("host.", "group.")):
            return 0, 0, series
        if not series.startswith(_DEVICE):
            return 1, 0, series
        device, _, figure = series.removeprefix(_DEVICE).rpartition(".")
        place = _FIGURES.index(figure) if figure in _FIGURES else len(_FIGURES)
        return (1 if device in self._named else 2), place, series
