"""The page cache of a run: input tables taken out, put in or left as they are, and roles that go without."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from mawl.errors import UnsuitableMachineError, UsageError
from mawl.measure.mounts import MEMORY_FILE_SYSTEMS, mount_of, read_mounts
from mawl.measure.page_cache import Residency, drop, drop_machine_wide, keeps, load, residency
from mawl.measure.preload.build import library
from mawl.model.run import CacheFacts
from mawl.runner.request import RunRequest
from mawl.spec.program_options import CacheMode, Role
from mawl.units import format_bytes
from mawl.volumes import Volumes

MOST_REMARKS = 5
WARM_RATIO = 0.99
"""Below this share in memory, inputs that were to be warm are remarked not to be."""


def prepare_cache(request: RunRequest, volumes: Volumes) -> CacheFacts:
    """Do what ``--cache`` asks before the start; ``none`` also needs what :func:`require_uncached` says."""
    if request.spec.cache == "none":
        require_uncached(volumes.directories, library(os.environ).reason)
    return prepare_inputs(request)


def prepare_inputs(request: RunRequest) -> CacheFacts:
    """Do what ``--cache`` asks with the files of all input tables, and say how much of them is in memory.

    Raises :class:`~mawl.errors.UnsuitableMachineError` where a machine-wide drop was asked for and
    is refused.
    """
    files = sorted(
        path for directory in set(request.inputs.values()) for path in directory.rglob("*") if path.is_file()
    )
    remarks: list[str] = []
    if request.spec.cache in ("cold", "none"):
        remarks = drop(files)
        if request.spec.drop_caches:
            drop_machine_wide()
    elif request.spec.cache == "warm":
        remarks = load(files)
    found = residency(files)
    return CacheFacts(
        mode=request.spec.cache,
        input_bytes=found.bytes,
        resident_bytes=found.resident_bytes,
        source=found.source,
        reason=found.reason,
        machine_wide=request.spec.cache == "cold" and request.spec.drop_caches,
        remarks=_shortest(remarks) + _remains(request.spec.cache, found, files),
    )


def deny_cache(roles: Mapping[Role, Sequence[Path]]) -> CacheFacts:
    """Take the files below the roles out of the cache, for a command with ``--cache none``.

    Directories that do not exist are left out.  Raises :class:`~mawl.errors.UsageError` where none exists,
    :class:`~mawl.errors.UnsuitableMachineError` where the cache cannot be denied.
    """
    present = {role: [place for place in places if place.is_dir()] for role, places in roles.items()}
    if not any(present.values()):
        raise UsageError(
            "--cache none has no effect without a directory of a role",
            why="only files of data, work and util are kept out of the page cache",
            cure="name one that exists with --data, --work or --util",
        )
    require_uncached(present, library(os.environ).reason)
    files = sorted(
        {
            path
            for places in present.values()
            for place in places
            for path in place.rglob("*")
            if path.is_file()
        }
    )
    remarks = _shortest(drop(files))
    found = residency(files)
    return CacheFacts(
        mode="none",
        input_bytes=found.bytes,
        resident_bytes=found.resident_bytes,
        source=found.source,
        reason=found.reason,
        remarks=remarks + _remains("none", found, files),
    )


def require_uncached(roles: Mapping[Role, Sequence[Path]], no_library: str | None) -> None:
    """Raise :class:`~mawl.errors.UnsuitableMachineError` where ``--cache none`` cannot hold.

    ``no_library`` says why the counting library, which does it, is not there; None where it is.
    """
    if no_library is not None:
        raise UnsuitableMachineError(
            "--cache none needs mawl's counting library",
            why=no_library,
            cure="install a C compiler (gcc), or run without --cache none",
        )
    for role, places in roles.items():
        for place in places:
            reason = keeps(place)
            if reason is not None:
                raise UnsuitableMachineError(
                    f"--cache none has no effect on the {role} directory",
                    where=str(place),
                    why=reason,
                    cure="name a directory on a disk, or run without --cache none",
                )


def _shortest(remarks: list[str]) -> list[str]:
    """The first remarks, and how many more there are."""
    if len(remarks) <= MOST_REMARKS:
        return remarks
    return [*remarks[:MOST_REMARKS], f"and {len(remarks) - MOST_REMARKS} more files"]


def _remains(mode: CacheMode | None, found: Residency, files: list[Path]) -> list[str]:
    """A sentence where the cache is not as it was asked to be."""
    if found.resident_bytes is None:
        return []
    if mode == "warm" and found.resident_bytes < WARM_RATIO * found.bytes:
        held = f"{format_bytes(found.resident_bytes)} of {format_bytes(found.bytes)}"
        return [f"only {held} of the inputs stayed in memory: they do not fit there"]
    if mode not in ("cold", "none") or not found.resident_bytes:
        return []
    mounts = read_mounts()
    kinds = {mount.file_system for path in files if (mount := mount_of(path.parent, mounts)) is not None}
    why = "other processes have them mapped or are reading them"
    if kinds & MEMORY_FILE_SYSTEMS:
        why = f"they lie in a file system that is memory ({', '.join(sorted(kinds & MEMORY_FILE_SYSTEMS))})"
    elif found.dirty_bytes:
        why = f"{format_bytes(found.dirty_bytes)} of them are not written yet"
    return [f"{format_bytes(found.resident_bytes)} of the inputs could not be dropped: {why}"]
