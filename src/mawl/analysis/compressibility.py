"""What compression saves as plain data: the names of docs/reference/metrics.md, for JSON and reports."""

from __future__ import annotations

from typing import Any

import msgspec

from mawl.analysis.blocks import Block
from mawl.model.compressibility import Compressibility, Estimate, VolumeSaving
from mawl.model.run import RunFacts
from mawl.units import format_instant


def compressibility_of(facts: RunFacts) -> Block | None:
    """What a run sampled; None where it was not asked to."""
    return None if facts.compressibility is None else compressibility_block(facts.compressibility)


def compressibility_block(found: Compressibility) -> Block:
    """Every estimate by volume and by role, and the facts of each volume.

    ``freed_bytes`` is what the estimate would free of ``original_bytes``.
    """
    return {
        "created_at": format_instant(found.created_at),
        "confidence_ratio": found.confidence_ratio,
        "half_width_ratio": found.half_width_ratio,
        "seed": found.seed,
        "estimates": [
            {"volume": volume.name, "role": volume.role, **_estimate(one)}
            for volume in found.volumes
            for one in volume.estimates
        ],
        "role_estimates": [
            {
                "role": role.role,
                "volumes": len(role.volumes),
                "data_bytes": role.data_bytes,
                **_estimate(one),
            }
            for role in found.roles
            for one in role.estimates
        ],
        "volumes": [_volume(volume) for volume in found.volumes],
    }


def _estimate(one: Estimate) -> Block:
    freed = None
    if one.saving_ratio is not None and one.original_bytes is not None:
        freed = round(one.saving_ratio * one.original_bytes)
    return {**msgspec.to_builtins(one), "freed_bytes": freed}


def _volume(volume: VolumeSaving) -> Block:
    plain: dict[str, Any] = msgspec.to_builtins(volume)
    del plain["estimates"]
    real = volume.real
    if real is not None:
        saved = real.original_bytes - real.stored_bytes
        plain["real"] |= {"saving_ratio": real.saving_ratio, "saved_bytes": saved}
    return plain
