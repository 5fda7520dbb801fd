"""Fit the six numbers of the papers' forecasts: ``python -m tools.published_fit``.

Only figures of ``s822-xiv-20`` and ``dl980-spinning-30`` are looked at, all that the model gives of them.
Least sum of absolute logarithmic errors, one number after another in steps that are halved: no draw,
no library, the same numbers every time.  It prints them as they stand in
``mawl/whatif/published_forecast.py`` and ends with 1 where those are others.
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace

from mawl.config.published import published_result
from mawl.whatif.published_forecast import FITTED, FittedNumbers, forecast
from mawl.whatif.published_rows import FITTED_ON, published_figures
from mawl.whatif.published_system import PublishedSystem, published_systems

START = FittedNumbers(
    cpu_ratio=1.0,
    bytes_ratio=1.0,
    stream_bytes_per_second=1e9,
    unhidden_ratio=0.25,
    threads=1.0,
    waiting_cpu_ratio=0.5,
)
"""Nothing is known: CPU and bytes as declared, 1 GB/s a stream, a quarter of requests waited."""
TWICE = ("device.sustained_bytes_per_second_per_core",)
"""The same figure again, over the cores."""
LOWER = {"threads": 1.0}
UPPER = {"unhidden_ratio": 1.0, "waiting_cpu_ratio": 1.0, "threads": 8.0, "stream_bytes_per_second": 10e9}
"""One thread copies about 10 GB/s out of a page cache: no stream through a file system is faster."""
FIRST_STEP, LAST_STEP = 0.4, 0.012
DIGITS = 4


def systems() -> list[PublishedSystem]:
    """The two that may be looked at."""
    return [one for one in published_systems() if one.id in FITTED_ON]


def cost(fitted: FittedNumbers) -> float:
    """Sum of the absolute logarithmic errors of all figures of the two systems that the model gives."""
    total = 0.0
    for one in systems():
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


def fit(start: FittedNumbers = START) -> FittedNumbers:
    """Improve one number after another, in the order of the record, until no step helps."""
    best, least, step = start, cost(start), FIRST_STEP
    while step >= LAST_STEP:
        improved = False
        for name in FittedNumbers.__dataclass_fields__:
            for factor in (1 + step, 1 / (1 + step)):
                trial = moved(best, name, factor)
                found = cost(trial)
                if found < least - 1e-9:
                    best, least, improved = trial, found, True
                    break
        if not improved:
            step /= 2
    return best


def main() -> int:
    """Print the numbers; 1 where the constants are others."""
    found = fit()
    print("FITTED = FittedNumbers(")
    for name, number in vars(found).items():
        print(f"    {name}={number:g},")
    print(")")
    print(f"sum of absolute logarithmic errors {cost(found):.3f} (before {cost(START):.3f})")
    if found == FITTED:
        return 0
    print("published_fit: the constants of published_forecast are others", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
