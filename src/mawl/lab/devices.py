"""Block devices of a bed and their limits: loop and zram, mounts, rate caps, writeback, memory groups.

Rate caps use the root group of control groups version 1: its budget also holds for writeback, and no process
has to be moved.  Version 2 has no ``io.max`` in its root group; there, use volumes with a disk model.  A cap
alone does not slow a temporary file that is deleted before it is written, hence the limit on dirty pages.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mawl.base.errors import UnsuitableMachineError
from mawl.lab.bed import Cap, VolumeSpec

BED_VARIABLE = "MAWL_LAB_BED"
"""Its value in the environment of a process is the state file of the bed that the process belongs to."""

SYSTEM_FOLDERS = "/usr/local/sbin:/usr/sbin:/sbin"
COMMAND_SECONDS = 120


def find(program: str) -> str | None:
    """Where a program is, also in the folders that only root has on its PATH."""
    return shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}:{SYSTEM_FOLDERS}")


def environment(mark: str) -> dict[str, str]:
    """This process's environment with the mark of a bed and the system's folders."""
    path = f"{os.environ.get('PATH', os.defpath)}:{SYSTEM_FOLDERS}"
    return {**os.environ, "PATH": path, "LC_ALL": "C", BED_VARIABLE: mark}


def own_environment(mark: str) -> dict[str, str]:
    """The same for ``mawl`` itself: without the user's own settings of it, which are not the bed's."""
    return {
        name: value
        for name, value in environment(mark).items()
        if not name.startswith("MAWL_") or name.startswith("MAWL_LAB_")
    }


def command(words: Sequence[str], mark: str, patience: float = COMMAND_SECONDS) -> str:
    """What a program printed; ``UnsuitableMachineError`` where it did not end well."""
    result = attempt(words, mark, patience)
    if result.returncode != 0:
        text = (result.stderr or result.stdout).strip()
        # What mount says last is where else to look.
        lines = [line for line in text.splitlines() if "dmesg(1)" not in line]
        lines = lines or [f"exit status {result.returncode}"]
        raise UnsuitableMachineError(
            f"{words[0]} failed", why=" ".join(lines[-1].split()), cure="mawl lab up --check"
        )
    return result.stdout


def attempt(
    words: Sequence[str], mark: str, patience: float = COMMAND_SECONDS
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, whatever that is; an error only where it cannot be run at all."""
    try:
        return subprocess.run(
            words,
            capture_output=True,
            text=True,
            env=environment(mark),
            stdin=subprocess.DEVNULL,
            timeout=patience,
        )
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UnsuitableMachineError(
            f"{words[0]} cannot be run", why=why, cure="mawl lab up --check"
        ) from None
    except subprocess.TimeoutExpired:
        raise UnsuitableMachineError(f"{words[0]} did not end in {patience:g} s") from None


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


BLKIO = Path("/sys/fs/cgroup/blkio")
BDI = Path("/sys/class/bdi")
BLOCK_CLASS = Path("/sys/class/block")
DIRECTIONS = ("read", "write")
BTRFS = Path("/sys/fs/btrfs")
_LIMITS = ("strict_limit", "max_ratio", "read_ahead_kb")


def device_number(device: str) -> str:
    """MAJOR:MINOR of a block device (``loop3``)."""
    return (BLOCK_CLASS / device / "dev").read_text().strip()


def writeback_name(device: str) -> str:
    """Under which name the dirty pages of a mounted device are counted: its number, but btrfs has its own."""
    for own in BTRFS.glob(f"*/devices/{device}"):
        return (own.parents[1] / "bdi").resolve().name
    return device_number(device)


def cap_rules(cap: Cap) -> dict[str, str]:
    """Rule file to value, of a cap on reads and the same on writes."""
    rules = {str(BLKIO / f"blkio.throttle.{way}_bps_device"): str(cap.rate) for way in DIRECTIONS}
    if cap.requests_per_second is not None:
        for way in DIRECTIONS:
            rules[str(BLKIO / f"blkio.throttle.{way}_iops_device")] = str(cap.requests_per_second)
    return rules


def set_rules(number: str, rules: Mapping[str, str]) -> None:
    """Set caps of a device; ``UnsuitableMachineError`` where the kernel refuses."""
    for file, value in rules.items():
        _write(Path(file), f"{number} {value}")


def clear_rules(number: str, rules: Mapping[str, str]) -> None:
    """Take away those rules that still are ours: of this device, with this value."""
    for file, value in rules.items():
        if f"{number} {value}" in _lines(Path(file)):
            _write(Path(file), f"{number} 0")


def rules_of(number: str) -> list[str]:
    """Every cap that a device has now, as ``file: value``."""
    found = []
    for file in sorted(BLKIO.glob("blkio.throttle.*_device")):
        found += [f"{file.name}: {line.split()[1]}" for line in _lines(file) if line.split()[0] == number]
    return found


def writeback_limits(writeback: str) -> dict[str, str]:
    """Limits and read-ahead as they stand, for ``restore_writeback``.

    ``writeback`` is of ``writeback_name``.
    """
    files = {name: BDI / writeback / name for name in _LIMITS}
    return {name: file.read_text().strip() for name, file in files.items() if file.exists()}


def limit_writeback(writeback: str, dirty_bytes: int) -> None:
    """Hold writers back as soon as so many bytes wait to be written to the device."""
    _write(BDI / writeback / "strict_limit", "1")
    _write(BDI / writeback / "max_bytes", str(dirty_bytes))


def set_read_ahead(writeback: str, read_ahead_bytes: int) -> None:
    """How far the kernel reads on ahead of a sequential reader; files opened from now on have it."""
    _write(BDI / writeback / "read_ahead_kb", str(read_ahead_bytes // 1024))


def restore_writeback(writeback: str, before: Mapping[str, str]) -> None:
    """Give a device the limits that it had; one that is gone needs none."""
    for name, value in before.items():
        if (BDI / writeback / name).exists():
            _write(BDI / writeback / name, value)


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except FileNotFoundError:
        return []


def _write(file: Path, value: str) -> None:
    try:
        file.write_text(value)
    except OSError as error:
        raise UnsuitableMachineError(
            "refuses a limit",
            where=str(file),
            why=(error.strerror or str(error)).lower(),
            cure="mawl lab up --check",
        ) from None


CONTROL_GROUPS = Path("/sys/fs/cgroup")


def memory_groups(name: str) -> list[Path]:
    """Where the memory group of a bed or trial may lie: version 1, version 2."""
    return [base / f"mawl-lab-{name}" for base in (CONTROL_GROUPS / "memory", CONTROL_GROUPS)]


def make_memory_group(name: str) -> Path | None:
    """The file that takes the limit of a new group; None where no group with one can be made."""
    for group in memory_groups(name):
        try:
            group.mkdir(exist_ok=True)
        except OSError:
            continue
        for file in ("memory.limit_in_bytes", "memory.max"):
            if (group / file).exists():
                return group / file
        group.rmdir()
    return None
