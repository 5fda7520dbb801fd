"""What compressing storage says it saves: btrfs by compsize, zram by mm_stat, ZFS by its properties.

All three are only read.  VDO, arrays and the file systems of other machines keep their figures elsewhere.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mawl.measure.devices import volume_facts
from mawl.records.model.compressibility import RealSaving
from mawl.records.model.run import VolumeFacts

ZFS_PROPERTIES = ("used", "logicalused", "compressratio")
_ZFS_RATIO = re.compile(r"(\d+\.\d+)x?")
_COMPSIZE = re.compile(r"^TOTAL\s+\S+\s+(\d+)\s+(\d+)\s+(\d+)\s*$", re.MULTILINE)


class Stored(NamedTuple):
    """Bytes before and after compression; ``memory_bytes`` where the storage is memory.

    ``compression_ratio`` is the former over the latter where the storage states it itself.
    """

    original_bytes: int
    stored_bytes: int
    memory_bytes: int | None = None
    compression_ratio: float | None = None


def parse_compsize(text: str) -> Stored | None:
    """The row TOTAL of ``compsize -b``: disk usage and uncompressed; None where there is none."""
    match = _COMPSIZE.search(text)
    return None if match is None else Stored(int(match[2]), int(match[1]))


def parse_mm_stat(text: str) -> Stored | None:
    """The first three fields of ``/sys/block/zramN/mm_stat``: orig_data_size, compr_data_size,
    mem_used_total (Linux Documentation/admin-guide/blockdev/zram.rst)."""
    words = text.split()
    if len(words) < 3 or not all(word.isdigit() for word in words[:3]):
        return None
    return Stored(int(words[0]), int(words[1]), int(words[2]))


def parse_zfs_get(text: str) -> Stored | None:
    """``zfs get -Hp -o property,value`` of ``ZFS_PROPERTIES``; None without ``used`` or ``logicalused``.

    ``used`` counts metadata, copies and parity, too; ``compressratio`` is of the data alone, to two
    decimals, with an x at its end in releases before 2.0 (zfsprops(7)).
    """
    found = dict(line.split("\t", 1) for line in text.splitlines() if "\t" in line)
    used, logical, stated = (found.get(name, "").strip() for name in ZFS_PROPERTIES)
    if not (used.isdigit() and logical.isdigit()):
        return None
    ratio = _ZFS_RATIO.fullmatch(stated)
    return Stored(int(logical), int(used), compression_ratio=None if ratio is None else float(ratio[1]))


PATIENCE_SECONDS = 120.0
SEARCHED = ("/usr/sbin", "/sbin")

NOT_COMPRESSING = "its storage is not known to compress, or keeps its figures to itself"


class Real(NamedTuple):
    """A real saving, or why there is none."""

    saving: RealSaving | None
    reason: str | None


def real_saving(path: Path) -> Real:
    """What the storage under a file, folder or device saves; never raises for what is not there."""
    if path.is_block_device():
        return _of_devices([path.resolve().name])
    facts = volume_facts({"data": [path]}, "")[0]
    if facts.file_system == "btrfs":
        return _of_btrfs(path)
    if facts.file_system == "zfs":
        return _of_zfs(facts)
    return _of_devices(facts.layers)


def _of_btrfs(path: Path) -> Real:
    """compsize reads the tree of extents, which takes root."""
    return _ask_program(
        ["compsize", "-b", "-x", str(path)],
        parse_compsize,
        source="btrfs (compsize)",
        of=str(path),
        install="install btrfs-compsize",
    )


def _of_zfs(facts: VolumeFacts) -> Real:
    dataset = facts.source or ""
    return _ask_program(
        ["zfs", "get", "-Hp", "-o", "property,value", ",".join(ZFS_PROPERTIES), dataset],
        parse_zfs_get,
        source="ZFS (zfs get)",
        of=f"dataset {dataset}",
        install="install zfsutils",
    )


def _of_devices(names: list[str]) -> Real:
    for name in names:
        if not name.startswith("zram"):
            continue
        try:
            stored = parse_mm_stat(Path("/sys/block", name, "mm_stat").read_text())
        except OSError as error:
            return Real(None, f"{error.filename}: {(error.strerror or str(error)).lower()}")
        if stored is None:
            return Real(None, f"mm_stat of {name} is not what it should be")
        return Real(_saving(stored, "zram (mm_stat)", f"device {name}"), None)
    return Real(None, NOT_COMPRESSING)


def _ask_program(
    command: list[str], parse: Callable[[str], Stored | None], *, source: str, of: str, install: str
) -> Real:
    search = os.pathsep.join([os.environ.get("PATH", os.defpath), *SEARCHED])
    program = shutil.which(command[0], path=search)
    if program is None:
        return Real(None, f"{command[0]} is not installed; {install}")
    try:
        done = subprocess.run(
            [program, *command[1:]], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Real(None, f"{command[0]} took longer than {PATIENCE_SECONDS:g} s")
    stored = parse(done.stdout)
    if done.returncode != 0 or stored is None:
        lines = done.stderr.strip().splitlines() or ["it printed no total"]
        return Real(None, f"{command[0]}: {lines[-1]}")
    return Real(_saving(stored, source, of), None)


def _saving(stored: Stored, source: str, of: str) -> RealSaving:
    return RealSaving(
        source=source,
        of=of,
        original_bytes=stored.original_bytes,
        stored_bytes=stored.stored_bytes,
        memory_bytes=stored.memory_bytes,
        compression_ratio=stored.compression_ratio,
    )
