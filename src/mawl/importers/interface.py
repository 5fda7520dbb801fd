"""What an importer is: it recognises a file by its content and reads it as items of a run.

An importer is a generator over a stream.  Its memory must not grow with the file, and whatever the file
holds, it raises nothing: it passes a line that it cannot use to ``skip``, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath
from typing import BinaryIO, NamedTuple, Protocol

import msgspec
import pyarrow as pa

from mawl.importers.formats.saslog_records import DateOrder
from mawl.importers.formats.sysstat_reports import Untimed
from mawl.importers.formats.text import one_line
from mawl.importers.hosts import Cores, HostNames
from mawl.records.model.probe import Probe
from mawl.records.model.records import JobOutcome, ProgramClass, StepRecord, Usage
from mawl.records.model.run import NodeFacts, Setting, Skipped

MOST_SKIPPED = 200
"""Skipped lines of one file that are told one by one; of the others only their number."""

EXCERPT_LENGTH = 120

FIRST_BYTES = 65536
"""How much of a file (decompressed) an importer sees to recognise it."""


class HostFigures(NamedTuple):
    """What a host was at one moment, by series (``records/model/series_metrics.py``, ``ROLE_SERIES``).

    ``at`` is what ``local`` or ``absolute`` returned.  Counters are cumulative,
    as in samples of a measured run: a recording of rates is added up over the interval of each.
    """

    node: str
    at: float
    figures: Mapping[str, float]


class HostSettings(NamedTuple):
    """Settings of a node as its recording names them."""

    node: str
    values: Mapping[str, Setting]


class StepGap(NamedTuple):
    """Numbers of steps that a log leaves out: between two numbers, and the ends of those two steps."""

    before: int
    after: int
    began: float
    ended: float


class LogPart(msgspec.Struct, frozen=True, kw_only=True):
    """What of a session a log holds.

    ``begins`` and ``ends``: it has the session's beginning and its total, which is of ``total_at``.
    ``counts`` are the first and last number of its steps (``Step Count``), ``span`` the first start and last
    end.  ``steps`` has the number and the end of each step, 16 bytes each; None for long logs.
    """

    begins: bool
    ends: bool
    counts: tuple[int, int] | None = None
    span: tuple[float, float] | None = None
    gaps: tuple[StepGap, ...] = ()
    steps: bytes | None = None
    total_at: float | None = None


class ImportedJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job; its steps went before it under the same ``job`` (``job_name``).

    Sessions are inferred when all jobs are known, unless the file names them.  ``missing`` gives the
    reason of a field that is None, or how a figure came about.
    """

    job: str
    program: str
    outcome: JobOutcome
    usage: Usage
    steps: int
    reason: str | None = None
    session: str | None = None
    stage: int | None = None
    program_class: ProgramClass = "unknown"
    verified: bool | None = None
    trail_out: bool = False
    node: str | None = None
    platform: str | None = None
    software: str | None = None
    started_at: float | None = None
    ended_at: float | None = None
    missing: dict[str, str] = {}
    part: LogPart | None = None


class ScheduledJob(msgspec.Struct, frozen=True, gc=False):
    """A job in the history of a scheduler; ``names`` are those that a log of it may have.

    ``number`` is the scheduler's number of the job, ``task`` its number in an array of jobs.  ``zoned``: the
    file gives the zone of its clock.  ``queue_seconds`` is None, with ``why_unknown``, if the history does
    not separate the queue from other waits.  ``stopped`` says what ended the job before its own
    end, as far as the history says so.
    """

    names: tuple[str, ...]
    number: str
    task: str | None
    submitted_at: float
    started_at: float
    ended_at: float
    zoned: bool
    queue_seconds: float | None
    why_unknown: str | None = None
    stopped: str | None = None


class StepColumns(NamedTuple):
    """Consecutive steps of one job as rows of the table ``steps``; columns that are missing are null."""

    table: pa.Table


Item = ImportedJob | ScheduledJob | StepColumns | StepRecord | HostFigures | HostSettings | NodeFacts | Probe


class Context:
    """One file that is being imported: its name, its clock, and where lines that were left out go."""

    def __init__(
        self,
        file: str,
        kind: str,
        to_utc: Callable[[float], float],
        names: Callable[[str], str],
        untimed: Untimed | None = None,
        dates: DateOrder = "month-first",
        cores: Cores | None = None,
        hosts: HostNames | None = None,
    ) -> None:
        """``file`` is how messages call it; ``to_utc`` turns seconds of its wall clock into UTC; ``untimed``
        is when reports were written that have no times; ``dates`` the order of day and month; ``cores`` and
        ``hosts`` what all files of the import tell of hosts."""
        self.cores = Cores() if cores is None else cores
        self._hosts = HostNames() if hosts is None else hosts
        self.untimed, self.dates = untimed, dates
        self.file, self.kind = file, kind
        self._to_utc, self._names = to_utc, names
        self.blocks = 0
        """Performance notes (of logs), records (of other files) read."""
        self.skipped: list[Skipped] = []
        self.skipped_lines = 0
        self.zone_known: bool | None = None
        """None until the file gave a time; False where any of its times had no zone."""
        self.zoned = False
        """Whether the clock of what is read now is UTC: times are then absolute."""

    def node_of(self, name: str | None) -> str:
        """The node of a recording that names its host so; of one that does not, by the name of the file."""
        fallback = one_line(PurePath(self.file).name.partition(".")[0]) or "node"
        return self._hosts.of(name, fallback)

    def local(self, seconds: float) -> float:
        """UTC from a wall clock without a zone, given as seconds since the epoch as if it were UTC."""
        if self.zoned:
            return self.absolute(seconds)
        self.zone_known = False
        return self._to_utc(seconds)

    def absolute(self, seconds: float) -> float:
        """A time whose zone the file gives: seconds since the epoch."""
        if self.zone_known is None:
            self.zone_known = True
        return seconds

    def job_name(self, wanted: str) -> str:
        """A name for a job that no other job of this import has."""
        return self._names(wanted)

    def skip(self, line: int | None, reason: str, text: str = "") -> None:
        """A line that was left out, or is doubtful; ``line`` from 1, None for the file as a whole."""
        self.skipped_lines += 1
        if len(self.skipped) < MOST_SKIPPED:
            self.skipped.append(
                Skipped(file=self.file, line=line, reason=reason, text=text[:EXCERPT_LENGTH] or None)
            )


class Importer(Protocol):
    """A kind of file; ``kind`` is the value of ``--as`` and one word.

    Modules of ``importers`` hold one as ``IMPORTER``; ``importers.build`` lists them.
    """

    kind: str
    title: str
    """What such files are, for people."""

    def recognises(self, first: bytes, name: str) -> float:
        """From 0 (surely not) to 1 by the first FIRST_BYTES bytes; a name alone gives at most 0.1."""

    def read(self, stream: BinaryIO, context: Context) -> Iterator[Item]:
        """The file's items; ``stream`` is decompressed, cannot seek, and returns what ``read(size)`` asks."""
