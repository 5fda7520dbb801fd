"""All thresholds that a rule, an answer or a verdict uses, as one table (docs/reference/thresholds.md).

The table is ``thresholds.toml``.  A rule reads its values from here (``value_of``) and has none of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources

import msgspec

from mawl.records.definitions import Number, Unit

CONVENTION = "convention: chosen, not measured"


class Threshold(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``name`` is ``GROUP.FIGURE``; ``value`` is in base ``unit``; ``source`` is a page, a publication, what
    was measured to choose it, or ``CONVENTION``."""

    name: str = ""
    value: Number
    unit: Unit
    meaning: str
    source: str = CONVENTION

    @property
    def group(self) -> str:
        """The rule, answer or verdict that uses it: the name without its last part."""
        return self.name.rpartition(".")[0]


_TABLE = resources.files(__package__).joinpath("thresholds.toml").read_text(encoding="utf-8")

THRESHOLDS: dict[str, Threshold] = {
    name: msgspec.structs.replace(row, name=name)
    for name, row in msgspec.toml.decode(_TABLE, type=dict[str, Threshold]).items()
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
