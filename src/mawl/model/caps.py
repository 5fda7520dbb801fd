"""Caps: what a control group lets the run move at a block device (docs/design/caps.md)."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from mawl.definitions.figure import count, listing, rate, text
from mawl.definitions.metric import CAPS

Direction = Literal["read", "write"]


class IoCap(msgspec.Struct, frozen=True, kw_only=True):
    """One cap of one device: on bytes or on requests per second, the other is None."""

    device: Annotated[str, text("The block device that the cap applies to.", CAPS)]
    direction: Annotated[Direction, text("read or write.", CAPS)]
    bytes_per_second: Annotated[
        int | None, rate("The most bytes per second.", CAPS, absent="it is a cap on requests")
    ] = None
    requests_per_second: Annotated[
        int | None, count("The most requests per second.", CAPS, absent="it is a cap on bytes")
    ] = None
    file: Annotated[str, text("The file that it was read from.", CAPS)]
    carries: Annotated[
        list[str],
        listing("Devices of the role's file system all of whose bytes pass through this device.", CAPS),
    ] = []
