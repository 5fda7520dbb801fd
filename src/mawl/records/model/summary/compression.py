"""What compression would save."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.records.definitions import Number, count, instant, listing, seconds, share, size, text, words

IN_A_RUN = "docs/design/compressibility.md, In a run"
SCOPE = "docs/design/compressibility.md, What is looked at"
STORAGE_MODELS = "docs/design/compressibility.md, Storage models"
SAVING = "docs/design/compressibility.md, Saving"
BOUND = "docs/design/compressibility.md, The bound"
REAL_SAVINGS = "docs/design/compressibility.md, Real savings"


class ShareFigures(msgspec.Struct, kw_only=True):
    """A share with its bound."""

    ratio: Annotated[Number | None, share("Share of the bytes that lie in {what}.", IN_A_RUN)]
    half_width_ratio: Annotated[
        Number | None, share("That share lies within it; 0 where it is known.", IN_A_RUN)
    ]


class EstimateFigures(msgspec.Struct, kw_only=True):
    """What one way to compress would save on a volume."""

    volume: Annotated[str, text("The volume of the estimate.", SCOPE)]
    role: Annotated[str | None, text("Its role, null for a plain path.", SCOPE)]
    codec: Annotated[str, text("lz4, lzo (LZO1X-1) or zstd.", STORAGE_MODELS)]
    level: Annotated[int | None, count("Level of zstd; null for codecs without levels.", STORAGE_MODELS)]
    block_bytes: Annotated[int, size("Size of the blocks compressed apart.", STORAGE_MODELS)]
    storage: Annotated[str, text("How blocks are kept: plain, btrfs or zram.", STORAGE_MODELS)]
    original_bytes: Annotated[
        Number | None,
        size(
            "Bytes looked at as the storage counts them before compression (btrfs, zram: sectors of 4 KiB).",
            STORAGE_MODELS,
        ),
    ]
    saving_ratio: Annotated[Number | None, share("Estimated 1 - stored/original of a volume.", SAVING)]
    half_width_ratio: Annotated[
        Number | None, share("The saving lies within it; 0 where all was read.", BOUND)
    ]
    confidence_ratio: Annotated[Number | None, share("How often that holds, for each figure alone.", BOUND)]
    draws: Annotated[int, count("Blocks that the figure rests on.", BOUND)]
    reason: Annotated[str | None, text("Why there is no estimate.", STORAGE_MODELS)]
    freed_bytes: Annotated[Number | None, size("`original_bytes` times the estimated saving.", SAVING)]


class RoleEstimateFigures(msgspec.Struct, kw_only=True):
    """What one way to compress would save on a role."""

    role: Annotated[str, text("The role of the estimate.", SCOPE)]
    volumes: Annotated[int, count("Volumes of the role.", SCOPE)]
    data_bytes: Annotated[Number | None, size("Bytes looked at on all of them.", SCOPE)]
    codec: Annotated[str, text("lz4, lzo (LZO1X-1) or zstd.", STORAGE_MODELS)]
    level: Annotated[int | None, count("Level of zstd; null for codecs without levels.", STORAGE_MODELS)]
    block_bytes: Annotated[int, size("Size of the blocks compressed apart.", STORAGE_MODELS)]
    storage: Annotated[str, text("How blocks are kept: plain, btrfs or zram.", STORAGE_MODELS)]
    original_bytes: Annotated[
        Number | None,
        size(
            "Bytes looked at as the storage counts them before compression (btrfs, zram: sectors of 4 KiB).",
            STORAGE_MODELS,
        ),
    ]
    saving_ratio: Annotated[
        Number | None,
        share("Estimated 1 - stored/original over all volumes of a role, weighted by bytes.", SAVING),
    ]
    half_width_ratio: Annotated[
        Number | None, share("The saving lies within it; 0 where all was read.", BOUND)
    ]
    confidence_ratio: Annotated[Number | None, share("How often that holds, for each figure alone.", BOUND)]
    draws: Annotated[int, count("Blocks that the figure rests on.", BOUND)]
    reason: Annotated[str | None, text("Why there is no estimate.", STORAGE_MODELS)]
    spread_ratio: Annotated[Number | None, share("Largest saving of a volume less the smallest.", SAVING)]
    freed_bytes: Annotated[Number | None, size("`original_bytes` times the estimated saving.", SAVING)]


class RealSavingFigures(msgspec.Struct, kw_only=True):
    """What compressing storage says of itself."""

    source: Annotated[str, text("Who says it.", REAL_SAVINGS)]
    of: Annotated[str, text("What it is of.", REAL_SAVINGS)]
    original_bytes: Annotated[Number | None, size("Bytes before compression.", REAL_SAVINGS)]
    stored_bytes: Annotated[Number | None, size("Bytes after it.", REAL_SAVINGS)]
    memory_bytes: Annotated[
        Number | None, size("Memory that zram takes for them, its allocator's loss included.", REAL_SAVINGS)
    ]
    compression_ratio: Annotated[
        Number | None,
        share(
            "Original over stored bytes of the data alone, as ZFS states it (compressratio); its "
            "used bytes count metadata, copies and parity, too.",
            REAL_SAVINGS,
        ),
    ]
    saving_ratio: Annotated[Number | None, share("Real 1 - stored/original.", REAL_SAVINGS)]
    saved_bytes: Annotated[Number | None, size("The former less the latter.", REAL_SAVINGS)]


class NotLookedAt(msgspec.Struct, kw_only=True):
    """What is not in the estimates."""

    links: Annotated[int, count("Symbolic links that were not followed.", SCOPE)]
    special_files: Annotated[int, count("Sockets, pipes and devices below the path.", SCOPE)]
    other_file_systems: Annotated[int, count("Entries on other file systems.", SCOPE)]
    lost_files: Annotated[
        int,
        count("Files that could not be read, or not all of them; in a run, draws.", SCOPE),
    ]
    lost_bytes: Annotated[Number, size("Bytes of what could not be read.", SCOPE)]
    lost_folders: Annotated[
        int,
        count("Folders that could not be read; what lies below is in no other figure.", SCOPE),
    ]
    remarks: Annotated[list[str], listing("The first of the lost, and why.", SCOPE)]


class Cost(msgspec.Struct, kw_only=True):
    """What looking took."""

    read_bytes: Annotated[Number, size("Bytes read to look.", BOUND)]
    read_ratio: Annotated[Number | None, share("Bytes read over bytes that lie there.", BOUND)]
    cpu_seconds: Annotated[Number, seconds("CPU time of looking.", BOUND)]
    elapsed_seconds: Annotated[Number, seconds("Wall time of looking.", BOUND)]
    draws: Annotated[int, count("Blocks drawn.", BOUND)]


class CompressedVolume(msgspec.Struct, kw_only=True):
    """A volume that was looked at."""

    name: Annotated[str, text("The path.", SCOPE)]
    role: Annotated[str | None, text("Its role, null for a plain path.", SCOPE)]
    kind: Annotated[str | None, text("folder, file or device.", SCOPE)]
    file_system: Annotated[str | None, text("The file system that holds it.", SCOPE)]
    size_bytes: Annotated[Number | None, size("Size of the file system or device.", SCOPE)]
    used_bytes: Annotated[Number | None, size("Bytes used on it, by anyone.", SCOPE)]
    files: Annotated[int | None, count("Files to draw from, each once whatever its names.", SCOPE)]
    data_bytes: Annotated[
        Number | None,
        size("Bytes to draw from, without holes; in a run their mean over the draws.", SCOPE),
    ]
    hole_bytes: Annotated[Number | None, size("Bytes of holes in files, which take no space.", SCOPE)]
    zero_share: Annotated[ShareFigures, words(source=SCOPE, what="pages of 4 KiB with nothing but zeros")]
    engine_share: Annotated[ShareFigures, words(what="files that the engine compressed itself")]
    real: Annotated[
        RealSavingFigures | None, text("What compressing storage says; null where it does not.", REAL_SAVINGS)
    ]
    real_reason: Annotated[str | None, text("Why there is no real saving.", REAL_SAVINGS)]
    left_out: NotLookedAt
    cost: Cost
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
