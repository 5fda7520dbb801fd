"""Ranges by role if a log tells how much a step moves, but not in which role."""

from __future__ import annotations

import math

import msgspec

from mawl.derive.estimate import Ranged
from mawl.spec.program_options import ROLES, Role

BLOCKS_BELOW, BLOCKS_ABOVE = 0.85, 1.15
"""How far block operations may be off a step's bytes: whole pages, and pages written twice."""

Parts = dict[Role, Ranged]
"""Bytes of one direction by role."""

Ends = tuple[float, float]
"""The lowest and the highest of a figure."""


def ends_of(parts: Parts) -> Ends:
    """The sums of the low and of the high ends."""
    return math.fsum(part.low for part in parts.values()), math.fsum(part.high for part in parts.values())


def spread(found: Parts, named: Parts, blocks: int | None, *, tells: bool, room: float) -> tuple[Parts, Ends]:
    """The parts of one direction with the roles that notes leave open, and the range of all roles together.

    ``found`` is what was inferred, ``named`` the sizes of the tables that notes name (and of a sort that
    spills).  ``blocks`` are the bytes of block operations (None: not counted); they count all that moves if
    ``tells``.  ``room`` is what the step may move through utility files that no note names.

    Bytes of no table can be of any role.  Tables are at least as large as their lowest size: what is left of
    block operations can be of utility files, and of any role if it is more than the largest tables.
    """
    low, high = ends_of(found)
    least, most = ends_of(named)
    if not most and found:
        return {role: _from_nothing(found.get(role), high) for role in ROLES}, (low, high)
    exceeds = blocks is not None and blocks * BLOCKS_BELOW > most
    if blocks is None or not (tells or exceeds):
        return _with_util(found, room)
    whole = blocks * BLOCKS_BELOW, blocks * BLOCKS_ABOVE if tells else max(blocks * BLOCKS_ABOVE, high)
    rest = whole[1] - least
    may = ROLES if exceeds else ("util",) if room else ()
    if rest <= 0 or not may:
        return found, whole
    wider = dict(found)
    for role, part in named.items():
        wider[role] = msgspec.structs.replace(found[role], low=min(found[role].low, part.low))
    for role in may:
        own = named[role].low if role in named else 0.0
        wider[role] = _up_to(wider.get(role), own + rest, "any-role" if exceeds else "may-spill")
    return wider, whole


def _with_util(found: Parts, room: float) -> tuple[Parts, Ends]:
    """Add possible utility files to the tables: the log does not tell how much the step moved."""
    low, high = ends_of(found)
    more = room - (found["util"].high if "util" in found else 0.0)
    if more <= 0:
        return found, (low, high)
    return {**found, "util": _up_to(found.get("util"), room, "may-spill")}, (low, high + more)


def _from_nothing(part: Ranged | None, high: float) -> Ranged:
    return msgspec.structs.replace(_up_to(part, high, "any-role"), low=0.0)


def _up_to(part: Ranged | None, high: float, rule: str) -> Ranged:
    """A part that may be as large as ``high``; ``rule`` is that of a part that was not there."""
    if part is None:
        return Ranged(0.0, 0.0, high, "assumed", rule)
    return msgspec.structs.replace(part, high=max(part.high, high))
