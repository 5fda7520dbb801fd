"""Definitions of the figures of volumes: ``volumes``, ``roles``, and a series of ``samples``."""

from __future__ import annotations

from mawl.model.metric import (
    FACTS,
    Metric,
    bytes_metric,
    count_metric,
    object_metric,
    ratio_metric,
    text_metric,
)

VOLUME_PAGE = "docs/design/volumes.md"
REPORTED = f"{VOLUME_PAGE}, What is reported"
SPREAD = f"{VOLUME_PAGE}, Spread"
SPACE = f"{VOLUME_PAGE}, Space"

VOLUME_METRICS: tuple[Metric, ...] = (
    count_metric("volumes.*.number", "Its number on its node, as in jobs and samples, from 1.", REPORTED),
    bytes_metric("volumes.*.read_bytes", "Bytes that calls of the jobs that count read there.", REPORTED),
    bytes_metric("volumes.*.written_bytes", "Bytes that they wrote there.", REPORTED),
    ratio_metric(
        "volumes.*.share_ratio", "Its bytes, both ways, over those of its role's volumes.", REPORTED
    ),
    *(
        Metric(
            f"volumes.*.device_{way}_bytes",
            "bytes",
            "float",
            f"Bytes {way} at its devices, whoever asked, where no other volume is on one of them.",
            REPORTED,
        )
        for way in ("read", "written")
    ),
    bytes_metric("volumes.*.size_bytes", "Size of its file system.", SPACE),
    *(
        bytes_metric(f"volumes.*.{what}_{when}_bytes", f"Bytes {what} there {words}.", SPACE)
        for what in ("used", "free")
        for when, words in (("before", "before the jobs, inputs made"), ("after", "after the jobs"))
    ),
    bytes_metric(
        "volumes.*.peak_used_bytes", "The most that files of the run's jobs took there at one look.", SPACE
    ),
    object_metric("roles", "How the volumes of each role were used.", REPORTED),
    *(
        metric
        for role in ("data", "work", "util")
        for metric in (
            count_metric(f"roles.{role}.volumes", f"Volumes of {role}, of all nodes.", FACTS),
            ratio_metric(
                f"roles.{role}.spread_ratio",
                f"Largest less smallest of the bytes, both ways, of the volumes of {role}, over their mean.",
                SPREAD,
            ),
            bytes_metric(
                f"roles.{role}.peak_used_bytes",
                f"The most space that {role} took at one look: its working set"
                + (", input tables included." if role == "data" else "."),
                SPACE,
            ),
        )
    ),
    text_metric(
        "volume_order", "How files went to volumes: rotation or free-space.", f"{VOLUME_PAGE}, Order"
    ),
)

VOLUME_SERIES: tuple[Metric, ...] = (
    bytes_metric("volume.*.used_bytes", "Space that the run's files take on a volume, by its number.", SPACE),
)

VOLUME_COLUMNS: tuple[Metric, ...] = (
    object_metric("volume_read_bytes", "Bytes of a job read by volume: its number to bytes.", REPORTED),
    object_metric("volume_written_bytes", "Bytes of a job written by volume.", REPORTED),
)
