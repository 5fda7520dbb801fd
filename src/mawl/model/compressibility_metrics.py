"""Definitions of what compression saves: ``mawl compressibility --json``, and runs that sampled it."""

from __future__ import annotations

from mawl.model.metric import Metric, bytes_metric, count_metric, object_metric, ratio_metric, text_metric

PAGE = "docs/design/compressibility.md"
SAVING = f"{PAGE}, Saving"
BOUND = f"{PAGE}, The bound"
MODELS = f"{PAGE}, Storage models"
LOOKED_AT = f"{PAGE}, What is looked at"
REAL = f"{PAGE}, Real savings"
IN_A_RUN = f"{PAGE}, In a run"

_AT = "compressibility"


def _estimates(path: str, of: str) -> tuple[Metric, ...]:
    return (
        text_metric(f"{path}.codec", "lz4, lzo (LZO1X-1) or zstd.", MODELS),
        count_metric(f"{path}.level", "Level of zstd; null for codecs without levels.", MODELS),
        bytes_metric(f"{path}.block_bytes", "Size of the blocks compressed apart.", MODELS),
        text_metric(f"{path}.storage", "How blocks are kept: plain, btrfs or zram.", MODELS),
        bytes_metric(
            f"{path}.original_bytes",
            "Bytes looked at as the storage counts them before compression (btrfs, zram: sectors of 4 KiB).",
            MODELS,
        ),
        ratio_metric(f"{path}.saving_ratio", f"Estimated 1 - stored/original {of}.", SAVING),
        ratio_metric(f"{path}.half_width_ratio", "The saving lies within it; 0 where all was read.", BOUND),
        ratio_metric(f"{path}.confidence_ratio", "How often that holds, for each figure alone.", BOUND),
        count_metric(f"{path}.draws", "Blocks that the figure rests on.", BOUND),
        text_metric(f"{path}.reason", "Why there is no estimate.", MODELS),
        bytes_metric(f"{path}.freed_bytes", "`original_bytes` times the estimated saving.", SAVING),
    )


COMPRESSIBILITY_METRICS: tuple[Metric, ...] = (
    object_metric(_AT, "What compression would save on data, work and util, and what it saves.", IN_A_RUN),
    Metric(f"{_AT}.created_at", "time", "text", "When the look began to be written (UTC).", LOOKED_AT),
    ratio_metric(f"{_AT}.confidence_ratio", "The confidence that was asked for.", BOUND),
    ratio_metric(f"{_AT}.half_width_ratio", "The half-width that was asked for; null in a run.", BOUND),
    count_metric(f"{_AT}.seed", "Seed of the draws.", BOUND),
    text_metric(f"{_AT}.estimates.*.volume", "The volume of the estimate.", LOOKED_AT),
    text_metric(f"{_AT}.estimates.*.role", "Its role, null for a plain path.", LOOKED_AT),
    *_estimates(f"{_AT}.estimates.*", "of a volume"),
    text_metric(f"{_AT}.role_estimates.*.role", "The role of the estimate.", LOOKED_AT),
    count_metric(f"{_AT}.role_estimates.*.volumes", "Volumes of the role.", LOOKED_AT),
    bytes_metric(f"{_AT}.role_estimates.*.data_bytes", "Bytes looked at on all of them.", LOOKED_AT),
    *_estimates(f"{_AT}.role_estimates.*", "over all volumes of a role, weighted by bytes"),
    ratio_metric(
        f"{_AT}.role_estimates.*.spread_ratio", "Largest saving of a volume less the smallest.", SAVING
    ),
    *(
        text_metric(f"{_AT}.volumes.*.{name}", definition, LOOKED_AT)
        for name, definition in (
            ("name", "The path."),
            ("role", "Its role, null for a plain path."),
            ("kind", "folder, file or device."),
            ("file_system", "The file system that holds it."),
            ("reason", "Why there are no estimates."),
        )
    ),
    *(
        bytes_metric(f"{_AT}.volumes.*.{name}", definition, LOOKED_AT)
        for name, definition in (
            ("size_bytes", "Size of the file system or device."),
            ("used_bytes", "Bytes used on it, by anyone."),
            ("data_bytes", "Bytes to draw from, without holes; in a run their mean over the draws."),
            ("hole_bytes", "Bytes of holes in files, which take no space."),
        )
    ),
    count_metric(f"{_AT}.volumes.*.files", "Files to draw from, each once whatever its names.", LOOKED_AT),
    *(
        ratio_metric(f"{_AT}.volumes.*.{name}.{part}", definition, source)
        for name, what, source in (
            ("zero_share", "pages of 4 KiB with nothing but zeros", LOOKED_AT),
            ("engine_share", "files that the engine compressed itself", IN_A_RUN),
        )
        for part, definition in (
            ("ratio", f"Share of the bytes that lie in {what}."),
            ("half_width_ratio", "That share lies within it; 0 where it is known."),
        )
    ),
    text_metric(f"{_AT}.volumes.*.real", "What compressing storage says; null where it does not.", REAL),
    text_metric(f"{_AT}.volumes.*.real.source", "Who says it.", REAL),
    text_metric(f"{_AT}.volumes.*.real.of", "What it is of.", REAL),
    *(
        bytes_metric(f"{_AT}.volumes.*.real.{name}", definition, REAL)
        for name, definition in (
            ("original_bytes", "Bytes before compression."),
            ("stored_bytes", "Bytes after it."),
            ("saved_bytes", "The former less the latter."),
            ("memory_bytes", "Memory that zram takes for them, its allocator's loss included."),
        )
    ),
    ratio_metric(f"{_AT}.volumes.*.real.saving_ratio", "Real 1 - stored/original.", REAL),
    ratio_metric(
        f"{_AT}.volumes.*.real.compression_ratio",
        "Original over stored bytes of the data alone, as ZFS states it (compressratio); its used bytes "
        "count metadata, copies and parity, too.",
        REAL,
    ),
    text_metric(f"{_AT}.volumes.*.real_reason", "Why there is no real saving.", REAL),
    *(
        count_metric(f"{_AT}.volumes.*.left_out.{name}", definition, LOOKED_AT)
        for name, definition in (
            ("links", "Symbolic links that were not followed."),
            ("special_files", "Sockets, pipes and devices below the path."),
            ("other_file_systems", "Entries on other file systems."),
            ("lost_folders", "Folders that could not be read; what lies below is in no other figure."),
            ("lost_files", "Files that could not be read, or not all of them; in a run, draws."),
        )
    ),
    bytes_metric(f"{_AT}.volumes.*.left_out.lost_bytes", "Bytes of what could not be read.", LOOKED_AT),
    Metric(f"{_AT}.volumes.*.left_out.remarks", "-", "list", "The first of the lost, and why.", LOOKED_AT),
    bytes_metric(f"{_AT}.volumes.*.cost.read_bytes", "Bytes read to look.", BOUND),
    ratio_metric(f"{_AT}.volumes.*.cost.read_ratio", "Bytes read over bytes that lie there.", BOUND),
    Metric(f"{_AT}.volumes.*.cost.cpu_seconds", "seconds", "float", "CPU time of looking.", BOUND),
    Metric(f"{_AT}.volumes.*.cost.elapsed_seconds", "seconds", "float", "Wall time of looking.", BOUND),
    count_metric(f"{_AT}.volumes.*.cost.draws", "Blocks drawn.", BOUND),
)
