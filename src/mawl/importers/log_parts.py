"""Logs that hold a part of a session: redirected by PROC PRINTTO, rolled over, or written twice.

A session's total counts all its steps, in whichever file their notes are: a part with figures of its own
would count twice.  FULLSTIMER of 9.4 numbers the steps of a session (``Step Count``), which shows where a
part belongs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

import msgspec

from mawl.importers.interface import ImportedJob, LogPart
from mawl.importers.sas_sessions import STEP
from mawl.records.model.records import JobOutcome, Usage, total

STAMP_SECONDS = 1.1
"""Stamps are whole seconds, and times hundredths."""
LONGEST_PAUSE_SECONDS = 3600.0
"""Between the steps of a session that went on in another file."""


WHOLE = LogPart(begins=True, ends=True)
"""A log of which nothing tells that it is a part."""


class Joins(msgspec.Struct, frozen=True):
    """``jobs`` are those that count; steps of ``renamed`` go to another job, those of ``copies`` nowhere."""

    jobs: list[tuple[ImportedJob, str]]
    renamed: dict[str, str]
    copies: dict[str, str]
    remarks: list[str]


def joined_parts(jobs: Sequence[tuple[ImportedJob, str]]) -> Joins:
    """Join the parts of sessions among jobs, each with the file that it is from."""
    found = _Parts(jobs)
    found.leave_out_copies()
    found.join_rolled()
    found.join_redirected()
    return Joins(list(found.jobs.values()), found.renamed, found.copies, found.remarks())


class _Parts:
    def __init__(self, jobs: Sequence[tuple[ImportedJob, str]]) -> None:
        self.jobs = {job.job: (job, file) for job, file in jobs}
        self.renamed: dict[str, str] = {}
        self.copies: dict[str, str] = {}
        self._rolled: list[str] = []
        self._redirected: list[str] = []
        self._twice: list[str] = []

    def _part(self, name: str) -> LogPart:
        return self.jobs[name][0].part or WHOLE

    def leave_out_copies(self) -> None:
        """Sessions with one and the same total: the log with most steps counts (ALTLOG beside PRINTTO)."""
        totals: dict[tuple[float, Usage], list[str]] = {}
        for name, (job, _) in self.jobs.items():
            if job.part is not None and job.part.ends and job.part.total_at is not None:
                totals.setdefault((job.part.total_at, job.usage), []).append(name)
        for names in totals.values():
            first, *others = sorted(names, key=lambda name: -self.jobs[name][0].steps)
            for name in others:
                if _is_copy(self.jobs[name][0], self.jobs[first][0]):
                    self._leave_out(name, first)
        inner = [name for name in self.jobs if self._is_inner(name)]
        if not inner:
            return
        whole = [name for name in self.jobs if self._part(name).counts is not None and self._part(name).ends]
        for name in inner:
            of = [one for one in whole if _holds(self._part(one), self._part(name))]
            if len(of) == 1:
                self._leave_out(name, of[0])

    def _leave_out(self, name: str, kept: str) -> None:
        self._twice.append(f"{self.jobs[name][1]} is of the session in {self.jobs[kept][1]}")
        self.copies[name] = kept
        del self.jobs[name]

    def _is_inner(self, name: str) -> bool:
        part = self._part(name)
        return not part.begins and not part.ends and part.counts is not None and part.span is not None

    def join_rolled(self) -> None:
        """A log that ends without a total, and the one that goes on where it ends."""
        goes_on = [name for name in self.jobs if not self._part(name).begins]
        open_ends = {name for name in self.jobs if self._part(name).begins and not self._part(name).ends}
        for name in sorted(goes_on, key=lambda name: (self._part(name).span or (0.0, 0.0), name)):
            before = [one for one in open_ends if one != name and self._follows(one, name)]
            if len(before) == 1:
                self._append(before[0], name)
                if self._part(before[0]).ends:
                    open_ends.remove(before[0])

    def _follows(self, before: str, after: str) -> bool:
        first, second = self._part(before), self._part(after)
        if first.span is not None and second.span is not None:
            if not -STAMP_SECONDS <= second.span[0] - first.span[1] <= LONGEST_PAUSE_SECONDS:
                return False
            if first.counts is not None and second.counts is not None:
                return first.begins and second.counts[0] == first.counts[1] + 1
        alike = family(self.jobs[before][1]) == family(self.jobs[after][1])
        return alike and first.begins and second.ends

    def _append(self, before: str, after: str) -> None:
        (job, file), (rest, of_rest) = self.jobs[before], self.jobs.pop(after)
        first, second = self._part(before), rest.part or LogPart(begins=False, ends=True)
        usage, missing = rest.usage, rest.missing
        if not second.ends:
            usage, missing = _added(job.usage, rest.usage), job.missing
        last = second.counts[1] if second.counts else None
        failed = next((one for one in (job, rest) if one.outcome == "failed"), None)
        joined = msgspec.structs.replace(
            job,
            usage=usage,
            steps=job.steps + rest.steps,
            outcome=_outcome(failed, rest, second),
            reason=failed.reason if failed else rest.reason,
            ended_at=job.ended_at if rest.ended_at is None else rest.ended_at,
            missing=missing,
            part=msgspec.structs.replace(
                first,
                ends=second.ends,
                counts=None if first.counts is None or last is None else (first.counts[0], last),
                span=None if first.span is None or second.span is None else (first.span[0], second.span[1]),
                gaps=(*first.gaps, *second.gaps),
            ),
        )
        self.jobs[before] = joined, file
        self._rename(after, before)
        self._rolled.append(f"{of_rest} goes on with {file}")

    def join_redirected(self) -> None:
        """A log within a session whose numbers of steps leave out just its steps."""
        with_gaps = [name for name in self.jobs if self._part(name).begins and self._part(name).gaps]
        for name in [name for name in self.jobs if self._is_inner(name)]:
            around = [one for one in with_gaps if _leaves_room(self._part(one), self._part(name))]
            if len(around) == 1:
                (job, file), (inner, of_inner) = self.jobs[around[0]], self.jobs.pop(name)
                failed = job.outcome == "finished" and inner.outcome == "failed"
                usage = job.usage if self._part(around[0]).ends else _added(job.usage, inner.usage)
                self.jobs[around[0]] = (
                    msgspec.structs.replace(
                        job,
                        usage=usage,
                        steps=job.steps + inner.steps,
                        outcome=inner.outcome if failed else job.outcome,
                        reason=inner.reason if failed else job.reason,
                    ),
                    file,
                )
                self._rename(name, around[0])
                self._redirected.append(f"{of_inner} is a part of {file}")

    def _rename(self, old: str, new: str) -> None:
        self.renamed = {name: new if to == old else to for name, to in self.renamed.items()}
        self.renamed[old] = new

    def remarks(self) -> list[str]:
        unplaced = sum(
            not self._part(name).begins and not self._part(name).ends and self._part(name).counts is None
            for name in self.jobs
        )
        found = [
            *_named("went on in another file (it rolled over): one job", self._rolled),
            *_named("redirected with PROC PRINTTO: its steps are of one job", self._redirected),
            *_named("written twice (ALTLOG): the session counts once", self._twice),
        ]
        if unplaced and len(self.jobs) > unplaced:
            found.append(
                f"{unplaced} of {len(self.jobs)} logs begin and end within a session (SAS Studio, PROC "
                "PRINTTO) and do not number their steps: if another log has that session's total, they count "
                "twice (FULLSTIMER of SAS 9.4 numbers the steps)"
            )
        return found


def _outcome(failed: ImportedJob | None, rest: ImportedJob, part: LogPart) -> JobOutcome:
    if failed is not None:
        return failed.outcome
    return "finished" if part.ends else rest.outcome


MOST_NAMED = 5


def _named(what: str, which: Sequence[str]) -> list[str]:
    if not which:
        return []
    more = f" and {len(which) - MOST_NAMED} more" if len(which) > MOST_NAMED else ""
    return [f"a log {what}: {', '.join(which[:MOST_NAMED])}{more}"]


def _leaves_room(around: LogPart, inner: LogPart) -> bool:
    """Whether the numbers of a log's steps leave out those of another, which ran in that time."""
    assert inner.counts is not None and inner.span is not None
    return any(
        gap.before < inner.counts[0]
        and inner.counts[1] < gap.after
        and gap.began - STAMP_SECONDS <= inner.span[0]
        and inner.span[1] <= gap.ended + STAMP_SECONDS
        for gap in around.gaps
    )


def _is_copy(job: ImportedJob, whole: ImportedJob) -> bool:
    """Whether two logs with one total are of one session, by the shorter one's steps."""
    part, other = job.part, whole.part
    if part is None or other is None or part.counts is None or other.counts is None:
        return False
    if part.steps is None or other.steps is None:
        return part.counts == other.counts and job.usage.voluntary_context_switches is not None
    return _holds(other, part)


def _holds(whole: LogPart, inner: LogPart) -> bool:
    """Whether a log has the very steps of another: their numbers and their ends; not of long logs."""
    if inner.steps is None or whole.steps is None:
        return False
    if inner.steps[: STEP.size] not in whole.steps:
        return False
    return _steps(inner.steps) <= _steps(whole.steps)


def _steps(packed: bytes) -> set[tuple[int, float]]:
    return set(STEP.iter_unpack(packed))


_ENDINGS = re.compile(r"(?:\.gz|\.[0-9]+)+$")
_VARYING = re.compile(r"[0-9]+|[-_.]+")


def family(file: str) -> str:
    """What the names of the parts of a log have in common: the name without numbers, dates and ``old``."""
    name = _ENDINGS.sub("", PurePath(file).name.lower())
    return _VARYING.sub("", name.removesuffix(".log").removesuffix(".txt")).removesuffix("old")


def _added(one: Usage, other: Usage) -> Usage:
    """The sum of two parts; what one of them lacks is not known of both."""
    both = total([one, other])
    lacking = {
        name: None for name in Usage.__struct_fields__ if None in (getattr(one, name), getattr(other, name))
    }
    return msgspec.structs.replace(both, **lacking)
