"""Build a bed, and remove it.

Each creation is written to the state file before it happens, so that removal also finds what an interrupted
build left.  Removal keeps an order.  Processes end first, because they hold mounts.  Caps go before
unmounting, which writes dirty pages, and before the loop device, whose number the next one takes over.
"""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from mawl.base.errors import MawlError, UnsuitableMachineError, UsageError
from mawl.base.removal import MARK, remove_tree
from mawl.base.units import format_memory
from mawl.lab import devices, disk
from mawl.lab.bed import ArmSpec, BedSpec, VolumeSpec
from mawl.lab.calibration import calibrate
from mawl.lab.devices import (
    BED_VARIABLE,
    cap_rules,
    clear_rules,
    device_number,
    limit_writeback,
    memory_groups,
    restore_writeback,
    rules_of,
    set_read_ahead,
    set_rules,
    writeback_limits,
    writeback_name,
)
from mawl.lab.experiment.records import VolumeCalibration
from mawl.lab.fabric import BedFabric, calibrate_links, remove_namespace
from mawl.lab.state import (
    BedState,
    VolumeState,
    ZramState,
    boot_id,
    forget,
    make_directory,
    read_state,
    state_file,
    write_state,
)
from mawl.measure.processes import kill_marked, started_ticks
from mawl.records.spec.program_options import ROLES

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

    Raises ``UnsuitableMachineError``, after trying everything, where something stays;
    the state file then stays, too, and the next ``down`` tries again.
    """
    removal = Removal()
    if state.boot_id == boot_id():
        _from_the_kernel(removal, state, str(state_file(directory, state.bed)))
    if not removal.failed:
        for folder in dict.fromkeys((Path(state.images), Path(state.directory))):
            if folder.exists():
                removal.tried(f"files in {folder}", functools.partial(_remove, folder))
    if removal.failed:
        raise UnsuitableMachineError(
            f"bed {state.bed} could not be taken away whole",
            why="; ".join(dict.fromkeys(removal.failed)),
            cure=f"mawl lab down {state.bed} again",
        )
    forget(directory, state.bed)
    return removal.done


def make_marked(folder: Path) -> None:
    """Make a directory of a bed, with the mark without which ``tear_down`` leaves it alone."""
    folder.mkdir(mode=0o700)
    (folder / MARK).touch(mode=0o600)


def _remove(folder: Path) -> None:
    if kept := remove_tree(folder).remarks():
        raise MawlError("; ".join(kept))


def _from_the_kernel(removal: Removal, state: BedState, mark: str) -> None:
    """Processes, limits, mounts and devices of this start of the machine."""
    if killed := kill_marked(BED_VARIABLE, mark):
        removal.done.append(f"{killed} processes")
    places, images = Path(state.directory), Path(state.images)
    for volume in state.volumes:
        _without_limits(removal, volume)
    for place in devices.mounts_in(places):
        # The modelled disk's own mount goes after the loop device that uses it.
        if place.suffix != disk.MODELLED:
            removal.tried(f"mount {place}", functools.partial(devices.unmount, place, mark))
    for device in devices.loops_on(places) | devices.loops_on(images):
        removal.tried(f"device {device}", functools.partial(devices.detach, device, mark))
    for place in devices.mounts_in(places):
        if place.suffix == disk.MODELLED:
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
    if rules_of(number):
        removal.tried(f"caps of {number}", lambda: clear_rules(number, volume.cap_rules))
    writeback = volume.writeback_name or number
    removal.tried(
        f"writeback limits of {writeback}",
        lambda: restore_writeback(writeback, volume.writeback_before),
    )


def _without_zram(removal: Removal, volume: VolumeState) -> None:
    if volume.zram is None:
        return
    number = volume.zram.number
    size = devices.zram_size(number)
    # Of a number that was only expected, a device in use is another's; one without a size holds nothing.
    if size is not None and (volume.zram.confirmed or size == 0):
        removal.tried(f"device zram{number}", lambda: devices.remove_zram(number))


SHARED_MEMORY = Path("/dev/shm")
IMAGES_VARIABLE = "MAWL_LAB_IMAGES"
PREFIX = "mawl-lab-"
FREE_SHARE = 0.9
"""Images together may become at most this share of what is free where they lie."""


class Bed:
    """A bed that stands: its volumes are mounted, fast until ``slow`` and again after ``hasten``."""

    def __init__(self, directory: Path, state: BedState) -> None:
        self.state_directory, self.state = directory, state
        self.spec = msgspec.convert(state.description, BedSpec)
        self.mark = str(state_file(directory, state.bed))
        self._specs = {volume.name: volume for volume in self.spec.volumes}
        self.fabric = self._fabric()
        self._factor = 1.0

    @property
    def volumes(self) -> list[str]:
        return [volume.name for volume in self.state.volumes]

    def volume(self, name: str) -> VolumeSpec:
        return self._specs[name]

    def place(self, name: str) -> Path:
        return Path(self._of(name).place)

    def device(self, name: str) -> str:
        """The kernel name of a volume's device."""
        device = self._of(name).device
        assert device is not None, "a volume that is up has a device"
        return device

    def note_run(self, folder: Path) -> None:
        """A run folder is about to be written: `down` cleans up after the run."""
        self.state.run_folders.append(str(folder.absolute()))
        self._write()

    def slow(self, name: str) -> None:
        """Give a volume the speed that its bed says, and limit what may wait to be written."""
        spec, state = self._specs[name], self._of(name)
        if spec.disk is not None:
            self._detach(name)
            file = disk.shown(self.place(name))
            state.model_socket = str(file.with_suffix(".socket"))
            self._write()
            disk.start(Path(str(state.image)), spec.disk, file, self.mark)
            self._attach(name, file)
        number = device_number(self.device(name))
        state.device_number = number
        state.writeback_name = writeback_name(self.device(name))
        state.writeback_before = writeback_limits(state.writeback_name)
        state.cap_rules = cap_rules(spec.cap) if spec.cap is not None else {}
        self._write()
        limit_writeback(state.writeback_name, spec.dirty_bytes)
        if spec.read_ahead_bytes is not None:
            set_read_ahead(state.writeback_name, spec.read_ahead_bytes)
        set_rules(number, state.cap_rules)

    def hasten(self, name: str) -> None:
        """Take the limits of a volume away again."""
        spec, state = self._specs[name], self._of(name)
        if state.device_number is None:
            return
        clear_rules(state.device_number, state.cap_rules)
        restore_writeback(state.writeback_name or state.device_number, state.writeback_before)
        if spec.disk is not None:
            self._detach(name)
            self._attach(name, Path(str(state.image)))
        state.cap_rules, state.writeback_before = {}, {}
        state.device_number = state.writeback_name = None
        self._write()

    def make_fabric(self) -> None:
        """Make the network and the shared file system, where the bed has them; links without a rate."""
        if self.fabric is not None:
            self.state.namespaces = self.fabric.namespaces
            self._write()
            self.fabric.build()
            self.fabric.make_roles(ROLES)

    def _fabric(self) -> BedFabric | None:
        if self.spec.fabric is None:
            return None
        brick = Path(self.state.directory) / self.spec.fabric.volume / "brick"
        return BedFabric(self.state.bed, self.spec.fabric, Path(self.state.directory), brick, self.mark)

    def at_speed(self, factor: float) -> None:
        """From the next ``slow`` on, volumes have a factor of the speed that the bed says."""
        self._specs = {volume.name: volume for volume in self.spec.at_speed(factor).volumes}
        self._factor = factor

    def link_rate(self, arm: ArmSpec) -> float:
        """Bytes a second, each way, of an arm's links at the speed that volumes have."""
        assert arm.link_rate is not None, "a bed with a fabric says the links of its arms"
        return self._factor * arm.link_rate

    def make(self, spec: VolumeSpec) -> None:
        """Make a volume, without its limits."""
        state = VolumeState(name=spec.name, place=str(Path(self.state.directory) / spec.name))
        self.state.volumes.append(state)
        if spec.backing == "zram":
            self._make_zram(spec, state)
            return
        image = Path(self.state.images) / f"{spec.name}.img"
        state.image = str(image)
        self._write()
        with image.open("xb") as file:
            os.truncate(file.fileno(), spec.size_bytes)
        devices.make_file_system(spec, image, self.mark)
        self._attach(spec.name, image)

    def _make_zram(self, spec: VolumeSpec, state: VolumeState) -> None:
        state.zram = ZramState(number=devices.next_zram())
        self._write()
        number = devices.add_zram()
        state.zram, state.device = ZramState(number=number, confirmed=True), f"zram{number}"
        self._write()
        devices.prepare_zram(number, spec)
        devices.make_file_system(spec, Path(f"/dev/zram{number}"), self.mark)
        devices.mount(state.device, Path(state.place), spec.mount_options, self.mark)

    def _attach(self, name: str, file: Path) -> None:
        state = self._of(name)
        state.device = devices.attach(file, self.mark)
        self._write()
        devices.mount(state.device, Path(state.place), self._specs[name].mount_options, self.mark)

    def _detach(self, name: str) -> None:
        state = self._of(name)
        devices.unmount(Path(state.place), self.mark)
        devices.detach(self.device(name), self.mark)
        state.device = None
        if state.model_socket is not None:
            file = Path(state.model_socket).with_suffix(disk.MODELLED)
            for place in devices.mounts_in(Path(self.state.directory)):
                if place == file:
                    devices.unmount(place, self.mark)
            disk.stop(file)
            state.model_socket = None
        self._write()

    def _of(self, name: str) -> VolumeState:
        return next(volume for volume in self.state.volumes if volume.name == name)

    def _write(self) -> None:
        write_state(self.state_directory, self.state)


def build(directory: Path, spec: BedSpec, arms: Sequence[ArmSpec], images: Path | None = None) -> Bed:
    """Build the volumes of some arms, without limits yet; what was built goes again where one fails.

    ``directory`` is the state directory, which the caller holds (``held``).
    Raises ``UsageError`` where the bed is already up.
    """
    make_directory(directory)
    if read_state(directory, spec.name) is not None:
        raise UsageError(f"test bed {spec.name} is already up", cure=f"mawl lab down {spec.name}")
    volumes = spec.volumes_of(list(arms))
    place = (images or _images()) / f"{PREFIX}{spec.name}"
    if place.exists():
        raise UsageError(
            "is in the way of the bed's images", where=str(place), cure="remove it, or use --images"
        )
    _check_room(place.parent, volumes)
    state = BedState(
        bed=spec.name,
        boot_id=boot_id(),
        owner_pid=os.getpid(),
        owner_started_ticks=started_ticks(os.getpid()) or 0,
        directory=str(directory / spec.name),
        images=str(place),
        description=msgspec.to_builtins(spec),
    )
    write_state(directory, state)
    bed = Bed(directory, state)
    try:
        for folder in (Path(state.directory), place):
            make_marked(folder)
        for volume in volumes:
            bed.make(volume)
        bed.make_fabric()
    except (MawlError, OSError, KeyboardInterrupt):
        tear_down(directory, state)
        raise
    return bed


def stands(directory: Path, name: str) -> Bed | None:
    """The bed of a name where it stands whole; None where there is none."""
    state = read_state(directory, name)
    if state is None:
        return None
    if state.boot_id != boot_id() or any(volume.device is None for volume in state.volumes):
        raise UnsuitableMachineError(
            f"bed {name} was left half built", cure=f"mawl lab down {name}, and up again"
        )
    bed = Bed(directory, state)
    if bed.fabric is not None and not bed.fabric.stands():
        raise UnsuitableMachineError(
            f"bed {name} is there without its file system", cure=f"mawl lab down {name}, and up again"
        )
    return bed


def _images() -> Path:
    """Where images go: MAWL_LAB_IMAGES, else shared memory, whose speed is not a disk's."""
    named = os.environ.get(IMAGES_VARIABLE)
    return Path(named).absolute() if named else SHARED_MEMORY


def _check_room(place: Path, volumes: Sequence[VolumeSpec]) -> None:
    wanted = sum(volume.size_bytes for volume in volumes)
    if not place.is_dir():
        raise UsageError("is no directory for the bed's images", where=str(place))
    free = shutil.disk_usage(place).free
    if wanted > FREE_SHARE * free:
        raise UnsuitableMachineError(
            f"the images may become {format_memory(wanted)}, and {format_memory(free)} are free",
            where=str(place),
            cure=f"name a directory with more room: --images DIR or {IMAGES_VARIABLE}",
        )


AT_ONCE = 4


def calibrate_all(
    bed: Bed, say: Callable[[str], None], arms: Sequence[ArmSpec]
) -> Iterator[VolumeCalibration]:
    """Every measurement of every volume, which are slow, and of the links of some arms.

    Raises what ``calibrate`` raises.
    """
    modelled = [name for name in bed.volumes if bed.volume(name).disk is not None]
    others = [name for name in bed.volumes if bed.volume(name).cap is not None]
    for name in modelled:
        say(f"calibrating {name}")
        yield from _calibrated(bed, name)
    for start in range(0, len(others), AT_ONCE):
        names = others[start : start + AT_ONCE]
        say(f"calibrating {', '.join(names)}")
        with ThreadPoolExecutor(max_workers=len(names)) as pool:
            for found in pool.map(lambda name: _calibrated(bed, name), names):
                yield from found
    yield from _links(bed, arms, say)


def _links(bed: Bed, arms: Sequence[ArmSpec], say: Callable[[str], None]) -> Iterator[VolumeCalibration]:
    """The links at the rate of each arm; they keep the last."""
    if bed.fabric is not None:
        for arm in arms:
            say(f"calibrating the links of {arm.name}")
            yield from calibrate_links(bed.fabric, arm.name, bed.link_rate(arm))


def _calibrated(bed: Bed, name: str) -> list[VolumeCalibration]:
    return calibrate(bed.volume(name), bed.place(name), bed.device(name), bed.mark)
