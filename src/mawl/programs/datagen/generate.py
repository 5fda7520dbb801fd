"""Make input tables, continue them after a kill, check and repair them (``mawl generate``).

The state of a table is its directory: parts, a journal of those that are done, and at last the
manifest.  Nothing is synchronised to disk; what a power failure damages, the next check finds.

Choose the volume that each input table lies on.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from mawl.base.errors import DamagedTableError, InterruptedRunError, UnsuitableMachineError
from mawl.base.units import format_bytes
from mawl.measure.space import space_of
from mawl.plan.catalogue import INPUTS
from mawl.plan.columns import InputTable
from mawl.programs.datagen.parts import (
    JOURNAL,
    PARTIAL,
    PartsJournal,
    PartTask,
    build_part,
    is_intact,
    slots,
    text_target,
)
from mawl.programs.datagen.text import filled_bytes
from mawl.programs.datagen.workers import in_processes
from mawl.programs.tables.arrow import Sums, add_sums
from mawl.programs.tables.manifest import (
    MANIFEST,
    Manifest,
    Part,
    check_sizes,
    read_manifest,
    table_directory,
    write_manifest,
)
from mawl.records.spec.program_options import VolumeOrder
from mawl.records.spec.run_spec import DEFAULT_SAVING
from mawl.records.volumes import choose

GENERATOR_VERSION = 1
"""Changes when the same declaration would give other bytes; tables of another version are made anew."""

SPACE_MARGIN = 1.05
_METADATA_SHARE = 1.01
_METADATA_BYTES = 256 * 1024

Status = Literal["built", "continued", "verified", "repaired", "present"]


class TableRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A replica of an input table at a scale, with the share that it should save when compressed."""

    table: str
    scale: float
    seed: int
    replica: int = 0
    saving: float = DEFAULT_SAVING

    def directory(self, table: InputTable, inputs: Path) -> Path:
        return table_directory(
            inputs, table, scale=self.scale, seed=self.seed, replica=self.replica, saving=self.saving
        )


class TableBuild(msgspec.Struct, frozen=True, kw_only=True):
    """A table that is there.  ``damaged`` names the files that had to be rebuilt."""

    request: TableRequest
    directory: Path
    status: Status
    manifest: Manifest
    damaged: tuple[str, ...] = ()


class Construction:
    """One requested table while it is checked and made."""

    def __init__(self, request: TableRequest, table: InputTable, inputs: Path, bufsize_bytes: int) -> None:
        self.request, self.table = request, table
        self.directory = request.directory(table, inputs)
        self.rows = table.rows(request.scale)
        self.declaration = declaration(table)
        self.journal = PartsJournal(self.directory, self.declaration)
        filled = filled_bytes(table, request.saving)
        self.tasks = [
            PartTask(
                table=table,
                directory=str(self.directory),
                slot=slot,
                seed=request.seed,
                replica=request.replica,
                filled=filled,
                bufsize_bytes=bufsize_bytes,
            )
            for slot in slots(table, self.rows)
        ]
        self.parts: dict[tuple[str, int], Part] = {}
        self.finished = self._is_finished()
        self.damaged: list[str] = []
        self.status: Status = "verified" if self.finished else "built"

    def _is_finished(self) -> bool:
        try:
            manifest = read_manifest(self.directory)
        except DamagedTableError:
            return False
        if manifest.declaration != self.declaration or manifest.rows != self.rows:
            return False
        self.parts = {(part.file, part.offset): part for part in manifest.parts}
        return all(part_key(task) in self.parts for task in self.tasks)

    def recall(self) -> None:
        for part in self.journal.read():
            path = self.directory / part.file
            if self.table.layout == "text":
                path = text_target(self.directory, part.file)
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_size >= part.offset + part.bytes:
                    self.parts[part.file, part.offset] = part
        if self.parts:
            self.status = "continued"

    def space_bytes(self) -> int:
        """Bytes that are still to be written, with a margin."""
        wanted = sum(task.slot.bytes for task in self.tasks)
        if self.table.layout == "arrow":
            wanted = int(wanted * _METADATA_SHARE) + _METADATA_BYTES
        held = sum(entry.stat().st_blocks * 512 for entry in self.directory.iterdir())
        return max(int(wanted * SPACE_MARGIN) - held, 0)

    def missing(self) -> list[PartTask]:
        return [task for task in self.tasks if part_key(task) not in self.parts]

    def sizes_right(self) -> bool:
        """Whether the files have the sizes of the manifest; reads no data."""
        try:
            check_sizes(self.directory)
        except DamagedTableError:
            return False
        return True

    def checks(self) -> list[PartTask]:
        """A task for each part that is there: read it back.

        A text file that is too long loses its last part first: no part would see what lies behind.
        """
        if self.table.layout == "text":
            for task in {task.slot.file: task for task in self.tasks}.values():
                path = self.directory / task.slot.file
                if path.exists() and path.stat().st_size > task.slot.offset + task.slot.bytes:
                    self.reject(task)
        there = [task for task in self.tasks if part_key(task) in self.parts]
        return [msgspec.structs.replace(task, expected=self.parts[part_key(task)]) for task in there]

    def begin(self) -> None:
        """Make ready to build what is missing: no manifest, a journal of what is there.

        Files that an older declaration left behind go, since readers take every part they see.
        """
        (self.directory / MANIFEST).unlink(missing_ok=True)
        wanted = {task.slot.file for task in self.tasks}
        for path in self.directory.iterdir():
            if path.name.removesuffix(PARTIAL) not in wanted and path.name != JOURNAL:
                path.unlink()
        self.journal.begin(list(self.parts.values()))

    def reject(self, task: PartTask) -> None:
        """A part is not what its manifest says: it is missing now."""
        del self.parts[part_key(task)]
        if task.slot.file not in self.damaged:
            self.damaged.append(task.slot.file)
        self.status = "repaired"

    def add(self, part: Part) -> None:
        self.parts[part.file, part.offset] = part
        self.journal.add(part)

    def finish(self) -> TableBuild:
        parts = tuple(self.parts[part_key(task)] for task in self.tasks)
        sums: Sums = {}
        for part in parts:
            add_sums(sums, part.sums)
        manifest = Manifest(
            table=self.table.name,
            layout=self.table.layout,
            seed=self.request.seed,
            replica=self.request.replica,
            scale=self.request.scale,
            saving=self.request.saving,
            declaration=self.declaration,
            rows=self.rows,
            bytes=sum(part.bytes for part in parts),
            row_bytes=self.table.row_bytes,
            sums=sums,
            parts=parts,
        )
        if not (self.directory / MANIFEST).exists():
            if self.table.layout == "text":
                for name, size in manifest.files.items():
                    target = text_target(self.directory, name)
                    os.truncate(target, size)
                    target.rename(self.directory / name)
            write_manifest(self.directory, manifest)
            self.journal.remove()
        return TableBuild(
            request=self.request,
            directory=self.directory,
            status=self.status,
            manifest=manifest,
            damaged=tuple(self.damaged),
        )


def declaration(table: InputTable) -> str:
    described = msgspec.json.encode((GENERATOR_VERSION, table))
    return hashlib.blake2b(described, digest_size=8).hexdigest()


def part_key(task: PartTask) -> tuple[str, int]:
    return task.slot.file, task.slot.offset


Result = TypeVar("Result")

_BYTES_PER_PROCESS = 128 * 10**6


class GenerationProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a generation is: bytes made or read back, of all requests together."""

    done_bytes: int
    total_bytes: int
    table: str
    file: str
    checking: bool


def generate(
    requests: Sequence[TableRequest],
    directory: Path | Sequence[Path],
    *,
    processes: int,
    bufsize_bytes: int,
    progress: Callable[[GenerationProgress], None] = lambda _: None,
    verify: bool = True,
    tables: Mapping[str, InputTable] = INPUTS,
) -> list[TableBuild]:
    """Make every requested table under ``directory`` (it exists), by up to ``processes`` processes.

    Where the tables lie in several directories there is one for each request.

    A finished table is read back and compared with its manifest (its file sizes only, unless
    ``verify``), and what is damaged is rebuilt; an unfinished one is continued.

    Raises ``UnsuitableMachineError`` before the first byte where space is too
    small, and when a write fails; ``InterruptedRunError`` after Ctrl-C.
    """
    homes = [directory] * len(requests) if isinstance(directory, Path) else list(directory)
    places = [
        request.directory(tables[request.table], home) for request, home in zip(requests, homes, strict=True)
    ]
    with contextlib.ExitStack() as locks:
        for place in sorted(set(places)):  # in one order for everybody, so that nobody waits in a circle
            place.mkdir(mode=0o700, exist_ok=True)
            locks.enter_context(_alone(place))
        works = [
            Construction(request, tables[request.table], home, bufsize_bytes)
            for request, home in zip(requests, homes, strict=True)
        ]
        for work in works:
            if not work.finished:
                work.recall()
        for device_works in _by_file_system(works):
            _check_space(device_works, device_works[0].directory)
        try:
            _check(works, processes, progress, verify)
            _build(works, processes, progress)
        except KeyboardInterrupt:
            raise InterruptedRunError(
                "generation was interrupted",
                cure="give the same command again, it continues where this one stopped",
            ) from None
        return [work.finish() for work in works]


def _check(
    works: Sequence[Construction],
    processes: int,
    progress: Callable[[GenerationProgress], None],
    verify: bool,
) -> None:
    owners: list[tuple[Construction, PartTask]] = []
    for work in works:
        if work.finished and verify:
            owners += [(work, task) for task in work.checks()]
        elif work.finished and work.sizes_right():
            work.status = "present"
        elif work.finished:
            owners += [(work, task) for task in work.checks()]
    for work, task, intact in _run(is_intact, owners, processes, progress, checking=True):
        if not intact:
            work.reject(task)


def _build(
    works: Sequence[Construction], processes: int, progress: Callable[[GenerationProgress], None]
) -> None:
    owners = []
    for work in works:
        missing = work.missing()
        if missing or not work.finished:
            work.begin()
        owners += [(work, task) for task in missing]
    for work, _, part in _run(build_part, owners, processes, progress, checking=False):
        work.add(part)


def _run(
    function: Callable[[PartTask], Result],
    owners: list[tuple[Construction, PartTask]],
    processes: int,
    progress: Callable[[GenerationProgress], None],
    *,
    checking: bool,
) -> Iterator[tuple[Construction, PartTask, Result]]:
    """Hand out tasks, longest first, and report progress as they end."""
    owners.sort(key=lambda owner: -owner[1].slot.bytes)
    total = sum(task.slot.bytes for _, task in owners)
    # A process costs its imports, so it must have something to do.
    useful = min(processes, -(-total // _BYTES_PER_PROCESS))
    done = 0
    with contextlib.closing(in_processes(function, [task for _, task in owners], useful)) as results:
        for index, result in results:
            work, task = owners[index]
            yield work, task, result
            done += task.slot.bytes
            progress(
                GenerationProgress(
                    done_bytes=done,
                    total_bytes=total,
                    table=work.table.name,
                    file=task.slot.file,
                    checking=checking,
                )
            )


def _by_file_system(works: Sequence[Construction]) -> list[list[Construction]]:
    found: dict[int, list[Construction]] = {}
    for work in works:
        found.setdefault(work.directory.stat().st_dev, []).append(work)
    return list(found.values())


def _check_space(works: Sequence[Construction], directory: Path) -> None:
    if all(work.finished for work in works):
        return
    needed = sum(work.space_bytes() for work in works)
    free = space_of(directory).free_bytes
    if needed > free:
        raise UnsuitableMachineError(
            "the input tables do not fit",
            where=str(directory),
            why=f"they need {format_bytes(needed)} more ({needed} bytes) and {format_bytes(free)} "
            f"({free} bytes) are free",
            cure="make room, choose a smaller --scale, or name another directory with --data",
        )


@contextlib.contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Hold a table's directory, so that two generations do not write the same files.

    Waits for a generation of the same table that is under way; what it made is then there.
    """
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def spread_tables(
    requests: Sequence[TableRequest],
    sizes: Sequence[int],
    homes: Sequence[Path],
    order: VolumeOrder,
    tables: Mapping[str, InputTable] = INPUTS,
) -> list[Path]:
    """The directory of input tables for each request; ``sizes`` are the bytes of each.

    A table that is there stays where it is: a finished one, else one that was begun, on the first volume
    of the list that has it.  The others go, the largest first, to the volume that holds least of what is
    asked for (rotation), or in proportion to the space that is free (free-space).  So nothing is
    ever moved; what lies on a volume that is no longer in the list is made again on another.
    """
    found: dict[int, int] = {}
    for number, request in enumerate(requests):
        places = [request.directory(tables[request.table], home) for home in homes]
        held = [place for place, path in enumerate(places) if (path / MANIFEST).is_file()]
        begun = [place for place, path in enumerate(places) if path.is_dir() and any(path.iterdir())]
        if held or begun:
            found[number] = (held or begun)[0]
    holds = [0] * len(homes)
    for number, volume in found.items():
        holds[volume] += sizes[number]
    new = sorted((number for number in range(len(requests)) if number not in found), key=lambda n: -sizes[n])
    for turn, number in enumerate(new):
        volume = holds.index(min(holds)) if order == "rotation" else choose(order, homes, turn)
        found[number] = volume
        holds[volume] += sizes[number]
    return [homes[found[number]] for number in range(len(requests))]
