"""The most jobs that dependencies allow to run at the same time."""

from __future__ import annotations

import graphlib
from collections.abc import Mapping, Set


def widest(before: Mapping[str, Set[str]]) -> int:
    """Size of the largest set of jobs none of which must wait for another.

    ``before`` maps each job to the jobs it waits for directly; it has no cycle.  By Dilworth's
    theorem that is the number of jobs less a maximum matching in the order's transitive closure.
    """
    order = list(graphlib.TopologicalSorter(before).static_order())
    place = {job: number for number, job in enumerate(order)}
    earlier: list[set[int]] = []
    for job in order:
        direct = {place[name] for name in before.get(job, ())}
        earlier.append(direct.union(*(earlier[number] for number in direct)))
    taken_by: dict[int, int] = {}
    holds: dict[int, int] = {}
    return len(order) - sum(_match(job, earlier, taken_by, holds) for job in range(len(order)))


def _match(job: int, earlier: list[set[int]], taken_by: dict[int, int], holds: dict[int, int]) -> bool:
    """Give ``job`` an earlier job of its own, others changing theirs on the way; whether that went."""
    came_from: dict[int, int] = {}
    queue = [job]
    for later in queue:  # grows while it is walked
        for number in earlier[later] - came_from.keys():
            came_from[number] = later
            if number in taken_by:
                queue.append(taken_by[number])
                continue
            passed_on: int | None = number
            while passed_on is not None:
                taker, taken = came_from[passed_on], passed_on
                taken_by[taken] = taker
                passed_on, holds[taker] = holds.get(taker), taken
            return True
    return False
