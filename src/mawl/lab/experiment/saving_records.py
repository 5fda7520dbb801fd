"""What compression saves on the volumes of a bed: what a bed asks for, and what was found."""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.model.compressibility import CodecName
from mawl.spec.program_options import Role

LEAST_PART_RATIO = 0.25
"""A volume with less than this share of the mean of its role's bytes is left out of the spread."""

MOST_OFF_RATIO = 0.03
"""An estimate and a real saving that differ by more do not agree."""


class SavingSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An arm whose volumes compress, and how: the codec, as the storage keeps its blocks."""

    arm: str
    storage: Literal["btrfs", "zram"]
    codec: CodecName
    level: int | None = None
    published: str | None = None
    """A published result with savings by role."""


class VolumeKept(msgspec.Struct, frozen=True, kw_only=True):
    """A role's bytes on one volume, before and after compression, as the storage says."""

    volume: str
    original_bytes: int
    stored_bytes: int

    @property
    def saving_ratio(self) -> float | None:
        """1 - stored/original; None where nothing is there."""
        return 1.0 - self.stored_bytes / self.original_bytes if self.original_bytes else None


class RoleKept(msgspec.Struct, frozen=True, kw_only=True):
    """A role of an arm: real by volume, and the estimate of the same bytes.

    ``reason`` says why a figure is None.
    """

    arm: str
    role: Role
    codec: str
    """``zstd-1``, ``lz4``."""
    storage: str
    source: str | None
    """What told the real figures: compsize, mm_stat."""
    volumes: list[VolumeKept]
    estimated_saving_ratio: float | None
    half_width_ratio: float | None
    block_bytes: int | None
    reason: str | None = None


class SavingFound(msgspec.Struct, frozen=True, kw_only=True):
    """A role of an arm, judged: real beside estimated and beside the paper's.

    ``spread_ratio`` is the largest saving of a volume less the smallest, of those that hold at least
    :data:`LEAST_PART_RATIO` of the mean.
    """

    arm: str
    role: Role
    codec: str
    storage: str
    source: str | None
    volumes: list[VolumeKept]
    original_bytes: int
    stored_bytes: int
    saving_ratio: float | None
    spread_ratio: float | None
    estimated_saving_ratio: float | None
    half_width_ratio: float | None
    block_bytes: int | None
    off_ratio: float | None
    """Real less estimated."""
    agrees: bool | None
    """Off by at most :data:`MOST_OFF_RATIO`; None where one is missing."""
    published: str | None
    citation: str | None
    published_saving_ratio: float | None
    reason: str | None
