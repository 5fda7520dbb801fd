"""What a system must keep to carry its sessions; each bound is a key of mawl.toml."""

from __future__ import annotations

import msgspec

from mawl.records.model.thresholds import value_of

SLOWDOWN = "capacity.most_slowdown"
WARN = "capacity.guideline_bytes_per_second_per_core"
GOOD = "capacity.guideline_good_bytes_per_second_per_core"


class CapacityBounds(msgspec.Struct, frozen=True, kw_only=True):
    """``most_slowdown`` bounds the median slowdown by compute and by storage; the others are the guideline.

    The defaults are those of the table of thresholds (docs/reference/thresholds.md).
    """

    most_slowdown: float = value_of(SLOWDOWN)
    warn_bytes_per_second_per_core: float = value_of(WARN)
    good_bytes_per_second_per_core: float = value_of(GOOD)

    def by_threshold(self) -> dict[str, float]:
        return {
            SLOWDOWN: self.most_slowdown,
            WARN: self.warn_bytes_per_second_per_core,
            GOOD: self.good_bytes_per_second_per_core,
        }
