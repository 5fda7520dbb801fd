"""A job in the history of a scheduler, and the histories of SAS Workload Orchestrator and of SASGSUB."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from mawl.importers.formats.text import moment

EARLIEST_AT, LATEST_AT = 631_152_000.0, 4_102_444_800.0
"""1990 and 2100; a record with a time outside is a damaged one."""

LONGEST_SECONDS = 366 * 86400.0
EPOCH_DIGITS = 12

NEVER_STARTED = "never started"
STILL_RUNS = "had not ended when the file was written"


class Times(msgspec.Struct, frozen=True):
    """When a job was submitted, could run, started and ended, all by one clock.

    ``zoned``: the times are seconds since the epoch.  If not, they are those of a wall clock, read as if it
    were UTC.  ``eligible`` is the time from which, by the record, only the scheduler kept the job waiting.
    """

    submitted: float
    eligible: float
    started: float
    ended: float
    zoned: bool


class HistoryJob(msgspec.Struct, frozen=True):
    """A job that ran.

    ``line`` counts from 1 (None: the format has no lines).  ``task`` is the number in an array of jobs (None:
    not in an array).  ``why_unknown`` says why the job may have waited for something other than the scheduler
    after ``times.eligible``.  ``stopped`` says what ended the job before its own end (None: nothing did, or
    the history does not say).
    """

    line: int | None
    number: str
    name: str
    command: str
    task: str | None
    times: Times
    why_unknown: str | None = None
    stopped: str | None = None


class HistoryDoubt(msgspec.Struct, frozen=True):
    """A line or record that gives no job, and why."""

    line: int | None
    reason: str
    text: str


class HistoryEnd(msgspec.Struct, frozen=True):
    """A job without a start or an end; ``reason`` is ``NEVER_STARTED`` or ``STILL_RUNS``."""

    reason: str


Entry = HistoryJob | HistoryDoubt | HistoryEnd

SHELL_SIGNAL_BASE = 128
MOST_SIGNAL = 64
"""Linux has no greater number (signal(7))."""


def signal_of(exit_code: int, signal: int) -> str | None:
    """The signal that ended a job; None if none did.

    A shell whose program was ended by a signal exits with 128 and the number of the signal.
    """
    if 0 < exit_code - SHELL_SIGNAL_BASE <= MOST_SIGNAL:
        signal = exit_code - SHELL_SIGNAL_BASE
    return f"signal {signal}" if 0 < signal <= MOST_SIGNAL else None


Clock = tuple[float, bool]
"""A time, and whether its zone is known (seconds since the epoch)."""


def clock_of(value: object) -> Clock | None:
    """A time of a text (ISO 8601, or seconds since the epoch) or of a number; None for anything else."""
    if isinstance(value, str):
        if value.isascii() and value.isdecimal():
            return clock_of(int(value[:EPOCH_DIGITS]))
        found = moment(value)
        if found is None or not found[2]:  # 03/04/2026 may be in March or in April
            return None
        return found[0] - (found[1] or 0.0), found[1] is not None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return (float(value), True) if EARLIEST_AT <= value < LATEST_AT else None


def times_of(submitted: object, eligible: object, started: object, ended: object) -> Times | str:
    """The times of a job, of values as in ``clock_of``; a sentence if no job can have them.

    ``eligible`` is None if the job could run from its submission on.
    """
    values = (submitted, submitted if eligible is None else eligible, started, ended)
    clocks = [clock for value in values if (clock := clock_of(value)) is not None]
    if len(clocks) < len(values):
        return "a time is missing or is not a date"
    if len({zoned for _, zoned in clocks}) > 1:
        return "some of its times have a zone and some have none"
    submission, first, start, end = (at for at, _ in clocks)
    if start < submission:
        return "it starts before it was submitted"
    if end < start:
        return "it ends before its start"
    if end - submission > LONGEST_SECONDS:
        return "more than a year from submission to end is doubtful"
    first = max(first, submission)
    if first > start:
        return "it starts before it could run"
    return Times(submission, first, start, end, clocks[0][1])


class OrchestratorJson(msgspec.Struct):
    """The answer of SAS Workload Orchestrator's interface, ``/sasgrid/api/jobs``, as JSON.

    Public programs of SAS read these names of it: ``jobs`` with ``id``; below each ``processingInfo`` with
    ``state``, ``submitTime``, ``startTime``, ``endTime``; and ``request`` with ``name`` and ``cmd``.  Names
    in SAS have no case, so mawl reads them in upper or lower case.
    """

    jobs: list[dict[str, Any]]

    def entries(self) -> Iterator[Entry]:
        return map(_of_job, self.jobs)


def _of_job(job: dict[str, Any]) -> Entry:
    parts = _lower(job)
    info, request = _lower(parts.get("processinginfo")), _lower(parts.get("request"))
    name, command, number = (
        str(value) if isinstance(value, str | int) else ""
        for value in (request.get("name"), request.get("cmd"), parts.get("id"))
    )
    for key, reason in (("starttime", NEVER_STARTED), ("endtime", STILL_RUNS)):
        if info.get(key) in (None, ""):
            return HistoryEnd(reason)
    times = times_of(info.get("submittime"), None, info.get("starttime"), info.get("endtime"))
    if isinstance(times, str):
        return HistoryDoubt(None, times, name)
    return HistoryJob(None, number, name, command, None, times)


def _lower(value: object) -> dict[str, Any]:
    """A mapping with its names in lower case; empty for anything else."""
    return {name.lower(): member for name, member in value.items()} if isinstance(value, dict) else {}


_JOB = re.compile(r"\s{0,99}Job (\S{1,99}) \((.{0,999})\) is \w{1,99}:")
_TIME = re.compile(r"(Submitted|Started|Ended): ([0-9]{2})([A-Za-z]{3})([0-9]{4}):([0-9:]{8})")


def read_jobs(lines: Iterable[tuple[int, str]]) -> Iterator[Entry]:
    """The jobs in lines (number from 1, text) of ``SASGSUB -GRIDGETSTATUS ALL``; other lines are passed over.

    A line in *Grid Computing in SAS 9.4*::

        Job 61361 (testPgm) is Finished:  Submitted: 06Jan2011:10:28:57, Started: 06Jan2011:10:28:57 on Host
        d12345, Ended: 06Jan2011:10:28:57

    Times are local to the machine of the command, without a zone.
    """
    for number, line in lines:
        if (job := _JOB.match(line)) is not None:
            yield _of_line(number, job, line)


def _of_line(number: int, job: re.Match[str], line: str) -> Entry:
    said = {
        name: f"{day}-{month}-{year} {time}"
        for name, day, month, year, time in (found.groups() for found in _TIME.finditer(line, job.end()))
    }
    for name, reason in (("Started", NEVER_STARTED), ("Ended", STILL_RUNS)):
        if name not in said:
            return HistoryEnd(reason)
    times = times_of(said.get("Submitted"), None, said["Started"], said["Ended"])
    if isinstance(times, str):
        return HistoryDoubt(number, times, line)
    return HistoryJob(number, job[1], job[2], "", None, times)
