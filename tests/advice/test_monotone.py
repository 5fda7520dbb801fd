"""Drawn systems whose truth is known: a worse one never gets a better answer, and the larger cost is the
better one to relieve.

docs/design/answer.md and docs/design/verdict.md have the figures.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from mawl.advice.limit.rule import LEAST_LOSS_RATIO
from tests.fakes.closed_system import STORES, costs, drawn, relieved, slowdown, worse

BOUND = 2.0


def changes(seeds: range) -> Iterator[tuple[str, float, float]]:
    """Each change of each drawn system: what it is, W before, and W after."""
    for seed in seeds:
        sessions, system = drawn(random.Random(seed))
        before = slowdown(sessions, system)
        for name, (jobs, changed) in worse(sessions, system).items():
            yield name, before, slowdown(jobs, changed)


def test_no_change_for_the_worse_looks_better() -> None:
    """At most 1 % of the changes improve W by more than 1 %, by 10 % at most, and no answer turns to YES."""
    found = list(changes(range(400)))
    gains = [1.0 - after / before for _, before, after in found]
    assert len(found) == 4800
    assert sum(gain > 0.01 for gain in gains) <= 0.01 * len(found)
    assert max(gains) < 0.10
    assert not [name for name, before, after in found if before > BOUND >= after]
    assert 0.2 < sum(before > BOUND for _, before, _ in found) / len(found) < 0.8, "both answers occur"


def doublings(seeds: range) -> Iterator[tuple[float, bool]]:
    """Of each drawn system whose largest cost is a fifth of the jobs' time: the second cost over it, and
    whether it is the better one of the two to double.  A store costs all the time in it, service included."""
    for seed in seeds:
        sessions, system = drawn(random.Random(seed))
        parts = costs(sessions, system)
        found = [(parts["run_queue"], "run_queue")]
        for store in range(STORES):
            kinds = sorted((parts.get(f"{kind} {store}", 0.0), kind) for kind in ("delay", "bytes"))
            found.append((kinds[0][0] + kinds[1][0], f"{kinds[1][1]} {store}"))
        (second, other), (largest, named) = sorted(found)[-2:]
        if largest >= LEAST_LOSS_RATIO * sum(parts.values()):
            after, beside = (slowdown(sessions, relieved(system, cause)) for cause in (named, other))
            yield second / largest, after <= beside


def test_the_larger_cost_is_the_better_one_to_double() -> None:
    """In 90 % of the systems, and in 98 % where the second costs less than half as much."""
    found = list(doublings(range(800)))
    alone = [better for ratio, better in found if ratio < 0.5]
    assert sum(better for _, better in found) >= 0.90 * len(found)
    assert sum(alone) >= 0.98 * len(alone)
    assert len(found) > 500 and 0.5 < len(alone) / len(found) < 0.8, "both cases occur"
