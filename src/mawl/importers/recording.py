"""Rates of intervals added up to counters: what a recording of a host becomes in a run folder.

A recorder gives means over intervals, samples of a run hold counters (docs/design/imported-host.md).
A counter grows by rate times interval.  Where a recording has no figure for a while, a sample of NaN between
the last one and the next says that nothing is known of the time between them.  Another comes before the
first, too: another file may have an earlier time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from mawl.importers.formats.text import Skip, numbered_lines
from mawl.importers.interface import HostFigures

NOT_KNOWN = float("nan")
CLOSE_SECONDS = 1e-3
LARGEST_FIGURE = 1e18
"""Beyond this a counter is of a damaged line: a century at 300 MB/s is a thousandth of it."""


class Recording:
    """The counters of one node in one file."""

    def __init__(self, node: str) -> None:
        self.node = node
        self._sums: dict[str, float] = {}
        self._until: dict[str, float] = {}
        self._steady: _Steady | None = None
        self.beyond = 0
        """Figures that were left out, as no machine has them."""

    def interval(
        self, since: float | None, at: float, rates: Mapping[str, float], gauges: Mapping[str, float]
    ) -> Iterator[HostFigures]:
        """The figures of an interval that ends ``at``; seconds since the epoch.

        ``rates`` are means per second since ``since``; without it they are of a time whose beginning
        nobody knows: they are left out, and the counters begin here.
        """
        steady = self._steady
        if steady is not None:
            if since == steady.at and steady.goes_on(at, rates, gauges):
                figures = steady.figures()
                figures.update(gauges)
                yield HostFigures(self.node, at, figures)
                return
            self._sums |= steady.figures()
            self._until |= dict.fromkeys((*steady.names, *steady.gauges), steady.at)
            self._steady = None
        yield from self._any_interval(since, at, rates, gauges)
        if since is not None and all(self._until.get(name) == at for name in rates):
            self._steady = _Steady(at, rates, gauges, self._sums)

    def _any_interval(
        self, since: float | None, at: float, rates: Mapping[str, float], gauges: Mapping[str, float]
    ) -> Iterator[HostFigures]:
        start = at if since is None else since
        marks = self._marks(start, (*rates, *gauges))
        begun: dict[str, float] = {}
        figures = dict(gauges)
        for name, rate in rates.items():
            before, total = self._until.get(name), self._sums.get(name, 0.0)
            if before is not None and before >= at:
                continue
            if since is not None and (before is None or before < start - CLOSE_SECONDS):
                begun[name] = total
            seconds = 0.0 if since is None else at - max(start, start if before is None else before)
            if total + rate * seconds > LARGEST_FIGURE:
                begun.pop(name, None)
                self.beyond += 1
                continue
            self._sums[name] = figures[name] = total + rate * seconds
            self._until[name] = at
        self._until |= dict.fromkeys(gauges, at)
        yield from marks
        if begun:
            yield HostFigures(self.node, start, begun)
        if figures:
            yield HostFigures(self.node, at, figures)

    def _marks(self, start: float, names: tuple[str, ...]) -> list[HostFigures]:
        """Where nothing is known before ``start``: ahead of the first figure, and in a gap since the last."""
        found: dict[float, dict[str, float]] = {}
        for name in names:
            before = self._until.get(name)
            if before is None:
                found.setdefault(start - CLOSE_SECONDS, {})[name] = NOT_KNOWN
            elif before < start - CLOSE_SECONDS:
                found.setdefault((before + start) / 2, {})[name] = NOT_KNOWN
        return [HostFigures(self.node, at, marks) for at, marks in sorted(found.items())]


class _Steady:
    """Counters of which each interval has all, one after another: added up as one column."""

    def __init__(
        self, at: float, rates: Mapping[str, float], gauges: Mapping[str, float], sums: Mapping[str, float]
    ) -> None:
        self.at = at
        self.names, self.gauges = tuple(rates), tuple(gauges)
        self._sums: NDArray[np.float64] = np.array([sums[name] for name in rates], dtype=np.float64)

    def goes_on(self, at: float, rates: Mapping[str, float], gauges: Mapping[str, float]) -> bool:
        """Whether the next interval is of the same series, and no figure is beyond all measure."""
        if at <= self.at or tuple(rates) != self.names or tuple(gauges) != self.gauges:
            return False
        grown = self._sums + np.fromiter(rates.values(), np.float64, len(self.names)) * (at - self.at)
        if len(grown) and not grown.max() <= LARGEST_FIGURE:
            return False
        self._sums, self.at = grown, at
        return True

    def figures(self) -> dict[str, float]:
        return dict(zip(self.names, self._sums.tolist(), strict=True))


class _Ending:
    """A stream that remembers its last byte."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.last = b"\n"

    def read(self, size: int = -1) -> bytes:
        found = self._stream.read(size)
        self.last = found[-1:] or self.last
        return found


class ChunkStream:
    """Chunks as a stream to read; a read may give more or fewer bytes than its size."""

    def __init__(self, first: bytes, chunks: Iterator[bytes]) -> None:
        self._first: bytes | None = first
        self._chunks = chunks

    def read(self, _size: int = -1) -> bytes:
        """The next chunk that is not empty; nothing at the end."""
        first, self._first = self._first, None
        if first:
            return first
        return next((chunk for chunk in self._chunks if chunk), b"")


def whole_lines(
    stream: BinaryIO, skip: Skip, looks_whole: Callable[[str, str], bool] = lambda _before, _last: False
) -> Iterator[tuple[int, str]]:
    """Numbered lines; a last one without an end is told ``skip``, since its last figure may lack digits, but
    if it ``looks_whole`` after the line before it."""
    ending = _Ending(stream)
    held: tuple[int, str] | None = None
    before = ""
    for line in numbered_lines(ending, skip):  # type: ignore[arg-type]
        if held is not None:
            yield held
            before = held[1]
        held = line
    if held is not None:
        if ending.last in b"\n\r\0" or looks_whole(before, held[1]):
            yield held
        else:
            skip(held[0], "the file ends within this line: left out", held[1])
