"""The first third of the active phase against the last."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from mawl.model.thresholds import count_of

FEWEST_WINDOWS = count_of("validity.drift.fewest_windows")
FEW = f"the active phase has fewer than {FEWEST_WINDOWS} windows"
"""Why there are no thirds."""


def thirds(values: Sequence[float | None]) -> tuple[float, float] | None:
    """Means of the known values of the first and of the last third of the windows.

    None where there are fewer than six windows, or a third without a value.
    """
    if len(values) < FEWEST_WINDOWS:
        return None
    size = len(values) // 3
    first, last = ([value for value in part if value is not None] for part in (values[:size], values[-size:]))
    return (statistics.fmean(first), statistics.fmean(last)) if first and last else None
