"""The journal of a run that is under way, or of one that was killed.

``events``, ``jobs`` and ``steps`` are JSON lines, ``samples`` an Arrow IPC stream without an end
mark.  Every append is one write to the operating system, so that a killed runner loses nothing
that was written; what a power cut or a full disk tore is left out when read, and remarked.

At the end of a run, or by the first reader of a killed one, the journal becomes tables.  While it is there it
is the truth and the tables are ignored; the tables are written and synced first, then the journal is renamed
away in one step.  A crash at any point loses nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec
import pyarrow as pa
from pyarrow import ipc

from mawl.base.errors import UnreadableRunError
from mawl.base.foreign import json_tree, open_regular
from mawl.base.removal import remove_below
from mawl.base.units import format_memory
from mawl.records.model.records import EventRecord, JobRecord, SampleRecord, StepRecord, Usage
from mawl.records.model.run import PLANNED_FIELDS, PlannedJob, RunFacts
from mawl.records.store.columns import (
    INSTANT,
    MOST_SERIES,
    SCHEMAS,
    BatchForm,
    conform,
    in_bounds,
    message_of,
    to_table,
)
from mawl.records.store.facts import from_plain, line_of, write_facts
from mawl.records.store.files import (
    COMPACTED,
    FACTS,
    JOURNAL,
    LARGEST_LINE_BYTES,
    LARGEST_LINES_BYTES,
    MOST_BAD_LINES,
    MOST_ROWS,
    SAMPLES_STREAM,
    sync_directory,
)
from mawl.records.store.parquet import write_parquet

Record = TypeVar("Record", JobRecord, StepRecord, EventRecord)
MOST_REMARKS = 20
_MOST_FORMS = 8


class Appender:
    """Appends to one file, all of a record or nothing of it."""

    def __init__(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        self._descriptor = os.open(path, flags, 0o600)
        self._length = 0

    def append(self, content: bytes) -> None:
        """One whole record, in one write; OSError when it does not fit, and the file is as before."""
        rest = memoryview(content)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            os.ftruncate(self._descriptor, self._length)
            raise
        self._length += len(content)

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        """Close the file (and let go of its lock); again is harmless."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class LineAppender(Appender):
    """Appends records as JSON lines."""

    def record(self, record: msgspec.Struct) -> None:
        self.append(line_of(record) + b"\n")


class SampleAppender:
    """Appends samples as Arrow record batches of the long format (node, at, series, value)."""

    def __init__(self, path: Path) -> None:
        self._file = Appender(path)
        self._schema = SCHEMAS["samples"]
        self._forms: dict[tuple[str, tuple[str, ...]], BatchForm] = {}
        self._file.append(self._schema.serialize().to_pybytes())

    def samples(self, rows: Sequence[SampleRecord]) -> None:
        columns = [
            pa.array([row.node for row in rows], pa.string()),
            pa.array([round(row.sampled_at * 1e6) for row in rows], INSTANT),
            pa.array([row.series for row in rows], pa.string()),
            pa.array([row.value for row in rows], pa.float64()),
        ]
        batch = pa.record_batch(columns, schema=self._schema)
        self._file.append(message_of(batch))

    def figures(self, node: str, at: float, figures: Mapping[str, float]) -> None:
        """A node's figures at one moment, series to value; one write, as few record batches as hold them."""
        names, values = tuple(figures), tuple(figures.values())
        content = b""
        for begin in range(0, len(names), MOST_SERIES):
            form = self._form(node, names[begin : begin + MOST_SERIES])
            content += form.filled(round(at * 1e6), values[begin : begin + MOST_SERIES])
        self._file.append(content)

    def _form(self, node: str, series: tuple[str, ...]) -> BatchForm:
        form = self._forms.get((node, series))
        if form is None:
            if len(self._forms) >= _MOST_FORMS:
                self._forms.clear()
            form = self._forms[node, series] = BatchForm(node, series)
        return form

    def table(self, table: pa.Table) -> None:
        for batch in table.cast(self._schema).to_batches():
            self._file.append(message_of(batch))

    def close(self) -> None:
        """Close the stream; it has no end mark, so that a killed one looks the same."""
        self._file.close()


class Remarks(list[str]):
    """Sentences about what was left out; only the first ones are kept, the rest counted."""

    left_out = 0

    def add(self, sentence: str) -> None:
        if len(self) < MOST_REMARKS:
            self.append(sentence)
        else:
            self.left_out += 1

    def sentences(self) -> list[str]:
        return [*self, f"and {self.left_out} more of that kind"] if self.left_out else list(self)


class LineBudget:
    """How far one journal file of lines is read: by its lines, its bytes, and the lines that are no record.

    A sparse file costs its maker nothing, and a line that is no record costs its reader as much as one.
    """

    def __init__(self, table: str) -> None:
        self._most_lines = MOST_ROWS[table]
        self.lines = self.bad = self.bytes = 0

    def allows(self) -> bool:
        return (
            self.lines <= self._most_lines
            and self.bad <= MOST_BAD_LINES
            and self.bytes <= LARGEST_LINES_BYTES
        )

    def __str__(self) -> str:
        return (
            f"mawl reads at most {self._most_lines} lines, {format_memory(LARGEST_LINES_BYTES)} and "
            f"{MOST_BAD_LINES} lines that are not records; the rest is left out"
        )


def read_lines(path: Path, table: str, kind: type[Record], remarks: Remarks) -> list[Record]:
    """The records of one journal file; a line that is not one is left out with a remark.

    Raises FileNotFoundError where the file is gone (another reader has just compacted the run).
    """
    records: list[Record] = []
    budget = LineBudget(table)
    with open_regular(path, inside=path.parent.parent) as file:
        for number, line in _lines(file, budget):
            if not budget.allows():
                remarks.insert(0, f"{path}: {budget}")
                break
            if line is None:
                budget.bad += 1
                remarks.add(f"{path}, line {number}: longer than any record, left out")
                continue
            if not line.strip():
                continue
            try:
                records.append(from_plain(json_tree(line), kind))
            except (ValueError, OverflowError) as error:
                budget.bad += 1
                torn = not line.endswith(b"\n")
                what = "torn when the run was stopped" if torn else f"not a record ({str(error)[:120]})"
                remarks.add(f"{path}, line {number}: {what}, left out")
    return records


def _lines(file: BinaryIO, budget: LineBudget) -> Iterator[tuple[int, bytes | None]]:
    """Numbered lines, counted in the budget; None for one that is too long to be a record."""
    while line := file.readline(LARGEST_LINE_BYTES):
        budget.lines += 1
        budget.bytes += len(line)
        whole: bytes | None = line
        while len(line) == LARGEST_LINE_BYTES and not line.endswith(b"\n") and budget.allows():
            whole = None
            line = file.readline(LARGEST_LINE_BYTES)
            budget.bytes += len(line)
        yield budget.lines, whole


def read_samples(path: Path, remarks: Remarks) -> Iterator[pa.Table]:
    """The samples, a batch at a time, up to where the stream was torn, which is remarked."""
    rows = 0
    with open_regular(path, inside=path.parent.parent) as file:
        try:
            stream = ipc.open_stream(file)
            for batch in stream:
                batch.validate(full=True)
                table = pa.Table.from_batches([batch])
                rows += table.num_rows
                if rows > MOST_ROWS["samples"]:
                    raise pa.ArrowInvalid("more rows than mawl reads")
                yield conform("samples", table, path)
        except (pa.ArrowException, OSError, ValueError, MemoryError, UnreadableRunError) as error:
            why = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
            remarks.add(f"{path}: torn or damaged after {rows} samples ({why}), the rest is left out")


ROWS_PER_GROUP = 2**20

LOST_REASON = "no record of its end: the runner was gone before it"
NOT_STARTED_REASON = "the run ended before this job started"
INTERRUPTED_REASON = "the runner ended without finishing the run (killed, or the machine stopped)"


class Journal(msgspec.Struct, kw_only=True):
    """What a journal holds, and what of it had to be left out."""

    events: list[EventRecord]
    jobs: list[JobRecord]
    steps: list[StepRecord]
    remarks: Remarks

    def last_at(self) -> float | None:
        times = [event.happened_at for event in self.events]
        times += [step.ended_at for step in self.steps if step.ended_at is not None]
        times += [job.ended_at for job in self.jobs if job.ended_at is not None]
        return max(times, default=None)


def read_journal(folder: Path) -> Journal:
    """Read the line files; FileNotFoundError when another reader has just compacted the run."""
    remarks = Remarks()
    journal = folder / JOURNAL

    def lines(name: str, kind: type) -> list:  # type: ignore[type-arg]
        try:
            return read_lines(journal / f"{name}.jsonl", name, kind, remarks)
        except FileNotFoundError:
            if not journal.is_dir():
                raise
            remarks.add(f"{journal / name}.jsonl: missing")
            return []

    return Journal(
        events=lines("events", EventRecord),
        jobs=lines("jobs", JobRecord),
        steps=lines("steps", StepRecord),
        remarks=remarks,
    )


def final_facts(facts: RunFacts, journal: Journal) -> RunFacts:
    """The facts of a run whose runner is gone: ``running`` becomes ``interrupted``."""
    remarks = [*facts.remarks, *(text for text in journal.remarks.sentences() if text not in facts.remarks)]
    facts = msgspec.structs.replace(facts, remarks=remarks)
    if facts.outcome != "running":
        return facts
    return msgspec.structs.replace(
        facts,
        outcome="interrupted",
        outcome_reason=facts.outcome_reason or INTERRUPTED_REASON,
        ended_at=journal.last_at() if facts.ended_at is None else facts.ended_at,
    )


def with_unrecorded_jobs(facts: RunFacts, journal: Journal) -> list[JobRecord]:
    """The job records, and one for each planned job that left none.

    A job that had started is ``lost``; one that had not is ``not_started``.  A job that events or
    steps name but the plan does not is remarked.
    """
    started = {event.job: event.happened_at for event in journal.events if event.event == "job_started"}
    step_counts: dict[str, int] = {}
    for step in journal.steps:
        step_counts[step.job] = step_counts.get(step.job, 0) + 1
        if step.started_at is not None:
            started.setdefault(step.job, step.started_at)
    recorded = {job.job for job in journal.jobs}
    jobs = list(journal.jobs)
    for planned in facts.planned_jobs:
        if planned.job not in recorded:
            recorded.add(planned.job)
            jobs.append(_without_record(planned, started.get(planned.job), step_counts.get(planned.job, 0)))
    for name in sorted(name for name in started if name is not None and name not in recorded):
        journal.remarks.add(f"job {name[:80]} started but is neither recorded nor planned, left out")
    return jobs


def _without_record(planned: PlannedJob, started_at: float | None, steps: int) -> JobRecord:
    lost = started_at is not None
    return JobRecord(
        **{name: getattr(planned, name) for name in PLANNED_FIELDS},
        outcome="lost" if lost else "not_started",
        verified=None,
        reason=LOST_REASON if lost else NOT_STARTED_REASON,
        started_at=started_at,
        usage=Usage(),
        startup=Usage(),
        verify=Usage(),
        total=Usage(),
        steps=steps,
    )


def compact(folder: Path, facts: RunFacts) -> RunFacts:
    """Write the tables from the journal, then the facts, then remove the journal.

    Returns the facts as written.  Raises OSError where the folder cannot be written, and
    FileNotFoundError when another reader has just done the same.
    """
    journal = read_journal(folder)
    for name, table in line_tables(journal, with_unrecorded_jobs(facts, journal)).items():
        write_parquet(folder / f"{name}.parquet", iter([table]), name)
    samples = sample_tables(folder, journal.remarks)
    write_parquet(folder / "samples.parquet", _grouped(samples), "samples")
    facts = final_facts(facts, journal)
    write_facts(folder, facts)
    remove_journal(folder)
    return facts


def line_tables(journal: Journal, jobs: list[JobRecord]) -> dict[str, pa.Table]:
    """Tables of jobs, steps and events; a record with a figure no column can hold is remarked."""

    def table(name: str, records: Sequence[msgspec.Struct]) -> pa.Table:
        try:
            return in_bounds(to_table(name, records))
        except (pa.ArrowException, ValueError, OverflowError):
            fitting = [record for record in records if _fits(name, record)]
            journal.remarks.add(
                f"{len(records) - len(fitting)} of the {name} hold impossible figures, left out"
            )
            return to_table(name, fitting)

    return {
        "jobs": table("jobs", jobs),
        "steps": table("steps", journal.steps),
        "events": table("events", journal.events),
    }


def _fits(name: str, record: msgspec.Struct) -> bool:
    try:
        in_bounds(to_table(name, [record]))
    except (pa.ArrowException, ValueError, OverflowError):
        return False
    return True


def sample_tables(folder: Path, remarks: Remarks) -> Iterator[pa.Table]:
    """The journal's samples, a second each; FileNotFoundError when the whole journal is gone."""
    stream = folder / JOURNAL / SAMPLES_STREAM
    try:
        yield from read_samples(stream, remarks)
    except FileNotFoundError:
        if not stream.parent.is_dir():
            raise
        remarks.add(f"{stream}: missing")


def _grouped(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    waiting: list[pa.Table] = [SCHEMAS["samples"].empty_table()]
    rows = 0
    for table in tables:
        waiting.append(table)
        rows += table.num_rows
        if rows >= ROWS_PER_GROUP:
            yield pa.concat_tables(waiting)
            waiting, rows = [], 0
    if waiting:
        yield pa.concat_tables(waiting)


def remove_journal(folder: Path) -> None:
    """Rename the journal away in one step, when the tables last, and then remove it."""
    sync_directory(folder)
    journal, compacted = folder / JOURNAL, folder / COMPACTED
    remove_below(folder, COMPACTED, mark=FACTS)
    journal.rename(compacted)
    remove_below(folder, COMPACTED, mark=FACTS)
