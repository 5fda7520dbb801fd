"""Rate caps of a device (control groups of version 1, root group) and its writeback limits.

The root group's budget holds for everybody, also for writeback, and no process need be moved.  Version 2
has no ``io.max`` in its root group; there, use volumes with a disk model.  A cap alone does not slow a
temporary file that is deleted before it is written: hence the limit on dirty pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mawl.errors import UnsuitableMachineError
from mawl.lab.speed import Cap

BLKIO = Path("/sys/fs/cgroup/blkio")
BDI = Path("/sys/class/bdi")
BLOCK = Path("/sys/class/block")
DIRECTIONS = ("read", "write")
BTRFS = Path("/sys/fs/btrfs")
_LIMITS = ("strict_limit", "max_ratio", "read_ahead_kb")


def device_number(device: str) -> str:
    """MAJOR:MINOR of a block device (``loop3``)."""
    return (BLOCK / device / "dev").read_text().strip()


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
    """Set caps of a device; :class:`~mawl.errors.UnsuitableMachineError` where the kernel refuses."""
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
    """Limits and read-ahead as they stand, for :func:`restore_writeback`.

    ``writeback`` is of :func:`writeback_name`.
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
