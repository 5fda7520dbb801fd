"""A small closed system whose truth is known: sessions of jobs that compute and use three stores in turns.

Fluid: the processors share themselves out evenly over the jobs that compute and over other programs, and
nobody gets more than one core; each store shares its rate over the jobs that use it, and a job gets no more
than one stream.  Requests also last a fixed time, which jobs wait side by side.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

STORES = 3


class Job(NamedTuple):
    """``cycles`` times: CPU seconds on a core of speed 1, then bytes and requests in each store."""

    cpu: float
    bytes: tuple[float, ...]
    requests: tuple[float, ...]
    cycles: int

    @property
    def reference_seconds(self) -> float:
        return self.cpu * self.cycles


class System(NamedTuple):
    """``rates`` are bytes a second of each store in all, ``streams`` for one job, ``delays`` of a request;
    ``others`` are programs that always compute."""

    cores: float
    speed: float
    rates: tuple[float, ...]
    streams: tuple[float, ...]
    delays: tuple[float, ...]
    others: int = 0


class _Running:
    """A session at work: what is left of its jobs, of the cycle, and of the phase (CPU, delay or bytes)."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.jobs = list(jobs)
        self.seconds: list[float] = []
        self._begin()

    def _begin(self) -> None:
        self.cycle, self.took = 0, 0.0
        self._phases()

    def _phases(self) -> None:
        job = self.jobs[0]
        self.left = [("cpu", 0, job.cpu)]
        for store in range(STORES):
            self.left += [("delay", store, job.requests[store]), ("bytes", store, job.bytes[store])]
        self.left = [one for one in self.left if one[2] > 0.0]

    @property
    def phase(self) -> tuple[str, int]:
        return self.left[0][:2]

    def advance(self, step: float, rate: float) -> None:
        kind, store, left = self.left[0]
        self.took += step
        left -= step * rate
        self.left[0] = (kind, store, left)
        if left > 1e-9 * max(rate, 1.0):
            return
        self.left.pop(0)
        if self.left:
            return
        self.cycle += 1
        if self.cycle < self.jobs[0].cycles:
            self._phases()
            return
        self.seconds.append(self.took)
        self.jobs.pop(0)
        if self.jobs:
            self._begin()


def slowdown(sessions: Sequence[Sequence[Job]], system: System) -> float:
    """W: real time of all jobs over their reference time, of sessions that begin at the same moment."""
    return sum(costs(sessions, system).values())


def costs(sessions: Sequence[Sequence[Job]], system: System) -> dict[str, float]:
    """What W is the sum of: ``on_cpu``, ``run_queue``, and ``delay N`` and ``bytes N`` of each store."""
    every = [_Running(jobs) for jobs in sessions]
    found: dict[str, float] = {"run_queue": 0.0}
    while running := [one for one in every if one.jobs]:
        computing = sum(one.phase[0] == "cpu" for one in running)
        using = [sum(one.phase == ("bytes", store) for one in running) for store in range(STORES)]
        core = min(1.0, system.cores / max(computing + system.others, 1))
        rates = []
        for one in running:
            kind, store = one.phase
            if kind == "cpu":
                rates.append(system.speed * core)
            elif kind == "delay":
                rates.append(1.0 / system.delays[store])
            else:
                rates.append(min(system.streams[store], system.rates[store] / using[store]))
        step = min(one.left[0][2] / rate for one, rate in zip(running, rates, strict=True))
        found["run_queue"] += step * computing * (1.0 - core)
        for one, rate in zip(running, rates, strict=True):
            kind, store = one.phase
            name = "on_cpu" if kind == "cpu" else f"{kind} {store}"
            found[name] = found.get(name, 0.0) + step * (core if kind == "cpu" else 1.0)
            one.advance(step, rate)
    reference = sum(job.reference_seconds for jobs in sessions for job in jobs)
    return {name: seconds / reference for name, seconds in found.items()}


def drawn(draw: random.Random) -> tuple[list[list[Job]], System]:
    """Two to eight sessions of two to four jobs, on cores and stores from ample to far too slow."""
    sessions = [[_job(draw) for _ in range(draw.randint(2, 4))] for _ in range(draw.randint(2, 8))]
    streams = tuple(draw.uniform(50.0, 500.0) for _ in range(STORES))
    system = System(
        cores=draw.uniform(0.2, 1.2) * len(sessions),
        speed=draw.uniform(0.6, 1.5),
        rates=tuple(stream * len(sessions) * draw.uniform(0.05, 1.0) for stream in streams),
        streams=streams,
        delays=tuple(draw.choice([0.0001, 0.001, 0.01]) for _ in range(STORES)),
    )
    return sessions, system


def _job(draw: random.Random) -> Job:
    """From all compute to nearly all waiting; a MB and a request count as one unit of a store."""
    cycle, share = draw.uniform(0.5, 2.0), draw.uniform(0.05, 0.95)
    return Job(
        cpu=cycle * (1.0 - share),
        bytes=tuple(100.0 * cycle * share * draw.choice([0.0, 0.3, 1.0]) for _ in range(STORES)),
        requests=tuple(10.0 * cycle * share * draw.random() for _ in range(STORES)),
        cycles=draw.randint(3, 8),
    )


def worse(sessions: Sequence[Sequence[Job]], system: System) -> dict[str, tuple[list[list[Job]], System]]:
    """The same made worse in one of twelve ways."""
    found: dict[str, System] = {
        "half the cores": system._replace(cores=system.cores / 2),
        "a quota of three quarters": system._replace(cores=0.75 * system.cores),
        "slower cores": system._replace(speed=0.7 * system.speed),
        "another program": system._replace(others=1),
        "half the streams": system._replace(streams=tuple(one / 2 for one in system.streams)),
    }
    for store, role in enumerate(("data", "work", "util")):
        found[f"half the rate of {role}"] = system._replace(rates=_at(system.rates, store, 0.5))
        found[f"12 ms more on {role}"] = system._replace(delays=_at(system.delays, store, 1.0, 0.012))
    plain = [list(jobs) for jobs in sessions]
    every = {name: (plain, changed) for name, changed in found.items()}
    return every | {"twice the sessions": ([*plain, *plain], system)}


def relieved(system: System, cause: str) -> System:
    """Twice what a cause of waiting asks for: cores, their speed, half the delay of a store, or its rate."""
    kind, _, store = cause.partition(" ")
    match kind:
        case "run_queue":
            return system._replace(cores=2.0 * system.cores)
        case "on_cpu":
            return system._replace(speed=2.0 * system.speed)
        case "delay":
            return system._replace(delays=_at(system.delays, int(store), 0.5))
    rates, streams = (_at(values, int(store), 2.0) for values in (system.rates, system.streams))
    return system._replace(rates=rates, streams=streams)


def _at(values: tuple[float, ...], place: int, factor: float, more: float = 0.0) -> tuple[float, ...]:
    return tuple(one * factor + more if number == place else one for number, one in enumerate(values))
