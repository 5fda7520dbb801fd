"""A small closed system whose truth is known: jobs that compute and read in turns, on cores and a store.

Fluid: the processors share themselves out evenly over the jobs that compute, none getting more than one core;
so does the store over the jobs that read, none getting more than it gives one job alone.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from mawl.records.model.records import JobRecord, Usage
from mawl.records.model.role_io import Waits
from mawl.records.model.run import Alone, AloneRun
from tests.fakes.stored_run import job

STORED = "s{number}-1"


class Program(NamedTuple):
    """A job: ``cycles`` times ``cpu`` seconds of a core, then ``io`` seconds of the store alone."""

    cpu: float
    io: float
    cycles: int

    @property
    def alone_seconds(self) -> float:
        return self.cycles * (self.cpu + self.io)


class Spent(NamedTuple):
    """Where a job's real time went: on a core, waiting for one, waiting for the store."""

    on_cpu: float
    run_queue: float
    blocked: float

    @property
    def seconds(self) -> float:
        return sum(self)


def run(programs: Sequence[Program], *, cores: float, streams: float, faster: float = 1.0) -> list[Spent]:
    """All jobs from the same moment.  ``streams`` jobs read at full speed side by side; the store is
    ``faster`` for each of them and in all."""
    left = [program.cpu for program in programs]
    reading, cycle = [False] * len(programs), [0] * len(programs)
    spent = [[0.0, 0.0, 0.0] for _ in programs]
    while any(one < program.cycles for one, program in zip(cycle, programs, strict=True)):
        active = [at for at, program in enumerate(programs) if cycle[at] < program.cycles]
        computing = [at for at in active if not reading[at]]
        stored = [at for at in active if reading[at]]
        core = min(1.0, cores / len(computing)) if computing else 0.0
        share = faster * min(1.0, streams / len(stored)) if stored else 0.0
        step = min(left[at] / (share if reading[at] else core) for at in active)
        for at in active:
            if reading[at]:
                spent[at][2] += step
            else:
                spent[at][0] += step * core
                spent[at][1] += step * (1.0 - core)
            left[at] -= step * (share if reading[at] else core)
            if left[at] <= 1e-9:
                reading[at] = not reading[at]
                cycle[at] += not reading[at]
                left[at] = programs[at].io if reading[at] else programs[at].cpu
    return [Spent(*one) for one in spent]


def records(
    programs: Sequence[Program], mix: Sequence[Spent], scatter: float = 0.0, seed: int = 0
) -> tuple[list[JobRecord], list[Alone]]:
    """The jobs of the mix as a run has them, and three times alone of each, which ``scatter``."""
    draw = random.Random(seed)
    jobs, alone = [], []
    for number, (program, spent) in enumerate(zip(programs, mix, strict=True), 1):
        name = STORED.format(number=number)
        jobs.append(
            job(name, 0.0, spent.seconds, usage=Usage(real_time_seconds=spent.seconds), waits=_waits(spent))
        )
        runs = []
        for repeat in range(3):
            factor = 1.0 + scatter * draw.uniform(-1.0, 1.0)
            own = Spent(program.cycles * program.cpu * factor, 0.0, program.cycles * program.io * factor)
            runs.append(AloneRun(run_id=f"alone-{repeat}", real_time_seconds=own.seconds, waits=_waits(own)))
        middle = sorted(run.real_time_seconds for run in runs)[1]
        alone.append(
            Alone(program="wide_sort", jobs=[name], real_time_seconds=middle, run_id="alone", runs=runs)
        )
    return jobs, alone


def drawn(draw: random.Random, jobs: int) -> list[Program]:
    """Programs from all compute to nearly all reading."""
    found = []
    for _ in range(jobs):
        share = draw.uniform(0.05, 0.95)
        cycle = draw.uniform(0.5, 2.0)
        found.append(Program(cpu=cycle * (1.0 - share), io=cycle * share, cycles=draw.randint(8, 16)))
    return found


def _waits(spent: Spent) -> Waits:
    return Waits(
        on_cpu_seconds=spent.on_cpu,
        run_queue_seconds=spent.run_queue,
        blocked_data_seconds=spent.blocked,
        blocked_work_seconds=0.0,
        blocked_util_seconds=0.0,
        blocked_other_seconds=0.0,
    )
