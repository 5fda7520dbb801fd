"""SAS logs as jobs and steps: each session in a log is a job (docs/design/importers.md).

Batches of performance notes of a large log become steps column by column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import Any, BinaryIO, get_args

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.base.units import parse_instant
from mawl.importers.clock import OWN_MARK, QUARTER_SECONDS
from mawl.importers.formats.saslog import read_log, read_parts
from mawl.importers.formats.saslog_languages import language_of, unread_language
from mawl.importers.formats.saslog_records import Entry, LogFact, PerformanceNote, step_of
from mawl.importers.formats.saslog_scan import MISSING, USAGE_COUNTS, NoteBatch, Texts
from mawl.importers.formats.saslog_wrapped import PlainLog, decoded, is_notebook, plain_logs
from mawl.importers.formats.text import encoding_of
from mawl.importers.interface import FIRST_BYTES, Context, ImportedJob, Item, StepColumns
from mawl.importers.sas_sessions import FIELDS, MICROSECONDS, LogSessions, Session
from mawl.records.model.records import ERROR_IN_LOG, PEAKS, JobOutcome, ProgramClass, StepRecord, Usage
from mawl.records.store.facts import EARLIEST_AT, LATEST_AT, in_calendar

FEWEST_NOTES = 32
"""A smaller batch is read note by note, which is faster."""

_ROWS = ("rows_read", "rows_written", "variables_written")
_MOST_SUMMED = 2**62


def sums_of(batch: NoteBatch) -> tuple[dict[str, int | None], int | None]:
    """What ``add_sums`` takes: sums by name, and CPU time."""
    times = {name: _microseconds(column) for name, column in batch.times.items()}
    columns = {**times, **{name: batch.wholes[name] for name in USAGE_COUNTS}}
    sums = {name: _largest(columns[name]) if name in PEAKS else _sum(columns[name]) for name in FIELDS}
    user, system = times["user_cpu_seconds"], times["system_cpu_seconds"]
    split = (user != MISSING) & (system != MISSING)
    return sums, _sum(np.where(split, user + system, times["unsplit_cpu_seconds"]))


def spans_of(
    batch: NoteBatch, to_utc: Callable[[float], float], longest_seconds: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[int]]:
    """Start and end of each step in seconds since the epoch, NaN if not known; and lines of doubtful notes.

    ``to_utc`` adds one and the same to all times of a quarter of an hour (``Clocks.to_utc``).
    A note is doubtful if its real time is longer than ``longest_seconds`` or leads out of the calendar.
    """
    stamps = batch.wholes["ended_at"]
    known = stamps != MISSING
    ended_at = np.full(batch.count, np.nan)
    quarters, places = np.unique(stamps[known] // QUARTER_SECONDS, return_inverse=True)
    begun = np.array([to_utc(float(quarter * QUARTER_SECONDS)) for quarter in quarters.tolist()])
    ended_at[known] = begun[places] + stamps[known] % QUARTER_SECONDS
    real = batch.times["real_time_seconds"]
    started_at = ended_at - real
    doubtful = known & ((real > longest_seconds) | ~_in_calendar(started_at))
    started_at[doubtful] = np.nan
    return started_at, ended_at, batch.wholes["line"][doubtful].tolist()


def steps_of(
    batch: NoteBatch, job: str, first: int, started_at: NDArray[np.float64], ended_at: NDArray[np.float64]
) -> pa.Table:
    """The steps as rows of the table ``steps``, numbered from ``first``; without columns that no log has."""
    count = batch.count
    columns: dict[str, Any] = {
        "job": pa.repeat(job, count),
        "number": pa.array(np.arange(first, first + count)),
        "name": _strings(batch.names),
        "kind": pa.array(["data", "procedure"]).take(pa.array(batch.wholes["procedure"])),
        "started_at": _instants(started_at),
        "ended_at": _instants(ended_at),
        **{name: pa.array(column, mask=np.isnan(column)) for name, column in batch.times.items()},
        **{name: _counts(batch.wholes[name]) for name in (*USAGE_COUNTS, *_ROWS)},
        "notes": _strings(batch.notes, empty_is_null=True),
    }
    return pa.table(columns)


def _in_calendar(instants: NDArray[np.float64]) -> NDArray[np.bool_]:
    return (instants >= EARLIEST_AT) & (instants <= LATEST_AT)


def _microseconds(column: NDArray[np.float64]) -> NDArray[np.int64]:
    missing = np.isnan(column)
    return np.where(missing, MISSING, np.rint(np.where(missing, 0.0, column) * MICROSECONDS).astype(np.int64))


def _largest(column: NDArray[np.int64]) -> int | None:
    return None if (column == MISSING).any() else int(column.max())


def _sum(column: NDArray[np.int64]) -> int | None:
    if (column == MISSING).any():
        return None
    return sum(column.tolist()) if int(column.max()) > _MOST_SUMMED // len(column) else int(column.sum())


def _counts(column: NDArray[np.int64]) -> pa.Array:
    return pa.array(column, mask=column == MISSING)


def _instants(seconds: NDArray[np.float64]) -> pa.Array:
    missing = np.isnan(seconds)
    whole = np.rint(np.where(missing, 0.0, seconds) * MICROSECONDS).astype(np.int64)
    return pa.array(whole, mask=missing)


def _strings(texts: Texts, *, empty_is_null: bool = False) -> pa.Array:
    ends = np.concatenate(([0], texts.ends)).astype(np.int32)
    valid = None
    if empty_is_null:
        valid = pa.py_buffer(np.packbits(np.diff(ends) > 0, bitorder="little").tobytes())
    buffers = [valid, pa.py_buffer(ends.tobytes()), pa.py_buffer(texts.letters)]
    return pa.Array.from_buffers(pa.string(), len(texts.ends), buffers)


_MONTH = re.compile(r"JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC", re.IGNORECASE)
_NUMBERS_AT_END = re.compile(
    r"(?:[._-](?:[0-9]{1,17}|[0-9]{1,8}T[0-9]{2,6}|[DT][0-9]{6,7}"
    rf"|[0-9]{{1,2}}(?:{_MONTH.pattern})(?:[0-9]{{2}}){{1,2}})){{1,9}}$",
    re.IGNORECASE,
)
"""Numbers, and the forms of dates and times that SAS writes into names: ``20260302T201533``, ``02MAR2026``
(``&SYSDATE9``), ``D260302.T201533`` (z/OS)."""
DIGITS_OF_A_DATE = 6
_HEADINGS = re.compile(
    rb"NOTE: (?:The )?(?:DATA statement|PROCEDURE \S+|SAS initialization|SAS System|SAS session|View \S+)"
    rb"\s+used"
)
_MARKS = (b"SAS (r) Proprietary Software", b"by SAS Institute Inc.", OWN_MARK)

NO_NOTE = "no performance note in it (options NOSTIMER, or a log of another kind)"
OTHER_LANGUAGE = (
    "a log in another language: mawl reads the performance notes of SAS in English, Spanish, Chinese and "
    "Japanese, and those of Altair SLC"
)
WITH_STARTUP = "the log has no session total: the sum of its initialization and steps"
NO_STARTUP = "the log has neither session total nor initialization: the sum of its steps"
STEP_UNREAD = "the log has no session total and a step that cannot be read: their sum is not known"
LONGEST_SECONDS = 366 * 86400.0
TOO_LONG = "a real time of more than a year is doubtful: no start or end is derived from it"
LOST = "the log ends within a note and has no session total: the session was killed, or the file cut short"


class SasLogs:
    """Logs of SAS sessions with performance notes."""

    kind = "saslog"
    title = "SAS logs with STIMER or FULLSTIMER notes"

    def recognises(self, first: bytes, name: str) -> float:
        text = decoded(first)
        if "16" in encoding_of(first):
            first = first.replace(b"\0", b"")
        if _HEADINGS.search(first) or language_of(text) is not None:
            return 0.95
        if any(mark in first for mark in _MARKS):
            return 0.9
        if b"NOTE: " in first or is_notebook(text) or unread_language(text) is not None:
            return 0.3
        return 0.1 if name.lower().endswith((".log", ".saslog", ".log.gz")) else 0.0

    def read(self, stream: BinaryIO, context: Context) -> Iterator[Item]:
        """Steps, and the job of each session after its own."""
        head = stream.read(FIRST_BYTES)
        for log in plain_logs(head, stream, context.skip):
            sessions = LogSessions()
            context.zoned = log.zoned
            for part in _parts(log, context):
                if not isinstance(part, NoteBatch):
                    yield from self._entry(part, sessions, context)
                elif (
                    part.count < FEWEST_NOTES
                    or sessions.current.remote_librefs
                    or sessions.current.views.concern(part.notes.letters)
                ):
                    for entry in part.entries():
                        yield from self._entry(entry, sessions, context)
                else:
                    yield self._batch(part, sessions, context)
            yield from self._jobs(sessions.rest(), context)
        if not context.blocks:
            line = unread_language(decoded(head))
            context.skip(line, NO_NOTE if line is None else OTHER_LANGUAGE)

    def _entry(self, entry: Entry, sessions: LogSessions, context: Context) -> Iterator[Item]:
        if isinstance(entry, LogFact):
            yield from self._jobs(sessions.tell(entry), context)
            return
        context.blocks += 1
        yield from self._jobs(sessions.note(entry), context)
        if entry.kind == "session":
            sessions.current.total = entry
            yield from self._jobs([sessions.close()], context)
        else:
            yield self._step(sessions.current, entry, context)

    def _batch(self, batch: NoteBatch, sessions: LogSessions, context: Context) -> StepColumns:
        """What ``_entry`` does for each of many notes of DATA steps and procedures of one session."""
        session = sessions.current
        if session.job is None:
            session.job = context.job_name(self._wanted(session, context))
        passed = place = 0
        while place < (heads := len(batch.pages)):
            before, page = batch.pages.at(place)
            sessions.notes(before - passed, int(batch.wholes["line"][before - 1]) if before else 0)
            passed = before
            sessions.tell(page)
            place = max(place + 1, heads - 1) if session.has_page else place + 1
        sessions.notes(batch.count - passed, int(batch.wholes["line"][-1]))
        context.blocks += batch.count
        to_utc = context.absolute if session.identity else context.local
        started_at, ended_at, doubtful = spans_of(batch, to_utc, LONGEST_SECONDS)
        for line in doubtful:
            context.skip(line, TOO_LONG)
        session.sums.add_sums(*sums_of(batch))
        if (ends := ended_at[~np.isnan(ended_at)]).size:
            session.last_at = float(ends[-1])
        if session.first_at is None and (starts := started_at[~np.isnan(started_at)]).size:
            session.first_at = float(starts[0])
        numbers = batch.wholes["step_count"]
        numbered = (numbers != MISSING) & ~np.isnan(ended_at)
        session.numbers.add_many(numbers[numbered], ended_at[numbered])
        steps = steps_of(batch, session.job, session.steps + 1, started_at, ended_at)
        session.steps += batch.count
        return StepColumns(steps)

    def _jobs(self, ended: Iterable[Session], context: Context) -> Iterator[ImportedJob]:
        return (self._job(session, context) for session in ended)

    def _step(self, session: Session, note: PerformanceNote, context: Context) -> StepRecord:
        if session.job is None:
            session.job = context.job_name(self._wanted(session, context))
        session.steps += 1
        started_at, ended_at = _span(session, note, context)
        if note.kind in ("data", "procedure") and not note.nested:
            session.sums.add(note.usage)
        elif note.kind == "initialization":
            session.startup = note.usage
        if ended_at is not None:
            session.last_at = ended_at
            if note.step_count is not None:
                session.numbers.add(note.step_count, ended_at)
            if session.first_at is None and not note.nested:
                session.first_at = started_at
        step = step_of(note, session.job, session.steps, started_at, ended_at)
        if step.kind == "view":
            session.views.used(step)
        elif step.kind in ("data", "procedure"):
            step = session.views.resolved(step)
        return _with_remote(step, session.remote_librefs) if session.remote_librefs else step

    def _wanted(self, session: Session, context: Context) -> str:
        return session.identity[0] if session.identity else PurePath(stem(context.file)).name

    def _job(self, session: Session, context: Context) -> ImportedJob:
        job = session.job or context.job_name(self._wanted(session, context))
        outcome, reason = _end(session)
        started_at, ended_at, missing = _times(session, context)
        if session.total is None:
            usage, missing["usage"] = _summed(session)
        else:
            usage = session.total.usage
        own = session.identity
        found = ImportedJob(
            job=job,
            program=own[1] if own else program_of(context.file),
            session=own[2] if own else None,
            outcome=outcome,
            reason=reason,
            usage=usage,
            steps=session.steps,
            node=session.host,
            platform=session.platform,
            software=session.software,
            started_at=started_at,
            ended_at=ended_at,
            missing=missing,
            part=None if own or session.remote else session.numbers.of(session),
        )
        return found if session.place is None else _placed(found, session.place, context)


def _parts(log: PlainLog, context: Context) -> Iterator[Entry | NoteBatch]:
    """What a plain log holds; lines and clock are those of the file around it."""
    if not log.wrapped:
        yield from read_parts(log.stream, context.skip, context.dates)
        return

    def skip(line: int, reason: str, text: str) -> None:
        context.skip(log.place(line)[0], reason, text)

    for entry in read_log(log.stream, skip, context.dates):
        line, instant = log.place(entry.line)
        if isinstance(entry, LogFact):
            yield entry._replace(line=line)
        else:
            ended_at = entry.ended_at if instant is None else instant
            yield msgspec.structs.replace(entry, line=line, ended_at=ended_at)


def _with_remote(step: StepRecord, librefs: set[str]) -> StepRecord:
    """The step with the tables of those librefs marked."""
    if step.notes is None:
        return step
    tables = tuple(
        msgspec.structs.replace(table, remote=True)
        if table.name is not None and table.name.partition(".")[0].upper() in librefs
        else table
        for table in step.notes.tables
    )
    return msgspec.structs.replace(step, notes=msgspec.structs.replace(step.notes, tables=tables))


def _summed(session: Session) -> tuple[Usage, str]:
    """The figures of a job whose log has no session total, and what they are."""
    if session.unread is not None:
        return Usage(), STEP_UNREAD
    usage = session.sums.usage(session.startup)
    return usage, NO_STARTUP if session.startup is None else WITH_STARTUP


def _placed(job: ImportedJob, place: re.Match[str], context: Context) -> ImportedJob:
    """The job with what mawl's own log says of its place in its run."""
    times = [
        context.absolute(at) if (at := _instant(place[name])) is not None else None
        for name in ("start", "end")
    ]
    known = place["class"] if place["class"] in get_args(ProgramClass) else "unknown"
    return msgspec.structs.replace(
        job,
        stage=int(place["stage"]),
        program_class=known,
        node=place["node"],
        started_at=times[0],
        ended_at=times[1],
        verified=None if place["answer"] == "not checked" else place["answer"] == "right",
        trail_out=place["trail"] == "yes",
    )


def _instant(text: str) -> float | None:
    """A time as mawl writes it; None for any other text."""
    try:
        at = parse_instant(text)
    except (ValueError, OverflowError):
        return None
    return at if in_calendar(at) else None


def _span(session: Session, note: PerformanceNote, context: Context) -> tuple[float | None, float | None]:
    """Start and end of a note's step: the timestamp is that of the end, to the second."""
    if note.ended_at is None:
        return None, None
    ended_at = (context.absolute if session.identity else context.local)(note.ended_at)
    real = note.usage.real_time_seconds
    if real is None:
        return None, ended_at
    started_at = ended_at - real
    if real > LONGEST_SECONDS or not in_calendar(started_at):
        context.skip(note.line, TOO_LONG)
        return None, ended_at
    return started_at, ended_at


def _times(session: Session, context: Context) -> tuple[float | None, float | None, dict[str, str]]:
    """Start and end of a job, and why one is not known or not exact."""
    started_at = ended_at = None
    if session.total is not None:
        started_at, ended_at = _span(session, session.total, context)
    ended_at = session.last_at if ended_at is None else ended_at
    started_at = session.first_at if started_at is None else started_at
    if started_at is not None:
        return started_at, ended_at, {}
    if ended_at is not None:
        return None, ended_at, {"started_at": "no start can be derived from its real time and timestamps"}
    if session.page is None:
        why = "the log has no timestamps (FULLSTIMER on SAS 9.3 and later writes them)"
        return None, None, {"started_at": why, "ended_at": why}
    started_at = context.local(session.page)
    real = session.total.usage.real_time_seconds if session.total else None
    missing = {"exact": "the log has no timestamps: its start is that of its page header, to the minute"}
    if real is None or real > LONGEST_SECONDS:
        missing["ended_at"] = TOO_LONG if real else "the log has neither timestamps nor a session total"
        return started_at, None, missing
    return started_at, started_at + real, missing


def _end(session: Session) -> tuple[JobOutcome, str | None]:
    """How the job ended: as mawl's own log says, else failed with an ERROR, lost where the log is cut."""
    error = session.error
    if session.identity:
        return session.identity[3], None if error is None else error.text
    if session.cut and session.total is None:
        return "lost", LOST
    if error is None:
        return "finished", None
    return "failed", f"{ERROR_IN_LOG} in line {error.line}: {error.text[:200]}"


def stem(file: str) -> str:
    """The name of a log without what its kind appends."""
    name = file
    for ending in (".gz", *(".html", ".htm", ".json", ".ipynb", ".sasnb"), ".log", ".saslog", ".txt", ".lst"):
        if name.lower().endswith(ending) and len(name) > len(ending):
            name = name[: -len(ending)]
    return name


def program_of(file: str) -> str:
    """The program that a log is of: its name without a date at the end, so that repeats are one program."""
    name = PurePath(stem(file)).name
    end = _NUMBERS_AT_END.search(name)
    if end is None or not end.start():
        return name
    dated = sum(map(str.isdigit, end[0])) >= DIGITS_OF_A_DATE or _MONTH.search(end[0])
    return name[: end.start()] if dated else name


IMPORTER = SasLogs()
