"""Compression estimates of whole volumes and roles: of given paths, or of the data that a run writes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec

from mawl.base.errors import MawlError, UsageError
from mawl.base.removal import MARK
from mawl.measure.compressibility.codecs import (
    Codec,
    CodecKey,
    EstimateRequest,
    engine_compressed,
    load_codec,
)
from mawl.measure.compressibility.estimate import READ_ALL_BYTES, estimate
from mawl.measure.compressibility.population import Kind, Population
from mawl.measure.compressibility.watch import RUN_FIGURES, Watch
from mawl.measure.devices import mount_of, read_mounts, volume_facts
from mawl.measure.space import space_of
from mawl.plan.needs import needs
from mawl.plan.workload import Plan
from mawl.records.model.compressibility import (
    UNKNOWN_SHARE,
    Compressibility,
    Estimate,
    FilesLeftOut,
    RealSaving,
    RoleEstimate,
    RoleSaving,
    SamplingCost,
    VolumeSaving,
    exact_share,
)
from mawl.records.model.run import VolumeFacts
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.volumes import TEMPORARY, Volumes

CONFIDENCE = 0.95
HALF_WIDTH = 0.02


class LookRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to look at: ``paths`` without a role, ``roles`` with one; ``figures`` to estimate."""

    paths: Sequence[Path] = ()
    roles: Mapping[Role, Sequence[Path]] = {}
    figures: Sequence[EstimateRequest]
    confidence: float = CONFIDENCE
    half_width: float = HALF_WIDTH
    seed: int
    other_file_systems: bool = False
    read_all_bytes: int = READ_ALL_BYTES


def look_at(
    request: LookRequest,
    *,
    told: Callable[[str], None] = lambda _: None,
    loader: Callable[[CodecKey], Codec] = load_codec,
) -> Compressibility:
    """Look at every volume; ``told`` hears the name of each before it is looked at.

    Errors: those of ``add``, before anything is read; but where only some of several volumes
    cannot be read, these have the reason, and the others are looked at.
    """
    chosen: list[tuple[Role | None, Path]] = [(None, path) for path in request.paths]
    chosen += [(role, path) for role in ROLES for path in request.roles.get(role, ())]
    populations: list[tuple[Role | None, Path, Population, Kind | MawlError]] = []
    for role, path in chosen:
        population = Population(other_file_systems=request.other_file_systems)
        populations.append((role, path, population, _add_path(population, path)))
    failed = [kind for _, _, _, kind in populations if isinstance(kind, MawlError)]
    if failed and len(failed) == len(populations):
        raise failed[0]
    random = Random(request.seed)
    volumes = []
    for role, path, population, kind in populations:
        if isinstance(kind, MawlError):
            volumes.append(_unreadable_volume(path, role, kind, request))
            continue
        told(str(path))
        volumes.append(
            volume_saving(
                path,
                role,
                population,
                kind,
                figures=request.figures,
                confidence=request.confidence,
                shared=max(len(request.roles.get(role, ())), 1) if role else 1,
                half_width=request.half_width,
                random=random,
                loader=loader,
                read_all_bytes=request.read_all_bytes,
            )
        )
    return Compressibility(
        created_at=time.time(),
        confidence_ratio=request.confidence,
        half_width_ratio=request.half_width,
        seed=request.seed,
        volumes=volumes,
        roles=by_role(volumes),
    )


def _add_path(population: Population, path: Path) -> Kind | MawlError:
    """What the path is, or why it cannot be read; wrong use is an error here."""
    try:
        return population.add(path)
    except UsageError:
        raise
    except MawlError as error:
        return error


def _unreadable_volume(path: Path, role: Role | None, error: MawlError, request: LookRequest) -> VolumeSaving:
    reason = error.why or error.what
    return VolumeSaving(
        name=str(path),
        role=role,
        kind=None,
        file_system=None,
        size_bytes=None,
        used_bytes=None,
        files=None,
        data_bytes=None,
        hole_bytes=None,
        zero_share=UNKNOWN_SHARE,
        engine_share=UNKNOWN_SHARE,
        estimates=[
            figure.result(
                UNKNOWN_SHARE, original_bytes=None, confidence=request.confidence, draws=0, reason=reason
            )
            for figure in request.figures
        ],
        real=None,
        real_reason=reason,
        left_out=FilesLeftOut(remarks=[reason]),
        cost=SamplingCost(read_bytes=0, read_ratio=None, cpu_seconds=0.0, elapsed_seconds=0.0, draws=0),
        reason=reason,
    )


def volume_saving(
    path: Path,
    role: Role | None,
    population: Population,
    kind: Kind,
    *,
    figures: Sequence[EstimateRequest],
    confidence: float,
    half_width: float,
    random: Random,
    shared: int = 1,
    loader: Callable[[CodecKey], Codec] = load_codec,
    read_all_bytes: int = READ_ALL_BYTES,
) -> VolumeSaving:
    """One volume, whose bytes are ``population``.

    Where ``shared`` volumes make a role, its figure adds up theirs, each of which may err: each is
    sampled to a confidence that leaves the role ``confidence``.
    """
    estimates = estimate(
        population,
        figures,
        confidence=1.0 - (1.0 - confidence) / shared,
        half_width=half_width,
        random=random,
        loader=loader,
        read_all_bytes=read_all_bytes,
    )
    size, used = _space(path, population, kind == "device")
    saving, reason = real_saving(path)
    mount = None if kind == "device" else mount_of(path, read_mounts())
    return VolumeSaving(
        name=str(path),
        role=role,
        kind=kind,
        file_system=None if mount is None else mount.file_system,
        size_bytes=size,
        used_bytes=used,
        files=len(population.paths),
        data_bytes=population.bytes,
        hole_bytes=population.hole_bytes,
        zero_share=estimates.zero_share,
        engine_share=exact_share(population.share(engine_compressed)),
        estimates=[
            msgspec.structs.replace(estimate, confidence_ratio=confidence) for estimate in estimates.estimates
        ],
        real=saving,
        real_reason=reason,
        left_out=population.left_out(),
        cost=estimates.cost,
        reason=estimates.reason,
    )


def by_role(volumes: Sequence[VolumeSaving]) -> list[RoleSaving]:
    """The volumes of each role together, weighted by their bytes."""
    found = []
    for role in ROLES:
        own = [volume for volume in volumes if volume.role == role]
        if own:
            together = zip(*(volume.estimates for volume in own), strict=True)
            found.append(
                RoleSaving(
                    role=role,
                    volumes=[volume.name for volume in own],
                    data_bytes=_sum([volume.data_bytes for volume in own]),
                    estimates=[_combined_estimate(own, estimates) for estimates in together],
                )
            )
    return found


def _combined_estimate(volumes: Sequence[VolumeSaving], estimates: Sequence[Estimate]) -> RoleEstimate:
    """One figure of all volumes that hold data, weighted by it; None where one of them has none."""
    pairs = [
        (volume, one)
        for volume, one in zip(volumes, estimates, strict=True)
        if volume.data_bytes != 0 or volume.left_out.lost_folders
    ] or [(volumes[0], estimates[0])]
    whole = _sum([one.original_bytes for _, one in pairs])
    known = [
        (one.original_bytes, one.saving_ratio, one.half_width_ratio)
        for _, one in pairs
        if one.saving_ratio is not None
        and one.half_width_ratio is not None
        and one.original_bytes is not None
    ]
    lost = next((one.reason for _, one in pairs if one.saving_ratio is None), None)
    complete = len(known) == len(pairs)
    first = estimates[0]
    return RoleEstimate(
        codec=first.codec,
        level=first.level,
        block_bytes=first.block_bytes,
        storage=first.storage,
        original_bytes=whole,
        saving_ratio=sum(size * saving for size, saving, _ in known) / whole if complete and whole else None,
        half_width_ratio=sum(size * half for size, _, half in known) / whole if complete and whole else None,
        confidence_ratio=first.confidence_ratio,
        draws=sum(one.draws for _, one in pairs),
        reason=lost,
        spread_ratio=max(saving for _, saving, _ in known) - min(saving for _, saving, _ in known)
        if complete
        else None,
    )


def _sum(parts: Sequence[int | None]) -> int | None:
    """None where one of them is not known."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _space(path: Path, population: Population, device: bool) -> tuple[int | None, int | None]:
    """Size and used bytes of the file system that holds a path; of a device its size, all of it used."""
    if device:
        return population.bytes, population.bytes
    try:
        space = space_of(path)
    except OSError:
        return None, None
    return space.size_bytes, space.used_bytes


MEAN_OF_PEAK_RATIO: dict[Role, float] = {"work": 0.07, "util": 0.02}
"""What of the space that jobs declare is likely to lie there in the mean: mixed20 at smoke scale had a
fourteenth to a quarter of work, of util a two-hundredth to a twenty-fifth.  Of work it is the least: taken
for more, a machine on which tables live shortly left two thirds of the CPU share unused."""


class RunCompressibility:
    """From the first job to the facts of a run; begins to look when it is made.

    ``inputs`` are the directories of the run's input tables.
    """

    def __init__(self, volumes: Volumes, plan: Plan, inputs: Iterable[Path]) -> None:
        self._volumes = volumes
        self._inputs = sorted(set(inputs))
        self._seed = plan.seed
        places = {role: volumes.run_directories(role) for role in TEMPORARY}
        space = needs(plan).space_bytes
        self._watch = Watch(
            places,
            confidence=CONFIDENCE,
            seed=self._seed,
            likely_bytes={role: MEAN_OF_PEAK_RATIO[role] * space.get(role, 0) for role in TEMPORARY},
            without=frozenset(str(place / MARK) for own in places.values() for place in own),
        )
        volumes.before_removal = self._watch.job_ends
        self._watch.start()

    def close(self) -> None:
        self._watch.stop()

    def finish(self) -> Compressibility:
        """Work and util as they were; then data: the input tables of this run, and the results that stay."""
        seen = self._watch.stop()
        random = Random(self._seed)
        data = []
        places = self._volumes.directories["data"]
        for volume, results in zip(places, self._volumes.run_directories("data"), strict=True):
            population = Population(without=frozenset({str(results / MARK)}))
            for path in [*(path for path in self._inputs if path.is_relative_to(volume)), results]:
                if path.is_dir():
                    population.add(path)
            data.append(
                volume_saving(
                    volume,
                    "data",
                    population,
                    "folder",
                    figures=RUN_FIGURES,
                    confidence=CONFIDENCE,
                    shared=len(places),
                    half_width=HALF_WIDTH,
                    random=random,
                )
            )
        volumes = [*data, *seen]
        return Compressibility(
            created_at=time.time(),
            confidence_ratio=CONFIDENCE,
            half_width_ratio=None,
            seed=self._seed,
            volumes=volumes,
            roles=by_role(volumes),
        )


ZFS_PROPERTIES = ("used", "logicalused", "compressratio")
_ZFS_RATIO = re.compile(r"(\d+\.\d+)x?")
_COMPSIZE = re.compile(r"^TOTAL\s+\S+\s+(\d+)\s+(\d+)\s+(\d+)\s*$", re.MULTILINE)


class StorageSaving(NamedTuple):
    """Bytes before and after compression; ``memory_bytes`` where the storage is memory.

    ``compression_ratio`` is the former over the latter where the storage states it itself.
    """

    original_bytes: int
    stored_bytes: int
    memory_bytes: int | None = None
    compression_ratio: float | None = None


def parse_compsize(text: str) -> StorageSaving | None:
    """The row TOTAL of ``compsize -b``: disk usage and uncompressed; None where there is none."""
    match = _COMPSIZE.search(text)
    return None if match is None else StorageSaving(int(match[2]), int(match[1]))


def parse_mm_stat(text: str) -> StorageSaving | None:
    """The first three fields of ``/sys/block/zramN/mm_stat``: orig_data_size, compr_data_size,
    mem_used_total (Linux Documentation/admin-guide/blockdev/zram.rst)."""
    words = text.split()
    if len(words) < 3 or not all(word.isdigit() for word in words[:3]):
        return None
    return StorageSaving(int(words[0]), int(words[1]), int(words[2]))


def parse_zfs_get(text: str) -> StorageSaving | None:
    """``zfs get -Hp -o property,value`` of ``ZFS_PROPERTIES``; None without ``used`` or ``logicalused``.

    ``used`` counts metadata, copies and parity, too; ``compressratio`` is of the data alone, to two
    decimals, with an x at its end in releases before 2.0 (zfsprops(7)).
    """
    found = dict(line.split("\t", 1) for line in text.splitlines() if "\t" in line)
    used, logical, stated = (found.get(name, "").strip() for name in ZFS_PROPERTIES)
    if not (used.isdigit() and logical.isdigit()):
        return None
    ratio = _ZFS_RATIO.fullmatch(stated)
    return StorageSaving(
        int(logical), int(used), compression_ratio=None if ratio is None else float(ratio[1])
    )


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
    command: list[str], parse: Callable[[str], StorageSaving | None], *, source: str, of: str, install: str
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


def _saving(stored: StorageSaving, source: str, of: str) -> RealSaving:
    return RealSaving(
        source=source,
        of=of,
        original_bytes=stored.original_bytes,
        stored_bytes=stored.stored_bytes,
        memory_bytes=stored.memory_bytes,
        compression_ratio=stored.compression_ratio,
    )
