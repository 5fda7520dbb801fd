"""What a campaign found: its claims and verdicts next to the papers', and the real savings of its volumes.

btrfs reports the saving of a folder.  zram reports it only for the whole device, so a role is what its files
add to the device or, once they are removed and trimmed, what they took from it (docs/design/lab.md).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from mawl.base.errors import UnsuitableMachineError
from mawl.base.removal import remove_below
from mawl.base.units import format_percent
from mawl.figures.comparison.comparability import why_unjudged
from mawl.figures.comparison.sides import Side, at, centre, change
from mawl.figures.comparison.waits import main_change, place_changes, role_changes
from mawl.lab.bed import ArmSpec
from mawl.lab.build import Bed
from mawl.lab.devices import command
from mawl.lab.experiment.clients import KEPT, CloneKeeper, take_away_kept
from mawl.lab.experiment.records import (
    ArmPair,
    ClaimResult,
    ClaimSpec,
    LabRecord,
    LabReport,
    RoleKept,
    SavingSpec,
    VerdictResult,
    VerdictSpec,
    VolumeKept,
)
from mawl.measure.compressibility.codecs import CODECS, figures
from mawl.measure.compressibility.volumes import LookRequest, look_at, real_saving
from mawl.records.model.compressibility import RealSaving, RoleSaving
from mawl.records.spec.program_options import ROLES, Role

LEAST_CHANGE_RATIO = 0.02
"""A single run a side that differs by less is not said to differ."""


def lab_report(record: LabRecord, arms: Mapping[str, Side], papers: Mapping[str, Side]) -> LabReport:
    """Judge a campaign.

    ``arms`` are the sides of the arms that ran, ``papers`` the published results that the claims name.
    """
    pairs = dict.fromkeys((claim.reference, claim.candidate) for claim in record.claims)
    return LabReport(
        campaign_id=record.campaign_id,
        bed=record.bed,
        title=record.title,
        question=record.question,
        outcome=record.outcome,
        arms=record.arms,
        calibration=record.calibration,
        claims=[_claim(claim, arms, papers) for claim in record.claims],
        verdicts=[_verdict(verdict, arms) for verdict in record.verdicts],
        pairs=[_pair(arms[one], arms[other]) for one, other in pairs if one in arms and other in arms],
        remarks=record.remarks,
    )


def _claim(claim: ClaimSpec, arms: Mapping[str, Side], papers: Mapping[str, Side]) -> ClaimResult:
    published = papers[claim.published_reference], papers[claim.published_candidate]
    path = claim.published_figure or claim.figure
    then = [_value(side, path) for side in published]
    now = [_value(arms.get(name), claim.figure) for name in (claim.reference, claim.candidate)]
    published_change, here = change(*then), change(*now)
    agrees, reason = _agreement(published_change, here)
    cited = dict.fromkeys(at(side.published, "source.citation") for side in published)
    return ClaimResult(
        title=claim.title,
        figure=claim.figure,
        published_figure=path,
        reference=claim.reference,
        candidate=claim.candidate,
        published_reference=claim.published_reference,
        published_candidate=claim.published_candidate,
        citation="; ".join(cited),
        published_reference_value=then[0],
        published_candidate_value=then[1],
        published_change_ratio=published_change,
        reference_value=now[0],
        candidate_value=now[1],
        change_ratio=here,
        direction_agrees=agrees,
        reason=reason,
    )


def _agreement(published: float | None, here: float | None) -> tuple[bool | None, str | None]:
    if published is None:
        return None, "the paper does not give this figure of both systems"
    if here is None:
        return None, "the figure is not known of both arms"
    if abs(here) < LEAST_CHANGE_RATIO:
        return (
            False,
            f"less than {format_percent(LEAST_CHANGE_RATIO)} between two single runs is no difference",
        )
    return (published > 0) == (here > 0), None


def _value(side: Side | None, path: str) -> float | None:
    return None if side is None else centre(side.values(path))


def _verdict(spec: VerdictSpec, arms: Mapping[str, Side]) -> VerdictResult:
    runs = arms[spec.arm].runs if spec.arm in arms else ()
    limit = runs[0].summary.limit if runs else None
    verdict = limit.verdict if limit else None
    return VerdictResult(
        arm=spec.arm,
        expected=spec.verdict if spec.holds else f"not {spec.verdict}",
        source=spec.source,
        verdict=verdict,
        role=limit.role if limit else None,
        device=limit.device if limit else None,
        agrees=None if verdict is None else (verdict == spec.verdict) == spec.holds,
    )


def _pair(reference: Side, candidate: Side) -> ArmPair:
    places = place_changes(reference, candidate, judged=why_unjudged(reference, candidate) is None)
    differs = main_change(places, role_changes(reference, candidate))
    blocked = {role: _value(reference, f"wait.blocked_seconds.{role}") for role in ROLES}
    whole = None if None in blocked.values() else sum(seconds or 0.0 for seconds in blocked.values())
    fast = (blocked["work"] or 0.0) + (blocked["util"] or 0.0)
    return ArmPair(
        reference=reference.label,
        candidate=candidate.label,
        place=None if differs is None else differs.place,
        sentence=None if differs is None else differs.sentence,
        blocked_seconds=whole,
        work_util_blocked_ratio=fast / whole if whole else None,
        work_util_ratio=_value(reference, "signature.work_util_ratio.value"),
    )


SEED = 1
NOT_ALONE = "a zram device cannot separate the role from what was there before, or the role had no file"
TEMPORARY: tuple[Role, ...] = ("work", "util")


class SavingsReader:
    """Reads the savings of a bed's arms; made before the inputs are, on volumes that are fast."""

    def __init__(self, bed: Bed, specs: Sequence[SavingSpec], arms: Sequence[ArmSpec]) -> None:
        self._bed = bed
        self._specs = {spec.arm: spec for spec in specs}
        self._data: dict[tuple[str, str], VolumeKept | None] = {}
        self._fresh = {arm.name: self._devices(arm) for arm in arms if self._is_zram(arm)}

    def inputs_made(self, arm: ArmSpec) -> None:
        """Once an arm's inputs are on its data volumes, and nothing else is."""
        if self._is_zram(arm):
            for name, before in self._fresh[arm.name].items():
                self._data[arm.name, name] = _less(name, self._device(name), before)

    def keeper(self, arm: ArmSpec) -> CloneKeeper:
        return CloneKeeper(list(self._places(arm, TEMPORARY).values()), TEMPORARY)

    def read(self, arm: ArmSpec, keeper: CloneKeeper) -> list[RoleKept]:
        """After a run: what its volumes saved; then what was kept is gone.

        The volumes are fast while this reads.
        """
        places = self._places(arm, ROLES)
        spec = self._specs.get(arm.name)
        try:
            if spec is None:
                return []
            for name in places:
                self._bed.hasten(name)
            estimates = self._estimates(arm, spec)
            return [self._role(arm, spec, role, estimates.get(role), keeper) for role in reversed(ROLES)][
                ::-1
            ]
        finally:
            take_away_kept(places)
            for name in places:
                self._bed.hasten(name)
                self._bed.slow(name)

    def _role(
        self, arm: ArmSpec, spec: SavingSpec, role: Role, estimate: RoleSaving | None, keeper: CloneKeeper
    ) -> RoleKept:
        """One role; of zram the kept files of work and util go with this, the later role first."""
        found: list[VolumeKept | None] = []
        source = None
        for name in arm.volumes(role):
            if spec.storage == "btrfs":
                saving = self._real_saving(self._folder(role, name))
                volume = VolumeKept(
                    volume=name, original_bytes=saving.original_bytes, stored_bytes=saving.stored_bytes
                )
                found.append(volume)
                source = saving.source
            else:
                source = self._device(name).source
                found.append(
                    self._data.get((arm.name, name)) if role == "data" else self._removed(name, role)
                )
        one = None if estimate is None else estimate.estimates[0]
        reason = keeper.reason if role in TEMPORARY else None
        return RoleKept(
            arm=arm.name,
            role=role,
            codec=_label(spec),
            storage=spec.storage,
            source=source,
            volumes=[volume for volume in found if volume is not None],
            estimated_saving_ratio=None if one is None else one.saving_ratio,
            half_width_ratio=None if one is None else one.half_width_ratio,
            block_bytes=None if one is None else one.block_bytes,
            reason=reason or (NOT_ALONE if None in found else None) or (None if one is None else one.reason),
        )

    def _removed(self, name: str, role: Role) -> VolumeKept | None:
        before = self._device(name)
        folder = self._bed.place(name) / KEPT / role
        if folder.is_dir():
            for file in folder.iterdir():
                # xfs frees the blocks of a removed file some time later, those of a cut one at once.
                os.truncate(file, 0)
            remove_below(folder.parent, role)
        return _less(name, before, self._device(name))

    def _estimates(self, arm: ArmSpec, spec: SavingSpec) -> Mapping[str, RoleSaving]:
        folders = {
            role: [self._folder(role, name) for name in arm.volumes(role)]
            for role in ROLES
            if all(self._folder(role, name).is_dir() for name in arm.volumes(role))
        }
        wanted = figures([spec.storage], [CODECS[_label(spec)]], [])
        looked = look_at(LookRequest(roles=folders, figures=wanted, seed=SEED))
        return {role.role: role for role in looked.roles}

    def _folder(self, role: Role, name: str) -> Path:
        place = self._bed.place(name)
        return place / role if role == "data" else place / KEPT / role

    def _places(self, arm: ArmSpec, roles: Sequence[Role]) -> dict[str, Path]:
        return {name: self._bed.place(name) for role in roles for name in arm.volumes(role)}

    def _devices(self, arm: ArmSpec) -> dict[str, RealSaving]:
        return {name: self._device(name) for name in dict.fromkeys(arm.data)}

    def _device(self, name: str) -> RealSaving:
        """What zram says of a volume's whole device, freed blocks left out."""
        place = self._bed.place(name)
        command(["sync", "--file-system", str(place)], self._bed.mark)
        command(["fstrim", str(place)], self._bed.mark)
        return self._real_saving(Path("/dev", self._bed.device(name)))

    def _real_saving(self, path: Path) -> RealSaving:
        if path.is_dir():
            command(["sync", "--file-system", str(path)], self._bed.mark)
        saving, reason = real_saving(path)
        if saving is None:
            raise UnsuitableMachineError(
                "the real saving cannot be read", where=str(path), why=reason, cure="mawl lab up --check"
            )
        return saving

    def _is_zram(self, arm: ArmSpec) -> bool:
        spec = self._specs.get(arm.name)
        return spec is not None and spec.storage == "zram"


def _label(spec: SavingSpec) -> str:
    return spec.codec if spec.level is None else f"{spec.codec}-{spec.level}"


def _less(name: str, more: RealSaving, less: RealSaving) -> VolumeKept | None:
    """What one figure of a device has over another; None where that is nothing."""
    original = more.original_bytes - less.original_bytes
    if original <= 0:
        return None
    return VolumeKept(
        volume=name, original_bytes=original, stored_bytes=max(more.stored_bytes - less.stored_bytes, 0)
    )
