"""SAS logs as jobs and steps: each session in a log is a job (docs/design/importers.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import BinaryIO, get_args

import msgspec

from mawl.formats.decoding import encoding_of
from mawl.formats.saslog import read_log
from mawl.formats.saslog_records import LogFact, PerformanceNote, page_instant
from mawl.formats.saslog_steps import step_of
from mawl.formats.saslog_write import PLACE
from mawl.importers.interface import Context, ImportedJob, Item
from mawl.importers.sums import StepSums
from mawl.model.records import JobOutcome, ProgramClass, StepRecord
from mawl.store.plain import in_calendar
from mawl.units import parse_instant

_IDENTITY = re.compile(r"job (.+?), program (.+?), session (.+?), outcome (\w+)")
_NUMBERS_AT_END = re.compile(r"(?:[._-][0-9]{1,17}){1,9}$")
DIGITS_OF_A_DATE = 6
_FIRST_PAGE = re.compile(r"1\s|\D.*\s1$")
_HEADINGS = re.compile(
    rb"NOTE: (?:The )?(?:DATA statement|PROCEDURE \S+|SAS initialization|SAS System|SAS session|View \S+)"
    rb"\s+used"
)
_MARKS = (b"SAS (r) Proprietary Software", b"by SAS Institute Inc.", b"in the layout of a SAS log")

LONGEST_SECONDS = 366 * 86400.0
TOO_LONG = "a real time of more than a year is doubtful: no start or end is told from it"
OWN_ERROR = "the log has an ERROR: "
LOST = "the log ends within a note and has no session total: the session was killed, or the file cut short"


class _Session:
    """What is known of one session so far."""

    def __init__(self) -> None:
        self.software: str | None = None
        self.platform: str | None = None
        self.host: str | None = None
        self.identity: tuple[str, str, str, JobOutcome] | None = None
        self.place: re.Match[str] | None = None
        self.error: str | None = None
        self.page: float | None = None
        self.next_page: LogFact | None = None
        self.job: str | None = None
        self.steps = 0
        self.notes = 0
        self.sums = StepSums()
        self.total: PerformanceNote | None = None
        self.first_at: float | None = None
        self.last_at: float | None = None
        self.cut = False

    def tell(self, fact: LogFact) -> None:
        """Take what a line tells."""
        if fact.name == "software":
            self.software = self.software or fact.text
        elif fact.name == "platform":
            self.platform = self.platform or fact.text
        elif fact.name == "error":
            self.error = self.error or fact.text
        elif fact.name == "header":
            key, _, value = fact.text.partition("=")
            if key == "host":
                self.host = self.host or value
        elif fact.name == "identity" and (match := _IDENTITY.fullmatch(fact.text)):
            if match[4] in get_args(JobOutcome):
                self.identity = (match[1], match[2], match[3], match[4])  # type: ignore[assignment]
        elif fact.name == "place" and self.identity and (match := PLACE.fullmatch(fact.text.rstrip())):
            self.place = match
        elif fact.name == "page" and not self.notes:
            self.page = page_instant(fact.text)
        elif fact.name == "page":
            self.next_page = fact

    def after(self, total: PerformanceNote) -> _Session:
        """The session that follows in the same log; a first page below the total is its."""
        following = _Session()
        page = self.next_page
        if page is not None and page.line > total.line and _FIRST_PAGE.match(page.text):
            at = page_instant(page.text)
            following.page = None if at == self.page else at
        return following


class SasLogs:
    """Logs of SAS sessions with performance notes."""

    kind = "saslog"
    title = "SAS logs with STIMER or FULLSTIMER notes"

    def recognises(self, first: bytes, name: str) -> float:
        """By headings of notes and SAS's own banner; a name alone says little."""
        if "16" in encoding_of(first):
            first = first.replace(b"\0", b"")
        if _HEADINGS.search(first):
            return 0.95
        if any(mark in first for mark in _MARKS):
            return 0.9
        if b"NOTE: " in first:
            return 0.3
        return 0.1 if name.lower().endswith((".log", ".saslog", ".log.gz")) else 0.0

    def read(self, stream: BinaryIO, context: Context) -> Iterator[Item]:
        """Steps, and the job of each session after its own."""
        session = _Session()
        jobs = 0
        for entry in read_log(stream, context.skip):
            if isinstance(entry, LogFact):
                if entry.name == "begins" and session.notes:
                    yield self._job(session, context)
                    jobs, session = jobs + 1, _Session()
                session.tell(entry)
                continue
            context.blocks += 1
            if entry.kind == "initialization" and session.notes:
                yield self._job(session, context)
                jobs, session = jobs + 1, _Session()
            session.notes += 1
            session.cut = session.cut or entry.cut
            if entry.kind == "session":
                session.total = entry
                yield self._job(session, context)
                jobs, session = jobs + 1, session.after(entry)
            else:
                yield self._step(session, entry, context)
        if session.notes:
            yield self._job(session, context)
            jobs += 1
        if not jobs:
            context.skip(None, "no performance note in it (options NOSTIMER, or a log of another kind)")

    def _step(self, session: _Session, note: PerformanceNote, context: Context) -> StepRecord:
        if session.job is None:
            session.job = context.job_name(self._wanted(session, context))
        session.steps += 1
        started_at, ended_at = _span(session, note, context)
        if note.kind in ("data", "procedure"):
            session.sums.add(note.usage)
        if ended_at is not None:
            session.last_at = ended_at
            if session.first_at is None:
                session.first_at = started_at
        return step_of(note, session.job, session.steps, started_at, ended_at)

    def _wanted(self, session: _Session, context: Context) -> str:
        return session.identity[0] if session.identity else PurePath(stem(context.file)).name

    def _job(self, session: _Session, context: Context) -> ImportedJob:
        job = session.job or context.job_name(self._wanted(session, context))
        outcome, reason = _end(session)
        started_at, ended_at, missing = _times(session, context)
        if session.total is None:
            usage = session.sums.usage()
            missing["usage"] = "the log has no session total: the sum of its steps"
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
        )
        return found if session.place is None else _placed(found, session.place, context)


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


def _span(session: _Session, note: PerformanceNote, context: Context) -> tuple[float | None, float | None]:
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


def _times(session: _Session, context: Context) -> tuple[float | None, float | None, dict[str, str]]:
    """Start and end of a job, and why one is not known or not exact."""
    started_at = ended_at = None
    if session.total is not None:
        started_at, ended_at = _span(session, session.total, context)
    ended_at = session.last_at if ended_at is None else ended_at
    started_at = session.first_at if started_at is None else started_at
    if started_at is not None:
        return started_at, ended_at, {}
    if ended_at is not None:
        return None, ended_at, {"started_at": "no start can be told from its real time and timestamps"}
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


def _end(session: _Session) -> tuple[JobOutcome, str | None]:
    """How the job ended: as mawl's own log says, else failed with an ERROR, lost where the log is cut."""
    error = None if session.error is None else OWN_ERROR + session.error[:200]
    if session.identity:
        return session.identity[3], session.error
    if session.cut and session.total is None:
        return "lost", LOST
    return ("failed", error) if error else ("finished", None)


def stem(file: str) -> str:
    """The name of a log without what its kind appends."""
    name = file
    for ending in (".gz", ".log", ".saslog", ".txt", ".lst"):
        if name.lower().endswith(ending) and len(name) > len(ending):
            name = name[: -len(ending)]
    return name


def program_of(file: str) -> str:
    """The program that a log is of: its name without a date at the end, so that repeats are one program."""
    name = PurePath(stem(file)).name
    end = _NUMBERS_AT_END.search(name)
    dated = end is not None and sum(map(str.isdigit, end[0])) >= DIGITS_OF_A_DATE
    return name[: end.start()] if end is not None and end.start() and dated else name


IMPORTER = SasLogs()
