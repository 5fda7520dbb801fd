"""A system made worse in one way never gets a better answer, on drawn systems whose truth is known.

docs/design/answer.md has the figures of 400 draws.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.fakes.closed_system import drawn, slowdown, worse

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
