"""Queues of block devices (Documentation/ABI/stable/sysfs-block) and multipath (sysfs-class-nvme, dm)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from mawl.measure.settings.reading import KIB, Subject, known_text, names_in

SECTOR_BYTES = 512
MILLION = 10**6


def read(sys: Path, devices: Iterable[str]) -> Iterator[Subject]:
    """Each device; a partition has the queue of its disk, which is to be named too."""
    for name in devices:
        directory = (sys / "class/block" / name).resolve()
        if (directory / "queue").is_dir():
            yield _device(name, directory)
            yield from _multipath(name, directory)
    yield from _nvme_paths(sys)


def _device(name: str, directory: Path) -> Subject:
    found, queue = Subject("block", name), directory / "queue"
    found.chosen("scheduler", queue / "scheduler")
    found.read(
        "schedulers", queue / "scheduler", lambda text: " ".join(word.strip("[]") for word in text.split())
    )
    found.number("read_ahead_bytes", queue / "read_ahead_kb", KIB)
    found.number("requests", queue / "nr_requests")
    found.number("queue_depth", directory / "device/queue_depth")
    found.number("max_request_bytes", queue / "max_sectors_kb", KIB)
    found.number("max_hardware_request_bytes", queue / "max_hw_sectors_kb", KIB)
    found.number("optimal_request_bytes", queue / "optimal_io_size")
    found.number("logical_block_bytes", queue / "logical_block_size")
    found.number("physical_block_bytes", queue / "physical_block_size")
    found.flag("rotational", queue / "rotational")
    found.text("write_cache", queue / "write_cache")
    found.number("no_merges", queue / "nomerges")
    found.number("request_affinity", queue / "rq_affinity")
    found.seconds("write_throttling_seconds", queue / "wbt_lat_usec", MILLION)
    found.put("transport", _transport(name, directory))
    found.text("zoned", queue / "zoned")
    found.text("model", directory / "device/model")
    found.number("size_bytes", directory / "size", SECTOR_BYTES)
    found.put(
        "members", " ".join(names_in(directory / "slaves")) or None, "it is made of no other device, as far "
        "as the kernel says"
    )  # fmt: skip
    return found


def _transport(name: str, directory: Path) -> str:
    """By the device's name and the bus it is on."""
    for start, kind in (
        ("nvme", "nvme"),
        ("loop", "loop"),
        ("dm-", "device mapper"),
        ("md", "md"),
        ("zram", "memory"),
        ("ram", "memory"),
    ):
        if name.startswith(start):
            return kind
    bus = (directory / "device/subsystem").resolve().name
    known = {"virtio": "virtio", "scsi": "scsi"}
    return known.get(bus, "other")


def _multipath(name: str, directory: Path) -> Iterator[Subject]:
    """A map of device mapper's multipath target: its paths are its slaves."""
    if not (known_text(directory / "dm/uuid") or "").startswith("mpath-"):
        return
    found, paths = Subject("multipath", name), names_in(directory / "slaves")
    states = [known_text(directory / "slaves" / path / "device/state") for path in paths]
    found.put("paths", len(paths))
    found.put("paths_usable", sum(state in ("running", "live") for state in states))
    found.put("policy", None, f"the table of {name} is for root: dmsetup table or multipath -ll")
    yield found


def _nvme_paths(sys: Path) -> Iterator[Subject]:
    """Subsystems of native NVMe multipath: their controllers are the paths."""
    for name in names_in(sys / "class/nvme-subsystem"):
        directory = sys / "class/nvme-subsystem" / name
        controllers = [entry for entry in names_in(directory) if (directory / entry / "transport").exists()]
        found = Subject("multipath", name)
        found.put("paths", len(controllers))
        states = [known_text(directory / entry / "state") for entry in controllers]
        found.put("paths_usable", states.count("live"))
        found.text("policy", directory / "iopolicy")
        yield found
