"""Figures of storage arrays over the windows of a run, next to those of the host for the same roles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from mawl.base.units import format_percent
from mawl.figures.missing import Missing
from mawl.figures.series import RunSamples
from mawl.figures.sessions import Windows, highest
from mawl.records.model.node import ArrayInterval, ArrayStatistics, ArrayVolume
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.storage import ArrayRoleFigures, Arrays, ArrayVolumeFigures, StorageSide
from mawl.records.spec.program_options import ROLES, Role

LEAST_COVERED = 0.5
"""Of a window and of the active phase: what less of it is known has no figure."""

VOLUME_FIGURES = ("read_bytes_per_second", "written_bytes_per_second", "saved_ratio")

Values = list[float | None]
Figure = Callable[[ArrayInterval], float | None]


def arrays_block(
    facts: RunFacts,
    samples: RunSamples | None,
    windows: Windows | None,
    held: ArrayStatistics | str | None,
    missing: Missing,
) -> Arrays | None:
    """The block; ``held`` is a text where ``arrays.json`` cannot be read."""
    if isinstance(held, str):
        missing["arrays"] = held
        return None
    if held is None:
        return None
    if windows is None:
        missing["arrays"] = "the run has no active phase"
        return None
    edges = windows.active_edges
    by_role: dict[str, ArrayRoleFigures] = {
        role: _role(role, volumes, facts, samples, edges, missing)
        for role in ROLES
        if (volumes := [volume for volume in held.volumes if volume.role == role])
    }
    if not by_role:
        missing["arrays"] = "no volume of the array has a role: add roles to its map"
        return None
    return Arrays(by_role=by_role, volumes=_volumes(held, edges, missing))


def _volumes(held: ArrayStatistics, edges: Sequence[float], missing: Missing) -> list[ArrayVolumeFigures]:
    found: list[ArrayVolumeFigures] = []
    for volume in (volume for volume in held.volumes if volume.role is not None):
        figures = {name: _share([volume], edges, attrgetter(name)) for name in VOLUME_FIGURES}
        path = f"arrays.volumes.{len(found)}"
        for name, value in figures.items():
            if value is None:
                missing[f"{path}.{name}"] = "the statistics have it for less than half of the active phase"
        found.append(
            ArrayVolumeFigures(array=volume.array, volume=volume.name, role=str(volume.role), **figures)
        )
    return found


def arrays_over_time(held: ArrayStatistics, windows: Windows) -> dict[str, Values]:
    """Bytes per second and mean latency at the array of each window of the active phase, by role:
    ``ROLE_array_bytes_per_second`` and ``ROLE_array_latency_seconds`` of the roles that have volumes."""
    found: dict[str, Values] = {}
    edges = windows.active_edges
    for role in ROLES:
        volumes = [volume for volume in held.volumes if volume.role == role]
        if not volumes:
            continue
        known = _all([_covered(volume, edges) for volume in volumes])
        windows_of = _array_windows(volumes, edges, known)
        found[f"{role}_array_bytes_per_second"] = windows_of.moved
        found[f"{role}_array_latency_seconds"] = windows_of.latency
    return found


def _role(
    role: Role,
    volumes: Sequence[ArrayVolume],
    facts: RunFacts,
    samples: RunSamples | None,
    edges: Sequence[float],
    missing: Missing,
) -> ArrayRoleFigures:
    covered = _all([_covered(volume, edges) for volume in volumes])
    lengths = [later - earlier for earlier, later in pairwise(edges)]
    share = sum(length for length, known in zip(lengths, covered, strict=True) if known) / sum(lengths)
    known = covered if share >= LEAST_COVERED else [False] * len(covered)
    path = f"arrays.by_role.{role}"
    shares = {name: _share(volumes, edges, attrgetter(name)) for name in ("hit_ratio", "saved_ratio")}
    for name, mean in shares.items():
        if mean is None:
            missing[f"{path}.{name}"] = "the statistics of a volume have it for less than half of the time"
    if share < LEAST_COVERED:
        why = f"its statistics cover {format_percent(share)} of the active phase, less than half"
        shares = dict.fromkeys(shares)
        for name in (*(f"array.{figure}" for figure in StorageSide.__struct_fields__), *shares):
            missing[f"{path}.{name}"] = why
    at_array = _side(_array_windows(volumes, edges, known), lengths)
    at_host = _side(_host_windows(role, facts, samples, edges), lengths)
    beyond = None
    if at_array.mean_latency_seconds is not None and at_host.mean_latency_seconds is not None:
        beyond = at_host.mean_latency_seconds - at_array.mean_latency_seconds
    else:
        missing[f"{path}.beyond_array_seconds"] = "the latency at the array or at the host is not known"
    return ArrayRoleFigures(
        arrays=list(dict.fromkeys(volume.array for volume in volumes)),
        volumes=len({(volume.array, volume.name) for volume in volumes}),
        covered_ratio=share,
        array=at_array,
        host=at_host,
        beyond_array_seconds=beyond,
        **shares,
    )


def _spread(volume: ArrayVolume, edges: Sequence[float], figure: Figure) -> Values:
    """A figure's mean in each window by time; None where less than half of the window is known.

    A figure holds over its interval, and intervals of a volume do not overlap.  Each piece of a window is
    added by itself: a difference of sums over the run would leave a rest where nothing was read or written.
    """
    known = sorted(
        (interval.at - interval.seconds, interval.at, value)
        for interval in volume.intervals
        if (value := figure(interval)) is not None
    )
    if not known:
        return [None] * (len(edges) - 1)
    starts, ends, values = np.array(known).T
    bounds = np.asarray(edges)
    points = np.unique(np.concatenate([starts, ends, bounds]))
    points = points[(points >= bounds[0]) & (points <= bounds[-1])]
    begins, lengths = points[:-1], np.diff(points)
    interval = np.searchsorted(starts, begins, side="right") - 1
    inside = (interval >= 0) & (begins < ends[interval])
    window = np.searchsorted(bounds, begins[inside], side="right") - 1
    seconds = lengths[inside]
    covered = np.bincount(window, seconds, minlength=len(edges) - 1)
    amounts = np.bincount(window, seconds * values[interval[inside]], minlength=len(edges) - 1)
    return [
        float(amount / time) if time and time >= LEAST_COVERED * length else None
        for amount, time, length in zip(amounts, covered, np.diff(bounds), strict=True)
    ]


def _covered(volume: ArrayVolume, edges: Sequence[float]) -> list[bool]:
    return [mean is not None for mean in _spread(volume, edges, lambda _: 0.0)]


def _all(rows: Sequence[Sequence[bool]]) -> list[bool]:
    return [all(row) for row in zip(*rows, strict=True)]


class _InWindows(NamedTuple):
    """Per second and window at one place: bytes by direction, requests, and seconds that requests took."""

    read: Values
    written: Values
    requests: Values
    waited: Values

    @property
    def moved(self) -> Values:
        return [_sum(pair) for pair in zip(self.read, self.written, strict=True)]

    @property
    def latency(self) -> Values:
        """Seconds that a request took; None where there was none."""
        return [
            time / count if time is not None and count else None
            for time, count in zip(self.waited, self.requests, strict=True)
        ]


def _array_windows(
    volumes: Sequence[ArrayVolume], edges: Sequence[float], known: Sequence[bool]
) -> _InWindows:
    """What all volumes together did in each window; None where it is not ``known``."""
    columns: list[Values] = []
    for figure in (_read, _written, _requests, _waited):
        parts = [_spread(volume, edges, figure) for volume in volumes]
        columns.append(
            [_sum(row) if there else None for row, there in zip(zip(*parts, strict=True), known, strict=True)]
        )
    return _InWindows(*columns)


def _sum(values: Sequence[float | None]) -> float | None:
    return None if any(value is None for value in values) else sum(value or 0.0 for value in values)


def _read(interval: ArrayInterval) -> float | None:
    return interval.read_bytes_per_second


def _written(interval: ArrayInterval) -> float | None:
    return interval.written_bytes_per_second


def _requests(interval: ArrayInterval) -> float | None:
    return _sum((interval.reads_per_second, interval.writes_per_second))


def _waited(interval: ArrayInterval) -> float | None:
    """Seconds that requests took, for each second; a direction without requests took none."""
    pairs = (
        (interval.reads_per_second, interval.read_latency_seconds),
        (interval.writes_per_second, interval.write_latency_seconds),
    )
    return _sum(
        [
            0.0 if rate == 0 else None if None in (rate, time) else (rate or 0.0) * (time or 0.0)
            for rate, time in pairs
        ]
    )


def _host_windows(
    role: Role, facts: RunFacts, samples: RunSamples | None, edges: Sequence[float]
) -> _InWindows:
    named = {
        (volume.node, device) for volume in facts.volumes if volume.role == role for device in volume.devices
    }
    none: Values = [None] * (len(edges) - 1)
    if samples is None or not named:
        return _InWindows(none, none, none, none)
    sums: list[list[Values]] = [[], [], [], []]
    for node, device in sorted(named):
        prefix = f"device.{device}"
        both = f"{prefix}.requests" in samples.names(node)
        requests = ("requests",) if both else ("reads", "writes")
        seconds = ("request_seconds",) if both else ("read_seconds", "write_seconds")
        for place, figures in enumerate((("read_bytes",), ("written_bytes",), requests, seconds)):
            sums[place] += [_per_second(samples, node, f"{prefix}.{name}", edges) for name in figures]
    return _InWindows(*([_sum(row) for row in zip(*one, strict=True)] for one in sums))


def _per_second(samples: RunSamples, node: str, series: str, edges: Sequence[float]) -> Values:
    return [None if change is None else change.per_second for change in samples.changes(node, series, edges)]


def _side(windows: _InWindows, lengths: Sequence[float]) -> StorageSide:
    known = [
        (value, length) for value, length in zip(windows.moved, lengths, strict=True) if value is not None
    ]
    total = sum(length for _, length in known)
    pairs = [
        (time, count, length)
        for time, count, length in zip(windows.waited, windows.requests, lengths, strict=True)
        if time is not None and count
    ]
    counted = sum(count * length for _, count, length in pairs)
    return StorageSide(
        mean_bytes_per_second=sum(value * length for value, length in known) / total if total else None,
        peak_bytes_per_second=highest(windows.moved),
        peak_read_bytes_per_second=highest(windows.read),
        peak_written_bytes_per_second=highest(windows.written),
        mean_latency_seconds=sum(time * length for time, _, length in pairs) / counted if counted else None,
        peak_latency_seconds=highest(windows.latency),
    )


def _share(volumes: Sequence[ArrayVolume], edges: Sequence[float], figure: Figure) -> float | None:
    """The mean over the active phase, then over volumes; None if a volume has it for less than half of it."""
    whole = (edges[0], edges[-1])
    means = [_spread(volume, whole, figure)[0] for volume in volumes]
    total = _sum(means)
    return None if total is None else total / len(means)
