"""``python -m tools.searches``: how often searches on a machine of planted costs say what is so.

Prints the figures of docs/design/search.md: the machine and the rules are those of the tests
(tests/fakes/search_machine.py), the seeds are the numbers from 0 on.
"""

from __future__ import annotations

import sys
from collections import Counter
from math import log
from statistics import fmean

import msgspec

from mawl.tuning.search.sampler import Kind
from mawl.tuning.search.search import Search
from tests.fakes.search_machine import DRIFTS, SPACE, SearchMachine, rules

SEARCHES, FEWER_SEARCHES = 4000, 500
GAINS = (0.1, 0.2)
HELPING = ("sortsize", "256MiB")
"""The setting of a planted gain."""


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """Shares of searches by what they end with, and the runs of one, mean."""

    gains: float
    excluded: float
    runs: float


def told(drift: str, searches: int, *, gain: float = 0.0, sampler: Kind = "random") -> Told:
    """So many searches of a machine that drifts so, where one setting helps by ``gain`` (0: none does)."""
    outcomes: Counter[str] = Counter()
    runs = []
    for seed in range(searches):
        machine = SearchMachine(seed, drift=drift, effects={HELPING: log(1.0 - gain)} if gain else {})
        outcomes[Search(SPACE, rules(seed, sampler=sampler), machine).carry_out().outcome] += 1
        runs.append(len(machine.steps))
    return Told(gains=outcomes["gain"] / searches, excluded=outcomes["excluded"] / searches, runs=fmean(runs))


def main() -> int:
    """Print the table, then the planted gains, then the estimator's false gains."""
    print("| drift | false gains | excluded | runs, mean |\n|---|---|---|---|")
    for drift in DRIFTS:
        row = told(drift, SEARCHES)
        print(f"| {drift} | {row.gains:.3f} | {row.excluded:.2f} | {row.runs:.0f} |", flush=True)
    for gain in GAINS:
        shares = [f"{told(drift, FEWER_SEARCHES, gain=gain).gains:.2f}" for drift in DRIFTS]
        print(f"a gain of {gain:.0%}, established: {', '.join(shares)}", flush=True)
    shares = [f"{told(drift, FEWER_SEARCHES, sampler='tpe').gains:.3f}" for drift in DRIFTS]
    print(f"false gains of the estimator: {', '.join(shares)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
