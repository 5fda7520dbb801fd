"""Reading a run: finished, under way, killed, old, or not a run at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import pyarrow as pa
from pyarrow import compute

from mawl.base.errors import UnreadableRunError, UsageError
from mawl.records.model.node import ArrayStatistics
from mawl.records.model.probe import Probe
from mawl.records.model.records import EventRecord, JobRecord, StepRecord
from mawl.records.model.run import RunFacts
from mawl.records.store.columns import SCHEMAS
from mawl.records.store.facts import read_facts
from mawl.records.store.files import FACTS, JOURNAL, LATEST, is_held, try_lock
from mawl.records.store.journal import (
    compact,
    final_facts,
    line_tables,
    read_journal,
    sample_tables,
    with_unrecorded_jobs,
)
from mawl.records.store.parquet import OverBudgetError, budget_of, parquet_parts, read_parquet
from mawl.records.store.rows import Record, in_parts, to_records
from mawl.records.store.side_files import arrays_of, probe_of

MOST_NAMED = 5
"""Run folders that a refusal names."""

ATTEMPTS = 3
"""How often to look again when another reader compacts the run at the same moment."""


class Run:
    """A stored run: facts, and Arrow tables that are read when they are first asked for.

    ``jobs``, ``steps``, ``events`` and ``samples`` have the columns of docs/design/run-folder.md.
    Every property raises ``UnreadableRunError`` where a file is damaged.  ``stride`` is 1,
    or how many samples of each series stand behind one of ``samples``, where a long run is followed;
    ``sampled_rows`` is then the number of all.
    """

    def __init__(
        self,
        path: Path,
        facts: RunFacts,
        load: Callable[[str], pa.Table],
        *,
        stride: int = 1,
        sampled_rows: int | None = None,
        sample_parts: Callable[[], Iterator[pa.Table]] | None = None,
    ) -> None:
        self.path = path
        self.facts = facts
        self.stride = stride
        self._load = load
        self._sampled_rows = sampled_rows
        self._sample_parts = sample_parts

    @cached_property
    def jobs(self) -> pa.Table:
        return self._load("jobs")

    @cached_property
    def steps(self) -> pa.Table:
        return self._load("steps")

    @cached_property
    def events(self) -> pa.Table:
        return self._load("events")

    @cached_property
    def samples(self) -> pa.Table:
        return self._load("samples")

    def sample_parts(self) -> Iterator[pa.Table]:
        """The rows of ``samples`` in order, some at a time; parts that come from a file are not kept."""
        if self._sample_parts is None or "samples" in self.__dict__:
            yield self.samples
            return
        rows = 0
        for part in self._sample_parts():
            rows += part.num_rows
            yield part
        self._sampled_rows = rows

    def rows(self, table: str) -> int:
        if table == "samples" and self._sampled_rows is not None:
            return self._sampled_rows
        found: int = getattr(self, table).num_rows
        return found

    @cached_property
    def probe(self) -> Probe | None:
        return probe_of(self.path)

    @cached_property
    def arrays(self) -> ArrayStatistics | None:
        return arrays_of(self.path)

    def job_records(self) -> list[JobRecord]:
        """The rows of ``jobs`` as records; made once, since several readers of a run ask for them."""
        return list(self._job_records)

    @cached_property
    def _job_records(self) -> list[JobRecord]:
        # Not from self.jobs: a part's columns are freed once its records are made (100,000 jobs: 0.2 GB).
        table = self.__dict__.get("jobs")
        return self._records("jobs", in_parts(self._load("jobs") if table is None else table), JobRecord)

    def step_records(self, jobs: Sequence[str] | None = None) -> list[StepRecord]:
        steps = self.steps
        if jobs is not None:
            steps = steps.filter(compute.is_in(steps["job"], value_set=pa.array(jobs, pa.string())))
        return self._records("steps", [steps], StepRecord)

    def steps_by_job(self, jobs: Sequence[str] | None = None) -> dict[str, list[StepRecord]]:
        """The steps of each job, or of each of some jobs, in the table's order."""
        found: dict[str, list[StepRecord]] = {}
        for step in self.step_records(jobs):
            found.setdefault(step.job, []).append(step)
        return found

    def event_records(self) -> list[EventRecord]:
        return self._records("events", [self.events], EventRecord)

    def _records(self, name: str, tables: Iterable[pa.Table], kind: type[Record]) -> list[Record]:
        try:
            return list(to_records(name, tables, kind, budget_of(name, self._file_bytes(name))))
        except OverBudgetError as error:
            raise UnreadableRunError(
                f"holds too many {name}",
                where=str(self.path),
                why=str(error),
                cure="copy it again from where it was made",
            ) from None
        except (ValueError, RecursionError) as error:
            raise UnreadableRunError(
                "holds a row that is no record", where=str(self.path), why=str(error)
            ) from None

    def _file_bytes(self, name: str) -> int:
        for path in (self.path / f"{name}.parquet", self.path / JOURNAL / f"{name}.jsonl"):
            with contextlib.suppress(OSError):
                return path.lstat().st_size
        return 0


def open_run(
    run: str | os.PathLike[str] = LATEST,
    runs: str | os.PathLike[str] = "runs",
    *,
    compacting: bool = True,
) -> Run:
    """Open a run by its folder, its id under ``runs``, or ``latest``.

    A killed run reads as ``interrupted``; the first reader who owns the folder compacts it, others
    read its journal, as does one that is not ``compacting`` and so writes nothing.
    Raises ``UnreadableRunError`` for what is no run, damaged or of a newer version,
    and ``UsageError`` where there is no such run.
    """
    folder = locate(run, Path(runs))
    for _ in range(ATTEMPTS):
        facts = read_facts(folder)
        if not (folder / JOURNAL).is_dir():
            return _from_tables(folder, facts)
        try:
            return _from_journal(folder, facts, compacting=compacting)
        except FileNotFoundError:
            continue
    raise UnreadableRunError("keeps changing while it is read", where=str(folder), cure="try again")


def locate(run: str | os.PathLike[str], runs: Path) -> Path:
    """The folder that a user means by a path, an id or ``latest``."""
    text = os.fspath(run)
    if text == LATEST and not (runs / LATEST).is_dir():
        if newest := newest_first(runs):
            return newest[0].resolve()
        raise UsageError(
            "there is no run here yet",
            where=str(runs),
            cure="make one with `mawl run` or `mawl import`, or name the directory of your runs with --runs",
        )
    for candidate in [runs / LATEST] if text == LATEST else [Path(text), runs / text]:
        if candidate.is_dir():
            return candidate.resolve()
    known = [folder.name for folder in newest_first(runs)[:MOST_NAMED]]
    raise UsageError(
        "no such run",
        where=text,
        why=f"it is neither a folder nor the id of a run in {runs}",
        cure=f"newest runs there: {', '.join(known)}" if known else "there are no runs there yet",
    )


def newest_first(runs: Path) -> list[Path]:
    """The run folders of a directory by when their facts were last written, the newest first."""
    found = []
    for facts in runs.glob(f"*/{FACTS}"):
        with contextlib.suppress(OSError):
            if facts.parent.name != LATEST:
                found.append((facts.stat().st_mtime_ns, facts.parent))
    return [folder for _, folder in sorted(found, reverse=True)]


def _from_tables(folder: Path, facts: RunFacts) -> Run:
    return Run(
        folder,
        facts,
        lambda name: read_parquet(folder, name),
        sample_parts=lambda: parquet_parts(folder, "samples"),
    )


def _from_journal(folder: Path, facts: RunFacts, *, compacting: bool) -> Run:
    """Compact the journal of a dead runner where that is ours to do; else read it as it is."""
    if not runner_lives(folder):
        compacted = _try_compact(folder, facts) if compacting else None
        if compacted is not None:
            return _from_tables(folder, compacted)
        return _journal_in_memory(folder, facts, alive=False)
    return _journal_in_memory(folder, facts, alive=True)


def _journal_in_memory(folder: Path, facts: RunFacts, *, alive: bool) -> Run:
    journal = read_journal(folder)
    tables = line_tables(journal, journal.jobs if alive else with_unrecorded_jobs(facts, journal))
    tables["samples"] = pa.concat_tables(
        [SCHEMAS["samples"].empty_table(), *sample_tables(folder, journal.remarks)]
    )
    return Run(folder, facts if alive else final_facts(facts, journal), tables.__getitem__)


def runner_lives(folder: Path) -> bool:
    """Whether the run's writer still holds the lock on the journal; False where there is no journal."""
    return is_held(folder, f"{JOURNAL}/events.jsonl")


def is_under_way(folder: Path) -> bool:
    """Whether a run begins or goes on in a folder: its writer holds the folder first, then the journal."""
    try:
        at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not try_lock(at, shared=True) or runner_lives(folder)
    finally:
        os.close(at)


def _try_compact(folder: Path, facts: RunFacts) -> RunFacts | None:
    """The facts after compaction; None where the folder is not ours, not writable, or taken."""
    if folder.stat().st_uid != os.geteuid():
        return None
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # A writer that began meanwhile has let go of the folder, and holds the journal.
        return compact(folder, facts) if try_lock(lock) and not runner_lives(folder) else None
    except FileNotFoundError:
        raise
    except OSError:
        return None
    finally:
        os.close(lock)
