"""Definitions of the figures of volumes: ``volumes``, ``roles``, and a series of ``samples``."""

from __future__ import annotations

from mawl.definitions.metric import (
    Metric,
    bytes_metric,
    object_metric,
)

VOLUME_PAGE = "docs/design/volumes.md"
REPORTED = f"{VOLUME_PAGE}, What is reported"
SPREAD = f"{VOLUME_PAGE}, Spread"
SPACE = f"{VOLUME_PAGE}, Space"

VOLUME_SERIES: tuple[Metric, ...] = (
    bytes_metric("volume.*.used_bytes", "Space that the run's files take on a volume, by its number.", SPACE),
)

VOLUME_COLUMNS: tuple[Metric, ...] = (
    object_metric("volume_read_bytes", "Bytes of a job read by volume: its number to bytes.", REPORTED),
    object_metric("volume_written_bytes", "Bytes of a job written by volume.", REPORTED),
)
