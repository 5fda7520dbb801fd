"""Samples as series in time, and what a counter gained or a gauge held between two moments.

A run folder holds one row per node, second and series (docs/design/figures.md, Samples).  Points in
time are seconds since the epoch, as in the records of jobs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import pyarrow as pa
from pyarrow import compute

LEAST_COVERED_RATIO = 0.5
"""A window of which samples cover less than this has no figure."""

ROUNDING_RATIO = 0.01
"""A counter that falls by less than this did not start again: the kernel's sums of several CPUs may
fall by a tick (iowait in proc_stat(5))."""

MILLISECONDS_WRAP_SECONDS = 2**32 / 1000
"""Where times of block devices wrap: 32-bit milliseconds (Linux Documentation/admin-guide/iostats.rst)."""


class Series(NamedTuple):
    """One figure of one node over time, in order of time."""

    times: list[float]
    values: list[float]


class Change(NamedTuple):
    """What a counter gained in the part of a window that samples cover."""

    amount: float
    seconds: float

    @property
    def per_second(self) -> float:
        """The rate over the covered part."""
        return self.amount / self.seconds


class Samples:
    """The table ``samples`` of a run, by node and series."""

    def __init__(self, table: pa.Table) -> None:
        """``table`` has the columns of the run folder's ``samples``, rows in any order."""
        self._places: dict[str, dict[str, tuple[int, int]]] = {}
        self._cache: dict[tuple[str, str], Series] = {}
        nodes, series = (table[name].dictionary_encode().unify_dictionaries() for name in ("node", "series"))
        rows = pa.table(
            {
                "node": _codes(nodes),
                "series": _codes(series),
                "sampled_at": table["sampled_at"].cast(pa.int64()),
                "value": table["value"],
            }
        )
        order = [(name, "ascending") for name in ("node", "series", "sampled_at")]
        rows = rows.sort_by(order).combine_chunks()
        self._times, self._values = rows["sampled_at"], rows["value"]
        if rows.num_rows:
            self._find(rows, _names(nodes), _names(series))

    @property
    def nodes(self) -> list[str]:
        """The nodes that left samples, by name."""
        return sorted(self._places)

    def names(self, node: str) -> list[str]:
        """The series of a node, by name."""
        return list(self._places.get(node, ()))

    def series(self, node: str, name: str) -> Series | None:
        """One series of a node; None where it left none."""
        if name not in self._places.get(node, ()):
            return None
        if (node, name) not in self._cache:
            start, length = self._places[node][name]
            times = self._times.slice(start, length).to_pylist()
            values = self._values.slice(start, length).to_pylist()
            self._cache[node, name] = Series([time / 1e6 for time in times], values)
        return self._cache[node, name]

    def changes(self, node: str, name: str, edges: Sequence[float]) -> list[Change | None]:
        """:func:`changes` of a counter by its name; all None where the node left no such series."""
        series = self.series(node, name)
        if series is None:
            return [None] * (len(edges) - 1)
        return changes(series, edges, wraps_at=wrap_of(name))

    def means(self, node: str, name: str, edges: Sequence[float]) -> list[float | None]:
        """:func:`means` of a gauge by its name; all None where the node left no such series."""
        series = self.series(node, name)
        return [None] * (len(edges) - 1) if series is None else means(series, edges)

    def _find(self, rows: pa.Table, nodes: list[str], series: list[str]) -> None:
        """Note where each series begins in the sorted rows."""
        start = 0
        for node, length in _runs(rows["node"]):
            places: dict[str, tuple[int, int]] = {}
            for code, count in _runs(rows["series"].slice(start, length)):
                places[series[code]] = (start, count)
                start += count
            self._places[nodes[node]] = dict(sorted(places.items()))


def wrap_of(name: str) -> float | None:
    """The value at which a counter starts again from 0 by its width; None where it is 64 bits wide."""
    device_time = name.startswith("device.") and name.endswith("_seconds")
    return MILLISECONDS_WRAP_SECONDS if device_time else None


def increases(values: Sequence[float], wraps_at: float | None = None) -> list[float]:
    """What a counter gained from each value to the next; never below 0.

    A fall is a wrap where it passes half of ``wraps_at``, rounding below :data:`ROUNDING_RATIO`, and
    else a new beginning (a device came back, a driver was reset), whose value is all gained since.
    """
    return [_increase(old, new, wraps_at) for old, new in pairwise(values)]


def changes(series: Series, edges: Sequence[float], wraps_at: float | None = None) -> list[Change | None]:
    """What a cumulative counter gained between each two neighbouring ``edges`` (seconds, ascending).

    Between two samples it grows evenly.  None where samples cover less than half of a window.
    """
    times = series.times
    gained = [0.0]
    for increase in increases(series.values, wraps_at):
        gained.append(gained[-1] + increase)
    found: list[Change | None] = []
    for start, end in pairwise(edges):
        span = _covered(times, start, end)
        if span is None:
            found.append(None)
            continue
        amount = _at(times, gained, span[1]) - _at(times, gained, span[0])
        found.append(Change(amount, span[1] - span[0]))
    return found


def means(series: Series, edges: Sequence[float]) -> list[float | None]:
    """The mean of a gauge between each two neighbouring ``edges``, over time, straight between samples.

    None where samples cover less than half of a window.
    """
    times, values = series
    found: list[float | None] = []
    for start, end in pairwise(edges):
        span = _covered(times, start, end)
        if span is None:
            found.append(None)
            continue
        first, last = bisect_right(times, span[0]), bisect_left(times, span[1])
        points = [(span[0], _at(times, values, span[0]))]
        points += zip(times[first:last], values[first:last], strict=True)
        points.append((span[1], _at(times, values, span[1])))
        area = sum((after[0] - at[0]) * (at[1] + after[1]) / 2 for at, after in pairwise(points))
        found.append(area / (span[1] - span[0]))
    return found


def quotients(parts: Sequence[Change | None], wholes: Sequence[Change | None]) -> list[float | None]:
    """Part over whole, window by window (time of requests over requests: the await).

    None where either is missing or the whole gained nothing.
    """
    return [
        None if part is None or whole is None or whole.amount <= 0 else part.amount / whole.amount
        for part, whole in zip(parts, wholes, strict=True)
    ]


def _increase(old: float, new: float, wraps_at: float | None) -> float:
    if new >= old:
        return new - old
    if wraps_at is not None and old < wraps_at and old - new > wraps_at / 2:
        return new + wraps_at - old
    return 0.0 if old - new < ROUNDING_RATIO * old else new


def _covered(times: Sequence[float], start: float, end: float) -> tuple[float, float] | None:
    """The part of a window between the first and the last sample, where it is enough of it."""
    if not times or end <= start:
        return None
    first, last = max(start, times[0]), min(end, times[-1])
    return (first, last) if last > first and last - first >= LEAST_COVERED_RATIO * (end - start) else None


def _at(times: Sequence[float], values: Sequence[float], time: float) -> float:
    """The value at a time between the first and the last sample."""
    place = bisect_left(times, time)
    if times[place] == time:
        return values[place]
    share = (time - times[place - 1]) / (times[place] - times[place - 1])
    return values[place - 1] + share * (values[place] - values[place - 1])


def _codes(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pa.chunked_array([chunk.indices for chunk in column.chunks], pa.int32())


def _names(column: pa.ChunkedArray) -> list[str]:
    names: list[str] = column.chunk(0).dictionary.to_pylist()
    return names


def _runs(column: pa.ChunkedArray) -> list[tuple[int, int]]:
    """Neighbouring equal codes of a column of one chunk, and how many there are of each."""
    encoded = compute.run_end_encode(column.chunk(0))
    ends = encoded.run_ends.to_pylist()
    starts = [0, *ends]
    return [
        (code, end - start)
        for code, start, end in zip(encoded.values.to_pylist(), starts, ends, strict=False)
    ]
