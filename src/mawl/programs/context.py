"""What a program's ``run`` gets: its assignment, its steps, its input tables and its own places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pyarrow as pa

from mawl.errors import DamagedTableError, WrongAnswerError
from mawl.measure.step import StepRecorder
from mawl.model.messages import Assignment
from mawl.model.options import Options
from mawl.tables.arrow import TableWriter, read_batches
from mawl.tables.manifest import Manifest, check_sizes, read_manifest


class JobTable(msgspec.Struct, frozen=True):
    """An input table: the directory of the replica this job reads, and its manifest."""

    directory: Path
    manifest: Manifest


class JobContext:
    """One job's view of the world; made by :func:`mawl.programs.execute.execute`."""

    def __init__(self, assignment: Assignment, steps: StepRecorder) -> None:
        self.assignment = assignment
        self.steps = steps
        self.options: Options = assignment.options
        self._turn = {"work": 0, "util": 0}

    def table(self, name: str) -> JobTable:
        """An input table, its files present and of the right size.

        Raises :class:`~mawl.errors.DamagedTableError` otherwise.
        """
        if name not in self.assignment.inputs:
            raise DamagedTableError(f"the job was given no table {name!r}", cure="run mawl generate")
        directory = Path(self.assignment.inputs[name])
        manifest = read_manifest(directory)
        check_sizes(directory)
        return JobTable(directory, manifest)

    def work(self, name: str) -> Path:
        """A path for a temporary table, on the next volume of work in turn."""
        return self._next("work", self.assignment.work) / name

    def util(self, name: str) -> Path:
        """A path for a spill file, on the next volume of util in turn."""
        return self._next("util", self.assignment.util) / name

    def read(self, table: Path, total: Callable[[int, int], None] | None = None) -> Iterator[pa.RecordBatch]:
        """A pass over a table, its files opened afresh, in requests of bufsize.

        ``total`` gets the rows and the word sum of each batch, as :func:`read_batches` says.
        """
        return read_batches(table, bufsize_bytes=self.options.bufsize_bytes, total=total)

    def writer(self, table: Path, schema: pa.Schema, *, checksum: bool = False) -> TableWriter:
        """A new temporary table, written in requests of bufsize."""
        return TableWriter(table, schema, bufsize_bytes=self.options.bufsize_bytes, checksum=checksum)

    def _next(self, role: str, directories: list[str]) -> Path:
        turn = self._turn[role]
        self._turn[role] = turn + 1
        return Path(directories[turn % len(directories)])


def check(is_right: bool, what: str, *, found: object, expected: object) -> None:
    """Raise :class:`~mawl.errors.WrongAnswerError` unless a check held."""
    if not is_right:
        raise WrongAnswerError(f"{what} is wrong", why=f"found {found}, expected {expected}")


def check_equal(what: str, found: object, expected: object) -> None:
    """Raise :class:`~mawl.errors.WrongAnswerError` unless two figures are the same."""
    check(found == expected, what, found=found, expected=expected)
