"""Fit the six numbers of the papers' forecasts: ``python -m tools.published_fit [--held-out]``.

Only figures of ``s822-xiv-20`` and ``dl980-spinning-30`` are looked at, all that the model gives of them.
Least sum of absolute logarithmic errors, one number after another in steps that are halved: no draw,
no library, the same numbers every time.  It prints them as they stand in
``mawl/whatif/published_forecast.py`` and ends with 1 if the numbers there differ.

``--held-out`` does the same once for each paper that has a pair of systems, on the figures of all systems
of the other papers: the numbers of ``mawl/whatif/published_forecast.py``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import replace

from mawl.records.model.published import published_result
from mawl.whatif.published_comparison import DOUBLED, FITTED_ON, PAIRS, TWICE, published_figures
from mawl.whatif.published_forecast import FITTED, HELD_OUT, FittedNumbers, forecast
from mawl.whatif.published_system import PublishedSystem, published_systems

START = FittedNumbers(
    cpu_ratio=1.0,
    bytes_ratio=1.0,
    stream_bytes_per_second=1e9,
    unhidden_ratio=0.25,
    threads=2.0,
    waiting_cpu_ratio=0.5,
)
"""Nothing is known: CPU and bytes as declared, 1 GB/s a stream, a wait for a quarter of a request's time, two
threads.  From one thread the steps end at a sum of errors of 4.06, from two at 3.98."""
LOWER = {"threads": 1.0}
UPPER = {"unhidden_ratio": 1.0, "waiting_cpu_ratio": 1.0, "threads": 8.0, "stream_bytes_per_second": 10e9}
"""One thread copies about 10 GB/s out of a page cache: no stream through a file system is faster."""
FIRST_STEP, LAST_STEP = 0.4, 0.012
DIGITS = 4


def systems() -> list[PublishedSystem]:
    """The two that may be looked at."""
    return [one for one in published_systems() if one.id in FITTED_ON]


def others(paper: str) -> list[PublishedSystem]:
    """The systems of all papers but one, without variants: the papers print no figures of these."""
    return [
        one
        for one in published_systems()
        if one.variant is None and published_result(one.result).source != paper
    ]


def cost(fitted: FittedNumbers, over: Sequence[PublishedSystem]) -> float:
    """Sum of the absolute logarithmic errors of all figures of these systems that the model gives."""
    total = 0.0
    for one in over:
        found = forecast(one, fitted).figures
        for figure, printed in published_figures(published_result(one.result)).items():
            if figure in found and figure not in TWICE and isinstance(printed, float):
                total += abs(math.log(max(found[figure], 1e-12) / printed))
    return total


def moved(fitted: FittedNumbers, name: str, factor: float) -> FittedNumbers:
    """The numbers with one of them times a factor, within its bounds, in so many digits."""
    wanted = getattr(fitted, name) * factor
    wanted = min(max(wanted, LOWER.get(name, 0.0)), UPPER.get(name, math.inf))
    return replace(fitted, **{name: float(f"{wanted:.{DIGITS}g}")})


def fit(over: Sequence[PublishedSystem]) -> FittedNumbers:
    """Improve one number after another, in the order of the record, until no step helps."""
    best, least, step = START, cost(START, over), FIRST_STEP
    while step >= LAST_STEP:
        improved = False
        for name in FittedNumbers.__dataclass_fields__:
            for factor in (1 + step, 1 / (1 + step)):
                trial = moved(best, name, factor)
                found = cost(trial, over)
                if found < least - 1e-9:
                    best, least, improved = trial, found, True
                    break
        if not improved:
            step /= 2
    return best


def main(arguments: Sequence[str]) -> int:
    """Print the numbers; 1 if the constants in the code differ."""
    if "--held-out" in arguments:
        papers = list(
            dict.fromkeys(published_result(reference).source for reference, *_ in (*PAIRS, DOUBLED))
        )
        wrong = [
            paper for paper in papers if not _confirmed(f"{paper!r}", others(paper), HELD_OUT.get(paper))
        ]
    else:
        wrong = [] if _confirmed("FITTED", systems(), FITTED) else ["FITTED"]
    for name in wrong:
        print(f"published_fit: the constants of {name} differ from this fit", file=sys.stderr)
    return 1 if wrong else 0


def _confirmed(name: str, over: Sequence[PublishedSystem], known: FittedNumbers | None) -> bool:
    """Print the numbers fitted on these systems; true if they are the known ones."""
    found = fit(over)
    print(f"{name}: FittedNumbers(")
    for number, value in vars(found).items():
        print(f"    {number}={value:g},")
    print(")")
    print(f"sum of absolute logarithmic errors {cost(found, over):.3f} (before {cost(START, over):.3f})")
    return found == known


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
