"""Bytes at the roles' devices that were not the jobs': other programs', or written back for earlier ones."""

from __future__ import annotations

import msgspec

from mawl.advice.evidence import Reading
from mawl.analysis.throughput import CHARGED, device_counters
from mawl.model.thresholds import value_of
from mawl.units import format_rate

MOST_FOREIGN_BYTES_RATIO = value_of("validity.competition.most_foreign_bytes_ratio")
LEAST_FOREIGN_BYTES_PER_SECOND = value_of("validity.competition.least_foreign_bytes_per_second")
"""Bytes at the roles' devices beyond those of the jobs; journals and metadata are in them."""


class DeviceUse(msgspec.Struct, frozen=True, kw_only=True):
    """What the block devices of the roles moved over the run, and what the jobs were charged with.

    Both in bytes per second of elapsed time, reads and writes together; ``source`` names the devices.
    """

    source: str
    moved_bytes_per_second: float
    own_bytes_per_second: float

    @property
    def foreign(self) -> bool:
        """Whether more of it was others' than journals and metadata explain."""
        beyond = self.moved_bytes_per_second - self.own_bytes_per_second
        return beyond > max(
            MOST_FOREIGN_BYTES_RATIO * self.moved_bytes_per_second, LEAST_FOREIGN_BYTES_PER_SECOND
        )

    @property
    def words(self) -> str:
        """The two figures in a sentence."""
        return (
            f"the {self.source} moved {format_rate(self.moved_bytes_per_second)}, of which the jobs "
            f"asked for {format_rate(self.own_bytes_per_second)}"
        )


def device_use(reading: Reading) -> DeviceUse | None:
    """The use of the devices under the roles; None where they were not sampled."""
    if reading.samples is None or reading.windows is None:
        return None
    device = device_counters(reading.facts, reading.samples)
    if device.of_jobs:
        return None
    edges = (reading.windows.edges[0], reading.windows.edges[-1])
    moved, own = (side.flow(reading.samples, edges)["total"][0] for side in (device, CHARGED))
    if own is None:
        own = _charged_mean(reading)
    if moved is None or own is None:
        return None
    return DeviceUse(source=device.source, moved_bytes_per_second=moved, own_bytes_per_second=own)


def _charged_mean(reading: Reading) -> float | None:
    """What the jobs were charged with at their ends, where no sample saw it (jobs of a second)."""
    device, elapsed = reading.summary["io"]["device"], reading.summary["time"]["elapsed_seconds"]
    parts = (device["read_bytes"], device["written_bytes"])
    return None if None in parts or not elapsed else sum(parts) / elapsed
