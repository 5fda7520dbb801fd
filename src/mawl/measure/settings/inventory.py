"""The settings of one machine as an inventory; every file is read once, and nothing is run or changed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from mawl.measure.machine import Machine
from mawl.measure.settings.reading import Subject
from mawl.measure.settings.storage import read_adapters, read_block, read_file_system, read_lustre
from mawl.measure.settings.system import (
    read_container,
    read_kernel,
    read_memory,
    read_network,
    read_processors,
)
from mawl.records.model.node import Figures, Inventory
from mawl.records.model.run import VolumeFacts
from mawl.records.spec.program_options import Options


def read_inventory(
    machine: Machine,
    *,
    devices: Iterable[str],
    places: Iterable[Path],
    options: Options | None = None,
    proc: Path = Path("/proc"),
    sys: Path = Path("/sys"),
    root: Path = Path("/"),
) -> Inventory:
    """The settings of this machine; ``devices`` are block devices (disks and layers above them),
    ``places`` directories of the roles, ``options`` those a user gave.  Nothing is raised: what cannot
    be read is None with its reason.
    """
    began = time.thread_time()
    families: dict[str, dict[str, Figures]] = {}
    missing: dict[str, str] = {}
    for subject in _subjects(machine, devices, places, proc, sys, root):
        families.setdefault(subject.family, {})[subject.name] = subject.figures
        missing |= subject.missing
    if options is not None:
        families["options"] = {"machine": msgspec.to_builtins(options)}
    for family, reason in (
        ("block", "no block device is known under the roles"),
        ("multipath", "no device has several paths that this process sees"),
        ("adapter", "no SCSI host and no NVMe controller"),
        ("lustre", "no Lustre client"),
        ("network", "no interface but the loopback"),
        ("file_system", "no mount holds the roles"),
    ):
        if family not in families:
            missing[family] = reason
    return Inventory(families=families, missing=missing, cpu_seconds=time.thread_time() - began)


def inventory_of(machine: Machine, volumes: Sequence[VolumeFacts], options: Options) -> Inventory:
    """The settings of this machine; of its devices and mounts those that hold the volumes."""
    return read_inventory(
        machine,
        devices=dict.fromkeys(name for volume in volumes for name in (*volume.layers, *volume.disks)),
        places=[Path(volume.directory) for volume in volumes],
        options=options,
    )


def _subjects(
    machine: Machine, devices: Iterable[str], places: Iterable[Path], proc: Path, sys: Path, root: Path
) -> Iterator[Subject]:
    yield from read_memory(proc, sys)
    yield from read_kernel(proc, sys, root)
    yield from read_block(sys, devices)
    yield from read_file_system(proc, sys, places)
    yield from read_network(proc, sys, ask=sys == Path("/sys"))
    yield from read_adapters(sys)
    yield from read_lustre(proc, sys)
    yield from read_processors(sys, machine)
    yield read_container(proc, sys, machine)
