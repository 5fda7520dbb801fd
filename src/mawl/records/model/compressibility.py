"""What compression saves: estimates with their bounds, and what compressing storage says it saved.

A saving is 1 - stored/original (docs/design/compressibility.md).  A figure that is None has a reason.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.records.spec.program_options import Role

StorageModel = Literal["plain", "btrfs", "zram"]
STORAGE_MODELS: tuple[StorageModel, ...] = ("plain", "btrfs", "zram")

CodecName = Literal["lz4", "lzo", "zstd"]


class SampledShare(msgspec.Struct, frozen=True, kw_only=True):
    """A share of the bytes looked at, within ``half_width_ratio`` at the stated confidence.

    Both are None where nothing could be drawn.
    """

    ratio: float | None
    half_width_ratio: float | None


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """The saving of one codec in blocks of ``block_bytes`` as ``storage`` would keep them.

    ``original_bytes`` are those looked at as the storage counts them before compression: btrfs and zram in
    sectors of 4 KiB.  ``half_width_ratio`` is 0 where everything was read; ``confidence_ratio`` is of this
    figure alone.  ``draws`` are the blocks that it rests on.
    """

    codec: CodecName
    level: int | None
    block_bytes: int
    storage: StorageModel
    original_bytes: int | None
    saving_ratio: float | None
    half_width_ratio: float | None
    confidence_ratio: float
    draws: int
    reason: str | None = None

    @property
    def label(self) -> str:
        """``zstd-1``, ``lz4``: the codec as the command line names it."""
        return self.codec if self.level is None else f"{self.codec}-{self.level}"


class RoleEstimate(Estimate, frozen=True, kw_only=True):
    """The same over all volumes of a role, weighted by their bytes.

    ``spread_ratio`` is the largest saving of a volume less the smallest.
    """

    spread_ratio: float | None


class RealSaving(msgspec.Struct, frozen=True, kw_only=True):
    """What compressing storage says of itself; ``of`` names what the figures cover.

    ``memory_bytes`` is what zram takes for it, the allocator's own loss included; ``compression_ratio`` is
    original over stored bytes of the data alone, where the storage states that (ZFS).
    """

    source: str
    of: str
    original_bytes: int
    stored_bytes: int
    memory_bytes: int | None = None
    compression_ratio: float | None = None

    @property
    def saving_ratio(self) -> float | None:
        """1 - stored/original; None where there is nothing yet."""
        return 1.0 - self.stored_bytes / self.original_bytes if self.original_bytes else None


class SamplingCost(msgspec.Struct, frozen=True, kw_only=True):
    """What looking took: ``read_ratio`` is bytes read over bytes that lie there."""

    read_bytes: int
    read_ratio: float | None
    cpu_seconds: float
    elapsed_seconds: float
    draws: int


class FilesLeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """What is not in the estimates: never data (links, special files, other file systems), or lost
    (unreadable, vanished or cut short while it was looked at).  What lies below ``lost_folders`` nobody
    knows; it is in no other figure.  ``remarks`` name the first of the lost."""

    links: int = 0
    special_files: int = 0
    other_file_systems: int = 0
    lost_files: int = 0
    lost_bytes: int = 0
    lost_folders: int = 0
    remarks: list[str] = []


class VolumeSaving(msgspec.Struct, frozen=True, kw_only=True):
    """One file, folder or block device, and what compression would save or saves there.

    ``size_bytes`` and ``used_bytes`` are of the file system or device that holds it; ``data_bytes``
    are those looked at, without holes.  ``zero_share`` is of all-zero pages of 4 KiB.
    ``engine_share`` are bytes that the engine compressed itself (docs/design/compressibility.md).
    What is not known of one that could not be opened is None, for ``reason``.
    """

    name: str
    role: Role | None
    kind: Literal["folder", "file", "device"] | None
    file_system: str | None
    size_bytes: int | None
    used_bytes: int | None
    files: int | None
    data_bytes: int | None
    hole_bytes: int | None
    zero_share: SampledShare
    engine_share: SampledShare
    estimates: list[Estimate]
    real: RealSaving | None
    real_reason: str | None
    left_out: FilesLeftOut
    cost: SamplingCost
    reason: str | None = None
    """Why there are no estimates at all."""


class RoleSaving(msgspec.Struct, frozen=True, kw_only=True):
    """All volumes of one role together."""

    role: Role
    volumes: list[str]
    data_bytes: int | None
    estimates: list[RoleEstimate]


class Compressibility(msgspec.Struct, frozen=True, kw_only=True):
    """One look at one or more volumes.

    ``confidence_ratio`` is that of each figure alone; ``half_width_ratio`` the bound that was asked
    for, None where looking went on for as long as a run did.
    """

    created_at: float
    """Seconds since the epoch, UTC."""
    confidence_ratio: float
    half_width_ratio: float | None
    seed: int
    volumes: list[VolumeSaving]
    roles: list[RoleSaving]
