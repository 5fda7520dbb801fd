"""One requested table while it is looked at and made.

The state of a table is its directory: parts, a journal of those that are done, and at last the
manifest.  Nothing is synchronised to disk; what a power failure damages, the next check finds.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path
from typing import Literal

import msgspec

from mawl.datagen.build import PARTIAL, PartTask, text_target
from mawl.datagen.dial import filled_bytes
from mawl.datagen.journal import JOURNAL, PartsJournal
from mawl.datagen.slots import slots
from mawl.errors import DamagedTableError
from mawl.plan.tables import InputTable
from mawl.tables.arrow import Sums, add_sums
from mawl.tables.manifest import (
    MANIFEST,
    Manifest,
    Part,
    check_sizes,
    read_manifest,
    table_directory,
    write_manifest,
)

GENERATOR_VERSION = 1
"""Changes when the same declaration would give other bytes; tables of another version are made anew."""

DEFAULT_SAVING = 0.90
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
        """Where the table lies under the directory of input tables."""
        return table_directory(
            inputs, table, scale=self.scale, seed=self.seed, replica=self.replica, saving=self.saving
        )


class Generated(msgspec.Struct, frozen=True, kw_only=True):
    """A table that is there.  ``damaged`` names the files that had to be rebuilt."""

    request: TableRequest
    directory: Path
    status: Status
    manifest: Manifest
    damaged: tuple[str, ...] = ()


class Construction:
    """One requested table while it is looked at and made."""

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
        return all(place(task) in self.parts for task in self.tasks)

    def recall(self) -> None:
        """Take over the parts that an interrupted generation noted and that are still there."""
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
        """The tasks whose parts are not there."""
        return [task for task in self.tasks if place(task) not in self.parts]

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
        there = [task for task in self.tasks if place(task) in self.parts]
        return [msgspec.structs.replace(task, expected=self.parts[place(task)]) for task in there]

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
        del self.parts[place(task)]
        if task.slot.file not in self.damaged:
            self.damaged.append(task.slot.file)
        self.status = "repaired"

    def add(self, part: Part) -> None:
        """A part is there."""
        self.parts[part.file, part.offset] = part
        self.journal.add(part)

    def finish(self) -> Generated:
        """Give text files their names, write the manifest, and say what happened."""
        parts = tuple(self.parts[place(task)] for task in self.tasks)
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
        return Generated(
            request=self.request,
            directory=self.directory,
            status=self.status,
            manifest=manifest,
            damaged=tuple(self.damaged),
        )


def declaration(table: InputTable) -> str:
    """A short hash of a table's columns and layout and of the generator's version."""
    described = msgspec.json.encode((GENERATOR_VERSION, table))
    return hashlib.blake2b(described, digest_size=8).hexdigest()


def place(task: PartTask) -> tuple[str, int]:
    """Where a task's part belongs: file and offset."""
    return task.slot.file, task.slot.offset
