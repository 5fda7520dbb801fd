"""A simulation as samples of a run folder: counters of every node, and of a storage server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.records.spec.program_options import ROLES, Role
from mawl.records.store.columns import INSTANT, SCHEMAS
from mawl.simulation.engine import SimulationOutcome
from mawl.simulation.recording import DIRECTIONS, PUSHED_OUT, SimulationRecording

Floats = NDArray[np.float64]

MOST_SAMPLES = 2_000_000
"""Rows of samples of a folder at most: they lie further apart than a second where there would be more."""

LINKS = "link"
"""The name of a node's network, and of the server's other ends of all."""


@dataclass(frozen=True, kw_only=True)
class SimulatedServer:
    """A storage server that the nodes share: its name as a node, and the devices that are its own."""

    name: str
    devices: tuple[str, ...]


def samples_of(
    outcome: SimulationOutcome, names: Sequence[Sequence[str]], started: float, server: SimulatedServer | None
) -> Iterator[pa.Table]:
    """The counters of every node at 1 Hz, or as far apart as ``MOST_SAMPLES`` asks for.

    ``names`` are the nodes of each group, ``started`` when the run began (seconds since the epoch).  What
    nodes of one machine share stands at the first of them.
    """
    series = [_series(outcome, number, server) for number in range(len(names))]
    nodes = sum(len(group) for group in names)
    most = max(len(one) for one in series)
    seconds = max(1.0, np.ceil(nodes * most * outcome.elapsed_seconds / MOST_SAMPLES))
    moments = np.append(np.arange(0.0, outcome.elapsed_seconds, seconds), outcome.elapsed_seconds)
    at = pa.array(np.round((started + moments) * 1e6).astype(np.int64)).cast(INSTANT)
    times = outcome.recording.times

    def interpolated(own: Mapping[str, Floats]) -> dict[str, Floats]:
        return {name: np.interp(moments, times, values) for name, values in own.items()}

    for number, members in enumerate(names):
        columns = interpolated(series[number])
        running = outcome.recording.running(number)
        places = np.clip(np.searchsorted(times, moments, side="right") - 1, 0, max(len(running) - 1, 0))
        columns["jobs_running"] = running[places] if len(running) else np.zeros_like(moments)
        host = interpolated(_host(outcome, number))
        for node in members:
            has_host = node == names[0][0] or not outcome.resources.system.one_machine
            yield _table(node, at, {**columns, **host} if has_host else columns)
    if server is not None:
        yield _table(server.name, at, interpolated(_of_server(outcome, server)))


def _table(node: str, at: pa.Array, columns: Mapping[str, Floats]) -> pa.Table:
    rows = len(at)
    values = pa.array(np.stack(list(columns.values()), axis=1).ravel())
    of_series = pa.array(list(columns)).take(pa.array(np.tile(np.arange(len(columns)), rows)))
    of_times = at.take(pa.array(np.repeat(np.arange(rows), len(columns))))
    own = pa.array([node]).take(pa.array(np.zeros(len(values), dtype=np.int64)))
    return pa.table([own, of_times, of_series, values], schema=SCHEMAS["samples"])


def _host(outcome: SimulationOutcome, group: int) -> dict[str, Floats]:
    """What the machine of a node of the group did: with all nodes' jobs, where they are one machine."""
    recording, resources = outcome.recording, outcome.resources
    kind, times = resources.groups[group].kind, recording.times

    def of_machine(name: str) -> Floats:
        if not resources.system.one_machine:
            return recording.cumulative(group, name)
        nodes = [recording.cumulative(at, name) * one.count for at, one in enumerate(resources.groups)]
        whole: Floats = np.sum(nodes, axis=0)
        return whole

    busy = np.minimum(of_machine("cpu") / kind.core_speed, kind.cores * times)
    found = {"host.cpu_user_seconds": busy, "host.cpu_idle_seconds": kind.cores * times - busy}
    if any(step.activity.step.pushed_out is not None for job in outcome.jobs for step in job.steps):
        found |= {f"host.cache_{name}": of_machine(name) for name in PUSHED_OUT}
    return found


def _of_server(outcome: SimulationOutcome, server: SimulatedServer) -> dict[str, Floats]:
    recording, resources = outcome.recording, outcome.resources
    found: dict[str, Floats] = {}
    for direction, word in (("read", "read"), ("write", "written")):
        for name in server.devices:
            column = resources.column(0, name, direction)
            assert column is not None, "devices that nodes share have a column for all"
            found[f"device.{name}.{word}_bytes"] = np.sum(
                [recording.used(at, column) * one.count for at, one in enumerate(resources.groups)], axis=0
            )
    for direction, way in (("read", "sent"), ("write", "received")):
        found[f"network.{LINKS}.{way}_bytes"] = np.sum(
            [
                recording.cumulative(at, f"crossing.{direction}") * one.count
                for at, one in enumerate(resources.groups)
            ],
            axis=0,
        )
    return found


def _inside_reads(recording: SimulationRecording, group: int, role: Role, waited: Floats) -> Floats:
    """Of the seconds waited in a role those for reads: as its bytes that steps waited for at the time."""
    read, written = (np.diff(recording.cumulative(group, f"awaited.{role}.{way}")) for way in DIRECTIONS)
    share = np.divide(read, read + written, out=np.zeros_like(read), where=read + written > 0.0)
    return np.append(0.0, np.cumsum(np.diff(waited) * share))


def _series(outcome: SimulationOutcome, group: int, server: SimulatedServer | None) -> dict[str, Floats]:
    recording, resources = outcome.recording, outcome.resources
    kind = resources.groups[group].kind
    found = {
        "jobs.on_cpu_seconds": recording.cumulative(group, "cpu"),
        "jobs.run_queue_seconds": recording.waited(group, None),
    }
    if not all(step.activity.step.io_known for job in outcome.jobs for step in job.steps):
        return found
    for direction, word in (("read", "read"), ("write", "written")):
        found[f"application_{word}_bytes"] = recording.cumulative(group, f"application.{direction}")
        charged = "own_read_bytes" if word == "read" else "charged_written_bytes"
        found[charged] = recording.cumulative(group, f"device.{direction}")
        for role in ROLES:
            found[f"role.{role}.{word}_bytes"] = recording.cumulative(group, f"role.{role}.{direction}")
    for role in ROLES:
        waited = recording.cumulative(group, f"alone.{role}") + recording.waited(group, role)
        reading = _inside_reads(recording, group, role, waited)
        found |= {
            f"role.{role}.waited_seconds": waited,
            f"role.{role}.read_seconds": reading,
            f"role.{role}.write_seconds": waited - reading,
        }
    if server is not None:
        for direction, way in (("read", "received"), ("write", "sent")):
            found[f"network.{LINKS}.{way}_bytes"] = recording.cumulative(group, f"crossing.{direction}")
    behind = () if server is None else server.devices
    for name in dict.fromkeys(name for names in kind.roles.values() for name in names if name not in behind):
        for direction, word in (("read", "read"), ("write", "written")):
            column = resources.column(group, name, direction)
            if column is not None:
                found[f"device.{name}.{word}_bytes"] = recording.used(group, column)
    return found
