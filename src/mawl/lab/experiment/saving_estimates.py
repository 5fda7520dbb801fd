"""Real savings of a bed's compressing volumes beside the estimate of the same bytes and the paper's."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.lab.experiment.saving_records import (
    LEAST_PART_RATIO,
    MOST_OFF_RATIO,
    RoleKept,
    SavingFound,
    SavingSpec,
)
from mawl.model.published import PublishedResult


def saving_found(
    kept: RoleKept,
    specs: Sequence[SavingSpec],
    results: dict[str, PublishedResult],
    citations: dict[str, str],
) -> SavingFound:
    """Judge a role of an arm; ``results`` and ``citations`` are of the published results by id."""
    original = sum(volume.original_bytes for volume in kept.volumes)
    stored = sum(volume.stored_bytes for volume in kept.volumes)
    real = 1.0 - stored / original if original else None
    least = LEAST_PART_RATIO * original / len(kept.volumes) if kept.volumes else 0.0
    fair = [volume for volume in kept.volumes if volume.original_bytes >= least]
    each = [ratio for volume in fair if (ratio := volume.saving_ratio) is not None]
    estimated = kept.estimated_saving_ratio
    off = None if real is None or estimated is None else real - estimated
    name = next((spec.published for spec in specs if spec.arm == kept.arm), None)
    compression = results[name].compression.get(kept.role) if name is not None else None
    return SavingFound(
        arm=kept.arm,
        role=kept.role,
        codec=kept.codec,
        storage=kept.storage,
        source=kept.source,
        volumes=kept.volumes,
        original_bytes=original,
        stored_bytes=stored,
        saving_ratio=real,
        spread_ratio=max(each) - min(each) if each else None,
        estimated_saving_ratio=estimated,
        half_width_ratio=kept.half_width_ratio,
        block_bytes=kept.block_bytes,
        off_ratio=off,
        agrees=None if off is None else abs(off) <= MOST_OFF_RATIO,
        published=name,
        citation=None if name is None else citations[name],
        published_saving_ratio=compression.saving_ratio if compression else None,
        reason=kept.reason,
    )
