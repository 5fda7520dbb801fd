"""Arms that not every kernel can have: their file systems are tried, and a refusal is the reason."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mawl.errors import MawlError, UnsuitableMachineError
from mawl.lab import devices
from mawl.lab.bed import ArmSpec, BedSpec, VolumeSpec
from mawl.lab.needs import Scratch


def offered(bed: BedSpec, arms: Sequence[ArmSpec], directory: Path) -> tuple[list[ArmSpec], list[str]]:
    """The arms that this kernel can have, and a sentence for each that it cannot.

    ``directory`` is the state directory, where what is tried is written down.
    Raises :class:`~mawl.errors.UnsuitableMachineError` where it can have none.
    """
    refused: dict[str, str] = {}
    if any(arm.optional for arm in arms):
        scratch = Scratch(directory)
        try:
            for volume in bed.volumes_of([arm for arm in arms if arm.optional]):
                if (reason := _refusal(volume, scratch)) is not None:
                    refused[volume.name] = reason
        finally:
            scratch.close()
    kept, left_out = [], []
    for arm in arms:
        reason = next((refused[one.name] for one in bed.volumes_of([arm]) if one.name in refused), None)
        if reason is None:
            kept.append(arm)
        else:
            left_out.append(f"arm {arm.name} is left out, since this machine refuses its volumes: {reason}")
    if not kept:
        raise UnsuitableMachineError(f"no arm of bed {bed.name} can be had here", why="; ".join(left_out))
    return kept, left_out


def _refusal(volume: VolumeSpec, scratch: Scratch) -> str | None:
    """Why a volume's file system cannot be made or mounted here; None where it can."""
    try:
        with scratch.loop() as device:
            devices.make_file_system(volume, Path("/dev", device), scratch.mark)
            devices.mount(device, scratch.folder / "place", volume.mount_options, scratch.mark)
            devices.unmount(scratch.folder / "place", scratch.mark)
    except MawlError as error:
        return str(error)
    return None
