"""Samples as time series: what a counter gained, or what a gauge held, between two moments.

A run folder holds one row per node, second and series (docs/design/figures.md, Samples).  Points in
time are seconds since the epoch, as in the records of jobs.

Fewer rows of several columns over time, with every peak and every trough of each still there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from mawl.base.units import format_seconds
from mawl.figures.packed_columns import PackedColumn
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.host import Host

LEAST_COVERED_RATIO = 0.5
"""A window of which samples cover less than this has no figure."""

ROUNDING_RATIO = 0.01
"""A counter that falls by less than this did not start again: the kernel's sums of several CPUs may
fall by a tick (iowait in proc_stat(5))."""

MILLISECONDS_WRAP_SECONDS = 2**32 / 1000
"""Where times of block devices wrap: 32-bit milliseconds (Linux Documentation/admin-guide/iostats.rst)."""


UNPACKED_SERIES = 32
"""So many series that were asked for last stay unpacked."""

SMALL_KEYS = 2**16

Floats = NDArray[np.float64]


class NodeSeries(NamedTuple):
    """One figure of one node over time, in order of time.

    ``known`` is, at each time, the seconds since the first of which something is known; None where all
    are.  A stored value that is not a number says that nothing is known between its neighbours.
    """

    times: Floats
    values: Floats
    known: Floats | None = None

    def known_at(self, at: Floats) -> Floats:
        return at - self.times[0] if self.known is None else np.interp(at, self.times, self.known)


class CounterChange(NamedTuple):
    """What a counter gained in the part of a window that samples cover."""

    amount: float
    seconds: float

    @property
    def per_second(self) -> float:
        return self.amount / self.seconds


class RunSamples:
    """The table ``samples`` of a run, by node and series."""

    def __init__(self, table: pa.Table, apart: Iterable[str] = ()) -> None:
        """``table`` has the columns of the run folder's ``samples``, rows in any order.

        ``apart`` are nodes that no sum is over, such as a storage server: their series are found by name,
        and ``nodes`` leaves them out.
        """
        self._begin(apart, _series_of([table]))

    def _begin(self, apart: Iterable[str], series: dict[str, dict[str, NodeSeries | _PackedSeries]]) -> None:
        self._apart, self._series = frozenset(apart), series
        self._unpacked = lru_cache(UNPACKED_SERIES)(_PackedSeries.unpacked)

    @classmethod
    def of_parts(cls, parts: Iterable[pa.Table], apart: Iterable[str] = ()) -> RunSamples:
        """The same of a table that comes in parts: only one is in memory at a time."""
        found = cls.__new__(cls)
        found._begin(apart, _series_of(parts))
        return found

    def leave_out(self, prefix: str) -> None:
        """Forget the series whose names begin so, of all nodes."""
        for own in self._series.values():
            for name in [name for name in own if name.startswith(prefix)]:
                del own[name]

    @property
    def nodes(self) -> list[str]:
        return sorted(self._series.keys() - self._apart)

    @property
    def last_at(self) -> float | None:
        """When the last sample of any node was taken, seconds since the epoch; None without samples."""
        times = [float(series.times[-1]) for node in self.nodes for series in self._series[node].values()]
        return max(times, default=None)

    def names(self, node: str) -> list[str]:
        return list(self._series.get(node, ()))

    def series(self, node: str, name: str) -> NodeSeries | None:
        found = self._series.get(node, {}).get(name)
        return self._unpacked(found) if isinstance(found, _PackedSeries) else found

    def times(self, node: str, name: str) -> Floats | None:
        found = self._series.get(node, {}).get(name)
        return None if found is None else found.times

    def replaced(self, series: Mapping[tuple[str, str], NodeSeries]) -> RunSamples:
        found = RunSamples.__new__(RunSamples)
        own = {
            node: {name: series.get((node, name), own) for name, own in by_name.items()}
            for node, by_name in self._series.items()
        }
        found._begin(self._apart, own)
        return found

    def changes(self, node: str, name: str, edges: Sequence[float]) -> list[CounterChange | None]:
        """``changes`` of a counter by its name; all None where the node left no such series."""
        series = self.series(node, name)
        if series is None:
            return [None] * (len(edges) - 1)
        return changes(series, edges, wraps_at=wrap_of(name))

    def means(self, node: str, name: str, edges: Sequence[float]) -> list[float | None]:
        """``means`` of a gauge by its name; all None where the node left no such series."""
        series = self.series(node, name)
        return [None] * (len(edges) - 1) if series is None else means(series, edges)


def wrap_of(name: str) -> float | None:
    """The value at which a counter starts again from 0 by its width; None where it is 64 bits wide."""
    device_time = name.startswith("device.") and name.endswith("_seconds")
    return MILLISECONDS_WRAP_SECONDS if device_time else None


def increases(values: ArrayLike, wraps_at: float | None = None) -> Floats:
    """What a counter gained from each value to the next; never below 0.

    A fall is a wrap where it passes half of ``wraps_at``, rounding below ``ROUNDING_RATIO``, and
    else a new beginning (a device came back, a driver was reset), whose value is all gained since.
    """
    column = np.asarray(values, dtype=np.float64)
    old, new = column[:-1], column[1:]
    gained = new - old
    anew = np.where(-gained < ROUNDING_RATIO * old, 0.0, new)
    if wraps_at is not None:
        anew = np.where((old < wraps_at) & (-gained > wraps_at / 2), gained + wraps_at, anew)
    return np.where(gained >= 0, gained, anew)


def changes(
    series: NodeSeries, edges: Sequence[float], wraps_at: float | None = None
) -> list[CounterChange | None]:
    """What a cumulative counter gained between each two neighbouring ``edges`` (seconds, ascending).

    Between two samples it grows evenly.  None where samples cover less than half of a window.
    """
    amounts, seconds = gained(series, np.asarray(edges, dtype=np.float64), wraps_at)
    return [
        None if amount != amount else CounterChange(amount, covered)
        for amount, covered in zip(amounts.tolist(), seconds.tolist(), strict=True)
    ]


def gained(series: NodeSeries, edges: Floats, wraps_at: float | None = None) -> tuple[Floats, Floats]:
    """``changes`` as columns: amounts, NaN where samples do not cover a window, and covered seconds."""
    first, last, seconds, covered = _covered(series, edges)
    gains = increases(series.values, wraps_at)
    if series.known is not None:
        gains = np.where(np.diff(series.known) > 0, gains, 0.0)
    grown = np.concatenate(([0.0], np.cumsum(gains)))
    amounts = np.interp(last, series.times, grown) - np.interp(first, series.times, grown)
    return np.where(covered, amounts, np.nan), seconds


def means(series: NodeSeries, edges: Sequence[float]) -> list[float | None]:
    """The mean of a gauge between each two neighbouring ``edges``, over time, straight between samples.

    None where samples cover less than half of a window.
    """
    found = averaged(series, np.asarray(edges, dtype=np.float64)).tolist()
    return [None if mean != mean else mean for mean in found]


def averaged(series: NodeSeries, edges: Floats) -> Floats:
    """``means`` as a column, NaN where samples do not cover a window."""
    first, last, seconds, covered = _covered(series, edges)
    areas = _area(series, last) - _area(series, first)
    return np.where(covered, areas / np.where(covered, seconds, 1.0), np.nan)


def quotients(
    parts: Sequence[CounterChange | None], wholes: Sequence[CounterChange | None]
) -> list[float | None]:
    """Part over whole, window by window (time of requests over requests: the await).

    None where either is missing or the whole gained nothing.
    """
    return [
        None if part is None or whole is None or whole.amount <= 0 else part.amount / whole.amount
        for part, whole in zip(parts, wholes, strict=True)
    ]


def _covered(series: NodeSeries, edges: Floats) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
    """Of each window the part between the first and the last sample, how many seconds of it are known,
    and whether these are enough of the window."""
    starts, ends = edges[:-1], edges[1:]
    first, last = np.maximum(starts, series.times[0]), np.minimum(ends, series.times[-1])
    seconds = last - first if series.known is None else series.known_at(last) - series.known_at(first)
    return (
        first,
        last,
        seconds,
        (last > first) & (seconds > 0) & (seconds >= LEAST_COVERED_RATIO * (ends - starts)),
    )


def _area(series: NodeSeries, at: Floats) -> Floats:
    """The integral of a gauge over time from its first sample to each of ``at``."""
    times, values = series.times, series.values - series.values[0]
    known = series.known_at(times)
    whole = np.concatenate(([0.0], np.cumsum(np.diff(known) * (values[1:] + values[:-1]) / 2)))
    place = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 1)
    beyond = series.known_at(at) - known[place]
    inside = whole[place] + beyond * (values[place] + np.interp(at, times, values)) / 2
    return np.asarray(inside + series.known_at(at) * series.values[0])


class _PackedSeries:
    """A series in order of time, of numbers alone, whose values are packed."""

    def __init__(self, times: Floats, column: PackedColumn) -> None:
        self.times, self._column = times, column

    def unpacked(self) -> NodeSeries:
        return NodeSeries(self.times, self._column.values())


class _Growing(NamedTuple):
    """One series while a table is read: its times piece by piece, its values in one column."""

    times: list[Floats]
    column: PackedColumn


def _series_of(parts: Iterable[pa.Table]) -> dict[str, dict[str, NodeSeries | _PackedSeries]]:
    """The series of each node, by name, from the rows of all parts in order.

    A run of hours on several nodes is tens of millions of rows: columns stay columns, series that were
    sampled together share their times, and values are packed.
    """
    growing: dict[str, dict[str, _Growing]] = {}
    for part in parts:
        if part.num_rows:
            _add_part(growing, part)
    found: dict[str, dict[str, NodeSeries | _PackedSeries]] = {}
    for node, by_name in growing.items():
        whole: dict[tuple[int, ...], tuple[Floats, bool]] = {}
        different: list[Floats] = []
        for name in sorted(by_name):
            times, column = by_name[name]
            # The pieces stay in ``growing`` until all series are made, so that no two have one identity.
            pieces = tuple(map(id, times))
            if pieces not in whole:
                moments = _shared(times[0] if len(times) == 1 else np.concatenate(times), different)
                whole[pieces] = moments, not (np.diff(moments) < 0).any()
            moments, in_order = whole[pieces]
            column.pack()
            if in_order and column.is_finite:
                found.setdefault(node, {})[name] = _PackedSeries(moments, column)
                continue
            series = _in_order(moments, column.values())
            if len(series.times):
                found.setdefault(node, {})[name] = series
    return found


def _shared(times: Floats, different: list[Floats]) -> Floats:
    """The kept array of the same times, or these, which are kept from now on.

    Parts are cut anywhere within a second, so equal times come in unlike pieces.
    """
    for kept in different:
        if np.array_equal(kept, times):
            return kept
    times.flags.writeable = False
    different.append(times)
    return times


def _add_part(growing: dict[str, dict[str, _Growing]], part: pa.Table) -> None:
    nodes, keys = _encoded(part["node"])
    names, own = _encoded(part["series"])
    keys *= len(names)
    keys += own
    del own
    if len(nodes) * len(names) <= SMALL_KEYS:
        keys = keys.astype(np.uint16)  # which numpy sorts by radix
    order = np.argsort(keys, kind="stable")  # keeps the order of time in which rows were written
    keys = keys[order]
    times = _numbers(part["sampled_at"].cast(pa.int64()))[order]
    times /= 1e6
    values = _numbers(part["value"])[order]
    del order
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    seen: dict[tuple[int, int], Floats] = {}
    for start, end in pairwise([*starts.tolist(), len(keys)]):
        node, name = divmod(int(keys[start]), len(names))
        alike = (node, end - start)
        if alike not in seen or not np.array_equal(seen[alike], times[start:end]):
            seen[alike] = times[start:end].copy()
        one = growing.setdefault(nodes[node], {}).setdefault(names[name], _Growing([], PackedColumn()))
        one.times.append(seen[alike])
        one.column.extend(values[start:end])


def _in_order(times: Floats, values: Floats) -> NodeSeries:
    """A series in order of time; what is no number leaves the time between its neighbours unknown."""
    if (np.diff(times) < 0).any():
        order = np.argsort(times, kind="stable")
        times, values = times[order], values[order]
    figures = np.isfinite(values)
    if figures.all():
        return NodeSeries(times, values)
    marks, times, values = times[~figures], times[figures], values[figures]
    places = np.searchsorted(times, marks, side="right")
    steps = np.diff(times)
    steps[places[(places > 0) & (places < len(times))] - 1] = 0.0
    return NodeSeries(times, values, np.concatenate(([0.0], np.cumsum(steps))))


def _encoded(column: pa.ChunkedArray) -> tuple[list[str], NDArray[np.int64]]:
    encoded = column.dictionary_encode().unify_dictionaries()
    codes = np.concatenate([np.from_dlpack(chunk.indices) for chunk in encoded.chunks])
    return encoded.chunk(0).dictionary.to_pylist(), codes.astype(np.int64)


def _numbers(column: pa.ChunkedArray) -> Floats:
    """A column as floats, a null as not a number; ``to_numpy`` would import pandas, where it is installed."""
    floats = column.cast(pa.float64()).fill_null(float("nan"))
    return np.concatenate([np.from_dlpack(chunk) for chunk in floats.chunks])


Span = tuple[float, float]

WHOLE_RATIO = 0.99
"""A series of which samples cover this share of the run, or more, covers the run."""

MOST_NAMED = 4


def gain(facts: RunFacts, samples: RunSamples, node: str, name: str, span: Span) -> CounterChange | None:
    """What a counter gained in the known part of a span, and how many seconds that part has.

    A measured run looks once more before its first job and after its last only where it has the time:
    there the rate is held up to one sample interval beyond the first and the last sample.  Of an imported
    recording nothing is added.  None where samples cover less than half of the span.
    """
    change = samples.changes(node, name, span)[0]
    series = samples.series(node, name)
    if change is None or series is None or facts.kind == "imported":
        return change
    interval = float(np.median(np.diff(series.times)))
    outside = (series.times[0] - span[0], span[1] - series.times[-1])
    held = sum(min(max(float(seconds), 0.0), interval) for seconds in outside)
    return CounterChange(change.amount + change.per_second * held, change.seconds + held)


def amount(facts: RunFacts, samples: RunSamples, node: str, name: str, span: Span) -> float | None:
    """``gain`` without its seconds."""
    change = gain(facts, samples, node, name, span)
    return None if change is None else change.amount


def fewest_seconds(changes: Iterable[CounterChange | None]) -> float | None:
    """The seconds of the least known of several counters; None where none is known."""
    return min((change.seconds for change in changes if change is not None), default=None)


def partial_remark(host: Host | None, seconds: float) -> list[str]:
    """A sentence that names what samples cover only in part, each with its known seconds."""
    parts = [] if host is None else sorted(_parts(host), key=lambda part: part[1])
    partial = [(name, known) for name, known in parts if known < WHOLE_RATIO * seconds]
    if not partial:
        return []
    named = [f"{name} {format_seconds(known)}" for name, known in partial[:MOST_NAMED]]
    more = len(partial) - MOST_NAMED
    beside = f" and {more} more" if more > 0 else ""
    return [
        f"samples do not cover all of the {format_seconds(seconds)} from first start to last end: "
        f"{', '.join(named)}{beside}; sums of the host are of those seconds alone"
    ]


def _parts(host: Host) -> Iterator[tuple[str, float]]:
    if host.known_seconds is not None:
        yield "processors", host.known_seconds
    for kind in (host.device, host.network, host.fabric, host.mount):
        for name, figures in (kind or {}).items():
            if figures.known_seconds is not None:
                yield name, figures.known_seconds


MOST_POINTS = 800
"""Points of a series in a chart: two for each three columns of pixels of the widest chart."""


def kept_rows(
    columns: Sequence[Floats], most: int = MOST_POINTS
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The rows to keep, ascending: at most ``most``, and all where there are no more.

    Rows fall into buckets of equal numbers of rows; of each bucket every column keeps its least, its
    greatest and its first missing value (NaN), as true rows: no value is made up, none moves in time.
    The first and the last row stay.  ``columns`` have one length; there is at least one.
    Raises ValueError where ``most`` cannot hold one bucket of all columns.
    """
    length = len(columns[0])
    if length <= most:
        return np.arange(length)
    buckets = (most - 2) // (3 * len(columns))
    if buckets < 1:
        raise ValueError(f"{most} rows cannot keep the peaks of {len(columns)} columns")
    starts = np.linspace(0, length, buckets + 1).astype(np.int64)
    kept = {0, length - 1}
    for column in columns:
        missing = np.isnan(column)
        low, high = np.where(missing, np.inf, column), np.where(missing, -np.inf, column)
        for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            kept.add(start + int(low[start:end].argmin()))
            kept.add(start + int(high[start:end].argmax()))
            kept.add(start + int(missing[start:end].argmax()))
    return np.array(sorted(kept), dtype=np.int64)
