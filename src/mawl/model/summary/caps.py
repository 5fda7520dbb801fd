"""Caps of control groups on the devices of the roles."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.definitions.figure import count, listing, rate, words
from mawl.definitions.metric import CAPS

SUMS = f"{CAPS}, Several devices"


class DirectionCap(msgspec.Struct, kw_only=True):
    """What control groups let the run move at most in one direction at the devices of a place."""

    bytes_per_second: Annotated[
        int | None, rate("The most bytes per second that a control group lets the run {way} there.", SUMS)
    ]
    requests_per_second: Annotated[
        int | None,
        count("The most {way} requests per second that a control group lets the run make there.", SUMS),
    ]
    devices: Annotated[list[str], listing("The block devices that these caps apply to.", CAPS)]
    files: Annotated[list[str], listing("The files that these caps were read from.", CAPS)]


class PlaceCaps(msgspec.Struct, kw_only=True):
    """The caps of one place by direction."""

    read: Annotated[DirectionCap, words(way="read")]
    write: Annotated[DirectionCap, words(way="write")]


class Caps(msgspec.Struct, kw_only=True):
    """The caps on the devices of each role, and on those of all roles, each device once."""

    data: PlaceCaps
    work: PlaceCaps
    util: PlaceCaps
    together: PlaceCaps
