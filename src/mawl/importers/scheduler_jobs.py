"""Files of schedulers as items of an import, and their jobs joined to logs (docs/design/queue-time.md)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import PurePath
from typing import BinaryIO, NamedTuple, Protocol

import msgspec

from mawl.base.foreign import BeyondBoundError, json_record
from mawl.base.units import counted_noun
from mawl.importers.formats.scheduler_history import (
    Entry,
    HistoryDoubt,
    HistoryEnd,
    HistoryJob,
    OrchestratorJson,
    SacctJson,
    read_lsb_acct,
    read_sacct,
    read_sasgsub,
)
from mawl.importers.formats.text import byte_chunks, one_line, whole_of
from mawl.importers.interface import Context, Item, ScheduledJob
from mawl.importers.jobs import SECONDS_OF_A_STAMP
from mawl.importers.recording import ChunkStream, whole_lines
from mawl.importers.sas_jobs import DIGITS_OF_A_DATE, program_of, stem

MOST_OF_A_COMMAND = 20
LONGEST_COMMAND = 10_000
MOST_ENDS = 9
"""The most numbers at the end of the name of a log that are tried as a date."""

_SCRIPT = re.compile(r"\.(?:sas|sh|bash|ksh|csh|bat|cmd|ps1)$", re.IGNORECASE)
_ELEMENTS = re.compile(r"\[[0-9,:%\- ]{0,200}\]$")
_BETWEEN = re.compile(r"[\s\"'=;|&<>]+")
_OTHERS = re.compile(r"[\W_]+")


class Sought(NamedTuple):
    """A name to look for, and the number that the job must have (empty: any)."""

    name: str
    number: str


def spelled(name: str) -> str:
    """A name without the signs in which names of jobs and of files differ."""
    return _OTHERS.sub("_", name.casefold()).strip("_")


@lru_cache(4096)
def names_of(name: str, command: str) -> tuple[str, ...]:
    """The spelled names of a job of a scheduler.

    These are its name (only the last part of it, if a flow or a path precedes) and the programs and logs of
    SAS in its command; each also without a date at its end.
    """
    words = _BETWEEN.split(command[:LONGEST_COMMAND])
    files = [word for word in words if word.lower().endswith((".sas", ".log"))][:MOST_OF_A_COMMAND]
    found = [_last_part(one) for one in (_ELEMENTS.sub("", name.strip()), *files)]
    forms = dict.fromkeys(spelled(form) for one in found for form in (one, program_of(one)))
    return tuple(form for form in forms if form)


def names_of_log(file: str, program: str) -> list[list[Sought]]:
    """The names of the jobs that a log may be of: lists of equally sure names, the surest list first.

    The first list has the name of the file, whole or as a name and a number of the job.  The next ones have
    that name without a date at its end, the shortest end first.  The last one has the program.
    """
    stem_ = spelled(PurePath(stem(file)).name)
    parts = stem_.split("_")
    cuts = [("_".join(parts[:-count]), parts[-count:]) for count in range(1, min(len(parts), MOST_ENDS + 1))]
    sought = [[Sought(stem_, ""), *(Sought(name, "_".join(end)) for name, end in cuts[:2])]]
    for name, end in cuts:
        if not all(map(str.isdecimal, end)):
            break
        if sum(map(len, end)) >= DIGITS_OF_A_DATE:
            sought.append([Sought(name, "")])
    return [*sought, [Sought(spelled(program), "")]]


def _last_part(name: str) -> str:
    """``load`` of ``17:sas:nightly:load``, of ``/shop/load.sas`` and of ``load.log``."""
    return _SCRIPT.sub("", stem(re.split(r"[/\\:]", name)[-1]))


TOGETHER_SECONDS = 60.0
"""A job ran with a log if its start and its end are at most this far from those of the log."""
APART_SECONDS = 120.0
"""A job did not run with a log if its start or its end is farther than this from that of the log: sessions
take less to start.  A log that starts so long before a job, or ends so long after it, is not the job's:
clocks differ by less."""

MOST_LOOKED_AT = 10_000
"""The most jobs of one name that mawl compares with a log; with more of them, it joins none."""

QUARTER = 900.0
MOST_QUARTERS = 14 * 4
MOST_MOVES = 100
CLOSE_SECONDS = 120.0
"""A log is of another zone if it, moved by whole quarters of an hour, starts so near to a job of its name."""


class LogJob(NamedTuple):
    """A job of a log: its name in the import, its file and program, and its times (None: not known).

    Files of several folders may share a name, but no number.  ``zoned`` says whether the zone of its clock is
    known: by the log, or because the user named it.
    """

    job: str
    file: str
    file_number: int
    program: str
    started_at: float | None
    ended_at: float | None
    zoned: bool


class SchedulerJoin(msgspec.Struct, frozen=True, kw_only=True):
    """How many logs of an import have a job in the histories of schedulers, and why the others have none.

    ``scheduled``: all jobs in the histories.  ``joined``: logs with one job of a scheduler;
    ``of_these_unknown_queue``: those of them without a queue time.  ``several``: logs that fit more than one
    job, or share one with another log.  ``later_sessions``: sessions of a log after its first one in the same
    job.  ``none``: logs that fit no job.  ``other_clocks``: logs that were not compared, because only one of
    the two clocks has a known zone.
    """

    scheduled: int
    joined: int
    of_these_unknown_queue: int
    several: int
    later_sessions: int
    none: int
    other_clocks: int


class Joined(NamedTuple):
    """The job of a scheduler for each log that has one, by its name in the import, and the counts."""

    jobs: dict[str, ScheduledJob]
    counts: SchedulerJoin
    warnings: list[str]


def join(logs: Sequence[LogJob], scheduled: Sequence[ScheduledJob], zoned: Sequence[bool]) -> Joined:
    """Join logs to jobs of schedulers; ``zoned``: whether the zone of each of these jobs' clocks is known.

    Equal records of a job count once.  A log fits a job if both have a name in common, and if the job ran for
    at least half of the log's time and did not start clearly after it or end clearly before it.  If only one
    of several such jobs started and ended with the log, the log fits only that one.  The surest name of the
    log (``names_of_log``) by which it fits any job counts.  A log and a
    job are joined if neither fits another.  If several sessions of one log fit the same job, the first of
    them is joined.
    """
    named = _Named(list(dict.fromkeys(zip(scheduled, zoned, strict=True))))
    sought = {log: names_of_log(log.file, log.program) for log in logs}
    found: dict[str, ScheduledJob] = {}
    claimed: set[int] = set()
    several: set[LogJob] = set()
    later: set[LogJob] = set()
    left = list(logs)
    for level in range(max(map(len, sought.values()), default=0)):
        fitting = {
            log: places
            for log in left
            if level < len(sought[log]) and (places := named.fitting(log, sought[log][level]) - claimed)
        }
        claims: dict[int, list[LogJob]] = {}
        for log, places in fitting.items():
            for place in places:
                claims.setdefault(place, []).append(log)
        for place, mine in claims.items():
            first = min(mine, key=lambda log: log.started_at or 0.0)
            if len({log.file_number for log in mine}) == 1 and len(fitting[first]) == 1:
                found[first.job] = named.jobs[place]
                later.update(log for log in mine if log is not first and len(fitting[log]) == 1)
            else:
                several.update(mine)
        claimed.update(claims)
        left = [log for log in left if log not in fitting]
    told = several | later
    without = [log for log in logs if log.job not in found and log not in told]
    apart = {log for log in without if named.of_other_clock(log, sought[log])}
    counts = SchedulerJoin(
        scheduled=len(named.jobs),
        joined=len(found),
        of_these_unknown_queue=sum(job.queue_seconds is None for job in found.values()),
        several=len(several),
        later_sessions=len(later),
        none=len(without) - len(apart),
        other_clocks=len(apart),
    )
    moves = named.moves({log: sought[log] for log in without if log not in apart})
    return Joined(found, counts, list(_warnings(counts, moves)))


class _Named:
    """The jobs of schedulers by their names, in the order of their starts."""

    def __init__(self, found: Sequence[tuple[ScheduledJob, bool]]) -> None:
        self.jobs = [job for job, _ in found]
        self._zoned = [zoned for _, zoned in found]
        self._by_name: dict[str, list[int]] = {}
        self._longest: dict[str, float] = {}
        for place in sorted(range(len(found)), key=self._start):
            job = self.jobs[place]
            for name in job.names:
                self._by_name.setdefault(name, []).append(place)
                self._longest[name] = max(self._longest.get(name, 0.0), job.ended_at - job.started_at)

    def fitting(self, log: LogJob, names: Sequence[Sought]) -> set[int]:
        """The jobs of these names that a log fits.

        One that started and ended with the log is the only one, if all others are clearly apart from it.
        """
        if log.started_at is None or log.ended_at is None:
            return set()
        length = max(log.ended_at - log.started_at, 0.0)
        found: dict[int, float] = {}
        for name, number in names:
            earliest = log.started_at - self._longest.get(name, 0.0) - SECONDS_OF_A_STAMP
            places = self._started(name, earliest, log.ended_at + SECONDS_OF_A_STAMP)
            if len(places) > MOST_LOOKED_AT:
                return set(places[:2])
            for place in places:
                job = self.jobs[place]
                together = min(log.ended_at, job.ended_at) - max(log.started_at, job.started_at)
                # Stamps are to the second.
                if together < length / 2 - SECONDS_OF_A_STAMP or self._zoned[place] != log.zoned:
                    continue
                outside = max(job.started_at - log.started_at, log.ended_at - job.ended_at)
                if outside > APART_SECONDS:
                    continue
                if not number or number in _numbers(job):
                    found[place] = max(abs(log.started_at - job.started_at), abs(log.ended_at - job.ended_at))
        near = [place for place, apart in found.items() if apart <= APART_SECONDS]
        return {near[0]} if len(near) == 1 and found[near[0]] <= TOGETHER_SECONDS else set(found)

    def _started(self, name: str, earliest: float, latest: float) -> list[int]:
        places = self._by_name.get(name, [])
        low = bisect_left(places, earliest, key=self._start)
        return places[low : bisect_right(places, latest, key=self._start)]

    def _start(self, place: int) -> float:
        return self.jobs[place].started_at

    def of_other_clock(self, log: LogJob, sought: Sequence[Sequence[Sought]]) -> bool:
        """Whether jobs of the log's names have a clock that cannot be compared with its own."""
        return any(
            self._zoned[place] != log.zoned
            for names in sought
            for name, _ in names
            for place in self._by_name.get(name, [])[:1]
        )

    def moves(self, logs: Mapping[LogJob, Sequence[Sequence[Sought]]]) -> Counter[float]:
        """By how many seconds logs would have to move to start with a job of their name: whole quarters."""
        found: Counter[float] = Counter()
        far = MOST_QUARTERS * QUARTER + CLOSE_SECONDS
        for log, sought in logs.items():
            if log.started_at is None:
                continue
            own: set[float] = set()
            for name in {name for names in sought for name, number in names if not number}:
                for place in self._started(name, log.started_at - far, log.started_at + far)[:MOST_MOVES]:
                    apart = self._start(place) - log.started_at
                    quarters = round(apart / QUARTER)
                    if quarters and abs(apart - quarters * QUARTER) <= CLOSE_SECONDS:
                        own.add(quarters * QUARTER)
            found.update(own)
        return found


def _numbers(job: ScheduledJob) -> tuple[str, ...]:
    """The numbers with which the name of this job's log may end."""
    return (job.number,) if job.task is None else (job.task, job.number, f"{job.number}_{job.task}")


def _warnings(counts: SchedulerJoin, moves: Mapping[float, int]) -> Iterator[str]:
    if counts.other_clocks:
        yield (
            f"{counted_noun(counts.other_clocks, 'log')} cannot be joined to the scheduler's jobs: only one "
            "of the two clocks has a known zone; name the other with --timezone KIND=Area/City (logs: saslog)"
        )
    if moves and counts.none * 2 > counts.joined:
        move, many = max(moves.items(), key=lambda item: (item[1], -abs(item[0])))
        if many * 2 > counts.none:
            yield (
                f"{counted_noun(many, 'log')} would start with a job of the scheduler of the same name if "
                f"moved by {move / 3600:+g} hours: the zones are probably wrong (--timezone KIND=Area/City)"
            )


def remarks_of(joined: Joined) -> Iterator[str]:
    """What a reader of the run must know about its queue times."""
    yield sentence_of(joined.counts)
    why = Counter(job.why_unknown for job in joined.jobs.values() if job.why_unknown)
    for reason, count in why.items():
        yield f"the queue time of {counted_noun(count, 'job')} is not known: {reason}"
    yield from joined.warnings


def sentence_of(counts: SchedulerJoin) -> str:
    """How many jobs of the logs a history has, and why it does not have the others."""
    logs = counts.joined + counts.several + counts.later_sessions + counts.none + counts.other_clocks
    others = (
        (counts.several, "fit several of its jobs"),
        (counts.later_sessions, "are later sessions of a log in one of its jobs"),
        (counts.none, "fit none of them"),
        (counts.other_clocks, "have a clock that cannot be compared with the scheduler's"),
    )
    return "; ".join(
        [
            f"the history of the scheduler ({counted_noun(counts.scheduled, 'job')}) has the submission of "
            f"{counts.joined} of {counted_noun(logs, 'job')} in the logs",
            *(f"{count} {what}" for count, what in others if count),
        ]
    )


LARGEST_JSON_BYTES = 64 * 2**20
MOST_JSON_PARTS = 4_000_000
"""Lists, objects and members of a document, which need up to 100 bytes of memory each."""

_ARRAY = rb'"jobs"\s{0,9}:\s{0,9}\['
ReadText = Callable[[Iterable[tuple[int, str]]], Iterator[Entry]]


class _Document(Protocol):
    def entries(self) -> Iterator[Entry]: ...


class SchedulerFiles:
    """Files of one scheduler, as text, JSON or both; patterns in the first bytes recognise them."""

    def __init__(
        self,
        kind: str,
        title: str,
        *,
        text: bytes | None = None,
        read_text: ReadText | None = None,
        json: tuple[bytes, ...] = (),
        document: type[_Document] | None = None,
    ) -> None:
        self.kind, self.title = kind, title
        self._text = None if text is None else re.compile(text)
        self._json = tuple(re.compile(pattern) for pattern in json)
        self._read_text, self._document = read_text, document

    def recognises(self, first: bytes, name: str) -> float:  # noqa: ARG002
        if self._text is not None and self._text.search(first):
            return 1.0
        return float(bool(self._json) and all(pattern.search(first) for pattern in self._json))

    def read(self, stream: BinaryIO, context: Context) -> Iterator[Item]:
        """The jobs that ran; how many others there are is reported once, as skipped."""
        chunks = byte_chunks(stream)
        first = next(chunks, b"")
        if self._document is not None and (self._read_text is None or first.lstrip().startswith(b"{")):
            entries = _of_document(chain([first], chunks), self._document, context)
        else:
            assert self._read_text is not None
            entries = self._read_text(_lines(ChunkStream(first, chunks), context))
        yield from _items(entries, context)


def _lines(stream: ChunkStream, context: Context) -> Iterator[tuple[int, str]]:
    """Numbered lines without those that were cut, because these lack fields."""
    cut: set[int] = set()

    def skip(line: int, reason: str, text: str) -> None:
        cut.add(line)
        context.skip(line, reason, text)

    for number, line in whole_lines(stream, skip):  # type: ignore[arg-type]
        if number not in cut:
            yield number, line


def _of_document(chunks: Iterator[bytes], document: type[_Document], context: Context) -> Iterator[Entry]:
    content = whole_of(chunks, LARGEST_JSON_BYTES)
    if content is None:
        context.skip(None, f"longer than {LARGEST_JSON_BYTES // 2**20} MiB: export the time of the logs only")
        return iter(())
    try:
        found = json_record(content, document, most_bytes=LARGEST_JSON_BYTES, most_parts=MOST_JSON_PARTS)
        return found.entries()
    except BeyondBoundError as error:
        context.skip(None, f"{error}: export the time of the logs only")
        return iter(())
    except ValueError as error:
        context.skip(None, f"not the JSON of a scheduler, or cut short: {one_line(str(error))[:100]}")
        return iter(())


def _items(entries: Iterable[Entry], context: Context) -> Iterator[ScheduledJob]:
    without: Counter[str] = Counter()
    for entry in entries:
        if isinstance(entry, HistoryDoubt):
            context.skip(entry.line, f"a job is left out: {entry.reason}", one_line(entry.text))
        elif isinstance(entry, HistoryEnd):
            context.blocks += 1
            without[entry.reason] += 1
        else:
            context.blocks += 1
            yield _item(entry, context)
    for reason, count in without.items():
        context.skip(None, f"{counted_noun(count, 'job')} of the scheduler {reason}")
    if not context.blocks:
        context.skip(None, "no job of a scheduler was found")


def _item(job: HistoryJob, context: Context) -> ScheduledJob:
    clock = context.absolute if job.times.zoned else context.local
    started_at = clock(job.times.started)
    return ScheduledJob(
        names=names_of(job.name, job.command),
        number=job.number,
        task=job.task,
        submitted_at=clock(job.times.submitted),
        started_at=started_at,
        ended_at=clock(job.times.ended),
        zoned=job.times.zoned,
        queue_seconds=None if job.why_unknown else max(started_at - clock(job.times.eligible), 0.0),
        why_unknown=job.why_unknown,
        stopped=job.stopped,
    )


LSF = SchedulerFiles(
    "lsf",
    "lsb.acct of LSF",
    text=rb'(?m)^"JOB_FINISH" "[0-9.]{1,20}" [0-9]{9,10} ',
    read_text=read_lsb_acct,
)
SLURM = SchedulerFiles(
    "slurm",
    "sacct of Slurm with -P or -p, and its JSON",
    text=rb"\A(?:\xef\xbb\xbf)?\s{0,99}(?:[^|\n]{0,99}\|){0,300}JobID(?:\||\r?\n)",
    read_text=read_sacct,
    json=(_ARRAY, rb'"submission"\s{0,9}:', rb'"eligible"\s{0,9}:'),
    document=SacctJson,
)
ORCHESTRATOR = SchedulerFiles(
    "orchestrator",
    "jobs of SAS Workload Orchestrator as JSON",
    json=(_ARRAY, rb'(?i)"processingInfo"\s{0,9}:', rb'(?i)"submitTime"\s{0,9}:'),
    document=OrchestratorJson,
)
SASGSUB = SchedulerFiles(
    "sasgsub",
    "text of SASGSUB -GRIDGETSTATUS",
    text=rb"(?m)^\s{0,20}Job \S{1,99} \([^\n]{0,999}\) is \w{1,99}:\s{1,9}Submitted: ",
    read_text=read_sasgsub,
)
EVERY = (LSF, SLURM, ORCHESTRATOR, SASGSUB)
