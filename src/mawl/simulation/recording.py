"""What moved and what was waited for while the engine ran: rates between events, summed up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mawl.records.spec.program_options import ROLES, Role
from mawl.simulation.activity import Activity, WrittenBehind
from mawl.simulation.resources import Resources

Floats = NDArray[np.float64]

DIRECTIONS = ("read", "write")
PUSHED_OUT = ("evicted_bytes", "reread_bytes")
NAMES: tuple[str, ...] = (
    "cpu",
    "alone",
    *(f"{side}.{direction}" for side in ("application", "device") for direction in DIRECTIONS),
    *(f"role.{role}.{direction}" for role in ROLES for direction in DIRECTIONS),
    *(f"alone.{role}" for role in ROLES),
    "alone.other",
    *(f"crossing.{direction}" for direction in DIRECTIONS),
    *(f"awaited.{role}.{direction}" for role in ROLES for direction in DIRECTIONS),
    *PUSHED_OUT,
)
"""What the whole of a step moves or waits for: CPU seconds, seconds alone, bytes (``crossing`` are those on a
node's link, ``awaited`` those of a role that steps wait for), seconds blocked; what the page cache gave up
and read again (0 if no model told it)."""

CHANNELS = len(NAMES)
WAITERS = len(ROLES) + 1
"""Who waits for a resource: a role, or (the last) nobody but the job, for a core."""
_PLACE = {name: number for number, name in enumerate(NAMES)}


def channels_of(step: Activity) -> Floats:
    """The step's amounts, in the order of ``NAMES``."""
    found = np.zeros(CHANNELS)
    found[_PLACE["cpu"]] = step.step.cpu_seconds
    found[_PLACE["alone"]] = step.alone_seconds
    found[_PLACE["alone.other"]] = step.step.other_seconds
    for flow in step.step.flows:
        found[_PLACE[f"application.{flow.direction}"]] += flow.application_bytes
        found[_PLACE[f"role.{flow.role}.{flow.direction}"]] += flow.application_bytes
    for direction, bytes_ in step.device_bytes.items():
        found[_PLACE[f"device.{direction}"]] = bytes_
    for direction, bytes_ in step.crossing.items():
        found[_PLACE[f"crossing.{direction}"]] = bytes_
    for (role, direction), bytes_ in step.awaited.items():
        found[_PLACE[f"awaited.{role}.{direction}"]] = bytes_
    for role, seconds in step.blocked_seconds.items():
        found[_PLACE[f"alone.{role}"]] += seconds
    if step.step.pushed_out is not None:
        for name in PUSHED_OUT:
            found[_PLACE[name]] = getattr(step.step.pushed_out, name)
    return found


def channels_behind(written: WrittenBehind, ratio: float) -> Floats:
    """The amounts of a part of what is written behind."""
    found = np.zeros(CHANNELS)
    found[_PLACE["device.write"]] = written.bytes * ratio
    return found


def waiters_of(step: Activity, column: int) -> Floats:
    """Shares of ``WAITERS`` in a step's waits for a resource."""
    found = np.zeros(WAITERS)
    for role, share in step.role_shares(column).items():
        found[ROLES.index(role)] = share
    found[-1] = 1.0 - found.sum()
    return found


class SimulationRecording:
    """The course of a simulation: piecewise constant rates of one node of each group."""

    def __init__(self, resources: Resources, groups: int) -> None:
        self.resources, self._groups = resources, np.arange(groups)[:, None]
        self._counts = np.array([float(group.count) for group in resources.groups])
        self._width = len(resources.places)
        self._times: list[float] = [0.0]
        self._moved: list[Floats] = []
        self._running: list[Floats] = []
        self._waited: list[Floats] = []
        self._summed: tuple[Floats, Floats] | None = None

    def add(
        self,
        at: float,
        seconds: float,
        moved: Floats,
        group: NDArray[np.int64],
        bound: NDArray[np.int64],
        waiting: Floats,
        is_step: NDArray[np.bool_],
    ) -> None:
        """An interval in which nothing changes.

        Of each row: ``moved`` is what it moves and waits a second (channels, resources, waiters),
        ``group`` whose it is, ``waiting`` the share of time that it waits for the resource ``bound``,
        ``is_step`` false of what is written behind.
        """
        if at > self._times[-1]:  # nothing ran since: a delay
            idle = np.zeros((len(self._groups), moved.shape[1]))
            self._append(at, idle, np.zeros(len(self._groups)), np.zeros(self._width))
        member = (group == self._groups).astype(float)
        held = np.maximum(bound, 0)
        waits = np.bincount(held, waiting * self._counts[group], self._width).astype(np.float64)
        self._append(at + seconds, member @ moved * seconds, member @ is_step, waits * seconds)

    def _append(self, at: float, moved: Floats, running: Floats, waited: Floats) -> None:
        self._times.append(at)
        self._moved.append(moved)
        self._running.append(running)
        self._waited.append(waited)

    def _sums(self) -> tuple[Floats, Floats]:
        """Cumulative (moments, groups, channels and resources) and (moments, resources)."""
        if self._summed is None:
            columns = CHANNELS + self._width + WAITERS
            moved = np.array([np.zeros((len(self._groups), columns)), *self._moved])
            waited = np.array([np.zeros(self._width), *self._waited])
            self._summed = moved.cumsum(axis=0), waited.cumsum(axis=0)
        return self._summed

    @property
    def times(self) -> Floats:
        return np.array(self._times)

    def cumulative(self, group: int, name: str) -> Floats:
        """What a node of the group moved or waited for until each of the moments (``NAMES``)."""
        return self._sums()[0][:, group, _PLACE[name]]

    def used(self, group: int, column: int) -> Floats:
        return self._sums()[0][:, group, CHANNELS + column]

    def waited(self, group: int, waiter: Role | None) -> Floats:
        """Seconds that jobs of a node of the group had waited for others in a role (None: for cores)."""
        place = CHANNELS + self._width + (len(ROLES) if waiter is None else ROLES.index(waiter))
        return self._sums()[0][:, group, place]

    def running(self, group: int) -> Floats:
        return np.array([running[group] for running in self._running])

    def limits(self, start: float, end: float) -> dict[str, float]:
        """Job-seconds of all nodes between two moments by what they went on.

        ``cpu`` is computing, ``cores``, ``link``, ``fabric`` and names of devices are waits for these;
        ``alone.ROLE`` is time blocked on devices even without others, ``alone.other`` elsewhere.
        """
        times = self.times
        moved, waited = self._sums()
        found: dict[str, float] = {}
        for column, name in enumerate(self.resources.limits):
            seconds = _between(times, waited[:, column], start, end)
            if seconds > 0.0:
                found[name] = found.get(name, 0.0) + seconds
        whole = moved.transpose(2, 0, 1) @ self._counts
        for name in NAMES:
            if name.startswith("alone."):
                found[name] = _between(times, whole[_PLACE[name]], start, end)
        alone = sum(value for name, value in found.items() if name.startswith("alone."))
        found["cpu"] = max(_between(times, whole[_PLACE["alone"]], start, end) - alone, 0.0)
        return {name: value for name, value in found.items() if value > 0.0}


def _between(times: Floats, sums: Floats, start: float, end: float) -> float:
    before, after = np.interp([start, end], times, sums)
    return float(after - before)
