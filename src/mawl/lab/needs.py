"""What a bed needs of this machine: each need is tried, and a missing one is reported with its reason."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import msgspec

from mawl.base.errors import MawlError, UnsuitableMachineError
from mawl.lab import devices, disk
from mawl.lab.bed import ArmSpec, BedSpec, Cap, DiskModel, FileSystemKind, VolumeSpec
from mawl.lab.build import make_marked, tear_down
from mawl.lab.devices import command, find, make_memory_group
from mawl.lab.fabric import remove_namespace
from mawl.lab.state import (
    TRIAL,
    BedState,
    VolumeState,
    ZramState,
    boot_id,
    make_directory,
    state_file,
    write_state,
)
from mawl.measure.processes import started_ticks

_IMAGE_BYTES = 320 * 2**20
"""The least that mkfs.xfs takes."""

_PACKAGES = {
    "fio": "fio",
    "losetup": "mount",
    "mount": "mount",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "mkfs.btrfs": "btrfs-progs",
    "nbdkit": "nbdkit",
    "nbdfuse": "libnbd-bin",
    "ip": "iproute2",
    "tc": "iproute2",
    "ss": "iproute2",
    "glusterfsd": "glusterfs-server",
    "glusterfs": "glusterfs-client",
    "nsenter": "util-linux",
    "unshare": "util-linux",
}


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that beds need: ``reason`` says why it is not to be had, None where it is."""

    name: str
    reason: str | None


EVERY = (
    "root",
    "fio",
    "loop",
    "ext4",
    "xfs",
    "btrfs",
    "zram",
    "cap",
    "writeback limit",
    "memory group",
    "disk model",
    "namespaces",
    "link rate",
    "glusterfs",
    "dask",
)


def needs_of(bed: BedSpec, volumes: Iterable[VolumeSpec]) -> list[str]:
    """Names of what these volumes of a bed need, in the order of ``EVERY``."""
    wanted = {"root", "fio", "loop", "writeback limit"}
    for volume in volumes:
        wanted.add(volume.file_system)
        wanted |= {"zram"} if volume.backing == "zram" else set()
        wanted |= {"cap"} if volume.cap is not None else set()
        wanted |= {"disk model"} if volume.disk is not None else set()
    if bed.memory_limit is not None:
        wanted.add("memory group")
    if bed.fabric is not None:
        wanted |= {"namespaces", "link rate", "glusterfs", "dask", "memory group"}
    return [name for name in EVERY if name in wanted]


def check(names: Iterable[str], directory: Path) -> list[Need]:
    """Try each need on objects of its own, which are gone again when this returns.

    ``directory`` is the state directory.
    """
    if os.geteuid() != 0:
        reason = "devices, mounts and caps are root's; run it with sudo"
        return [Need(name=name, reason=reason if name != "fio" else _lacking("fio")) for name in names]
    make_directory(directory)
    scratch = Scratch(directory)
    try:
        return [Need(name=name, reason=_tried(_TRIALS[name], scratch)) for name in names]
    finally:
        scratch.close()


class Scratch:
    """What the trials make, written down as a bed is, so that `mawl lab down` finds it after any death."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        folder = directory / f"{TRIAL}{os.getpid()}"
        self._state = BedState(
            bed=folder.name,
            boot_id=boot_id(),
            owner_pid=os.getpid(),
            owner_started_ticks=started_ticks(os.getpid()) or 0,
            directory=str(folder),
            images=str(folder),
            volumes=[VolumeState(name="trial", place=str(folder / "place"))],
        )
        self.folder, self.mark = folder, str(state_file(directory, folder.name))
        self.write()
        make_marked(folder)

    @property
    def volume(self) -> VolumeState:
        return self._state.volumes[0]

    def write(self) -> None:
        write_state(self._directory, self._state)

    def close(self) -> None:
        tear_down(self._directory, self._state)

    @contextlib.contextmanager
    def namespace(self) -> Iterator[str]:
        name = f"mawl-{self.folder.name}"
        self._state.namespaces = [name]
        self.write()
        command(["ip", "netns", "add", name], self.mark)
        try:
            yield name
        finally:
            remove_namespace(name, self.mark)

    @contextlib.contextmanager
    def loop(self) -> Iterator[str]:
        image = self.folder / "image"
        with image.open("wb") as file:
            os.truncate(file.fileno(), _IMAGE_BYTES)
        device = devices.attach(image, self.mark)
        try:
            yield device
        finally:
            devices.detach(device, self.mark)


def _tried(trial: Callable[[Scratch], str | None], scratch: Scratch) -> str | None:
    try:
        return trial(scratch)
    except (MawlError, OSError, ValueError) as error:
        return str(error)


def _lacking(*programs: str) -> str | None:
    missing = [program for program in programs if find(program) is None]
    if not missing:
        return None
    packages = " ".join(dict.fromkeys(_PACKAGES[program] for program in missing))
    return f"{', '.join(missing)} not found; install {packages}"


def _try_loop(scratch: Scratch) -> str | None:
    lacking = _lacking("losetup")
    if lacking is None:
        with scratch.loop():
            pass
    return lacking


def _try_file_system(kind: FileSystemKind, scratch: Scratch) -> str | None:
    lacking = _lacking("losetup", "mount", f"mkfs.{kind}")
    if lacking is None:
        volume = VolumeSpec(name="check", size=_IMAGE_BYTES, file_system=kind)
        with scratch.loop() as device:
            devices.make_file_system(volume, Path("/dev", device), scratch.mark)
            devices.mount(device, scratch.folder / "place", volume.mount_options, scratch.mark)
            devices.unmount(scratch.folder / "place", scratch.mark)
    return lacking


def _try_zram(scratch: Scratch) -> str | None:
    if not devices.ZRAM_CONTROL.is_dir():
        return "the kernel has no zram (no /sys/class/zram-control); try modprobe zram"
    scratch.volume.zram = ZramState(number=devices.next_zram())
    scratch.write()
    number = devices.add_zram()
    devices.remove_zram(number)
    return None


def _try_cap(scratch: Scratch) -> str | None:
    if not (devices.BLKIO / "blkio.throttle.read_bps_device").exists():
        return (
            "needs blkio of control groups version 1, whose root group has caps; "
            "with version 2 alone use volumes with a disk model"
        )
    cap = Cap(bytes_per_second=10**6, requests_per_second=100)
    with scratch.loop() as device:
        number = devices.device_number(device)
        rules = devices.cap_rules(cap)
        scratch.volume.device_number, scratch.volume.cap_rules = number, rules
        scratch.write()
        try:
            devices.set_rules(number, rules)
        finally:
            devices.clear_rules(number, rules)
    return None


def _try_writeback_limit(scratch: Scratch) -> str | None:
    with scratch.loop() as device:
        number = devices.device_number(device)
        if not (devices.BDI / number / "strict_limit").exists():
            return "the kernel has no strict_limit for devices (Linux 6.2 and later have it)"
        before = devices.writeback_limits(number)
        scratch.volume.device_number, scratch.volume.writeback_before = number, before
        scratch.write()
        try:
            devices.limit_writeback(number, 2**24)
        finally:
            devices.restore_writeback(number, before)
    return None


def _try_memory_group(scratch: Scratch) -> str | None:
    limit = make_memory_group(scratch.folder.name)
    if limit is None:
        return "no control group with a memory limit can be made"
    limit.parent.rmdir()
    return None


def _try_disk_model(scratch: Scratch) -> str | None:
    lacking = _lacking("nbdkit", "nbdfuse")
    if lacking is not None:
        return lacking
    image, file = scratch.folder / "model", scratch.folder / f"model{disk.MODELLED}"
    image.write_bytes(bytes(2**20))
    disk.start(image, DiskModel(model="spinning", bytes_per_second=10**8), file, scratch.mark)
    try:
        whole = file.stat().st_size == 2**20
    finally:
        devices.unmount(file, scratch.mark)
        disk.stop(file)
    return None if whole else "the modelled disk has another size than its image"


def _try_namespaces(scratch: Scratch) -> str | None:
    lacking = _lacking("ip", "nsenter", "unshare")
    if lacking is None:
        with scratch.namespace():
            pass
    return lacking


def _try_link_rate(scratch: Scratch) -> str | None:
    lacking = _lacking("ip", "tc", "ss")
    if lacking is None:
        with scratch.namespace() as name:
            pair = ["add", "trial0", "type", "veth", "peer", "name", "trial1"]
            command(["ip", "-n", name, "link", *pair], scratch.mark)
            rate = ["tbf", "rate", "8mbit", "burst", "128kb", "latency", "20ms"]
            command(["tc", "-netns", name, "qdisc", "add", "dev", "trial0", "root", *rate], scratch.mark)
    return lacking


def _try_glusterfs(_: Scratch) -> str | None:
    lacking = _lacking("glusterfsd", "glusterfs")
    if lacking is None and not Path("/dev/fuse").exists():
        return "there is no /dev/fuse; try modprobe fuse"
    return lacking


_TRIALS: dict[str, Callable[[Scratch], str | None]] = {
    "root": lambda _: None,
    "fio": lambda _: _lacking("fio"),
    "loop": _try_loop,
    "ext4": lambda scratch: _try_file_system("ext4", scratch),
    "xfs": lambda scratch: _try_file_system("xfs", scratch),
    "btrfs": lambda scratch: _try_file_system("btrfs", scratch),
    "zram": _try_zram,
    "cap": _try_cap,
    "writeback limit": _try_writeback_limit,
    "memory group": _try_memory_group,
    "disk model": _try_disk_model,
    "namespaces": _try_namespaces,
    "link rate": _try_link_rate,
    "glusterfs": _try_glusterfs,
    "dask": lambda _: None if find_spec("distributed") else "not installed; pip install 'mawl[cluster]'",
}


def offered(bed: BedSpec, arms: Sequence[ArmSpec], directory: Path) -> tuple[list[ArmSpec], list[str]]:
    """The arms that this kernel can have, and a sentence for each that it cannot.

    ``directory`` is the state directory, where what is tried is written down.
    Raises ``UnsuitableMachineError`` where it can have none.
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
        reason = next(
            (refused[volume.name] for volume in bed.volumes_of([arm]) if volume.name in refused), None
        )
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
