"""How a side's CPU times were counted: unlike accounts are never compared with each other."""

from __future__ import annotations

from mawl.analysis.comparison.sides import Side

AS_COUNTED = "counted by the kernel"
SCALED = "scaled by AIX"
ADJUSTED = "adjusted for AIX's scaling"


def accounting(side: Side) -> str | None:
    """The account in words; None where a paper does not say.

    Raw times of AIX stand for a part of a core (the papers' factor); those of Linux, and of other
    systems whose FULLSTIMER was printed as logged, are what the kernel counted.
    """
    if side.published is None:
        return AS_COUNTED
    given = side.published.cpu_accounting
    if given is None:
        return None
    if given == "purr":
        return ADJUSTED
    return AS_COUNTED if side.published.system.smt is None else SCALED
