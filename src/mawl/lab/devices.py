"""Loop and zram devices, and mounts: made, found again by what is ours, and taken away."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from mawl.errors import UnsuitableMachineError
from mawl.lab.bed import VolumeSpec
from mawl.lab.command import command

BLOCK = Path("/sys/block")
ZRAM_CONTROL = Path("/sys/class/zram-control")
MOUNTS = Path("/proc/mounts")
PATIENCE_SECONDS = 30.0
_PAUSE_SECONDS = 0.1
_DELETED = " (deleted)"
_ESCAPED = re.compile(r"\\([0-7]{3})")

_MKFS: dict[str, list[str]] = {
    # No work is left for after the mount, where it would pass the cap.
    "ext4": ["mkfs.ext4", "-q", "-F", "-i", "65536", "-E", "lazy_itable_init=0,nodiscard"],
    "xfs": ["mkfs.xfs", "-q", "-f", "-K"],
    "btrfs": ["mkfs.btrfs", "-q", "-f", "-K"],
}


def make_file_system(volume: VolumeSpec, target: Path, mark: str) -> None:
    """Make a volume's file system in an image or on a device."""
    command([*_MKFS[volume.file_system], *volume.mkfs_options, str(target)], mark)


def attach(file: Path, mark: str) -> str:
    """A loop device on a file, past the file's page cache; its kernel name."""
    return Path(command(["losetup", "-f", "--show", "--direct-io=on", str(file)], mark).strip()).name


def loops_on(folder: Path) -> dict[str, str]:
    """Loop devices whose file lies in a folder, and that file; also where the file is gone."""
    found = {}
    for backing in BLOCK.glob("loop*/loop/backing_file"):
        try:
            file = backing.read_text().rstrip("\n")
        except OSError:
            continue
        if Path(file.removesuffix(_DELETED)).is_relative_to(folder):
            found[backing.parents[1].name] = file
    return found


def detach(device: str, mark: str) -> None:
    """Take a loop device away, and wait until it is."""
    command(["losetup", "-d", f"/dev/{device}"], mark)
    if not _until(lambda: not (BLOCK / device / "loop" / "backing_file").exists()):
        raise UnsuitableMachineError(f"/dev/{device} stays in use", cure="see lsof, and mawl lab down again")


def next_zram() -> int:
    """The number that the next zram device will have: the lowest that is free."""
    taken = {int(path.name.removeprefix("zram")) for path in BLOCK.glob("zram*")}
    return next(number for number in range(len(taken) + 1) if number not in taken)


def add_zram() -> int:
    """A new zram device; its number."""
    return int((ZRAM_CONTROL / "hot_add").read_text())


def prepare_zram(number: int, volume: VolumeSpec) -> None:
    """Give a zram device its algorithm and its size."""
    block = BLOCK / f"zram{number}"
    try:
        if volume.algorithm is not None:
            (block / "comp_algorithm").write_text(volume.algorithm)
        (block / "disksize").write_text(str(volume.size_bytes))
    except OSError as error:
        offered = (block / "comp_algorithm").read_text().strip()
        raise UnsuitableMachineError(
            f"zram refuses {volume.algorithm or 'its size'}",
            why=(error.strerror or str(error)).lower(),
            cure=f"this kernel offers {offered}",
        ) from None


def remove_zram(number: int) -> None:
    """Empty a zram device and take it away; nothing where it is gone."""
    block = BLOCK / f"zram{number}"
    if not block.exists():
        return
    try:
        (block / "reset").write_text("1")
        (ZRAM_CONTROL / "hot_remove").write_text(str(number))
    except OSError as error:
        raise UnsuitableMachineError(
            f"/dev/zram{number} cannot be taken away", why=(error.strerror or str(error)).lower()
        ) from None


def zram_size(number: int) -> int | None:
    """Bytes of a zram device, 0 before it was given any; None where there is none."""
    try:
        return int((BLOCK / f"zram{number}" / "disksize").read_text())
    except FileNotFoundError:
        return None


def mount(device: str, place: Path, options: Sequence[str], mark: str) -> None:
    """Mount a device at a place."""
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    chosen = ["-o", ",".join(options)] if options else []
    command(["mount", *chosen, f"/dev/{device}", str(place)], mark)


def mounts_in(folder: Path) -> list[Path]:
    """Mount points in a folder, the last mounted first."""
    found = []
    for line in MOUNTS.read_text().splitlines():
        place = Path(_ESCAPED.sub(lambda octal: chr(int(octal[1], 8)), line.split(" ")[1]))
        if place.is_relative_to(folder):
            found.append(place)
    return found[::-1]


def unmount(place: Path, mark: str) -> None:
    """Unmount a place; what is just ending gets a moment to let go."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            command(["umount", str(place)], mark)
            return
        except UnsuitableMachineError:
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_SECONDS)


def _until(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE_SECONDS)
    return True
