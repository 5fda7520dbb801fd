"""The sessions of a SAS log: which session a line is of, and a session's figures as the sum of its steps.

Sessions follow one another, lie within one another or are remote.  The sum is used where the log has no
total of its own.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from mawl.importers.formats.saslog_records import LogFact, PerformanceNote, is_first_page, page_instant
from mawl.importers.formats.saslog_write import COUNTS, PLACE
from mawl.importers.interface import LogPart, StepGap
from mawl.records.model.records import (
    MOST_TABLES,
    PEAKS,
    JobOutcome,
    StepNotes,
    StepRecord,
    TableNote,
    Usage,
)

FIELDS = (
    *("real_time_seconds", "user_cpu_seconds", "system_cpu_seconds", "memory_bytes", "os_memory_bytes"),
    *(field for _, field in COUNTS),
)
"""Figures of a step that a log can have; a CPU time without user and system is apart."""

TIMES = frozenset({"real_time_seconds", "user_cpu_seconds", "system_cpu_seconds"})
"""Added up in whole microseconds, the finest that a log can write: the order of the steps changes nothing."""
MICROSECONDS = 1_000_000


FOLD = 500
"""How many steps wait until they are added, column by column."""

_COLUMNS = tuple((name, attrgetter(name)) for name in FIELDS)


class StepSums:
    """Adds up usages: a figure that one step lacks has no sum, and peaks are the largest."""

    def __init__(self) -> None:
        self._waiting: list[Usage] = []
        self._lacking: set[str] = set()
        self._sums: dict[str, int] = {}
        self._cpu: int | None = 0
        self._any = False

    def add(self, usage: Usage) -> None:
        self._waiting.append(usage)
        if len(self._waiting) >= FOLD:
            self._fold()

    def add_sums(self, sums: Mapping[str, int | None], cpu: int | None) -> None:
        """Sums of several steps by the names of ``FIELDS``: times and ``cpu`` in microseconds.

        For a peak, the value is the largest; None if one of the steps lacks the figure.
        """
        self._any = True
        for name in FIELDS:
            value = sums[name]
            if value is None:
                self._lacking.add(name)
            elif name in PEAKS:
                self._sums[name] = max(self._sums.get(name, 0), value)
            else:
                self._sums[name] = self._sums.get(name, 0) + value
        self._cpu = None if self._cpu is None or cpu is None else self._cpu + cpu

    def _fold(self) -> None:
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        sums = {name: _sum(name, list(map(of, waiting))) for name, of in _COLUMNS}
        user, system = sums["user_cpu_seconds"], sums["system_cpu_seconds"]
        self.add_sums(sums, _cpu(waiting) if user is None or system is None else user + system)

    def usage(self, startup: Usage | None = None) -> Usage:
        """The sums; of CPU time only the whole where some steps do not tell user and system apart.

        ``startup`` is SAS's initialization, which session totals include.  Releases that write no memory of
        it leave the peak to the steps.
        """
        self._fold()
        if startup is not None:
            known = (PEAKS & self._sums.keys()) - self._lacking
            self.add(startup)
            self._fold()
            self._lacking -= known
        whole: dict[str, float] = {
            name: value / MICROSECONDS if name in TIMES else value
            for name, value in self._sums.items()
            if name not in self._lacking
        }
        if not {"user_cpu_seconds", "system_cpu_seconds"} <= set(whole):
            whole.pop("user_cpu_seconds", None)
            whole.pop("system_cpu_seconds", None)
            if self._any and self._cpu is not None:
                whole["unsplit_cpu_seconds"] = self._cpu / MICROSECONDS
        return Usage(**whole)  # type: ignore[arg-type]


def microseconds(seconds: float) -> int:
    return round(seconds * MICROSECONDS)


def _sum(name: str, values: list[Any]) -> int | None:
    """The sum of a column, or the largest of a peak; None if one is missing."""
    if None in values:
        return None
    if name in PEAKS:
        return max(values)  # type: ignore[no-any-return]
    return sum(map(microseconds, values)) if name in TIMES else sum(values)


def _cpu(usages: Iterable[Usage]) -> int | None:
    """The CPU time of steps in microseconds; None if one of them has no CPU time."""
    cpu = 0
    for usage in usages:
        if usage.user_cpu_seconds is not None and usage.system_cpu_seconds is not None:
            cpu += microseconds(usage.user_cpu_seconds) + microseconds(usage.system_cpu_seconds)
        elif usage.unsplit_cpu_seconds is not None:
            cpu += microseconds(usage.unsplit_cpu_seconds)
        else:
            return None
    return cpu


MOST_GAPS = 1000
MOST_VIEWS = 1000
MOST_STEPS = 5000
"""Of a session whose log may be a part of another's."""
STEP = struct.Struct("<qd")
"""Number and end of a step."""
STEPS = np.dtype([("number", "<i8"), ("ended_at", "<f8")])


class Views:
    """The views of a session, and the tables below them.

    Notes on these come with the view's own note, or with the step that reads the view.
    """

    def __init__(self) -> None:
        self._below: dict[str, list[str | None]] = {}
        """Names of the tables below each view, as far as a step has told them."""
        self._waiting: list[TableNote] = []

    def define(self, name: str) -> None:
        if len(self._below) < MOST_VIEWS:
            self._below.setdefault(name.upper(), [])

    def concern(self, letters: bytes) -> bool:
        """Whether notes (as JSON) may name a view."""
        return bool(self._waiting) or any(name.encode() in letters for name in self._below)

    def used(self, step: StepRecord) -> None:
        """Take the note of a view: what it read is of the step that follows."""
        self.define(step.name.upper().removesuffix(".VIEW"))
        self._waiting += [table for table in _tables(step) if table.direction == "read"]

    def resolved(self, step: StepRecord) -> StepRecord:
        """The step with the tables below the views that it read."""
        waiting, self._waiting = self._waiting, []
        if not self._below:
            return step
        views = [table for table in _tables(step) if self._is_view(table)]
        for table in _tables(step):
            if table.direction == "written" and table.name is not None:
                self._below.pop(table.name.upper(), None)
        if not views and not waiting:
            return step
        own = [table for table in _tables(step) if not self._is_view(table)]
        told = [(table.name, table.rows) for table in own if table.direction == "read"]
        below = [table for table in waiting if (table.name, table.rows) not in told]
        rows = step.rows_read
        if told or below:
            for view in views:
                self._below[view.name.upper()] = [name for name, _ in told] + [table.name for table in below]  # type: ignore[union-attr]
            counts = [table.rows or 0 for table in below]
            rows = None if rows is None and not counts else (rows or 0) + sum(counts)
            rows = None if rows is None else rows - sum(view.rows or 0 for view in views)
        else:
            # The rows that a view gives are the least that its tables have.
            below = [
                TableNote(direction="read", name=name, rows=view.rows, filtered=True)
                for view in views
                for name in self._below[view.name.upper()] or [None]  # type: ignore[union-attr]
            ]
        marked = [msgspec.structs.replace(view, view=True) for view in views]
        notes = msgspec.structs.replace(
            step.notes or StepNotes(), tables=(*below, *own, *marked)[:MOST_TABLES]
        )
        return msgspec.structs.replace(step, rows_read=rows, notes=notes)

    def _is_view(self, table: TableNote) -> bool:
        return table.direction == "read" and table.name is not None and table.name.upper() in self._below


def _tables(step: StepRecord) -> tuple[TableNote, ...]:
    return () if step.notes is None else step.notes.tables


class StepNumbers:
    """The numbers of a session's steps (``Step Count``) and when they ended, as far as its log has both."""

    def __init__(self) -> None:
        self.first: int | None = None
        self.last = 0
        self.gaps: list[StepGap] = []
        self._steps: bytearray | None = bytearray()
        self._last_at = 0.0

    def add(self, number: int, ended_at: float) -> None:
        if self.first is None:
            self.first = number
        elif number > self.last + 1 and len(self.gaps) < MOST_GAPS:
            self.gaps.append(StepGap(self.last, number, self._last_at, ended_at))
        self.last, self._last_at = number, ended_at
        self._keep(STEP.pack(number, ended_at))

    def add_many(self, numbers: NDArray[np.int64], ended_at: NDArray[np.float64]) -> None:
        """As ``add`` for steps one after another."""
        if not len(numbers):
            return
        self.add(int(numbers[0]), float(ended_at[0]))
        for place in (np.flatnonzero(np.diff(numbers) > 1)[: MOST_GAPS - len(self.gaps)]).tolist():
            before, after = int(numbers[place]), int(numbers[place + 1])
            self.gaps.append(StepGap(before, after, float(ended_at[place]), float(ended_at[place + 1])))
        self.last, self._last_at = int(numbers[-1]), float(ended_at[-1])
        steps = np.empty(len(numbers) - 1, STEPS)
        steps["number"], steps["ended_at"] = numbers[1:], ended_at[1:]
        self._keep(steps.tobytes())

    def _keep(self, steps: bytes) -> None:
        if self._steps is not None:
            self._steps += steps
            if len(self._steps) > MOST_STEPS * STEP.size:
                self._steps = None

    def of(self, session: Session) -> LogPart:
        """What of its session the log holds."""
        total = session.total
        span = None
        if session.first_at is not None and session.last_at is not None:
            span = (session.first_at, session.last_at)
        return LogPart(
            begins=session.software is not None or session.startup is not None,
            ends=total is not None,
            counts=None if self.first is None else (self.first, self.last),
            span=span,
            gaps=tuple(self.gaps),
            steps=None if self._steps is None or self.first is None else bytes(self._steps),
            total_at=None if total is None else total.ended_at,
        )


MOST_REMOTE = 1000
"""Remote sessions of one log that are told apart; the steps of any more are those of the log's own."""

REMOTE_ENGINES = frozenset(
    {
        *("ASTER", "BIGQUERY", "CAS", "DB2", "GREENPLM", "HADOOP", "HAWQ", "IMPALA", "INFORMIX", "JDBC"),
        *("MONGO", "MYSQL", "NETEZZA", "ODBC", "OLEDB", "ORACLE", "POSTGRES", "REDSHIFT", "REMOTE"),
        *("SALESFRC", "SAPHANA", "SASIOIMP", "SASIOLA", "SNOW", "SPARK", "SQLSVR", "SYBASE", "TERADATA"),
        *("VERTICA", "YBRICK"),
    }
)
"""Engines whose tables lie in a database, in memory of a server or behind another session (SAS/ACCESS for
Relational Databases: Reference, the engine names of its chapters; SAS/SHARE and SAS/CONNECT: REMOTE)."""

_IDENTITY = re.compile(r"job (.+?), program (.+?), session (.+?), outcome (\w+)")


class Session:
    """What is known of one session so far; ``remote`` where SAS/CONNECT brought its log into another's."""

    def __init__(self, *, remote: bool = False) -> None:
        self.remote = remote
        self.software: str | None = None
        self.platform: str | None = None
        self.host: str | None = None
        self.identity: tuple[str, str, str, JobOutcome] | None = None
        self.place: re.Match[str] | None = None
        self.error: LogFact | None = None
        self.page: float | None = None
        self.next_page: LogFact | None = None
        self.unread: int | None = None
        self.job: str | None = None
        self.steps = 0
        self.notes = 0
        self.last_line = 0
        self.startup: Usage | None = None
        self.sums = StepSums()
        self.numbers = StepNumbers()
        self.total: PerformanceNote | None = None
        self.first_at: float | None = None
        self.last_at: float | None = None
        self.cut = False
        self.remote_librefs: set[str] = set()
        self.views = Views()

    def tell(self, fact: LogFact) -> None:
        if fact.name in ("software", "platform"):
            setattr(self, fact.name, getattr(self, fact.name) or fact.text)
        elif fact.name == "error":
            self.error = self.error or fact
        elif fact.name == "libref":
            libref, _, engine = fact.text.partition(" ")
            (self.remote_librefs.add if engine in REMOTE_ENGINES else self.remote_librefs.discard)(libref)
        elif fact.name == "view":
            self.views.define(fact.text)
        elif fact.name == "unread":
            self.unread = self.unread or fact.line
        elif fact.name == "header":
            key, _, value = fact.text.partition("=")
            if key == "host":
                self.host = self.host or value
        elif fact.name == "identity" and (match := _IDENTITY.fullmatch(fact.text)):
            if match[4] in get_args(JobOutcome):
                self.identity = (match[1], match[2], match[3], match[4])  # type: ignore[assignment]
        elif fact.name == "place" and self.identity and (match := PLACE.fullmatch(fact.text.rstrip())):
            self.place = match
        elif fact.name == "page" and not self.remote:
            self._page(fact)

    def _page(self, fact: LogFact) -> None:
        """The head of a page has its session's start; below notes a first page may be of the next one."""
        first = is_first_page(fact.text)
        if not self.notes or (self.page is None and not first):
            self.page = page_instant(fact.text)
        if self.notes:
            self.next_page = fact

    @property
    def has_page(self) -> bool:
        """Whether of the heads of pages that follow only the last one tells something."""
        return self.notes > 0 and self.page is not None

    def following(self) -> Session:
        """The session that follows in the same log; a first page below the last note is its."""
        following = Session(remote=self.remote)
        page = self.next_page
        if page is not None and page.line > self.last_line and is_first_page(page.text):
            at = page_instant(page.text)
            following.page = None if at == self.page else at
        return following


class LogSessions:
    """The open sessions of one log: ``current`` is the one that the next line is of.

    A session that begins below notes without a total may stand within the one before it (Enterprise Miner):
    what follows its own total without a banner is of the one around it.
    """

    def __init__(self) -> None:
        self.current = Session()
        self._around: Session | None = None
        self._resumed: tuple[int, Session] | None = None
        self._local: Session | None = None
        self._remote: dict[str, Session] = {}

    def tell(self, fact: LogFact) -> list[Session]:
        """Take what a line tells; the sessions that end with it."""
        ended: list[Session] = []
        if fact.name == "remote":
            return self._connect(*fact.text.split())
        if fact.name == "begins" and self.current.notes:
            ended = self._begin()
        self.current.tell(fact)
        if fact.name == "error" and fact.text.startswith("Remote submit to ") and self._local is not None:
            self.current, self._local = self._local, None
        return ended

    def note(self, note: PerformanceNote) -> list[Session]:
        """Take that a note is of the current session; the sessions that end above it."""
        begins = note.kind == "initialization" and self.current.notes
        ended = self._begin() if begins else []
        self.current.notes += 1
        self.current.last_line = note.line
        self.current.cut = self.current.cut or note.cut
        return ended

    def notes(self, count: int, last_line: int) -> None:
        """Take ``count`` whole notes of DATA steps and procedures; the last begins in line ``last_line``."""
        if count:
            self.current.notes += count
            self.current.last_line = last_line

    def close(self) -> Session:
        ended = self.current
        if self._local is not None:
            self._remote = {name: one for name, one in self._remote.items() if one is not ended}
            self.current, self._local = self._local, None
        elif self._around is not None:
            self.current, self._around = self._around, None
            self.current.next_page = None
            self._resumed = self.current.notes, ended.following()
        else:
            self.current = ended.following()
        return ended

    def rest(self) -> list[Session]:
        """The sessions without an end that had a note, at the end of the log."""
        every = [self._around, self._local, *self._remote.values(), self.current]
        found = {id(one): one for one in every if one is not None and one.notes}
        return list(found.values())

    def _begin(self) -> list[Session]:
        """A session begins below notes of the current one, which ended without a total or goes on later."""
        before = self.current
        self.current = before.following()
        if self._local is not None:
            self._remote = {
                name: self.current if one is before else one for name, one in self._remote.items()
            }
            return [before]
        if self._resumed is not None and self._resumed[0] == before.notes:
            # Nothing came below the total of the session within: the one before it had ended without one.
            self.current.page = self.current.page or self._resumed[1].page
            self._resumed = None
            return [before]
        ended = [] if self._around is None else [self._around]
        self._around, self._resumed = before, None
        return ended

    def _connect(self, verb: str, _: str, name: str, state: str) -> list[Session]:
        """``submit to TSK1 commencing``: lines are of that session until it says ``complete``."""
        if self._local is not None:
            self.current, self._local = self._local, None
        ended: list[Session] = []
        if state == "complete":
            return ended
        if verb == "signon" and name in self._remote and self._remote[name].notes:
            ended = [self._remote.pop(name)]
        if name in self._remote or len(self._remote) < MOST_REMOTE:
            self._local = self.current
            self.current = self._remote.setdefault(name, Session(remote=True))
        return ended
