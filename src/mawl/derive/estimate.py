"""A number with its range, where it comes from, and the rule that gave it."""

from __future__ import annotations

from typing import Literal

import msgspec

Origin = Literal["told", "inferred", "assumed"]
ORIGINS: tuple[Origin, ...] = ("told", "inferred", "assumed")
"""From the surest to the least sure."""


class Ranged(msgspec.Struct, frozen=True, gc=False):
    """A figure of a step: ``value`` between ``low`` and ``high``, in base units.

    A ``told`` figure is in the log.  An ``inferred`` one follows from figures of the log.  An ``assumed`` one
    rests on a convention of mawl.  ``rule`` is a name of ``RULES``.
    """

    value: float
    low: float
    high: float
    origin: Origin
    rule: str

    def times(self, factor: float) -> Ranged:
        return msgspec.structs.replace(
            self, value=self.value * factor, low=self.low * factor, high=self.high * factor
        )


def about(value: float, below: float, above: float, origin: Origin, rule: str) -> Ranged:
    """A value whose range goes from ``below`` times to ``above`` times of it."""
    return Ranged(value, value * below, value * above, origin, rule)


def exactly(value: float, rule: str, origin: Origin = "told") -> Ranged:
    """A value without a range."""
    return Ranged(value, value, value, origin, rule)
