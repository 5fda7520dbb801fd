"""``python -m tools.worse_beds FILE...``: print the page of systems made worse in one way.

Each file holds lines of JSON that ``tests/cli/test_worse_beds.py`` wrote, one for a run.  They are added to
docs/reference/worse-beds.jsonl, and docs/reference/worse-beds.md is printed from that file.  The newest runs
of a pair count.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from pathlib import Path
from statistics import fmean
from typing import Literal

import msgspec

from tools.kept_lines import print_page

PAGE = Path("docs/reference/worse-beds.md")
BETTER_RATIO = 0.95
"""The mean W of the worse side is at least this part of that of the better side."""


class PairRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a pair: W, answer, and real time of all jobs; ``measured_at`` is that of the pair."""

    measured_at: str
    machine: str
    pair: str
    side: Literal["better", "worse"]
    slowdown: float
    answer: str
    real_time_seconds: float


def newest(runs: Sequence[PairRun]) -> dict[str, list[PairRun]]:
    """The newest runs of each pair, in the order of the pairs."""
    last = {run.pair: run.measured_at for run in runs}
    return {
        pair: [run for run in runs if (run.pair, run.measured_at) == (pair, at)] for pair, at in last.items()
    }


def mean(runs: Sequence[PairRun], side: str) -> float:
    """The geometric mean of W of a side."""
    return exp(fmean(log(run.slowdown) for run in runs if run.side == side))


def faults(runs: Sequence[PairRun]) -> list[str]:
    """What is wrong with a pair: W of the worse side is better, or its answer is."""
    better, worse = mean(runs, "better"), mean(runs, "worse")
    found = [] if worse >= BETTER_RATIO * better else [f"W falls from {better:.2f} to {worse:.2f}"]
    answers = {side: {run.answer for run in runs if run.side == side} for side in ("better", "worse")}
    flipped = "carried" in answers["worse"] and "not carried" in answers["better"]
    return [*found, *(["an answer turns from NO to YES"] if flipped else [])]


def page(runs: Sequence[PairRun]) -> str:
    """The page, in Markdown."""
    pairs = newest(runs)
    machines = sorted({run.machine for run in runs})
    rows = [
        f"| {pair} | {mean(own, 'better'):.2f} | {mean(own, 'worse'):.2f} | "
        f"{', '.join(_values(own, 'better'))} | {', '.join(_values(own, 'worse'))} | "
        f"{'; '.join(faults(own)) or 'yes'} |"
        for pair, own in pairs.items()
    ]
    lines = [
        "# Systems made worse in one way",
        "",
        "Printed by `python -m tools.worse_beds` from runs of `tests/cli/test_worse_beds.py`.",
        "Each pair is `mixed20` in 5 sessions at scale smoke with `--cache none` on a system and on the same "
        "system made worse in one way.",
        "Runs of both sides alternate.",
        "W is [the slowdown](../design/answer.md#the-slowdown); a pair is right if the mean W of the worse "
        "side is at least 95 % of that of the better side, and if no answer turns from NO to YES.",
        f"Right: {sum(not faults(own) for own in pairs.values())} of {len(pairs)}.",
        *(f"Machine: {machine}." for machine in machines),
        "",
        "| made worse by | mean W, better | mean W, worse | runs, better | runs, worse | right |",
        "|---|---|---|---|---|---|",
        *rows,
    ]
    return "\n".join([*lines, ""])


def _values(runs: Sequence[PairRun], side: str) -> list[str]:
    return [f"{run.slowdown:.2f}" for run in runs if run.side == side]


def stored(lines: Sequence[bytes]) -> list[PairRun]:
    """The runs of lines of JSON, each once."""
    return list(dict.fromkeys(msgspec.json.decode(line, type=PairRun) for line in lines))


if __name__ == "__main__":
    print_page(__doc__, PAGE, stored, page)
