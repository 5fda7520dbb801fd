"""What a threshold is: a number that decides, with its meaning and where it comes from."""

from __future__ import annotations

import msgspec

from mawl.definitions.metric import Unit

CONVENTION = "convention: chosen, not measured"


class Threshold(msgspec.Struct, frozen=True, kw_only=True):
    """``name`` is ``GROUP.FIGURE``; ``value`` is in base ``unit``; ``source`` is a page, a publication, what
    was measured to choose it, or :data:`CONVENTION`."""

    name: str
    value: float
    unit: Unit
    meaning: str
    source: str

    @property
    def group(self) -> str:
        """The rule, answer or verdict that uses it: the name without its last part."""
        return self.name.rpartition(".")[0]


def threshold(name: str, value: float, unit: Unit, meaning: str, source: str = CONVENTION) -> Threshold:
    """A row of the table."""
    return Threshold(name=name, value=value, unit=unit, meaning=meaning, source=source)
