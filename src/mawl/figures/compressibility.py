"""What compression saves, in the names of docs/reference/metrics.md, for JSON and reports."""

from __future__ import annotations

import msgspec

from mawl.base.units import format_instant
from mawl.records.model.compressibility import Compressibility, Estimate, RealSaving, VolumeSaving
from mawl.records.model.run import RunFacts
from mawl.records.model.summary import compression as figures


def compressibility_of(facts: RunFacts) -> figures.CompressibilityFigures | None:
    """What a run sampled; None where it was not asked to."""
    return None if facts.compressibility is None else compressibility_block(facts.compressibility)


def compressibility_block(found: Compressibility) -> figures.CompressibilityFigures:
    """Every estimate by volume and by role, and the facts of each volume.

    ``freed_bytes`` is what the estimate would free of ``original_bytes``.
    """
    return figures.CompressibilityFigures(
        created_at=format_instant(found.created_at),
        confidence_ratio=found.confidence_ratio,
        half_width_ratio=found.half_width_ratio,
        seed=found.seed,
        estimates=[
            figures.EstimateFigures(
                volume=volume.name, role=volume.role, **msgspec.structs.asdict(one), freed_bytes=_freed(one)
            )
            for volume in found.volumes
            for one in volume.estimates
        ],
        role_estimates=[
            figures.RoleEstimateFigures(
                role=role.role,
                volumes=len(role.volumes),
                data_bytes=role.data_bytes,
                **msgspec.structs.asdict(one),
                freed_bytes=_freed(one),
            )
            for role in found.roles
            for one in role.estimates
        ],
        volumes=[_volume(volume) for volume in found.volumes],
    )


def _freed(one: Estimate) -> int | None:
    if one.saving_ratio is None or one.original_bytes is None:
        return None
    return round(one.saving_ratio * one.original_bytes)


def _volume(volume: VolumeSaving) -> figures.CompressedVolume:
    own = msgspec.structs.asdict(volume)
    del own["estimates"]
    return figures.CompressedVolume(
        **own
        | {
            "zero_share": figures.ShareFigures(**msgspec.structs.asdict(volume.zero_share)),
            "engine_share": figures.ShareFigures(**msgspec.structs.asdict(volume.engine_share)),
            "real": volume.real and _real(volume.real),
            "left_out": figures.NotLookedAt(**msgspec.structs.asdict(volume.left_out)),
            "cost": figures.Cost(**msgspec.structs.asdict(volume.cost)),
        }
    )


def _real(real: RealSaving) -> figures.RealSavingFigures:
    return figures.RealSavingFigures(
        **msgspec.structs.asdict(real),
        saving_ratio=real.saving_ratio,
        saved_bytes=real.original_bytes - real.stored_bytes,
    )
