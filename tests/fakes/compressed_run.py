"""What a run sampled of compressibility: data read in full, work by draws, util on two volumes, one empty."""

from __future__ import annotations

from mawl.records.model.compressibility import (
    Compressibility,
    Estimate,
    FilesLeftOut,
    RealSaving,
    RoleEstimate,
    RoleSaving,
    SampledShare,
    SamplingCost,
    VolumeSaving,
)
from mawl.records.spec.program_options import Role
from tests.fakes.stored_run import START


def sampled() -> Compressibility:
    """One volume under data and one under work; the estimate for lz4 is missing."""
    return Compressibility(
        created_at=START + 60.0,
        confidence_ratio=0.95,
        half_width_ratio=None,
        seed=7,
        volumes=[_volume("data", 0.9, 0.0, engine=0.0), _volume("work", 0.6, 0.12, engine=0.25)],
        roles=[_role("data", 0.9, 0.0), _role("work", 0.6, 0.12)],
    )


def _estimates(saving: float, half_width: float) -> list[Estimate]:
    return [
        Estimate(
            codec="zstd",
            level=1,
            block_bytes=2**20,
            storage="plain",
            original_bytes=10**9,
            saving_ratio=saving,
            half_width_ratio=half_width,
            confidence_ratio=0.95,
            draws=40,
        ),
        Estimate(
            codec="lz4",
            level=None,
            block_bytes=2**17,
            storage="plain",
            original_bytes=10**9,
            saving_ratio=None,
            half_width_ratio=None,
            confidence_ratio=0.95,
            draws=0,
            reason="needs the package lz4",
        ),
    ]


def _volume(role: Role, saving: float, half_width: float, *, engine: float) -> VolumeSaving:
    return VolumeSaving(
        name=f"/mnt/{role}",
        role=role,
        kind="folder",
        file_system="btrfs",
        size_bytes=10**12,
        used_bytes=4 * 10**11,
        files=12,
        data_bytes=10**9,
        hole_bytes=4096,
        zero_share=SampledShare(ratio=0.01, half_width_ratio=0.02),
        engine_share=SampledShare(ratio=engine, half_width_ratio=0.0),
        estimates=_estimates(saving, half_width),
        real=RealSaving(
            source="btrfs (compsize)", of="/mnt/data", original_bytes=10**9, stored_bytes=2 * 10**8
        )
        if role == "data"
        else None,
        real_reason=None if role == "data" else "not asked while the run went on",
        left_out=FilesLeftOut(links=1, lost_files=1, lost_bytes=100, remarks=["/mnt/data/x: gone"]),
        cost=SamplingCost(read_bytes=10**8, read_ratio=0.1, cpu_seconds=0.5, elapsed_seconds=1.0, draws=40),
    )


def _role(role: Role, saving: float, half_width: float) -> RoleSaving:
    estimates = [
        RoleEstimate(
            codec=one.codec,
            level=one.level,
            block_bytes=one.block_bytes,
            storage=one.storage,
            original_bytes=one.original_bytes,
            saving_ratio=one.saving_ratio,
            half_width_ratio=one.half_width_ratio,
            confidence_ratio=one.confidence_ratio,
            draws=one.draws,
            reason=one.reason,
            spread_ratio=None if one.saving_ratio is None else 0.0,
        )
        for one in _estimates(saving, half_width)
    ]
    return RoleSaving(role=role, volumes=[f"/mnt/{role}"], data_bytes=10**9, estimates=estimates)
