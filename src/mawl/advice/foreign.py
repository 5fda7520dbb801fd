"""Bytes at the roles' devices that were not the run's: other programs', or written back for earlier ones."""

from __future__ import annotations

from mawl.base.units import format_bytes, format_rate
from mawl.records.model.summary.summary import Summary
from mawl.records.model.thresholds import value_of

MOST_FOREIGN_RATIO = value_of("validity.competition.most_foreign_bytes_ratio")
LEAST_FOREIGN_BYTES_PER_SECOND = value_of("validity.competition.least_foreign_bytes_per_second")


def foreign_bytes(summary: Summary) -> str | None:
    """What others moved at the devices of the roles, as a sentence; None where it is little, or not known."""
    block = summary.io.foreign
    if block is None or block.ratio is None:
        return None
    rate = block.total_bytes_per_second
    if block.ratio <= MOST_FOREIGN_RATIO or not rate or rate < LEAST_FOREIGN_BYTES_PER_SECOND:
        return None
    size = (block.read_bytes or 0) + (block.written_bytes or 0)
    return (
        f"other programs moved {format_bytes(size)} at the devices of the roles ({format_rate(rate)}), "
        f"{100 * block.ratio:.0f} % of all bytes that these devices moved"
    )
