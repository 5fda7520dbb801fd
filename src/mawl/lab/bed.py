"""A bed as data (TOML): its volumes and their speed, its network, and the arms of the experiment."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from mawl.base.errors import InvalidFileError, UsageError
from mawl.base.units import parse_size
from mawl.lab.experiment.records import (
    ClaimSpec,
    FindingSpec,
    ProgramsSpec,
    SavingSpec,
    SeriesSpec,
    VerdictSpec,
)
from mawl.plan.spec import WorkloadSpec, parse_scale
from mawl.plan.workload import load_workload
from mawl.records.spec import toml
from mawl.records.spec.program_options import ROLES, CacheMode, Role, parse_options

Size = int | str
"""Bytes, or text such as ``64MiB``, ``40MB``."""


class Cap(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A budget of the device for reads, and the same again for writes, whoever asks and whenever."""

    bytes_per_second: Size
    requests_per_second: int | None = None

    @property
    def rate(self) -> int:
        """Bytes per second of each direction."""
        return parse_size(self.bytes_per_second)


class DiskModel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A device below the queue whose every request takes its time; one budget for reads and writes.

    ``spinning``: a request that does not go on where the last one ended first takes ``seek_seconds`` and
    half a turn; to go on is to begin within ``reach`` of that end, and while nobody asks, ``buffer`` is read
    on or taken in advance.  ``flash``: each takes ``latency_seconds``, ``channels`` of them at a time.
    """

    model: Literal["spinning", "flash"]
    bytes_per_second: Size
    seek_seconds: float = 0.0
    revolutions_per_minute: float | None = None
    latency_seconds: float = 0.0
    channels: int = 1
    reach: Size = "8MiB"
    buffer: Size = "16MiB"

    @property
    def rate(self) -> int:
        """Bytes per second of both directions together."""
        return parse_size(self.bytes_per_second)

    @property
    def buffer_bytes(self) -> int:
        """What is read on or taken in advance while nobody asks."""
        return parse_size(self.buffer)

    @property
    def reach_bytes(self) -> int:
        """How far from the end of the last request another goes on without a seek."""
        return parse_size(self.reach)

    @property
    def access_seconds(self) -> float:
        """What a request takes before its bytes pass: seek and half a turn, or the latency of flash."""
        if self.model == "flash":
            return self.latency_seconds
        turn = 60.0 / self.revolutions_per_minute if self.revolutions_per_minute else 0.0
        return self.seek_seconds + turn / 2.0

    @property
    def random_requests_per_second(self) -> float:
        """Random requests of 4 KiB that it answers when several wait."""
        if self.model == "spinning":
            return 1.0 / (self.access_seconds + 4096 / self.rate)
        by_bus = self.rate / 4096
        return min(by_bus, self.channels / self.access_seconds) if self.access_seconds else by_bus


MOST_CLIENTS = 16
DIRECT_FILE_SYSTEM = "btrfs"
"""The one that takes direct writes of any size and place; ext4 and xfs refuse those that are not aligned."""


class FabricSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Clients in network namespaces that share one volume of a storage server over links of a rate."""

    clients: int
    volume: str
    """The volume that the server serves, on which the arms' roles lie."""
    server_memory: int | str
    """What the server may take, with what its page cache holds after all; bytes, or text such as 128MiB."""

    @property
    def memory_bytes(self) -> int:
        return parse_size(self.server_memory)

    @property
    def problem(self) -> str | None:
        if 1 <= self.clients <= MOST_CLIENTS:
            return None
        return f"fabric: expected 1 to {MOST_CLIENTS} clients, found {self.clients}"


SHIPPED = Path(__file__).parent / "beds"
FileSystemKind = Literal["ext4", "xfs", "btrfs"]
MOST_REACH_BYTES = 16 * 2**20
"""The longest that was measured (docs/design/lab.md)."""

MOST_REPEATS = 20

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_NAME_WORDS = "lower-case letters, digits and -, at most 40"


class VolumeSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file system on a device of its own: an image behind a loop device, or compressed memory (zram)."""

    name: str
    size: Size
    backing: Literal["image", "zram"] = "image"
    algorithm: str | None = None
    """Of zram, as the kernel names it: lzo, lzo-rle, lz4, zstd."""
    file_system: FileSystemKind = "ext4"
    mkfs_options: list[str] = []
    mount_options: tuple[str, ...] = ("noatime",)
    cap: Cap | None = None
    disk: DiskModel | None = None
    dirty: Size = "16MiB"
    """More than this may not wait to be written to the device, else a temporary file ends in memory."""

    read_ahead: Size | None = None
    """How far the kernel reads ahead of a sequential reader, while the volume is slow; None: as it is."""

    @property
    def size_bytes(self) -> int:
        return parse_size(self.size)

    @property
    def dirty_bytes(self) -> int:
        return parse_size(self.dirty)

    @property
    def read_ahead_bytes(self) -> int | None:
        """Bytes read ahead; None where the bed leaves that as it is."""
        return None if self.read_ahead is None else parse_size(self.read_ahead)


class ArmSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One side of the experiment: the volumes of each role, and what else differs."""

    name: str
    title: str = ""
    data: list[str]
    work: list[str]
    util: list[str]
    workload: str | None = None
    """Instead of the bed's; a shipped workload."""
    options: dict[str, int | str | bool] = {}
    """Run options over those of the bed, by their SAS names."""
    link: Size | None = None
    """Of a bed with a fabric: bytes a second of each client's link, each way."""
    optional: bool = False
    """Left out, with the reason, where the kernel refuses a file system of its volumes."""

    @property
    def link_rate(self) -> int | None:
        """Bytes a second of a link."""
        return None if self.link is None else parse_size(self.link)

    def volumes(self, role: Role) -> list[str]:
        chosen: list[str] = getattr(self, role)
        return chosen


class BedSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A bed: volumes, arms over them, the workload, and the findings of papers to compare with."""

    name: str
    title: str
    question: str
    workload: str | WorkloadSpec
    scale: float | None = None
    cache: CacheMode | None = "cold"
    memory_limit: Size | None = None
    cores: str | None = None
    options: dict[str, int | str | bool] = {}
    repeats: int = 1
    """So often every arm runs, there and back (one, two, two, one), so that drift is in both alike."""
    fabric: FabricSpec | None = None
    volumes: list[VolumeSpec]
    arms: list[ArmSpec]
    claims: list[ClaimSpec] = []
    verdicts: list[VerdictSpec] = []
    series: list[SeriesSpec] = []
    findings: list[FindingSpec] = []
    savings: list[SavingSpec] = []
    programs: list[ProgramsSpec] = []

    def at_speed(self, factor: float) -> BedSpec:
        """The bed with every cap and every disk's rate at a factor of what it says; seeks take as long."""
        return msgspec.structs.replace(self, volumes=[_at_speed(volume, factor) for volume in self.volumes])

    def arm(self, name: str) -> ArmSpec:
        """An arm by its name; ``UsageError`` where the bed has none of that name."""
        for arm in self.arms:
            if arm.name == name:
                return arm
        known = ", ".join(arm.name for arm in self.arms)
        raise UsageError(f"bed {self.name} has no arm {name!r}", cure=f"choose one of {known}")

    def volumes_of(self, arms: list[ArmSpec]) -> list[VolumeSpec]:
        """The volumes that some of these arms use, in the order of the file."""
        used = {name for arm in arms for role in ROLES for name in arm.volumes(role)}
        return [volume for volume in self.volumes if volume.name in used]


def _at_speed(volume: VolumeSpec, factor: float) -> VolumeSpec:
    cap, disk = volume.cap, volume.disk
    if cap is not None:
        requests = cap.requests_per_second
        cap = Cap(
            bytes_per_second=round(factor * cap.rate),
            requests_per_second=None if requests is None else max(round(factor * requests), 1),
        )
    if disk is not None:
        disk = msgspec.structs.replace(disk, bytes_per_second=round(factor * disk.rate))
    return msgspec.structs.replace(volume, cap=cap, disk=disk)


def shipped() -> dict[str, Path]:
    """Name to file of the beds that come with mawl."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.toml"), key=lambda path: path.stem)}


def checked_name(name: str) -> str:
    """A name that a bed may have; ``UsageError`` for another, such as a path."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"a bed's name is {_NAME_WORDS}, found {name!r}", cure="name a bed as mawl lab up lists it"
        )
    return name


def load_bed(name_or_path: str) -> BedSpec:
    """A shipped bed by name, or a TOML file; UsageError where it is neither, or contradicts itself."""
    known = shipped()
    path = known.get(name_or_path, Path(name_or_path))
    if path.suffix != ".toml" and not path.exists():
        raise UsageError(
            f"no bed is called {name_or_path!r}",
            cure=f"choose one of {', '.join(known)} or give a TOML file",
        )
    bed = toml.load(path, BedSpec)
    problem = _size_problem(bed) or _problem(bed)
    if problem:
        raise InvalidFileError(problem, where=str(path))
    return bed


def _size_problem(bed: BedSpec) -> str | None:
    """The first size that is none, by its key: before anything asks for its bytes."""
    sizes: list[tuple[str, Size | None]] = [("memory_limit", bed.memory_limit)]
    sizes += [(f"arm {arm.name}: link", arm.link) for arm in bed.arms]
    if bed.fabric is not None:
        sizes.append(("fabric.server_memory", bed.fabric.server_memory))
    for number, volume in enumerate(bed.volumes):
        key = f"volumes[{number}]"
        sizes += [(f"{key}.size", volume.size), (f"{key}.dirty", volume.dirty)]
        sizes.append((f"{key}.read_ahead", volume.read_ahead))
        if volume.cap is not None:
            sizes.append((f"{key}.cap.bytes_per_second", volume.cap.bytes_per_second))
        if volume.disk is not None:
            disk = volume.disk
            sizes += [(f"{key}.disk.bytes_per_second", disk.bytes_per_second)]
            sizes += [(f"{key}.disk.reach", disk.reach), (f"{key}.disk.buffer", disk.buffer)]
    for key, size in sizes:
        try:
            parse_size(size if size is not None else 0)
        except UsageError as error:
            return f"key {key}: {error}"
    return None


def _run_problem(bed: BedSpec) -> str | None:
    """What `mawl run` would refuse in what a bed asks of it, or None; said before anything is built."""
    checks: list[tuple[str, Callable[[], object]]] = [
        ("", partial(parse_options, bed.options, where="key options")),
        *(("", partial(parse_options, arm.options, where=f"arm {arm.name}: options")) for arm in bed.arms),
    ]
    if bed.scale is not None:
        checks.append(("key scale: ", partial(parse_scale, bed.scale)))
    named = [("key workload: ", bed.workload)]
    named += [(f"arm {arm.name}: workload: ", arm.workload) for arm in bed.arms if arm.workload is not None]
    checks += [(where, partial(load_workload, one)) for where, one in named if isinstance(one, str)]
    for where, check in checks:
        try:
            check()
        except UsageError as error:
            return f"{where}{error}"
    return None


def _problem(bed: BedSpec) -> str | None:
    arms, volumes = [arm.name for arm in bed.arms], [volume.name for volume in bed.volumes]
    if not 1 <= bed.repeats <= MOST_REPEATS:
        return f"key repeats: expected 1 to {MOST_REPEATS}, found {bed.repeats}"
    for key, names in (("name", [bed.name]), ("arms", arms), ("volumes", volumes)):
        if not names:
            return f"key {key}: expected at least one, found none"
        if len(set(names)) < len(names):
            return f"key {key}: two of them have the same name"
        wrong = next((name for name in names if not _NAME.fullmatch(name)), None)
        if wrong is not None:
            return f"key {key}: expected {_NAME_WORDS}, found {wrong!r}"
    for arm in bed.arms:
        for role in ROLES:
            unknown = set(arm.volumes(role)) - set(volumes)
            if unknown or not arm.volumes(role):
                return f"arm {arm.name}: {role}: expected names of volumes, found {sorted(unknown)}"
    named = [claim.reference for claim in bed.claims] + [claim.candidate for claim in bed.claims]
    named += [name for finding in bed.findings for name in (finding.reference, finding.candidate)]
    named += [name for pair in bed.programs for name in (pair.reference, pair.candidate)]
    named += [name for series in bed.series for name in series.arms]
    named += [verdict.arm for verdict in bed.verdicts] + [saving.arm for saving in bed.savings]
    unknown = set(named) - set(arms)
    if unknown:
        keys = "claims, findings, programs, series, savings and verdicts"
        return f"{keys}: no arm is called {sorted(unknown)[0]!r}"
    found = next((found for volume in bed.volumes if (found := _volume_problem(volume))), None)
    return found or _links_problem(bed) or _run_problem(bed)


def _links_problem(bed: BedSpec) -> str | None:
    if bed.fabric is None:
        linked = next((arm.name for arm in bed.arms if arm.link is not None), None)
        return None if linked is None else f"arm {linked}: a link needs a fabric"
    for arm in bed.arms:
        if any(arm.volumes(role) != [bed.fabric.volume] for role in ROLES):
            return f"arm {arm.name}: expected {bed.fabric.volume} for every role, which the fabric serves"
        if arm.link_rate is None or arm.link_rate < 10**6:
            return f"arm {arm.name}: expected a link of at least 1 MB/s, found {arm.link}"
    for volume in bed.volumes:
        if volume.name == bed.fabric.volume and volume.file_system != DIRECT_FILE_SYSTEM:
            wanted = f"{DIRECT_FILE_SYSTEM}, which takes direct writes that are not aligned"
            return f"volume {volume.name}: expected {wanted}, found {volume.file_system}"
    return bed.fabric.problem or (
        "fabric: it has no savings and no series" if bed.savings or bed.series else None
    )


def _volume_problem(volume: VolumeSpec) -> str | None:
    where = f"volume {volume.name}"
    if volume.backing == "zram" and volume.disk is not None:
        return f"{where}: a disk model needs an image, zram has none"
    if volume.algorithm is not None and volume.backing != "zram":
        return f"{where}: only zram has an algorithm"
    if volume.cap is not None and volume.disk is not None:
        return f"{where}: expected a cap or a disk model, found both"
    if volume.size_bytes < 64 * 2**20:
        return f"{where}: expected at least 64 MiB, found {volume.size}"
    for rated in (volume.cap, volume.disk):
        if rated is not None and rated.rate < 10**6:
            return f"{where}: expected at least 1 MB/s, found {rated.bytes_per_second}"
    if volume.dirty_bytes < 2**20:
        return f"{where}: expected at least 1 MiB of dirty pages, found {volume.dirty}"
    if volume.read_ahead_bytes is not None and volume.read_ahead_bytes % 4096:
        return f"{where}: expected a read-ahead in steps of 4 KiB, found {volume.read_ahead}"
    if volume.disk is not None and volume.disk.reach_bytes > MOST_REACH_BYTES:
        return f"{where}: expected a reach of at most 16 MiB, found {volume.disk.reach}"
    if volume.disk is not None and not 0.0 <= volume.disk.access_seconds <= 1.0:
        return f"{where}: expected an access time of at most a second"
    return None
