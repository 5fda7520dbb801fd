"""Settings of file systems, block devices and adapters under the roles.

Sources: mountinfo, statvfs(3), bdi, Documentation/ABI/stable/sysfs-block, sysfs-class-nvme, dm,
sysfs-class-scsi_host, fc_host.  tune2fs and xfs_info are not run: what they print of block size and stripe
is in statvfs, in ``/proc/fs/ext4`` (fs/ext4/super.c) and in XFS_IOC_FSGEOMETRY (ioctl_xfs_fsgeometry(2)),
without root.
"""

from __future__ import annotations

import fcntl
import os
import re
import struct
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from mawl.importers.formats.settings.linux import QUEUE_FILES, SYSCTLS, chosen
from mawl.measure.devices import NETWORK_FILE_SYSTEMS, Mount, device_name, mount_of, read_mounts, unescaped
from mawl.records.model.node import Figures, Value
from mawl.records.model.series_metrics import MACHINE

Parse = Callable[[str], Value]

KIB = 1024
MIB = 1024 * KIB


class Subject:
    """What is read of one device, mount or machine."""

    def __init__(self, family: str, name: str = MACHINE) -> None:
        self.family, self.name = family, name
        self.figures: Figures = {}
        self.missing: dict[str, str] = {}

    def put(self, figure: str, value: Value, reason: str = "the kernel does not say") -> None:
        """Note a value, in the place of one that was not known, or the reason why it is not."""
        self.figures[figure] = value
        path = f"{self.family}.{self.name}.{figure}"
        self.missing.pop(path, None)
        if value is None:
            self.missing[path] = reason

    def read(self, figure: str, path: Path, parse: Parse) -> None:
        try:
            text = _text(path)
            self.put(figure, parse(text), f"{path}: not in the form that mawl knows ({text[:40]!r})")
        except OSError as error:
            self.put(figure, None, f"{path}: {(error.strerror or str(error)).lower()}")
        except (ValueError, IndexError):
            self.put(figure, None, f"{path}: not in the form that mawl knows ({text[:40]!r})")

    def text(self, figure: str, path: Path) -> None:
        """A word or line; None where the file is empty."""
        self.read(figure, path, lambda text: text or None)

    def number(self, figure: str, path: Path, factor: int = 1) -> None:
        self.read(figure, path, lambda text: int(text) * factor)

    def seconds(self, figure: str, path: Path, per_second: int) -> None:
        """A whole number of parts of a second."""
        self.read(figure, path, lambda text: int(text) / per_second)

    def chosen(self, figure: str, path: Path) -> None:
        """The word in brackets of a list of choices, or the only word."""
        self.read(figure, path, chosen)

    def sysctls(self, proc: Path) -> None:
        """All files below ``/proc/sys`` of the family."""
        for name, (family, figure, parse) in SYSCTLS.items():
            if family == self.family:
                self.read(figure, proc / "sys" / name.replace(".", "/"), parse)


LARGEST_FILE_BYTES = 65536


def _text(path: Path) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        return os.read(descriptor, LARGEST_FILE_BYTES).decode(errors="replace").strip()
    finally:
        os.close(descriptor)


def known_text(path: Path) -> str | None:
    """The file's text, None where it cannot be read or is empty."""
    try:
        return _text(path) or None
    except OSError:
        return None


def names_in(directory: Path) -> list[str]:
    """The entries of a directory in order; none where it is not there."""
    try:
        return sorted(entry.name for entry in directory.iterdir())
    except OSError:
        return []


QUEUE_DEPTHS = {"lpfc": "lpfc_lun_queue_depth", "qla2xxx": "ql2xmaxqdepth"}
"""Driver to its module parameter."""


def read_adapters(sys: Path) -> Iterator[Subject]:
    """SCSI hosts with their fibre-channel port, then NVMe controllers."""
    for name in names_in(sys / "class/scsi_host"):
        directory, port = sys / "class/scsi_host" / name, sys / "class/fc_host" / name
        subject = Subject("adapter", name)
        subject.put("kind", "fibre channel" if port.exists() else "scsi")
        subject.text("driver", directory / "proc_name")
        subject.number("queue", directory / "can_queue")
        subject.number("commands_per_device", directory / "cmd_per_lun")
        parameter = QUEUE_DEPTHS.get(str(subject.figures["driver"]))
        if port.exists():
            subject.text("speed", port / "speed")
            subject.text("state", port / "port_state")
        if parameter is not None:
            subject.number(
                "lun_queue_depth", sys / "module" / str(subject.figures["driver"]) / "parameters" / parameter
            )
        subject.number("numa_node", directory / "device/../numa_node")
        yield subject
    for name in names_in(sys / "class/nvme"):
        directory = sys / "class/nvme" / name
        subject = Subject("adapter", name)
        subject.put("kind", "nvme")
        subject.text("transport", directory / "transport")
        subject.text("state", directory / "state")
        subject.number("queue", directory / "queue_count")
        subject.read("queue_entries", directory / "sqsize", lambda text: int(text) + 1)
        subject.number("numa_node", directory / "numa_node")
        yield subject


def read_lustre(proc: Path, sys: Path) -> Iterator[Subject]:
    """Mounts (llite) and targets (osc), wherever this release has its files."""
    for part, figures in (
        (
            "llite",
            {
                "max_read_ahead_bytes": "max_read_ahead_mb",
                "max_read_ahead_per_file_bytes": "max_read_ahead_per_file_mb",
                "max_cached_bytes": "max_cached_mb",
            },
        ),
        ("osc", {"requests_in_flight": "max_rpcs_in_flight", "pages_per_request": "max_pages_per_rpc",
                 "dirty_bytes": "max_dirty_mb", "checksums": "checksums"}),
    ):  # fmt: skip
        for name in sorted(
            {*names_in(sys / "fs/lustre" / part), *names_in(proc / "fs/lustre" / part)} - {"num_refs"}
        ):
            subject = Subject("lustre", f"{part}.{name}")
            for figure, file in figures.items():
                places = [
                    base / "fs/lustre" / part / name / file for base in (sys, proc, sys / "kernel/debug")
                ]
                there = next((place for place in places if place.exists()), places[0])
                factor = MIB if figure.endswith("_bytes") else 1
                subject.read(figure, there, lambda text, factor=factor: _lustre_number(text) * factor)  # type: ignore[misc]
            yield subject


def _lustre_number(text: str) -> int:
    """``max_cached_mb`` is one line of several; the others are a number alone."""
    match = re.search(r"^max_cached_mb:\s*([0-9]+)", text, re.M)
    return int(match[1]) if match else int(float(text))


SECTOR_BYTES = 512
MILLION = 10**6


def read_block(sys: Path, devices: Iterable[str]) -> Iterator[Subject]:
    """Each device; a partition has the queue of its disk, which is to be named too."""
    for name in devices:
        directory = (sys / "class/block" / name).resolve()
        if (directory / "queue").is_dir():
            yield _block_device(name, directory)
            yield from _multipath(name, directory)
    yield from _nvme_paths(sys)


def _block_device(name: str, directory: Path) -> Subject:
    subject, queue = Subject("block", name), directory / "queue"
    for file, (figure, parse) in QUEUE_FILES.items():
        subject.read(figure, queue / file, parse)
    subject.read(
        "schedulers", queue / "scheduler", lambda text: " ".join(word.strip("[]") for word in text.split())
    )
    subject.number("queue_depth", directory / "device/queue_depth")
    subject.seconds("write_throttling_seconds", queue / "wbt_lat_usec", MILLION)
    subject.put("transport", _transport(name, directory))
    subject.text("zoned", queue / "zoned")
    subject.text("model", directory / "device/model")
    subject.number("size_bytes", directory / "size", SECTOR_BYTES)
    subject.put(
        "members", " ".join(names_in(directory / "slaves")) or None, "it is made of no other device, as far "
        "as the kernel says"
    )  # fmt: skip
    return subject


def _transport(name: str, directory: Path) -> str:
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
    subject, paths = Subject("multipath", name), names_in(directory / "slaves")
    states = [known_text(directory / "slaves" / path / "device/state") for path in paths]
    subject.put("paths", len(paths))
    subject.put("paths_usable", sum(state in ("running", "live") for state in states))
    subject.put("policy", None, f"the table of {name} is for root: dmsetup table or multipath -ll")
    yield subject


def _nvme_paths(sys: Path) -> Iterator[Subject]:
    """Subsystems of native NVMe multipath: their controllers are the paths."""
    for name in names_in(sys / "class/nvme-subsystem"):
        directory = sys / "class/nvme-subsystem" / name
        controllers = [entry for entry in names_in(directory) if (directory / entry / "transport").exists()]
        subject = Subject("multipath", name)
        subject.put("paths", len(controllers))
        states = [known_text(directory / entry / "state") for entry in controllers]
        subject.put("paths_usable", states.count("live"))
        subject.text("policy", directory / "iopolicy")
        yield subject


FSGEOMETRY_V1 = 0x80705864
"""_IOR('X', 100, 112 bytes): struct xfs_fsop_geom_v1."""
_GEOMETRY = struct.Struct("=8I4Q16s2IiI3I4x")


def read_file_system(proc: Path, sys: Path, places: Iterable[Path]) -> Iterator[Subject]:
    """The mounts that hold the places, each once, named by mount point."""
    mounts, seen = read_mounts(proc), set()
    options = _per_mount_options(proc)
    for place in places:
        mount = mount_of(place, mounts)
        if mount is not None and mount.mount_point not in seen:
            seen.add(mount.mount_point)
            yield _mount_settings(mount, options.get(mount.mount_point, ""), proc, sys)


def _per_mount_options(proc: Path) -> dict[str, str]:
    """Mount point to the options of the mount itself (noatime and the like), the last mount's."""
    found = {}
    for line in (known_text(proc / "self/mountinfo") or "").splitlines():
        words = line.split(" ")
        if len(words) > 5:
            found[unescaped(words[4])] = words[5]
    return found


def _mount_settings(mount: Mount, own: str, proc: Path, sys: Path) -> Subject:
    subject = Subject("file_system", mount.mount_point)
    words = [word for word in f"{own},{mount.options}".split(",") if word]
    words = list(dict.fromkeys(words))
    subject.put("type", mount.file_system)
    subject.put("network", mount.file_system in NETWORK_FILE_SYSTEMS)
    subject.put("mount_options", ",".join(words))
    times = next((word for word in ("noatime", "relatime") if word in words), "strictatime")
    subject.put("access_times", times)
    subject.put("discard", any(word == "discard" or word.startswith("discard=") for word in words))
    _space_figures(subject, mount.mount_point)
    subject.number("read_ahead_bytes", sys / "class/bdi" / mount.device / "read_ahead_kb", KIB)
    kind = mount.file_system
    if kind == "ext4":
        _ext4(subject, mount, proc, sys)
    elif kind == "xfs":
        _xfs(subject, mount)
    elif kind == "btrfs":
        subject.put("compression", mount.option("compress") or mount.option("compress-force") or "none")
    elif kind in ("nfs", "nfs4"):
        _nfs(subject, mount)
    return subject


def _space_figures(subject: Subject, mount_point: str) -> None:
    try:
        told = os.statvfs(mount_point)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        for figure in ("block_bytes", "request_bytes", "used_ratio"):
            subject.put(figure, None, f"{mount_point}: {reason}")
        return
    used, usable = told.f_blocks - told.f_bfree, told.f_blocks - told.f_bfree + told.f_bavail
    subject.put("block_bytes", told.f_frsize)
    subject.put("request_bytes", told.f_bsize)
    subject.put("used_ratio", used / usable if usable else None, "it has no size")


def _ext4(subject: Subject, mount: Mount, proc: Path, sys: Path) -> None:
    """``/proc/fs/ext4/DEVICE/options`` has those that are the default, too; stripe there is in blocks."""
    path = proc / "fs/ext4" / (device_name(mount.device, sys) or mount.device) / "options"
    text = known_text(path)
    if text is None:
        for figure in ("stripe_unit_bytes", "stripe_width_bytes", "commit_seconds", "data_mode"):
            subject.put(figure, None, f"{path} cannot be read")
        return
    words = dict(line.partition("=")[::2] for line in text.splitlines())
    block = subject.figures.get("block_bytes")
    stripe = int(words.get("stripe") or 0)
    subject.put("stripe_width_bytes", stripe * block if isinstance(block, int) else None)
    subject.put("stripe_unit_bytes", None, "ext4 keeps the stride in its superblock alone: tune2fs -l (root)")
    commit = words.get("commit", "")
    subject.put("commit_seconds", int(commit) if commit.isdigit() else None)
    subject.put("data_mode", words.get("data"), "the kernel names none: without a journal")


def _xfs(subject: Subject, mount: Mount) -> None:
    figures = ("allocation_groups", "log_bytes", "stripe_unit_bytes", "stripe_width_bytes")
    try:
        descriptor = os.open(mount.mount_point, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
        try:
            told = fcntl.ioctl(descriptor, FSGEOMETRY_V1, bytes(_GEOMETRY.size))
        finally:
            os.close(descriptor)
    except OSError as error:
        for figure in figures:
            subject.put(figure, None, f"{mount.mount_point}: {(error.strerror or str(error)).lower()}")
    else:
        parts = _GEOMETRY.unpack(told)
        block, unit, width = parts[0], parts[13], parts[14]
        for figure, value in zip(
            figures, (parts[3], parts[4] * block, unit * block, width * block), strict=True
        ):
            subject.put(figure, value)
    buffer = re.fullmatch(r"([0-9]+)k?", mount.option("logbsize") or "")
    subject.put("log_buffer_bytes", None if buffer is None else int(buffer[1]) * KIB)


def _nfs(subject: Subject, mount: Mount) -> None:
    for figure, name in (("read_bytes", "rsize"), ("write_bytes", "wsize")):
        text = mount.option(name)
        subject.put(figure, int(text) if text and text.isdigit() else None)
    connections = mount.option("nconnect")
    subject.put("connections", int(connections) if connections and connections.isdigit() else 1)
    subject.put("version", mount.option("vers"))
