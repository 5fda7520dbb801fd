"""Following the journal of a running run: each call reads only what was appended since the last one.

A reader must not cost a live run anything: nothing is locked, compacted or read twice.  An incomplete line
or batch is left until it is complete.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Generic, Protocol

import msgspec
import pyarrow as pa
from pyarrow import ipc

from mawl.base.errors import UnreadableRunError
from mawl.base.foreign import descriptor_of, json_tree
from mawl.records.model.records import EventRecord, JobRecord, StepRecord
from mawl.records.model.run import RunFacts
from mawl.records.store.columns import SCHEMAS, conform
from mawl.records.store.facts import from_plain, read_facts
from mawl.records.store.files import FACTS, JOURNAL, LARGEST_LINE_BYTES, MOST_ROWS, SAMPLES_STREAM
from mawl.records.store.journal import Journal, LineBudget, Record, Remarks, line_tables
from mawl.records.store.reading import Run

LARGEST_BATCH_BYTES = 16 * 2**20
"""A batch holds one second; what does not end within this many bytes is no batch."""


class Fresh(msgspec.Struct, frozen=True, kw_only=True):
    """What a journal got since somebody last asked."""

    events: list[EventRecord]
    jobs: list[JobRecord]
    steps: list[StepRecord]
    samples: pa.Table


class Samples(Protocol):
    """Where the samples of a run that is followed go: ``rows`` came, of a series one of ``stride`` stays."""

    rows: int
    stride: int

    def add(self, table: pa.Table) -> None:
        """Samples as a table of their schema; ValueError for more than may be."""

    def table(self) -> pa.Table:
        """What is kept of all so far."""


class EverySample:
    """All samples of a run, or all since they were last taken."""

    def __init__(self) -> None:
        self.rows, self.stride = 0, 1
        self._tables: list[pa.Table] = [SCHEMAS["samples"].empty_table()]

    def add(self, table: pa.Table) -> None:
        self.rows += table.num_rows
        if self.rows > MOST_ROWS["samples"]:
            raise ValueError("more rows than mawl reads")
        self._tables.append(table)

    def table(self) -> pa.Table:
        self._tables = [pa.concat_tables(self._tables).combine_chunks()]
        return self._tables[0]

    def take(self) -> pa.Table:
        table = pa.concat_tables(self._tables)
        self._tables = [SCHEMAS["samples"].empty_table()]
        return table


class Tail:
    """What the journal of a run holds so far; of its samples, what ``samples`` keeps, by default all.

    Making one and ``look`` raise FileNotFoundError when the journal is gone (the run ended, or
    its folder was removed), and ``UnreadableRunError`` for damaged facts.
    """

    def __init__(self, folder: Path, samples: Samples | None = None) -> None:
        self.folder = folder
        self._facts_seen = _identity(folder / FACTS)
        self.facts = read_facts(folder)
        journal = folder / JOURNAL
        self._remarks = Remarks()
        self._events = _Lines(journal / "events.jsonl", "events", EventRecord, self._remarks)
        self._jobs = _Lines(journal / "jobs.jsonl", "jobs", JobRecord, self._remarks)
        self._step_lines = _Lines(journal / "steps.jsonl", "steps", StepRecord, self._remarks)
        self._samples = samples or EverySample()
        self._batches = _Batches(journal / SAMPLES_STREAM, self._remarks, self._samples)

    @property
    def events(self) -> list[EventRecord]:
        return self._events.records

    @property
    def jobs(self) -> list[JobRecord]:
        return self._jobs.records

    def look(self) -> bool:
        """Read what was appended; whether there was anything new."""
        if not (self.folder / JOURNAL).is_dir():
            raise FileNotFoundError(self.folder / JOURNAL)
        seen = _identity(self.folder / FACTS)
        changed = seen != self._facts_seen
        if changed:
            self.facts, self._facts_seen = read_facts(self.folder), seen
        for part in (self._events, self._jobs, self._step_lines, self._batches):
            changed = part.look() or changed
        return changed

    def run(self) -> Run:
        """The run so far, as tables; what came before stays as it was read."""
        journal = Journal(
            events=self.events, jobs=self.jobs, steps=self._step_lines.records, remarks=self._remarks
        )
        tables = {**line_tables(journal, self.jobs), "samples": self._samples.table()}
        return Run(
            self.folder,
            self._with_remarks(),
            tables.__getitem__,
            stride=self._samples.stride,
            sampled_rows=self._samples.rows,
        )

    def fresh(self, samples: pa.Table) -> Fresh:
        """The lines that came since the last call, with these samples; the lines are not kept here."""
        return Fresh(
            events=self._events.fresh(),
            jobs=self._jobs.fresh(),
            steps=self._step_lines.fresh(),
            samples=samples,
        )

    def _with_remarks(self) -> RunFacts:
        remarks = [*self.facts.remarks, *self._remarks.sentences()]
        if self._samples.stride > 1:
            remarks.append(
                f"this page uses 1 of {self._samples.stride} samples of each series, because the run is "
                "long; the report of the finished run uses all"
            )
        return msgspec.structs.replace(self.facts, remarks=remarks)


class _Lines(Generic[Record]):
    """One file of JSON lines, read up to the last whole line."""

    def __init__(self, path: Path, table: str, kind: type[Record], remarks: Remarks) -> None:
        self.records: list[Record] = []
        self._path, self._table, self._remarks = path, table, remarks
        self._kind: type[Record] = kind
        self._offset = 0
        self._budget = LineBudget(table)
        self._skipping = False

    def fresh(self) -> list[Record]:
        """The records that came since the last call; they are not kept here."""
        found, self.records = self.records, []
        return found

    def look(self) -> bool:
        found = False
        while self._budget.allows() and (chunk := _read(self._path, self._offset, LARGEST_LINE_BYTES)):
            whole = chunk.rfind(b"\n") + 1
            if not whole and len(chunk) < LARGEST_LINE_BYTES:
                break
            found = True
            self._offset += whole or len(chunk)
            if not whole and not self._skipping:
                self._remark("longer than any record")
            for line in chunk[:whole].split(b"\n")[int(self._skipping) : -1]:
                self._take(line)
            self._skipping = not whole
            self._budget.bytes = self._offset
            if not self._budget.allows():
                self._remarks.insert(0, f"{self._path}: {self._budget}")
        return found

    def _take(self, line: bytes) -> None:
        self._budget.lines += 1
        if not line.strip() or not self._budget.allows():
            return
        try:
            self.records.append(from_plain(json_tree(line), self._kind))
        except (ValueError, OverflowError) as error:
            self._remark(f"not a record ({str(error)[:120]})")

    def _remark(self, why: str) -> None:
        self._budget.bad += 1
        self._remarks.add(f"{self._path}, before byte {self._offset}: {why}, left out")


class _Batches:
    """The stream of samples, read up to the last whole batch."""

    def __init__(self, path: Path, remarks: Remarks, samples: Samples) -> None:
        self._path, self._remarks = path, remarks
        self._samples = samples
        self._offset = 0
        self._schema: pa.Schema | None = None
        self._damaged = False

    def look(self) -> bool:
        found = False
        while not self._damaged and (chunk := _read(self._path, self._offset, LARGEST_BATCH_BYTES)):
            try:
                length = self._take(chunk)
            except (pa.ArrowException, ValueError, MemoryError, UnreadableRunError) as error:
                self._stop(str(error).splitlines()[0][:120])
                break
            self._offset += length
            found = found or length > 0
            if not length and len(chunk) == LARGEST_BATCH_BYTES:
                self._stop("no batch ends here")
            if not length:
                break
        return found

    def _take(self, chunk: bytes) -> int:
        """Read the whole messages of a chunk; how many bytes they are."""
        source, end = pa.BufferReader(chunk), 0
        batches = []
        while True:
            try:
                message = ipc.read_message(source)
            except (EOFError, OSError, pa.ArrowInvalid):
                break
            end = source.tell()
            if self._schema is None:
                self._schema = ipc.read_schema(message)
                continue
            batch = ipc.read_record_batch(message, self._schema)
            batch.validate(full=True)
            batches.append(batch)
        if batches:
            self._samples.add(conform("samples", pa.Table.from_batches(batches), self._path))
        return end

    def _stop(self, why: str) -> None:
        self._damaged = True
        self._remarks.add(f"{self._path}: damaged after byte {self._offset} ({why}), the rest is left out")


def _read(path: Path, offset: int, most: int) -> bytes:
    """Up to ``most`` bytes from ``offset``; nothing of what mawl does not open."""
    try:
        descriptor = descriptor_of(path, inside=path.parent.parent)
    except OSError:
        return b""
    try:
        return os.pread(descriptor, most, offset)
    finally:
        os.close(descriptor)


def _identity(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns
