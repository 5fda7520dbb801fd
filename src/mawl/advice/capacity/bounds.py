"""What a system must keep to carry its sessions; each bound is a key of mawl.toml."""

from __future__ import annotations

import msgspec


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """``most_stretch`` bounds the median stretch; the gate warns below the one and is good from the other on.

    The defaults are the design's: 2, and 100 and 150 MB/s per physical core (docs/design/capacity.md).
    """

    most_stretch: float = 2.0
    warn_bytes_per_second_per_core: float = 100e6
    good_bytes_per_second_per_core: float = 150e6
