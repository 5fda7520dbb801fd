"""Take a bed away, whatever of it there is: by its state, and by what bears its mark.

The order matters.  Processes first, since they hold mounts; caps before unmounting, which writes what is
dirty; caps before the loop device goes, since the next one takes over its number.
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from pathlib import Path

from mawl.errors import MawlError, UnsuitableMachineError
from mawl.lab import devices, throttle
from mawl.lab.command import BED_VARIABLE
from mawl.lab.disk import MODELLED
from mawl.lab.fabric import remove_namespace
from mawl.lab.groups import memory_groups
from mawl.lab.state import BedState, VolumeState, boot_id, forget, state_file
from mawl.measure.processes import kill_marked

NAMESPACES = Path("/run/netns")


class Removal:
    """Tries everything, and remembers what went and what would not."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.failed: list[str] = []

    def tried(self, what: str, action: Callable[[], None]) -> None:
        """Do it; the error, if any, is one of many."""
        try:
            action()
            self.done.append(what)
        except (MawlError, OSError) as error:
            self.failed.append(str(error))


def tear_down(directory: Path, state: BedState) -> list[str]:
    """Remove everything of a bed; what was removed, in words.

    Raises :class:`~mawl.errors.UnsuitableMachineError`, after trying everything, where something stays;
    the state file then stays, too, and the next ``down`` tries again.
    """
    removal = Removal()
    if state.boot_id == boot_id():
        _from_the_kernel(removal, state, str(state_file(directory, state.bed)))
    if not removal.failed:
        for folder in dict.fromkeys((Path(state.images), Path(state.directory))):
            if folder.exists():
                removal.tried(f"files in {folder}", functools.partial(shutil.rmtree, folder))
    if removal.failed:
        raise UnsuitableMachineError(
            f"bed {state.bed} could not be taken away whole",
            why="; ".join(dict.fromkeys(removal.failed)),
            cure=f"mawl lab down {state.bed} again",
        )
    forget(directory, state.bed)
    return removal.done


def _from_the_kernel(removal: Removal, state: BedState, mark: str) -> None:
    """Processes, limits, mounts and devices of this start of the machine."""
    if killed := kill_marked(BED_VARIABLE, mark):
        removal.done.append(f"{killed} processes")
    places, images = Path(state.directory), Path(state.images)
    for volume in state.volumes:
        _without_limits(removal, volume)
    for place in devices.mounts_in(places):
        # The modelled disk's own mount goes after the loop device that uses it.
        if place.suffix != MODELLED:
            removal.tried(f"mount {place}", functools.partial(devices.unmount, place, mark))
    for device in devices.loops_on(places) | devices.loops_on(images):
        removal.tried(f"device {device}", functools.partial(devices.detach, device, mark))
    for place in devices.mounts_in(places):
        if place.suffix == MODELLED:
            removal.tried(f"mount {place}", functools.partial(devices.unmount, place, mark))
    for volume in state.volumes:
        _without_zram(removal, volume)
    _without_namespaces(removal, state.namespaces, mark)
    for group in memory_groups(state.bed):
        if group.exists():
            removal.tried(f"control group {group}", group.rmdir)


def _without_namespaces(removal: Removal, names: list[str], mark: str) -> None:
    for name in names:
        if (NAMESPACES / name).exists():
            removal.tried(f"network namespace {name}", functools.partial(remove_namespace, name, mark))


def _without_limits(removal: Removal, volume: VolumeState) -> None:
    number = volume.device_number
    if number is None:
        return
    if throttle.rules_of(number):
        removal.tried(f"caps of {number}", lambda: throttle.clear_rules(number, volume.cap_rules))
    writeback = volume.writeback_name or number
    removal.tried(
        f"writeback limits of {writeback}",
        lambda: throttle.restore_writeback(writeback, volume.writeback_before),
    )


def _without_zram(removal: Removal, volume: VolumeState) -> None:
    if volume.zram is None:
        return
    number = volume.zram.number
    size = devices.zram_size(number)
    # Of a number that was only expected, a device in use is another's; one without a size holds nothing.
    if size is not None and (volume.zram.confirmed or size == 0):
        removal.tried(f"device zram{number}", lambda: devices.remove_zram(number))
