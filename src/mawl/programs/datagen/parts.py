"""The parts of an input table: how it is cut, how one is made or read back, which ones are done.

A part is what one process makes at a time and what a continued generation keeps: about 64 MB, large
next to the cost of handing it out, small next to what a kill may lose.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.base.errors import DamagedTableError, UnsuitableMachineError
from mawl.plan.columns import Column, InputTable
from mawl.programs.datagen.records import make_groups, read_sums
from mawl.programs.datagen.text import fills
from mawl.programs.datagen.values import column_values
from mawl.programs.tables.arrow import Sums, add_sums, batch_rows, column_sums, read_batches, word_sum
from mawl.programs.tables.direct import GatheredWriter
from mawl.programs.tables.manifest import Part

PART_BYTES = 64 * 10**6
CHUNK_ROWS = 16_384
"""Rows made at a time: their columns fit a second-level cache, and NumPy's cost per call is small."""


class RowSlot(msgspec.Struct, frozen=True, kw_only=True):
    """Rows ``start`` to ``start + rows`` belong to ``file``, from byte ``offset`` on.

    ``bytes`` are those of the values: exact in a text table, without metadata in an Arrow table.
    """

    file: str
    start: int
    rows: int
    offset: int
    bytes: int


def slots(table: InputTable, rows: int) -> list[RowSlot]:
    """The parts of a table of so many rows, in the order of rows."""
    return list(_text_slots(table, rows) if table.layout == "text" else _arrow_slots(table, rows))


def part_rows(table: InputTable) -> int:
    """Rows of every part but the last of a file: whole batches, or an even number of groups."""
    unit = batch_rows(table.row_bytes) if table.layout == "arrow" else 2 * table.group_rows
    return max(PART_BYTES // (unit * table.row_bytes), 1) * unit


def chunk_rows(table: InputTable) -> int:
    """Rows made at a time, likewise whole batches or an even number of groups."""
    unit = batch_rows(table.row_bytes) if table.layout == "arrow" else 2 * table.group_rows
    return max(CHUNK_ROWS // unit, 1) * unit


def _arrow_slots(table: InputTable, rows: int) -> Iterator[RowSlot]:
    step = part_rows(table)
    for number, start in enumerate(range(0, rows, step)):
        count = min(step, rows - start)
        yield RowSlot(
            file=f"part-{number:05d}.arrow", start=start, rows=count, offset=0, bytes=count * table.row_bytes
        )


def _text_slots(table: InputTable, rows: int) -> Iterator[RowSlot]:
    step = part_rows(table)
    start = 0
    for number, groups in enumerate(_groups_by_file(table, rows // table.group_rows), 1):
        stop = start + groups * table.group_rows
        for first in range(start, stop, step):
            count = min(step, stop - first)
            yield RowSlot(
                file=f"state-{number:02d}.txt",
                start=first,
                rows=count,
                offset=(first - start) * table.row_bytes,
                bytes=count * table.row_bytes,
            )
        start = stop


def _groups_by_file(table: InputTable, groups: int) -> list[int]:
    """Groups of each file: one, and of the rest a share by its weight."""
    weights = table.file_weights
    spare, total = groups - len(weights), sum(weights)
    if spare < 0:
        raise ValueError(f"{table.name} has fewer groups than files: {groups} and {len(weights)}")
    bounds = [spare * weight // total for weight in itertools.accumulate(weights, initial=0)]
    return [1 + upper - lower for lower, upper in itertools.pairwise(bounds)]


PARTIAL = ".partial"

_BLANK_WORD = 0x2020_2020_2020_2020


class PartTask(msgspec.Struct, frozen=True, kw_only=True):
    """A part to make, or with ``expected`` one to read back and compare."""

    table: InputTable
    directory: str
    slot: RowSlot
    seed: int
    replica: int
    filled: int
    bufsize_bytes: int
    expected: Part | None = None


def build_part(task: PartTask) -> Part:
    """Make a part: under a temporary name, renamed when whole; in a text file, in its place.

    Raises ``UnsuitableMachineError`` when it cannot be written, for instance
    because the disk is full; the temporary file of an Arrow part is then gone.
    """
    try:
        return _build_text(task) if task.table.layout == "text" else _build_arrow(task)
    except OSError as error:
        raise UnsuitableMachineError(
            "a part of an input table cannot be written",
            where=str(Path(task.directory, task.slot.file)),
            why=(error.strerror or str(error)).lower(),
            cure="make room and run mawl generate again, it continues where it stopped",
        ) from None


def is_intact(task: PartTask) -> bool:
    """Whether a part, read back whole, has the rows and sums that its manifest says."""
    assert task.expected is not None
    try:
        return _text_intact(task, task.expected) if task.table.layout == "text" else _arrow_intact(task)
    except (DamagedTableError, pa.ArrowException, OSError, ValueError, MemoryError, OverflowError):
        # A damaged length or offset inside an Arrow file surfaces as any of these.
        return False


def text_target(directory: Path, name: str) -> Path:
    """The file that parts of a text table are written to: under its temporary name until all are in."""
    whole = directory / name
    return whole if whole.exists() else directory / f"{name}{PARTIAL}"


def schema(table: InputTable) -> pa.Schema:
    return pa.schema(
        [
            pa.field(
                column.name, pa.float64() if column.width is None else pa.binary(column.width), nullable=False
            )
            for column in table.columns
        ]
    )


def _build_arrow(task: PartTask) -> Part:
    table, slot = task.table, task.slot
    path = Path(task.directory, slot.file)
    draft = path.with_name(path.name + PARTIAL)
    filled = fills(table, task.filled)
    sums: Sums = {}
    writer = GatheredWriter(
        draft,
        schema(table),
        rows=slot.rows,
        rows_per_batch=batch_rows(table.row_bytes),
        bufsize_bytes=task.bufsize_bytes,
    )
    try:
        columns: list[NDArray[np.generic]] = [np.empty(0)] * len(table.columns)
        for start, count in _chunks(task):
            for place, column in enumerate(table.columns):
                # Each takes the place of the last chunk's: were all freed at once, the memory would go
                # back to the kernel and be faulted in again for every chunk.
                columns[place] = column_values(
                    table,
                    column,
                    seed=task.seed,
                    replica=task.replica,
                    start=start,
                    count=count,
                    filled=filled.get(column.name, 0),
                )
                add_sums(sums, {column.name: _column_sum(columns[place], column, filled)})
            writer.write(columns)
        writer.close()
        draft.rename(path)
    except BaseException:
        with contextlib.suppress(OSError):
            writer.abandon()
        draft.unlink(missing_ok=True)
        raise
    return Part(file=slot.file, start=slot.start, rows=slot.rows, bytes=writer.bytes, sums=sums)


def _column_sum(values: NDArray[np.generic], column: Column, filled: Mapping[str, int]) -> int:
    if filled.get(column.name, 1) == 0:
        # Known without looking: two fifths of a row are blank dial columns at the default saving.
        return values.nbytes // 8 * _BLANK_WORD & 0xFFFF_FFFF_FFFF_FFFF
    return word_sum(values)


def _build_text(task: PartTask) -> Part:
    table, slot = task.table, task.slot
    sums: Sums = {}
    words = 0
    target = text_target(Path(task.directory), slot.file)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        for start, count in _chunks(task):
            text, more = make_groups(
                table,
                seed=task.seed,
                replica=task.replica,
                first=start // table.group_rows,
                groups=count // table.group_rows,
                filled=task.filled,
            )
            add_sums(sums, more)
            words += _text_words(text)
            offset = slot.offset + (start - slot.start) * table.row_bytes
            _write_at(descriptor, text, offset, task.bufsize_bytes)
    finally:
        os.close(descriptor)
    return Part(
        file=slot.file,
        start=slot.start,
        rows=slot.rows,
        bytes=slot.bytes,
        offset=slot.offset,
        sums=sums,
        words=words & 0xFFFF_FFFF_FFFF_FFFF,
    )


def _chunks(task: PartTask) -> Iterator[tuple[int, int]]:
    """(first row, rows) of each chunk of a part."""
    stop, step = task.slot.start + task.slot.rows, chunk_rows(task.table)
    for start in range(task.slot.start, stop, step):
        yield start, min(step, stop - start)


def _write_at(descriptor: int, text: NDArray[np.uint8], offset: int, bufsize_bytes: int) -> None:
    rest = text.reshape(-1).data
    while rest:
        written = os.pwrite(descriptor, rest[:bufsize_bytes], offset)
        rest, offset = rest[written:], offset + written


def _text_words(text: NDArray[np.uint8]) -> int:
    """Sum of the bytes as little-endian eight-byte words, the last one zero-padded."""
    flat = text.reshape(-1)
    whole = len(flat) // 8 * 8
    return word_sum(flat[:whole]) + int.from_bytes(flat[whole:].tobytes(), "little")


def _arrow_intact(task: PartTask) -> bool:
    path = Path(task.directory, task.slot.file)
    if task.expected is None or path.stat().st_size != task.expected.bytes:
        return False
    rows, sums = 0, Sums()
    for batch in read_batches(path, bufsize_bytes=task.bufsize_bytes):
        rows += batch.num_rows
        add_sums(sums, column_sums(batch))
    return rows == task.expected.rows and sums == task.expected.sums


def _text_intact(task: PartTask, expected: Part) -> bool:
    sums: Sums = {}
    words = 0
    with open(Path(task.directory, task.slot.file), "rb", buffering=0) as source:
        for start, count in _chunks(task):
            offset = task.slot.offset + (start - task.slot.start) * task.table.row_bytes
            text = _read_at(source.fileno(), count * task.table.row_bytes, offset, task.bufsize_bytes)
            if len(text) < count * task.table.row_bytes:
                return False
            words += _text_words(text)
            add_sums(sums, read_sums(task.table, text.reshape(count, task.table.row_bytes)))
    return words & 0xFFFF_FFFF_FFFF_FFFF == expected.words and sums == expected.sums


def _read_at(descriptor: int, count: int, offset: int, bufsize_bytes: int) -> NDArray[np.uint8]:
    """``count`` bytes of a file, or fewer where it ends early."""
    buffer = np.empty(count, dtype=np.uint8)
    view, done = buffer.data, 0
    while done < count:
        got = os.preadv(descriptor, [view[done : done + bufsize_bytes]], offset + done)
        if got == 0:
            break
        done += got
    return buffer[:done]


JOURNAL = "journal.jsonl"


class _Head(msgspec.Struct, frozen=True):
    declaration: str


class PartsJournal:
    """Finished parts of a table that is being made in ``directory``: one JSON line each, from one process.

    ``declaration`` is the first line: parts of another declaration are not taken over.  A killed
    generation continues from it; the last line may be torn.  It is removed once the manifest is there.
    """

    def __init__(self, directory: Path, declaration: str) -> None:
        self.path = directory / JOURNAL
        self._declaration = declaration

    def read(self) -> list[Part]:
        """The parts that are noted; none where the journal is missing or of another declaration."""
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        parts = []
        with contextlib.suppress(msgspec.DecodeError):
            if not lines or msgspec.json.decode(lines[0], type=_Head).declaration != self._declaration:
                return []
            for line in lines[1:]:
                parts.append(msgspec.json.decode(line, type=Part))
        return parts

    def begin(self, parts: list[Part]) -> None:
        """Start anew with these parts: a torn last line must not be appended to."""
        draft = self.path.with_suffix(".partial")
        lines = [msgspec.json.encode(line) for line in (_Head(self._declaration), *parts)]
        draft.write_bytes(b"\n".join(lines) + b"\n")
        draft.rename(self.path)

    def add(self, part: Part) -> None:
        with open(self.path, "ab", buffering=0) as sink:
            sink.write(msgspec.json.encode(part) + b"\n")

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
