"""What a program's ``run`` gets: its assignment, its steps, its input tables and its own places."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pyarrow as pa

from mawl.base.errors import DamagedTableError, WrongAnswerError
from mawl.measure.step import StepRecorder
from mawl.programs.tables.arrow import TableWriter, read_batches
from mawl.programs.tables.direct import DirectIo
from mawl.programs.tables.manifest import Manifest, check_sizes, read_manifest
from mawl.records.model.messages import Assignment
from mawl.records.spec.program_options import Options, Role
from mawl.records.volumes import choose


class JobTable(msgspec.Struct, frozen=True):
    """An input table: the directory of the replica this job reads, and its manifest."""

    directory: Path
    manifest: Manifest

    @property
    def files(self) -> list[Path]:
        return [self.directory / name for name in self.manifest.files]


class JobContext:
    """One job's view of the world; made by ``execute``."""

    def __init__(self, assignment: Assignment, steps: StepRecorder) -> None:
        self.assignment = assignment
        self.steps = steps
        self.options: Options = assignment.options
        self.direct = DirectIo(self.options.direct)
        """What passes by the page cache: given to readers that may, it counts their bytes by step."""
        steps.direct = self.direct
        self.divisible_seconds = 0.0
        """CPU time that the job used alone for work that several processes could share."""
        self._turn: dict[Role, int] = {role: assignment.turns.get(role, 0) for role in ("work", "util")}

    @property
    def threads(self) -> int:
        """How many threads or processes compute side by side: ``cpucount``, or all processors there are."""
        return min(self.options.cpucount, len(os.sched_getaffinity(0)))

    @property
    def partition_sortsize_bytes(self) -> int:
        """Sort memory of one partition: half of it where the next one is read while one goes out."""
        return self.options.sortsize_bytes // min(self.threads, 2)

    def table(self, name: str) -> JobTable:
        """An input table, its files present and of the right size.

        Raises ``DamagedTableError`` otherwise.
        """
        if name not in self.assignment.inputs:
            raise DamagedTableError(f"the job was given no table {name!r}", cure="run mawl generate")
        directory = Path(self.assignment.inputs[name])
        manifest = read_manifest(directory)
        check_sizes(directory)
        return JobTable(directory, manifest)

    def work(self, name: str) -> Path:
        """A path for a temporary table, on the volume of work whose turn it is."""
        return self._next("work", self.assignment.work) / name

    def util(self, name: str) -> Path:
        """A path for a spill file, on the volume of util whose turn it is."""
        return self._next("util", self.assignment.util) / name

    def output(self, name: str) -> Path:
        """A path for a table under data, in the job's directory there."""
        place = Path(self.assignment.results)
        place.mkdir(mode=0o700, exist_ok=True)
        return place / name

    def read(
        self, table: Path, total: Callable[[int, int], None] | None = None, *, every: int = 1
    ) -> Iterator[pa.RecordBatch]:
        """A pass over a table, its files opened afresh, in requests of bufsize.

        ``total`` gets the rows and the word sum of each batch, and ``every`` chooses batches, as
        ``read_batches`` says.
        """
        return read_batches(table, bufsize_bytes=self.options.bufsize_bytes, total=total, every=every)

    def scan(self, table: Path) -> Iterator[pa.RecordBatch]:
        """The same, bypassing the page cache, as far as the option ``direct`` gets that."""
        return read_batches(table, bufsize_bytes=self.options.bufsize_bytes, direct=self.direct)

    def writer(self, table: Path, schema: pa.Schema, *, checksum: bool = False) -> TableWriter:
        return TableWriter(table, schema, bufsize_bytes=self.options.bufsize_bytes, checksum=checksum)

    def _next(self, role: Role, directories: list[str]) -> Path:
        """The job's directory on the volume whose turn it is.

        Raises OSError, with that volume's directory, where it is not there and cannot be made.
        """
        turn = self._turn[role]
        self._turn[role] = turn + 1
        place = Path(directories[choose(self.assignment.volume_order, directories, turn)])
        place.mkdir(mode=0o700, exist_ok=True)
        return place


def check(is_right: bool, what: str, *, found: object, expected: object) -> None:
    """Raise ``WrongAnswerError`` unless a check held."""
    if not is_right:
        raise WrongAnswerError(f"{what} is wrong", why=f"found {found}, expected {expected}")


def check_equal(what: str, found: object, expected: object) -> None:
    """Raise ``WrongAnswerError`` unless two figures are the same."""
    check(found == expected, what, found=found, expected=expected)


def check_most(what: str, found: float, most: float, form: str = "g") -> None:
    """Raise ``WrongAnswerError`` if a figure is above ``most``, shown in this format."""
    check(found <= most, what, found=found, expected=f"at most {most:{form}}")


def check_near(what: str, found: float, true: float, slack: float, form: str) -> None:
    """Raise ``WrongAnswerError`` unless a figure is within ``slack`` of the true one."""
    expected = true if isinstance(true, int) else format(true, form)
    check(abs(found - true) <= slack, what, found=found, expected=f"{expected}, give or take {slack:{form}}")
