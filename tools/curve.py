"""``python -m tools.curve RUN...``: the table of W over sessions a core, for docs/design/answer.md.

The run folders are of ``mixed20`` with different numbers of sessions, on storage without a cap and an idle
machine; those with the same number and scale are one row.  It also prints how far runs of a row lie apart.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import exp, log
from pathlib import Path
from statistics import fmean, median, stdev

import msgspec

from mawl.advice.judge import judged
from mawl.base.units import format_percent, format_ratio
from mawl.figures.view import StoredView
from mawl.records.model.summary.summary import Judged
from mawl.records.store import open_run

PARTS = ("on_cpu", "run_queue", "data", "work", "util", "other")


def cores_of(summary: Judged) -> float:
    """The cores that the jobs had, with their quota."""
    node = summary.nodes[0]
    return min(node.cpu_quota or node.cores or 1, node.cores or 1)


def rows(summaries: Sequence[Judged]) -> list[str]:
    """A row for each scale and number of sessions a core; last the median spread of a row."""
    groups: dict[tuple[float, float, int], list[Judged]] = {}
    for one in summaries:
        sessions = one.workload.sessions
        key = (one.workload.scale or 0.0, sessions / cores_of(one), sessions)
        groups.setdefault(key, []).append(one)
    lines = [
        f"| scale | sessions a core | sessions | runs | W | {' | '.join(PARTS)} |",
        "|" + "---|" * (5 + len(PARTS)),
    ]
    spreads = []
    for (scale, each, sessions), own in sorted(groups.items()):
        found = [float(one.answer.slowdown or 0.0) for one in own]
        parts = [msgspec.structs.asdict(one.answer.parts) for one in own]
        means = [fmean(float(part[name] or 0.0) for part in parts) for name in PARTS]
        cells = [f"{scale:g}", f"{each:g}", str(sessions), ", ".join(map(format_ratio, found))]
        middle = exp(fmean(map(log, found)))
        lines.append(f"| {' | '.join([*cells, format_ratio(middle), *map(format_ratio, means)])} |")
        if len(found) > 1:
            spreads.append(stdev(map(log, found)))
    if spreads:
        lines.append(f"\nStandard deviation of runs of a row: {format_percent(median(spreads))} (median).")
    return lines


def main(arguments: Sequence[str]) -> int:
    print("\n".join(rows([judged(StoredView(open_run(Path(path)))) for path in arguments])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
