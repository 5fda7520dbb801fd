"""How often an import's limit is wrong: closed systems, solved exactly (docs/design/verdict.md, Imports)."""

from __future__ import annotations

import random
from typing import NamedTuple

from mawl.advice.limit.imports import RecordedWindow

SYSTEMS = 2000


class Solved(NamedTuple):
    """Steady state: cycles per second, and shares as a recording has them; waits are means per job."""

    rate: float
    busy: float
    device: float
    iowait_per_job: float
    queued: float
    blocked: float


def solved(jobs: int, processors: int, servers: int, on_cpu: float, in_device: float) -> Solved:
    """Jobs that go from processors to a device and back, exponential times: a birth-death chain over the
    number of jobs at the processors."""
    weights = [1.0]
    for here in range(jobs):
        arrives = min(jobs - here, servers) / in_device
        leaves = min(here + 1, processors) / on_cpu
        weights.append(weights[-1] * arrives / leaves)
    whole = sum(weights)
    states = [(here, weight / whole) for here, weight in enumerate(weights)]
    running = sum(share * min(here, processors) for here, share in states)
    waiting = sum(share * min(max(processors - here, 0), jobs - here) for here, share in states)
    return Solved(
        rate=running / on_cpu,
        busy=running / processors,
        device=sum(share for here, share in states if here < jobs),
        iowait_per_job=waiting / jobs,
        queued=sum(share * max(here - processors, 0) for here, share in states) / jobs,
        blocked=sum(share * (jobs - here) for here, share in states) / jobs,
    )


def test_the_chain_has_the_known_answer_of_one_job_and_of_one_queue() -> None:
    one = solved(1, 2, 1, 1.0, 3.0)
    assert (round(one.rate, 9), round(one.busy, 9), round(one.blocked, 9)) == (0.25, 0.125, 0.75)
    even = solved(4, 1, 1, 1.0, 1.0)  # five states alike
    assert (round(even.rate, 9), round(even.device, 9)) == (0.8, 0.8)


def test_the_other_resource_seldom_helps_more_than_the_named_one() -> None:
    draw = random.Random(2)
    named = agreed = resources = wrong = 0
    for _ in range(SYSTEMS):
        jobs, processors = draw.randint(1, 20), draw.choice((1, 2, 4, 8))
        servers, in_device = draw.choice((1, 1, 4, 1000)), 10 ** draw.uniform(-2, 1.3)
        found = solved(jobs, processors, servers, 1.0, in_device)
        window = RecordedWindow(
            seconds=60.0,
            waited=1.0 - found.busy * processors / jobs,
            full=found.busy,
            iowait_ratio=found.iowait_per_job,
            device=found.device,
            swapping=False,
        )
        if window.name is None:
            continue
        named += 1
        costliest = "cpu" if found.queued >= found.blocked else "storage"
        agreed += window.name == (costliest if max(found.queued, found.blocked) >= 0.2 else "none")
        if window.name != "none":
            resources += 1
            cpu = solved(jobs, 2 * processors, servers, 1.0, in_device).rate
            storage = solved(jobs, processors, servers, 1.0, in_device / 2).rate
            wrong += storage > cpu if window.name == "cpu" else cpu > storage
    assert named > 0.9 * SYSTEMS and agreed > 0.97 * named
    assert resources > 0.8 * SYSTEMS and wrong < 0.015 * resources
