"""Preparations and checks just before the jobs of a run start.

They are the page cache, the sync of the file systems, memory, space, and the load of other work.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.base.errors import UnsuitableMachineError, UsageError
from mawl.base.printable import printable
from mawl.base.units import format_bytes, format_memory, whole_mib
from mawl.measure.devices import MEMORY_FILE_SYSTEMS, mount_of, read_mounts
from mawl.measure.machine import read_machine
from mawl.measure.page_cache import (
    Residency,
    Sync,
    dirty_of,
    drop,
    drop_machine_wide,
    keeps,
    load,
    machine_dirty_bytes,
    removed_unwritten_bytes,
    residency,
)
from mawl.measure.preload.build import library
from mawl.measure.processes import user_of
from mawl.measure.space import file_systems
from mawl.measure.suitability import NoiseWatch
from mawl.plan.needs import Needs
from mawl.plan.workload import Plan
from mawl.records.model.node import MOST_NAMED_PROGRAMS, DirtyPages, LoadBefore
from mawl.records.model.run import CacheFacts, FreeSpace
from mawl.records.spec.program_options import ROLES, CacheMode, Role, VolumeOrder
from mawl.records.volumes import Volumes, held_under, run_of
from mawl.run.launch.setup import live_runs
from mawl.run.runner.request import Opening, RunRequest

MOST_REMARKS = 5
WARM_RATIO = 0.99
"""Below this share in memory, inputs that were to be warm are remarked not to be."""


def prepare_cache(request: RunRequest, volumes: Volumes) -> CacheFacts:
    """Do what ``--cache`` asks before the start; ``none`` also needs what ``require_uncached`` says."""
    if request.spec.cache == "none":
        require_uncached(volumes.directories, library(os.environ).reason)
    return prepare_inputs(request)


def prepare_inputs(request: RunRequest) -> CacheFacts:
    """Do what ``--cache`` asks with the files of all input tables, and say how much of them is in memory.

    Raises ``UnsuitableMachineError`` where a machine-wide drop was asked for and
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
        remarks=_first_remarks(remarks) + _cache_remarks(request.spec.cache, found, files),
    )


def deny_cache(roles: Mapping[Role, Sequence[Path]]) -> CacheFacts:
    """Take the files below the roles out of the cache, for a command with ``--cache none``.

    Directories that do not exist are left out.  Raises ``UsageError`` where none exists,
    ``UnsuitableMachineError`` where the cache cannot be denied.
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
    remarks = _first_remarks(drop(files))
    found = residency(files)
    return CacheFacts(
        mode="none",
        input_bytes=found.bytes,
        resident_bytes=found.resident_bytes,
        source=found.source,
        reason=found.reason,
        remarks=remarks + _cache_remarks("none", found, files),
    )


def require_uncached(roles: Mapping[Role, Sequence[Path]], no_library: str | None) -> None:
    """Raise ``UnsuitableMachineError`` where ``--cache none`` cannot hold.

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


def _first_remarks(remarks: list[str]) -> list[str]:
    if len(remarks) <= MOST_REMARKS:
        return remarks
    return [*remarks[:MOST_REMARKS], f"and {len(remarks) - MOST_REMARKS} more files"]


def _cache_remarks(mode: CacheMode | None, found: Residency, files: list[Path]) -> list[str]:
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


class CleanStart(Opening):
    """Keeps the gate shut until ``syncfs`` has ended, then leaves it to ``opening``.

    An interrupt meanwhile opens the gate for nobody: the loop stops its jobs, and the sync is left alone.
    """

    def __init__(
        self, volumes: Volumes, opening: Opening, begin: Callable[[Sequence[Path]], Sync] = Sync
    ) -> None:
        self._directories = [place for role in ROLES for place in volumes.directories[role]]
        self._run_places = volumes.run_places
        self._opening, self._begin = opening, begin
        self._sync: Sync | None = None
        self._jobs = 0
        self._removed = 0
        self.facts: DirtyPages | None = None
        """What is known of dirty pages; None until the gate may open."""

    def ready(self, jobs: int) -> None:
        self._jobs = jobs
        self._sync = self._begin(self._directories)

    def pause_seconds(self) -> float | None:
        """None while the sync goes on; then what ``opening`` says."""
        if self.facts is None:
            if self._sync is None or not self._sync.ended():
                return None
            self.facts = DirtyPages(
                sync_seconds=self._sync.seconds,
                sync_reason=self._sync.reason,
                machine_at_gate_bytes=machine_dirty_bytes(),
            )
            self._removed = removed_unwritten_bytes() or 0
            self._opening.ready(self._jobs)
        return self._opening.pause_seconds()

    def at_end(self, group_written_bytes: int | None) -> DirtyPages:
        """The facts of the whole run; to be asked when its last job has ended, before files are removed."""
        if self._sync is not None:
            self._sync.leave()
        own, source = dirty_of(self._run_places())
        removed = removed_unwritten_bytes()
        before = self.facts or DirtyPages(sync_reason="the run ended before its gate opened")
        return msgspec.structs.replace(
            before,
            machine_at_end_bytes=machine_dirty_bytes(),
            own_at_end_bytes=own,
            own_source=source,
            removed_bytes=None if removed is None or self.facts is None else removed - self._removed,
            group_written_bytes=group_written_bytes,
        )


def other_runs(run_id: str, volumes: Volumes) -> str | None:
    """Which other runs are alive on this machine, or hold a directory beside ours; None where none does.

    What begins with ``run_id`` is of the same run.
    """
    found = {
        run: [f"process {min(pids)}", user_of(Path(f"/proc/{min(pids)}"))]
        for run, pids in live_runs().items()
    }
    for place in (place for role in ROLES for place in volumes.directories[role]):
        for directory in held_under(place):
            unseen = ["its process is not seen from here", user_of(directory)]
            found.setdefault(run_of(directory), unseen).append(f"also in {place}")
    others = [f"{run} ({', '.join(facts)})" for run, facts in found.items() if not _is_of(run, run_id)]
    if not others:
        return None
    return printable(
        f"other runs of mawl are under way: {'; '.join(others)}; their load is in this run's figures"
    )


def _is_of(run: str, run_id: str) -> bool:
    return run == run_id or run.startswith(f"{run_id}-")


LOOK_SECONDS = 0.5


def load_before() -> LoadBefore:
    """Look for half a second at who uses the processors; nothing of the run exists yet."""
    watch = NoiseWatch()
    time.sleep(LOOK_SECONDS)
    noise = watch.look()
    return LoadBefore(
        seconds=noise.seconds,
        busy_ratio=noise.busy_ratio,
        heavy=[str(process) for process in noise.heavy[:MOST_NAMED_PROGRAMS]],
    )


def free_space(volumes: Volumes, needed: Needs, order: VolumeOrder) -> tuple[FreeSpace, ...]:
    """The file systems under the roles once the inputs are made, and what temporary tables will take."""
    temporary = {role: 0 if role == "data" else size for role, size in needed.space_bytes.items()}
    return tuple(
        FreeSpace(
            roles=system.roles,
            size_bytes=system.size_bytes,
            free_bytes=system.free_bytes,
            needed_bytes=system.needed_bytes,
        )
        for system in file_systems(volumes.directories, temporary, by_free_space=order == "free-space")
    )


def core_speed_for(plan: Plan) -> float | None:
    """The speed of this machine's cores, measured where a derived job asks for it: a fifth of a second."""
    if all(job.derived is None or job.derived.job.core_speed is None for job in plan.jobs()):
        return None
    # Here, not above: no other run needs the kernels in this process.
    from mawl.programs.derived_job import core_speed

    return core_speed()


def check_memory(needed: Needs, memory_limit: int | None, in_memory_bytes: int = 0) -> str | None:
    """Refuse a run whose jobs do not fit; a warning when they fit only beside an empty machine.

    ``in_memory_bytes`` are files of the run on file systems that are memory, which every limit counts too.
    """
    machine = read_machine()
    bounds = {
        "--memory-limit": memory_limit,
        "the machine's memory": machine.memory_bytes,
        "the memory limit of this control group": machine.memory_limit_bytes,
    }
    need = (
        f"the jobs side by side need {format_memory(needed.memory_bytes)} of memory ({needed.memory_basis})"
    )
    if in_memory_bytes:
        need += f", and its files in memory {format_memory(in_memory_bytes)}"
    for name, bound in bounds.items():
        if bound is not None and needed.memory_bytes + in_memory_bytes > bound:
            raise UnsuitableMachineError(
                f"{need}, more than {name}, {format_memory(bound)}",
                cure="put all roles on disks, or choose a smaller scale"
                if in_memory_bytes
                else larger_limit(needed)
                if name == "--memory-limit"
                else "choose a smaller scale, fewer sessions, or less --option memsize=SIZE",
            )
    available = machine.memory_available_bytes
    if available is not None and needed.memory_bytes > available:
        free = format_memory(available)
        return f"{need} and {free} are available now; end other programs, or the run may swap"
    return None


def larger_limit(needed: Needs) -> str:
    """How to get a memory limit that the jobs fit into: the smallest one, and how to find a smaller one."""
    least = f"use --memory-limit {whole_mib(needed.memory_bytes)} or more"
    if needed.is_memory_measured:
        return least
    return f"{least}, or first run once without a limit: mawl then knows what the jobs really use"
