"""Writing a run folder: facts, plan and journal while the run lasts, tables at its end."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
import pyarrow as pa

from mawl.errors import (
    InterruptedRunError,
    MawlError,
    UnsuitableMachineError,
    UsageError,
    check_name,
    cure_of,
    shortened,
)
from mawl.model.derived import FILE as DERIVED
from mawl.model.records import EventRecord, JobRecord, RunOutcome, SampleRecord, StepRecord
from mawl.model.run import RunFacts
from mawl.printable import printable
from mawl.store.compaction import compact
from mawl.store.facts import write_facts
from mawl.store.files import replace_file, replace_link, try_lock
from mawl.store.journal import LineAppender, SampleAppender
from mawl.store.layout import FACTS, JOURNAL, LATEST, LOGS, PLAN, SAMPLES_STREAM


class RunWriter:
    """The one writer of a run folder; readers may look at any time.

    It holds a lock (flock) on the journal for as long as it lives, by which readers tell a run
    that is under way from one whose runner was killed.  Methods raise OSError when the folder
    cannot be written any more; what was appended before stays readable.  An error that leaves its ``with``
    block before :meth:`finish` becomes the outcome of the run, if the folder can still be written.
    """

    def __init__(
        self, path: Path, facts: RunFacts, *, plan: str = "", derived: bytes = b"", runs: Path | None = None
    ) -> None:
        """Make the folder (0700), lock its journal, write facts and plan.

        ``plan`` is the text of ``plan.toml``, ``derived`` the file of its derived jobs (empty: it has none);
        ``runs`` is the directory whose ``latest`` link shall point here, if any.  Raises
        :class:`~mawl.errors.UsageError` where the folder already holds something, and
        :class:`~mawl.errors.UnsuitableMachineError` where it cannot be written.
        """
        self.path = path.absolute()
        make_folder(self.path)
        self._facts: RunFacts | None = facts
        """What ``run.json`` holds; None once the run is over."""
        self._opened = contextlib.ExitStack()
        try:
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
        making = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            try_lock(making)  # unbegun_folders() sees that somebody makes it
            write_facts(self.path, facts)  # first: a folder that has it is known, whenever its run is killed
        finally:
            os.close(making)
        journal = self.path / JOURNAL
        for directory in (journal, self.path / LOGS):
            directory.mkdir(mode=0o700)
        closed = self._opened.enter_context
        self._events = closed(contextlib.closing(LineAppender(journal / "events.jsonl")))
        try_lock(self._events.fileno())
        self._jobs = closed(contextlib.closing(LineAppender(journal / "jobs.jsonl")))
        self._steps = closed(contextlib.closing(LineAppender(journal / "steps.jsonl")))
        self._samples = closed(contextlib.closing(SampleAppender(journal / SAMPLES_STREAM)))
        if derived:
            replace_file(self.path / DERIVED, derived)
        replace_file(self.path / PLAN, plan.encode())
        if runs is not None:
            replace_link(runs / LATEST, self.path)

    def event(self, record: EventRecord) -> None:
        """Something happened to the run."""
        self._events.record(record)

    def job(self, record: JobRecord) -> None:
        """A job ended (or never started)."""
        self._jobs.record(record)

    def step(self, record: StepRecord) -> None:
        """A step of a job ended."""
        self._steps.record(record)

    def samples(self, rows: Sequence[SampleRecord]) -> None:
        """Figures of any nodes and moments."""
        self._samples.samples(rows)

    def figures(self, node: str, at: float, figures: Mapping[str, float]) -> None:
        """Figures of one node at one moment (seconds since the epoch): series to value, in base units."""
        self._samples.figures(node, at, figures)

    def sample_table(self, table: pa.Table) -> None:
        """Samples as a table of their schema."""
        self._samples.table(table)

    def update(self, facts: RunFacts) -> None:
        """Replace ``run.json``."""
        write_facts(self.path, facts)
        self._facts = facts

    def finish(self, facts: RunFacts) -> None:
        """The run is over: final facts, tables from the journal, and the journal goes."""
        write_facts(self.path, facts)
        self._facts = None
        compact(self.path, facts, [])
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


_RUN_NAME = re.compile(r"\d{8}-\d{6}-.+")


def unbegun_folders(runs: Path) -> list[Path]:
    """Run folders in a directory that a kill left before their ``run.json`` stood, and nobody makes any more.

    By the name that mawl gives to a run, without any file but what :func:`write_facts` had begun.
    """
    return [path for path in sorted(runs.glob("*")) if _RUN_NAME.fullmatch(path.name) and _is_unbegun(path)]


def _is_unbegun(folder: Path) -> bool:
    try:
        looked = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return try_lock(looked) and all(name.startswith(f".{FACTS}.") for name in os.listdir(looked))
    finally:
        os.close(looked)
