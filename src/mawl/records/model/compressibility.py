"""What compression saves: estimates with their bounds, and what compressing storage says it saved.

A saving is 1 - stored/original (docs/design/compressibility.md).  A figure that is None has a reason.
``Compressibility`` is what ``run.json`` holds; ``CompressibilityFigures`` is the same for JSON and reports.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from mawl.base.units import format_instant
from mawl.records.definitions import Number, count, instant, listing, seconds, share, size, text, words
from mawl.records.spec.program_options import Role

IN_A_RUN = "docs/design/compressibility.md, In a run"
SCOPE = "docs/design/compressibility.md, What is looked at"
MODELS = "docs/design/compressibility.md, Storage models"
SAVING = "docs/design/compressibility.md, Saving"
BOUND = "docs/design/compressibility.md, The bound"
REAL_SAVINGS = "docs/design/compressibility.md, Real savings"

StorageModel = Literal["plain", "btrfs", "zram"]
STORAGE_MODELS: tuple[StorageModel, ...] = ("plain", "btrfs", "zram")

CodecName = Literal["lz4", "lzo", "zstd"]


class SampledShare(msgspec.Struct, frozen=True, kw_only=True):
    """A share of the bytes looked at, at the stated confidence; both are None where nothing was drawn."""

    ratio: Annotated[Number | None, share("Share of the bytes that lie in {what}.", IN_A_RUN)]
    half_width_ratio: Annotated[
        Number | None, share("That share lies within it; 0 where it is known.", IN_A_RUN)
    ]


UNKNOWN_SHARE = SampledShare(ratio=None, half_width_ratio=None)


def exact_share(ratio: float | None) -> SampledShare:
    """A share that was counted, not sampled."""
    return SampledShare(ratio=ratio, half_width_ratio=None if ratio is None else 0.0)


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """The saving of one codec in blocks of ``block_bytes`` as ``storage`` would keep them."""

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

    @property
    def freed_bytes(self) -> int | None:
        """What the estimate would free of ``original_bytes``."""
        if self.saving_ratio is None or self.original_bytes is None:
            return None
        return round(self.saving_ratio * self.original_bytes)


class RoleEstimate(Estimate, frozen=True, kw_only=True):
    """The same over all volumes of a role, weighted by their bytes."""

    spread_ratio: float | None


class RealSaving(msgspec.Struct, frozen=True, kw_only=True):
    """What compressing storage says of itself."""

    source: Annotated[str, text("Who says it.", REAL_SAVINGS)]
    of: Annotated[str, text("What it is of.", REAL_SAVINGS)]
    original_bytes: Annotated[int, size("Bytes before compression.", REAL_SAVINGS)]
    stored_bytes: Annotated[int, size("Bytes after it.", REAL_SAVINGS)]
    memory_bytes: Annotated[
        int | None, size("Memory that zram takes for them, its allocator's loss included.", REAL_SAVINGS)
    ] = None
    compression_ratio: Annotated[
        float | None,
        share(
            "Original over stored bytes of the data alone, as ZFS states it (compressratio); its "
            "used bytes count metadata, copies and parity, too.",
            REAL_SAVINGS,
        ),
    ] = None

    @property
    def saving_ratio(self) -> float | None:
        """1 - stored/original; None where there is nothing yet."""
        return 1.0 - self.stored_bytes / self.original_bytes if self.original_bytes else None


class SamplingCost(msgspec.Struct, frozen=True, kw_only=True):
    """What looking took."""

    read_bytes: Annotated[int, size("Bytes read to look.", BOUND)]
    read_ratio: Annotated[float | None, share("Bytes read over bytes that lie there.", BOUND)]
    cpu_seconds: Annotated[float, seconds("CPU time of looking.", BOUND)]
    elapsed_seconds: Annotated[float, seconds("Wall time of looking.", BOUND)]
    draws: Annotated[int, count("Blocks drawn.", BOUND)]


class FilesLeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """What is not in the estimates: never data, or lost (unreadable, vanished or cut short)."""

    links: Annotated[int, count("Symbolic links that were not followed.", SCOPE)] = 0
    special_files: Annotated[int, count("Sockets, pipes and devices below the path.", SCOPE)] = 0
    other_file_systems: Annotated[int, count("Entries on other file systems.", SCOPE)] = 0
    lost_files: Annotated[
        int, count("Files that could not be read, or not all of them; in a run, draws.", SCOPE)
    ] = 0
    lost_bytes: Annotated[int, size("Bytes of what could not be read.", SCOPE)] = 0
    lost_folders: Annotated[
        int, count("Folders that could not be read; what lies below is in no other figure.", SCOPE)
    ] = 0
    remarks: Annotated[list[str], listing("The first of the lost, and why.", SCOPE)] = []


class SampledVolume(msgspec.Struct, frozen=True, kw_only=True):
    """One file, folder or block device.  What is not known of one that could not be opened is None."""

    name: Annotated[str, text("The path.", SCOPE)]
    role: Annotated[Role | None, text("Its role, null for a plain path.", SCOPE)]
    kind: Annotated[Literal["folder", "file", "device"] | None, text("folder, file or device.", SCOPE)]
    file_system: Annotated[str | None, text("The file system that holds it.", SCOPE)]
    size_bytes: Annotated[int | None, size("Size of the file system or device.", SCOPE)]
    used_bytes: Annotated[int | None, size("Bytes used on it, by anyone.", SCOPE)]
    files: Annotated[int | None, count("Files to draw from, each once whatever its names.", SCOPE)]
    data_bytes: Annotated[
        int | None,
        size("Bytes to draw from, without holes; in a run their mean over the draws.", SCOPE),
    ]
    hole_bytes: Annotated[int | None, size("Bytes of holes in files, which take no space.", SCOPE)]
    zero_share: Annotated[SampledShare, words(source=SCOPE, what="pages of 4 KiB with nothing but zeros")]
    engine_share: Annotated[SampledShare, words(what="files that the engine compressed itself")]


class VolumeSaving(SampledVolume, frozen=True, kw_only=True):
    """What compression would save or saves there; without estimates it has a ``reason``."""

    estimates: list[Estimate]
    real: RealSaving | None
    real_reason: str | None
    left_out: FilesLeftOut
    cost: SamplingCost
    reason: str | None = None


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


Codec = Annotated[str, text("lz4, lzo (LZO1X-1) or zstd.", MODELS)]
Level = Annotated[int | None, count("Level of zstd; null for codecs without levels.", MODELS)]
BlockSize = Annotated[int, size("Size of the blocks compressed apart.", MODELS)]
Storage = Annotated[str, text("How blocks are kept: plain, btrfs or zram.", MODELS)]
Original = Annotated[
    Number | None,
    size(
        "Bytes looked at as the storage counts them before compression (btrfs, zram: sectors of 4 KiB).",
        MODELS,
    ),
]
HalfWidth = Annotated[Number | None, share("The saving lies within it; 0 where all was read.", BOUND)]
Confidence = Annotated[Number | None, share("How often that holds, for each figure alone.", BOUND)]
Draws = Annotated[int, count("Blocks that the figure rests on.", BOUND)]
NoEstimate = Annotated[str | None, text("Why there is no estimate.", MODELS)]
Freed = Annotated[Number | None, size("`original_bytes` times the estimated saving.", SAVING)]


class EstimateFigures(msgspec.Struct, kw_only=True):
    """What one way to compress would save on a volume."""

    volume: Annotated[str, text("The volume of the estimate.", SCOPE)]
    role: Annotated[str | None, text("Its role, null for a plain path.", SCOPE)]
    codec: Codec
    level: Level
    block_bytes: BlockSize
    storage: Storage
    original_bytes: Original
    saving_ratio: Annotated[Number | None, share("Estimated 1 - stored/original of a volume.", SAVING)]
    half_width_ratio: HalfWidth
    confidence_ratio: Confidence
    draws: Draws
    reason: NoEstimate
    freed_bytes: Freed


class RoleEstimateFigures(msgspec.Struct, kw_only=True):
    """What one way to compress would save on a role."""

    role: Annotated[str, text("The role of the estimate.", SCOPE)]
    volumes: Annotated[int, count("Volumes of the role.", SCOPE)]
    data_bytes: Annotated[Number | None, size("Bytes looked at on all of them.", SCOPE)]
    codec: Codec
    level: Level
    block_bytes: BlockSize
    storage: Storage
    original_bytes: Original
    saving_ratio: Annotated[
        Number | None,
        share("Estimated 1 - stored/original over all volumes of a role, weighted by bytes.", SAVING),
    ]
    half_width_ratio: HalfWidth
    confidence_ratio: Confidence
    draws: Draws
    reason: NoEstimate
    spread_ratio: Annotated[Number | None, share("Largest saving of a volume less the smallest.", SAVING)]
    freed_bytes: Freed


class RealSavingFigures(RealSaving, frozen=True, kw_only=True):
    """The same with what it saves."""

    saving_ratio: Annotated[float | None, share("Real 1 - stored/original.", REAL_SAVINGS)]
    saved_bytes: Annotated[int, size("The former less the latter.", REAL_SAVINGS)]


class CompressedVolume(SampledVolume, frozen=True, kw_only=True):
    """A volume that was looked at."""

    real: Annotated[
        RealSavingFigures | None, text("What compressing storage says; null where it does not.", REAL_SAVINGS)
    ]
    real_reason: Annotated[str | None, text("Why there is no real saving.", REAL_SAVINGS)]
    left_out: FilesLeftOut
    cost: SamplingCost
    reason: Annotated[str | None, text("Why there are no estimates.", SCOPE)]


class CompressibilityFigures(msgspec.Struct, kw_only=True):
    """What compression would save, as the run sampled it."""

    created_at: Annotated[str, instant("When the look began to be written (UTC).", SCOPE)]
    confidence_ratio: Annotated[Number, share("The confidence that was asked for.", BOUND)]
    half_width_ratio: Annotated[
        Number | None, share("The half-width that was asked for; null in a run.", BOUND)
    ]
    seed: Annotated[int | None, count("Seed of the draws.", BOUND)]
    estimates: list[EstimateFigures]
    role_estimates: list[RoleEstimateFigures]
    volumes: list[CompressedVolume]


def compressibility_figures(look: Compressibility) -> CompressibilityFigures:
    """Every estimate by volume and by role, and the facts of each volume."""
    return CompressibilityFigures(
        created_at=format_instant(look.created_at),
        confidence_ratio=look.confidence_ratio,
        half_width_ratio=look.half_width_ratio,
        seed=look.seed,
        estimates=[
            EstimateFigures(
                volume=volume.name,
                role=volume.role,
                **msgspec.structs.asdict(estimate),
                freed_bytes=estimate.freed_bytes,
            )
            for volume in look.volumes
            for estimate in volume.estimates
        ],
        role_estimates=[
            RoleEstimateFigures(
                role=role.role,
                volumes=len(role.volumes),
                data_bytes=role.data_bytes,
                **msgspec.structs.asdict(estimate),
                freed_bytes=estimate.freed_bytes,
            )
            for role in look.roles
            for estimate in role.estimates
        ],
        volumes=[_volume(volume) for volume in look.volumes],
    )


def _volume(volume: VolumeSaving) -> CompressedVolume:
    facts = msgspec.structs.asdict(volume)
    del facts["estimates"]
    if (real := volume.real) is not None:
        facts["real"] = RealSavingFigures(
            **msgspec.structs.asdict(real),
            saving_ratio=real.saving_ratio,
            saved_bytes=real.original_bytes - real.stored_bytes,
        )
    return CompressedVolume(**facts)
