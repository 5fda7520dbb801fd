"""Writing a run folder: facts, plan and journal while a run lasts, tables at its end, or a known run at once.

``WholeRunWriter`` writes ``run.json`` last: until then, the folder is no run.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.base.errors import (
    InterruptedRunError,
    MawlError,
    UnsuitableMachineError,
    UsageError,
    check_name,
    cure_of,
    shortened,
)
from mawl.base.printable import printable
from mawl.base.removal import remove_below
from mawl.records.model.derived import FILE as DERIVED
from mawl.records.model.probe import Probe
from mawl.records.model.records import EventRecord, JobRecord, RunOutcome, SampleRecord, StepRecord
from mawl.records.model.run import RunFacts
from mawl.records.store.columns import INSTANT, SCHEMAS, plain_steps, to_table, whole_steps
from mawl.records.store.facts import write_facts
from mawl.records.store.files import (
    FACTS,
    JOURNAL,
    LATEST,
    LOGS,
    PLAN,
    PROBE,
    SAMPLES_STREAM,
    lock,
    replace_file,
    replace_link,
    sync_directory,
    try_lock,
)
from mawl.records.store.journal import LineAppender, SampleAppender, compact
from mawl.records.store.side_files import write_probe


class RunWriter:
    """The one writer of a run folder; readers may look at any time.

    It holds a lock (flock) on the journal for as long as it lives, by which readers tell a run
    that is under way from one whose runner was killed.  Methods raise OSError when the folder
    cannot be written any more; what was appended before stays readable.  An error that leaves its ``with``
    block before ``finish`` becomes the outcome of the run, if the folder can still be written.
    """

    def __init__(
        self, path: Path, facts: RunFacts, *, plan: str = "", derived: bytes = b"", runs: Path | None = None
    ) -> None:
        """Make the folder (0700), lock its journal, write facts and plan.

        ``plan`` is the text of ``plan.toml``, ``derived`` the file of its derived jobs (empty: it has none);
        ``runs`` is the directory whose ``latest`` link shall point here, if any.  Raises
        ``UsageError`` where the folder already holds something, and
        ``UnsuitableMachineError`` where it cannot be written.
        """
        self.path = path.absolute()
        self._facts: RunFacts | None = facts
        """What ``run.json`` holds; None once the run is over."""
        self._opened = contextlib.ExitStack()
        try:
            with _making(self.path):
                self._begin(facts, plan, derived, runs)
        except OSError as error:
            self.close()
            failed = unwritable(error, self.path, "no job was started")
            with contextlib.suppress(OSError):
                if (self.path / FACTS).exists():
                    self._break_off(failed)
                else:
                    self.path.rmdir()
            raise failed from None

    def _begin(self, facts: RunFacts, plan: str, derived: bytes, runs: Path | None) -> None:
        write_facts(self.path, facts)  # first: a folder that has it is known, whenever its run is killed
        journal = self.path / JOURNAL
        for directory in (journal, self.path / LOGS):
            directory.mkdir(mode=0o700)
        closed = self._opened.enter_context
        self._events = closed(contextlib.closing(LineAppender(journal / "events.jsonl")))
        lock(self._events.fileno())
        self._jobs = closed(contextlib.closing(LineAppender(journal / "jobs.jsonl")))
        self._steps = closed(contextlib.closing(LineAppender(journal / "steps.jsonl")))
        self._samples = closed(contextlib.closing(SampleAppender(journal / SAMPLES_STREAM)))
        if derived:
            replace_file(self.path / DERIVED, derived)
        replace_file(self.path / PLAN, plan.encode())
        if runs is not None:
            replace_link(runs / LATEST, self.path)

    def event(self, record: EventRecord) -> None:
        self._events.record(record)

    def job(self, record: JobRecord) -> None:
        self._jobs.record(record)

    def step(self, record: StepRecord) -> None:
        self._steps.record(record)

    def samples(self, rows: Sequence[SampleRecord]) -> None:
        self._samples.samples(rows)

    def figures(self, node: str, at: float, figures: Mapping[str, float]) -> None:
        """Figures of one node at one moment (seconds since the epoch): series to value, in base units."""
        self._samples.figures(node, at, figures)

    def sample_table(self, table: pa.Table) -> None:
        self._samples.table(table)

    def update(self, facts: RunFacts) -> None:
        """Replace ``run.json``."""
        write_facts(self.path, facts)
        self._facts = facts

    def finish(self, facts: RunFacts) -> None:
        """The run is over: final facts, tables from the journal, and the journal goes."""
        write_facts(self.path, facts)
        self._facts = None
        compact(self.path, facts)
        self.close()

    def close(self) -> None:
        """Let go of files and lock without finishing; the folder then reads as interrupted."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):
            with contextlib.suppress(OSError):
                self._break_off(error)
        self.close()

    def _break_off(self, error: Exception) -> None:
        """Say in the facts why the run did not go on; its journal becomes tables when it is first read."""
        if self._facts is None:
            return
        if isinstance(error, MawlError):
            reason = ": ".join(part for part in (error.what, error.why) if part)
        elif isinstance(error, OSError):
            file = str(error.filename) if error.filename else None
            reason = ": ".join(part for part in (file, (error.strerror or str(error)).lower()) if part)
        else:
            reason = f"{type(error).__name__}: {error}"
        outcome: RunOutcome = "interrupted" if isinstance(error, InterruptedRunError) else "failed"
        self.update(
            msgspec.structs.replace(
                self._facts,
                outcome=outcome,
                outcome_reason=printable(shortened(reason)),
                ended_at=time.time(),
            )
        )


def unwritable(error: OSError, folder: Path, jobs: str) -> UnsuitableMachineError:
    """The sentence for a run folder that cannot be written, and what has become of the ``jobs``."""
    return UnsuitableMachineError(
        "the run folder cannot be written",
        where=str(folder),
        why=(error.strerror or str(error)).lower(),
        cure=f"{cure_of(error, folder, 'name another place with --runs')}; {jobs}",
    )


def make_folder(path: Path) -> None:
    """An empty folder (0700): UsageError where it holds files or has no name, else UnsuitableMachineError."""
    check_name(path, "the run folder")
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise UsageError(
                "already holds files",
                where=str(path),
                cure="name a new directory with --output, or none to have one made",
            )
        path.chmod(0o700)
    except OSError as error:
        raise UnsuitableMachineError(
            "the run folder cannot be made",
            where=str(path),
            why=(error.strerror or str(error)).lower(),
            cure=cure_of(error, path, "name a writable directory with --runs or --output"),
        ) from None


@contextlib.contextmanager
def _making(path: Path) -> Iterator[None]:
    """Make a run folder and hold its lock until the journal's lock takes over."""
    while (at := _made_and_locked(path)) is None:
        pass
    try:
        make_folder(path)  # refuses it where another run, which held the lock before, began in it
        yield
    finally:
        os.close(at)


def _made_and_locked(path: Path) -> int | None:
    """A descriptor of an empty folder, locked; None where `mawl clean` took the folder away meanwhile."""
    make_folder(path)
    try:
        at = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    lock(at)
    if os.fstat(at).st_nlink:
        return at
    os.close(at)
    return None


_NEW_SECONDS = 2.0
"""A younger folder may belong to a run that is about to lock it."""
_RUN_NAME = re.compile(r"\d{8}-\d{6}-.+")


def unbegun_folders(runs: Path) -> list[Path]:
    """Run folders in a directory that a kill left before their ``run.json`` stood, and nobody makes any more.

    By the name that mawl gives to a run, without any file but what ``write_facts`` had begun.
    """
    return [path for path in sorted(runs.glob("*")) if _RUN_NAME.fullmatch(path.name) and _is_unbegun(path)]


def _is_unbegun(folder: Path) -> bool:
    with _unbegun(folder) as drafts:
        return drafts is not None


def remove_unbegun(folder: Path) -> bool:
    """Remove such a folder; False where somebody makes it by now.  Raises OSError."""
    with _unbegun(folder) as drafts:
        for draft in drafts or ():
            (folder / draft).unlink(missing_ok=True)
        if drafts is not None:
            folder.rmdir()
        return drafts is not None


@contextlib.contextmanager
def _unbegun(folder: Path) -> Iterator[list[str] | None]:
    """The drafts of ``run.json`` in a folder that holds nothing else, locked; None for any other folder."""
    try:
        at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        yield None
        return
    try:
        is_new = time.time() - os.fstat(at).st_mtime < _NEW_SECONDS
        names = [FACTS] if is_new or not try_lock(at) else os.listdir(at)
        yield names if all(name.startswith(f".{FACTS}.") for name in names) else None
    finally:
        os.close(at)


STEPS_PER_BATCH = 50_000
"""Rows of a row group.  Each group costs time and bytes for all 150 columns, however few its rows."""
VALUES_PER_BATCH = 250_000
STEPS_LAYOUT: dict[str, Any] = {"use_dictionary": ["job", "name", "kind", "notes"]}
SAMPLES_LAYOUT: dict[str, Any] = {
    "use_dictionary": ["node", "sampled_at", "series"],
    "column_encoding": {"value": "BYTE_STREAM_SPLIT"},
}
"""Figures are rarely the same twice: a dictionary of them costs time and makes files larger."""


class WholeRunWriter:
    """The one writer of such a folder; ``abandon`` takes away what it made.

    Methods raise OSError when the folder cannot be written.
    """

    def __init__(self, path: Path) -> None:
        """Make the folder (0700).  Raises ``UsageError`` where it holds something."""
        from pyarrow import parquet

        self.path = path.absolute()
        self._new = not self.path.exists()
        make_folder(self.path)
        (self.path / LOGS).mkdir(mode=0o700)
        self._tables = {
            name: parquet.ParquetWriter(
                self.path / f"{name}.parquet", SCHEMAS[name], compression="zstd", **options
            )
            for name, options in (("steps", STEPS_LAYOUT), ("samples", SAMPLES_LAYOUT))
        }
        self._steps: list[StepRecord] = []
        self._pieces: list[pa.Table] = []
        self._order: list[tuple[int, int]] = []
        self._waiting = 0
        self._rows: list[tuple[str, int, int]] = []
        self._codes: dict[str, int] = {}
        self._series: list[NDArray[np.int32]] = []
        self._last: tuple[tuple[str, ...], NDArray[np.int32]] = ((), np.empty(0, np.int32))
        self._values: list[float] = []

    def step(self, record: StepRecord) -> None:
        """A step without I/O by role and waits."""
        self._steps.append(record)
        self._count_step(1)

    def step_columns(self, table: pa.Table) -> None:
        """Steps as columns of the table ``steps``; those that are missing are null."""
        self._order.append((len(self._steps), table.num_rows))
        self._pieces.append(table)
        self._count_step(table.num_rows)

    def move_steps(self, renamed: Mapping[str, str], dropped: frozenset[str]) -> int:
        """Give the steps of jobs to others, in the order of their ends, and leave out those of ``dropped``.

        Returns how many are left out.  No step may follow.
        """
        from pyarrow import compute, parquet

        self._flush_steps()
        self._tables["steps"].close()
        path = self.path / "steps.parquet"
        old = path.with_suffix(".whole")
        path.rename(old)
        touched = pa.array([*renamed, *renamed.values(), *dropped], pa.string())
        kept: list[pa.Table] = []
        with parquet.ParquetFile(old) as source:
            writer = self._tables["steps"] = parquet.ParquetWriter(
                path, source.schema_arrow, compression="zstd"
            )
            for group in range(source.num_row_groups):
                table = source.read_row_group(group)
                moves = compute.is_in(table["job"], value_set=touched)
                kept.append(table.filter(moves))
                writer.write_table(table.filter(compute.invert(moves)))
        old.unlink()
        moved = pa.concat_tables(kept)
        left = moved.filter(
            compute.invert(compute.is_in(moved["job"], value_set=pa.array(dropped, pa.string())))
        )
        rows = left.to_pylist()
        for row in rows:
            row["job"] = renamed.get(row["job"], row["job"])
        rows.sort(key=lambda row: (row["job"], row["ended_at"] is None, row["ended_at"] or 0, row["number"]))
        for place, row in enumerate(rows):
            first = place == 0 or rows[place - 1]["job"] != row["job"]
            row["number"] = 1 if first else rows[place - 1]["number"] + 1
        writer.write_table(pa.Table.from_pylist(rows, source.schema_arrow))
        return int(moved.num_rows - left.num_rows)

    def _count_step(self, count: int) -> None:
        self._waiting += count
        if self._waiting >= STEPS_PER_BATCH:
            self._flush_steps()

    def figures(self, node: str, at: float, figures: Mapping[str, float]) -> None:
        """Figures of one node at one moment (seconds since the epoch): series to value, in base units."""
        self._rows.append((node, round(at * 1e6), len(figures)))
        names = tuple(figures)
        if names != self._last[0]:  # nearly all rows have the series of the row before
            codes = self._codes
            known = (codes.setdefault(name, len(codes)) for name in names)
            self._last = (names, np.fromiter(known, np.int32, len(names)))
        self._series.append(self._last[1])
        self._values.extend(figures.values())
        if len(self._values) >= VALUES_PER_BATCH:
            self._flush_samples()

    def finish(
        self, facts: RunFacts, jobs: Sequence[JobRecord], probe: Probe | None = None, runs: Path | None = None
    ) -> None:
        """Write the rest, then the facts, then the link ``latest`` of ``runs``."""
        from pyarrow import parquet

        self._flush_steps()
        self._flush_samples()
        self._close()
        for name, table in (("jobs", to_table("jobs", jobs)), ("events", to_table("events", []))):
            parquet.write_table(table, self.path / f"{name}.parquet", compression="zstd")
        for path in self.path.glob("*.parquet"):
            path.chmod(0o600)
        if probe is not None:
            write_probe(self.path / PROBE, probe)
        replace_file(self.path / PLAN, b"# an imported run: no plan\n")
        write_facts(self.path, facts)
        sync_directory(self.path)
        if runs is not None:
            replace_link(runs / LATEST, self.path)

    def abandon(self) -> None:
        """Take away the folder, or what was put into one that was there before."""
        with contextlib.suppress(OSError, pa.ArrowException):
            self._close()
        # The table that stands from the first moment on says that this folder is of this writer.
        remove_below(self.path, *os.listdir(self.path), mark="steps.parquet")
        if self._new:
            self.path.rmdir()

    def _close(self) -> None:
        for writer in self._tables.values():
            writer.close()

    def _flush_steps(self) -> None:
        """Write the steps that wait, in the order in which they came: records and pieces wait apart."""
        if not self._waiting:
            return
        tables = [plain_steps(self._steps)] if self._steps else []
        table = pa.concat_tables([*tables, *map(_cast_times, self._pieces)], promote_options="default")
        if self._steps and self._pieces:
            table = table.take(pa.array(_in_order(len(self._steps), self._order)))
        self._tables["steps"].write_table(whole_steps(table.combine_chunks()))
        self._steps.clear()
        self._pieces.clear()
        self._order.clear()
        self._waiting = 0

    def _flush_samples(self) -> None:
        if not self._values:
            return
        nodes, moments, counts = zip(*self._rows, strict=True)
        names = sorted(set(nodes))
        codes = np.repeat(np.array([names.index(node) for node in nodes], dtype=np.int32), counts)
        times = np.repeat(np.array(moments, dtype=np.int64), counts)
        columns = [
            pa.array(names, pa.string()).take(pa.array(codes)),
            pa.array(times).cast(INSTANT),
            pa.array(list(self._codes), pa.string()).take(pa.array(np.concatenate(self._series))),
            pa.array(self._values, pa.float64()),
        ]
        self._tables["samples"].write_table(pa.table(columns, schema=SCHEMAS["samples"]))
        self._rows.clear()
        self._series.clear()
        self._values.clear()


def _in_order(records: int, pieces: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    """Places, in the order in which the rows came, in a table that has all records before all pieces.

    ``pieces`` has a pair for each piece: how many records came before it, and how many rows it has.
    """
    places, taken, below = [], 0, records
    for before, rows in pieces:
        places.append(np.arange(taken, before))
        places.append(np.arange(below, below + rows))
        taken, below = before, below + rows
    return np.concatenate([*places, np.arange(taken, records)])


def _cast_times(table: pa.Table) -> pa.Table:
    for name in ("started_at", "ended_at"):
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, table.column(name).cast(INSTANT))
    return table
