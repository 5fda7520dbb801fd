"""Every threshold that a rule, an answer or a verdict uses: one table (docs/reference/thresholds.md).

A rule reads its values from here (:func:`value_of`); it holds none of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from mawl.model.capacity_thresholds import CAPACITY, COMPARISON
from mawl.model.history_thresholds import HISTORY
from mawl.model.limit_thresholds import IMPORTED, LIMIT, PLACEMENT
from mawl.model.qualification_thresholds import QUALIFICATION
from mawl.model.threshold import Threshold
from mawl.model.validity_thresholds import VALIDITY

THRESHOLDS: dict[str, Threshold] = {
    one.name: one
    for one in (*CAPACITY, *LIMIT, *IMPORTED, *VALIDITY, *COMPARISON, *HISTORY, *PLACEMENT, *QUALIFICATION)
}
"""Every threshold by its name, in the order of the reference page."""


def value_of(name: str) -> float:
    """The value of a threshold, in its base unit; KeyError for a name that is not in the table."""
    return THRESHOLDS[name].value


def count_of(name: str) -> int:
    """The value of a threshold that counts; KeyError for a name that is not in the table."""
    return int(THRESHOLDS[name].value)


def thresholds_of(groups: Iterable[str]) -> list[Threshold]:
    """The thresholds of groups (``limit``, ``validity.steal``), in the order of the table."""
    wanted = set(groups)
    return [one for one in THRESHOLDS.values() if one.group in wanted]
