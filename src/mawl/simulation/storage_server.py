"""What a watched storage server moved for the bytes that jobs asked for: over the links, and at its devices.

The jobs' own account ends at their node.  The samples of the server and of the nodes' networks have the rest
(docs/design/simulation.md, Storage server).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mawl.figures.cluster import device_rates, network_rates
from mawl.figures.series import RunSamples
from mawl.figures.throughput import fuse_roles
from mawl.figures.windows import Rates
from mawl.records.model.run import RunFacts
from mawl.records.spec.program_options import ROLES, Role
from mawl.simulation.demand import Demand, Direction, Flow, JobDemand, StepDemand

Floats = NDArray[np.float64]

NO_SERVER = "bytes at the storage server: its samples, or those of the nodes' networks, do not cover the run"
WAYS: dict[Direction, str] = {"read": "received", "write": "sent"}
"""What a node's network does when its jobs read and write."""


def served_roles(facts: RunFacts) -> tuple[Role, ...]:
    """The roles that lie on a watched storage server: behind a network, on no device of the nodes."""
    if not facts.storage_runs:
        return ()
    volumes = {role: [one for one in facts.volumes if one.role == role] for role in ROLES}
    return tuple(
        role for role, own in volumes.items() if own and all(one.network and not one.devices for one in own)
    )


@dataclass(frozen=True)
class _Served:
    """Of one direction: bytes over all links, and at the server's devices, in each window."""

    crossed: Floats
    reached: Floats


def with_served_bytes(
    demand: Demand, facts: RunFacts, samples: RunSamples | None, edges: Sequence[float] | None
) -> Demand:
    """The demand with bytes on links and at the server's devices, for the roles that it serves.

    ``edges`` bound the run's windows (seconds since the epoch).  What the nodes' networks carried, and what
    the server's devices moved, is shared out window by window over the steps that ran in it, by their bytes
    of that direction.  Sums are kept: all of what was measured belongs to some step.
    Where the samples do not tell, the demand stays, and says that it lacks it.
    """
    roles = served_roles(facts)
    if not roles:
        return demand
    found = _measured(facts, samples, edges)
    if found is None or edges is None:
        return replace(demand, lacks=tuple(sorted({*demand.lacks, NO_SERVER})))
    over_fuse = set(fuse_roles(facts))

    def asked(flow: Flow) -> float:
        """Bytes that left the node: those charged, but what FUSE reads is charged to nobody."""
        uncharged = flow.role in over_fuse and flow.direction == "read"
        return flow.application_bytes if uncharged else flow.device_bytes

    jobs = demand.jobs
    for direction, one in found.items():
        jobs = _shared_out(
            jobs, lambda flow: asked(flow) if flow.role in roles else 0.0, direction, one, edges
        )
    return replace(demand, jobs=jobs)


def _measured(
    facts: RunFacts, samples: RunSamples | None, edges: Sequence[float] | None
) -> dict[Direction, _Served] | None:
    if samples is None or edges is None:
        return None
    lengths, whole = np.diff(edges), (edges[0], edges[-1])
    found: dict[Direction, _Served] = {}
    for direction, way in WAYS.items():
        networks = [_known(network_rates(samples, node, way, edges)) for node in samples.nodes]
        crossed = [rates for rates in networks if rates is not None]
        devices = [_known(device_rates(run, samples, edges)[direction]) for run in facts.storage_runs]
        reached = [rates for rates in devices if rates is not None]
        if not crossed or len(reached) < len(devices):
            return None
        over = [network_rates(samples, node, way, whole)[0] or 0.0 for node in samples.nodes]
        found[direction] = _Served(
            _of_sum(np.sum(crossed, axis=0) * lengths, sum(over) * (whole[1] - whole[0])),
            np.sum(reached, axis=0) * lengths,
        )
    return found


def _of_sum(bytes_: Floats, whole: float) -> Floats:
    """The same course with the sum that is known of the whole: samples may not cover every window."""
    return bytes_ * (whole / bytes_.sum()) if whole > 0.0 and bytes_.sum() > 0.0 else bytes_


def _known(rates: Rates) -> Floats | None:
    """Windows that samples do not cover have nothing of their own; None where they cover none."""
    if all(rate is None for rate in rates):
        return None
    return np.array([rate or 0.0 for rate in rates])


def _shared_out(
    jobs: Mapping[str, JobDemand],
    asked: Callable[[Flow], float],
    direction: Direction,
    one: _Served,
    edges: Sequence[float],
) -> dict[str, JobDemand]:
    inside = {
        id(step): sum(asked(flow) for flow in step.flows if flow.direction == direction)
        for step in _steps(jobs.values())
    }
    if sum(inside.values()) <= 0.0:
        return dict(jobs)
    times = {id(step): _times(step, edges) for step in _steps(jobs.values())}
    crossed, reached = (_for_each_byte(bytes_, inside, times) for bytes_ in (one.crossed, one.reached))

    def moved(flow: Flow, step: StepDemand) -> Flow:
        bytes_ = asked(flow)
        if flow.direction != direction or bytes_ <= 0.0:
            return flow
        return replace(
            flow,
            link_bytes=bytes_ * crossed[id(step)],
            device_bytes=bytes_ * reached[id(step)],
        )

    return {
        name: replace(
            job,
            steps=tuple(
                replace(step, flows=tuple(moved(flow, step) for flow in step.flows)) for step in job.steps
            ),
        )
        for name, job in jobs.items()
    }


def _for_each_byte(
    moved: Floats, asked: Mapping[int, float], times: Mapping[int, Floats]
) -> dict[int, float]:
    """Bytes of ``moved`` (in each window) for each byte that a step asked for; over all steps their sum."""
    in_window = sum((times[key] * bytes_ for key, bytes_ in asked.items()), np.zeros_like(moved))
    ratio = np.divide(moved, in_window, out=np.zeros_like(moved), where=in_window > 0.0)
    own = {key: float(times[key] @ ratio) for key in asked}
    attributed = sum(own[key] * bytes_ for key, bytes_ in asked.items())
    if attributed <= 0.0:
        # It moved when nobody asked, as what is written behind does: alike for all.
        return dict.fromkeys(asked, float(moved.sum()) / sum(asked.values()))
    level = float(moved.sum()) / attributed
    return {key: value * level for key, value in own.items()}


def _steps(jobs: Iterable[JobDemand]) -> Iterator[StepDemand]:
    return (step for job in jobs for step in job.steps)


def _times(step: StepDemand, edges: Sequence[float]) -> Floats:
    """The parts of a step's time that lie in each window; of an unknown time, the windows' own lengths."""
    started, ended = step.span or (edges[0], edges[-1])
    starts, ends = np.array(edges[:-1]), np.array(edges[1:])
    inside = np.clip(np.minimum(ended, ends) - np.maximum(started, starts), 0.0, None)
    if inside.sum() <= 0.0:
        inside = ((starts <= started) & (started < ends)).astype(np.float64)
        inside[-1] += not inside.any()
    return np.asarray(inside / inside.sum(), dtype=np.float64)
