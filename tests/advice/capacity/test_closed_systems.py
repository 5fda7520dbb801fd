"""The parts of the slowdown against what interventions show, on systems whose truth is known.

The table of docs/design/capacity.md is of 400 such draws.
"""

from __future__ import annotations

import random
from statistics import median

import msgspec
import pytest

from mawl.advice.capacity.slowdown import Interval, Slowdowns, interval_of, slowdowns
from tests.fakes.closed_system import Program, drawn, records, run

ENDLESS = 1e9
SEEDS = range(24)


def measured(programs: list[Program], *, scatter: float = 0.0, **system: float) -> Slowdowns:
    """The slowdowns of a run of the programs on a system."""
    return slowdowns(*records(programs, run(programs, **system), scatter))


def part(found: Slowdowns, name: str) -> Interval:
    interval = interval_of(found, name)  # type: ignore[arg-type]
    assert interval is not None
    return interval


def truth(programs: list[Program], **system: float) -> float:
    """The median slowdown that a changed system really shows."""
    mix = run(programs, **system)
    return median(spent.seconds / one.alone_seconds for spent, one in zip(mix, programs, strict=True))


def system(seed: int) -> tuple[list[Program], float, float]:
    draw = random.Random(seed)
    programs = drawn(draw, draw.choice([4, 8, 16]))
    return programs, len(programs) * draw.uniform(0.1, 1.0), len(programs) * draw.uniform(0.1, 1.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_each_part_is_the_slowdown_when_the_other_resource_is_not_contended(seed: int) -> None:
    """Below it only where the other resource limits and so holds the demand back: the answer says so."""
    programs, cores, streams = system(seed)
    found = measured(programs, cores=cores, streams=streams)
    compute, storage = part(found, "compute").median, part(found, "storage").median
    store_free = truth(programs, cores=cores, streams=ENDLESS)
    cores_free = truth(programs, cores=ENDLESS, streams=streams)
    assert (0.9 if storage < 1.5 else 0.0) * store_free <= compute <= 1.03 * store_free
    assert (0.9 if compute < 1.5 else 0.0) * cores_free <= storage <= 1.03 * cores_free


@pytest.mark.parametrize("seed", SEEDS)
def test_the_part_that_does_not_carry_is_what_an_intervention_relieves(seed: int) -> None:
    programs, cores, streams = system(seed)
    found = measured(programs, cores=cores, streams=streams)
    compute, storage = part(found, "compute").median, part(found, "storage").median
    if min(compute, storage) < 1.3 and max(compute, storage) > 2.0:
        now = truth(programs, cores=cores, streams=streams)
        twice_cores = truth(programs, cores=2 * cores, streams=streams)
        twice_store = truth(programs, cores=cores, streams=streams, faster=2.0)
        helps, idle = (twice_cores, twice_store) if compute > storage else (twice_store, twice_cores)
        assert helps < 0.8 * now and idle > 0.9 * now


def test_infinitely_fast_storage_carries_however_crowded_the_processors_are() -> None:
    programs = [Program(cpu=1.0, io=1.0, cycles=10)] * 8
    found = measured(programs, cores=2.0, streams=ENDLESS, faster=1e6)
    assert part(found, "storage").high < 1.0
    assert part(found, "compute").low > 2.0


def test_the_parts_add_up_to_the_slowdown() -> None:
    found = measured([Program(cpu=1.0, io=1.0, cycles=10)] * 8, cores=4.0, streams=3.0)
    whole, compute, storage = (part(found, name).median for name in ("whole", "compute", "storage"))
    assert whole - 1.0 == pytest.approx((compute - 1.0) + (storage - 1.0))


def test_times_alone_that_scatter_widen_the_interval_and_it_holds_the_truth() -> None:
    programs = [Program(cpu=1.0, io=0.5, cycles=10)] * 6
    exact = part(measured(programs, cores=3.0, streams=6.0), "whole")
    noisy = [
        part(measured(programs, cores=3.0, streams=6.0, scatter=share), "whole") for share in (0.02, 0.2)
    ]
    assert exact.low == pytest.approx(exact.median) == pytest.approx(exact.high)
    assert [one.low <= exact.median <= one.high for one in noisy] == [True, True]
    assert noisy[1].high - noisy[1].low > 3 * (noisy[0].high - noisy[0].low) > 0


def test_waiting_in_no_io_call_could_be_either_parts() -> None:
    """It counts in the upper end of both, in neither's lower end."""
    programs = [Program(cpu=1.0, io=1.0, cycles=5)]
    (one,), alone = records(programs, run(programs, cores=1.0, streams=1.0))
    waits = msgspec.structs.replace(one.waits, blocked_other_seconds=10.0)
    usage = msgspec.structs.replace(one.usage, real_time_seconds=20.0)
    found = slowdowns([msgspec.structs.replace(one, waits=waits, usage=usage)], alone)
    assert part(found, "whole").median == pytest.approx(2.0)
    for name in ("compute", "storage"):
        assert (part(found, name).median, part(found, name).high) == pytest.approx((1.0, 2.0))
