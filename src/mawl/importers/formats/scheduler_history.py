"""Histories of batch schedulers: when each job was submitted, started and ended."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from mawl.importers.formats.text import moment

EARLIEST_AT, LATEST_AT = 631_152_000.0, 4_102_444_800.0
"""1990 and 2100; a record with a time outside is a damaged one."""

LONGEST_SECONDS = 366 * 86400.0
EPOCH_DIGITS = 12

NEVER_STARTED = "never started"
STILL_RUNS = "had not ended when the file was written"
NOT_YET = ""


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


def _entry(
    line: int | None,
    text: str,
    times: tuple[object, object, object, object],
    *,
    number: str,
    name: str,
    command: str = "",
    task: str | None = None,
    why_unknown: str | None = None,
    stopped: str | None = None,
) -> Entry:
    """A job with its ``times`` as in ``times_of``; a start or an end of ``NOT_YET`` has not come."""
    for value, reason in ((times[2], NEVER_STARTED), (times[3], STILL_RUNS)):
        if value == NOT_YET:
            return HistoryEnd(reason)
    known = times_of(*times)
    if isinstance(known, str):
        return HistoryDoubt(line, known, text)
    return HistoryJob(line, number, name, command, task, known, why_unknown, stopped)


class OrchestratorJson(msgspec.Struct):
    """The answer of SAS Workload Orchestrator's interface, ``/sasgrid/api/jobs``, as JSON.

    Public programs of SAS read these names of it: ``jobs`` with ``id``; below each ``processingInfo`` with
    ``state``, ``submitTime``, ``startTime``, ``endTime``; and ``request`` with ``name`` and ``cmd``.  Names
    in SAS have no case, so mawl reads them in upper or lower case.
    """

    jobs: list[dict[str, Any]]

    def entries(self) -> Iterator[Entry]:
        return map(_of_orchestrator, self.jobs)


def _of_orchestrator(job: dict[str, Any]) -> Entry:
    parts = _lower(job)
    info, request = _lower(parts.get("processinginfo")), _lower(parts.get("request"))
    name, command, number = (
        str(value) if isinstance(value, str | int) else ""
        for value in (request.get("name"), request.get("cmd"), parts.get("id"))
    )
    started, ended = (NOT_YET if info.get(key) is None else info[key] for key in ("starttime", "endtime"))
    times = (info.get("submittime"), None, started, ended)
    return _entry(None, name, times, number=number, name=name, command=command)


def _lower(value: object) -> dict[str, Any]:
    """A mapping with its names in lower case; empty for anything else."""
    return {name.lower(): member for name, member in value.items()} if isinstance(value, dict) else {}


_JOB = re.compile(r"\s{0,99}Job (\S{1,99}) \((.{0,999})\) is \w{1,99}:")
_TIME = re.compile(r"(Submitted|Started|Ended): ([0-9]{2})([A-Za-z]{3})([0-9]{4}):([0-9:]{8})")


def read_sasgsub(lines: Iterable[tuple[int, str]]) -> Iterator[Entry]:
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
        for name, day, month, year, time in (match.groups() for match in _TIME.finditer(line, job.end()))
    }
    times = (said.get("Submitted"), None, said.get("Started", NOT_YET), said.get("Ended", NOT_YET))
    return _entry(number, line, times, number=job[1], name=job[2])


REQUIRED = ("JobID", "JobName", "Submit", "Start", "End")
GIVE = "sacct -P -o JobID,JobName,Submit,Eligible,Start,End,State,ExitCode"
_UNSET = frozenset({"", "unknown", "none", "none assigned", "n/a"})
STOPPED = frozenset(
    ("BOOT_FAIL", "CANCELLED", "DEADLINE", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT")
)
"""States of sacct(1) in which Slurm ended the job."""
_EXIT_CODE = re.compile(r"([0-9]{1,3}):([0-9]{1,3})")
_TASK = re.compile(r"([0-9]{1,18})_([0-9]{1,18})")


def read_sacct(lines: Iterable[tuple[int, str]]) -> Iterator[Entry]:
    """The jobs of ``sacct --parsable2`` or ``--parsable``, of whole lines (number from 1, text).

    The first line that is not blank is the heading.  Times are local to the machine of ``sacct``, without a
    zone, unless ``SLURM_TIME_FORMAT`` says otherwise.  ``Submit`` is the time at which the job was last
    queued: Slurm sets it again when it requeues the job (sacct(1)).
    Steps of jobs (``123.batch``) are passed over.
    """
    columns: list[str] = []
    for number, line in lines:
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split("|")]
        if not columns:
            columns = cells
            if lacking := [name for name in REQUIRED if name not in cells]:
                yield HistoryDoubt(number, f"sacct without {', '.join(lacking)}: give `{GIVE}`", line)
                return
        elif len(cells) != len(columns):
            yield HistoryDoubt(number, f"{len(cells)} fields, but the heading has {len(columns)}", line)
        elif cells != columns:  # files that were put together repeat the heading
            entry = _of_slurm_row(number, dict(zip(columns, cells, strict=True)), line)
            if entry is not None:
                yield entry


def _of_slurm_row(line: int, row: dict[str, str], text: str) -> Entry | None:
    job = row["JobID"]
    if "." in job:
        return None
    eligible, started, ended = (
        NOT_YET if (cell := row.get(name, "")).lower() in _UNSET else cell
        for name in ("Eligible", "Start", "End")
    )
    task = _TASK.fullmatch(job)
    return _entry(
        line,
        text,
        (row["Submit"], eligible or None, started, ended),
        number=task[1] if task else job,
        name=row["JobName"],
        command=row.get("SubmitLine", ""),
        task=task[2] if task else None,
        stopped=_stopping_state(row.get("State", "")) or _ended_by(row.get("ExitCode", "")),
    )


def _stopping_state(state: object) -> str | None:
    """The state, such as ``CANCELLED by 1000``, if Slurm ended the job."""
    return state if isinstance(state, str) and state.partition(" ")[0] in STOPPED else None


def _ended_by(exit_code: str) -> str | None:
    """The signal of an ``ExitCode`` (exit code:signal)."""
    if found := _EXIT_CODE.fullmatch(exit_code):
        return signal_of(int(found[1]), int(found[2]))
    return None


class _SlurmJob(msgspec.Struct):
    """What is read of a job of ``sacct --json`` (its data parser of the database)."""

    job_id: Any = None
    name: Any = None
    array: Any = None
    submit_line: Any = None
    time: Any = None
    state: Any = None


class SacctJson(msgspec.Struct):
    """``sacct --json``."""

    jobs: list[_SlurmJob]

    def entries(self) -> Iterator[Entry]:
        return map(_of_slurm_json, self.jobs)


def _of_slurm_json(job: _SlurmJob) -> Entry:
    times = job.time if isinstance(job.time, dict) else {}
    submitted, eligible, started, ended = (
        NOT_YET if (at := _number_of(times.get(name), unset=0)) == 0 else at
        for name in ("submission", "eligible", "start", "end")
    )
    name, command = (text if isinstance(text, str) else "" for text in (job.name, job.submit_line))
    array = job.array if isinstance(job.array, dict) else {}
    task = _number_of(array.get("task_id"))
    number = _number_of(array.get("job_id")) if task is not None else None
    return _entry(
        None,
        name,
        (submitted, eligible or None, started, ended),
        number=str(number or _number_of(job.job_id) or ""),
        name=name,
        command=command,
        task=None if task is None else str(task),
        stopped=next(filter(None, map(_stopping_state, _states(job.state))), None),
    )


def _states(state: object) -> list[object]:
    """The states of a job: a list in newer versions, one text in older ones."""
    current = state.get("current") if isinstance(state, dict) else None
    return current if isinstance(current, list) else [current]


def _number_of(value: object, unset: int | None = None) -> int | None:
    """A number as some versions write it, or within ``{"set": true, "number": 1}`` as others do."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") is True else unset
    return value if isinstance(value, int) and not isinstance(value, bool) else None


RECORD = '"JOB_FINISH" '
OTHER_RECORDS = ('"EVENT_ADRSV_FINISH" ', '"JOB_RESIZE" ', "#")
DEPENDED = "bsub -w made it depend on other jobs, and the record does not have how long it waited for them"

EXITED = 0x20
"""The bit of jStatus for a job that did not end with exit code 0 (lsbatch.h)."""
SIGNAL_BITS = 0x7F

_FIELD = re.compile(r'"((?:[^"]|"")*)"|([^\s"]+)')
_WHOLE = re.compile(r"-?[0-9]{1,18}")

# Places of fields before the first list, from 0.
_EVENT_TIME, _JOB_NUMBER, _SUBMIT, _BEGIN, _START, _DEPENDENCY, _ASKED_HOSTS = 2, 3, 7, 8, 10, 14, 22

# Fields after the command: 19 of resource usage, mailUser, projectName, exitStatus to timeEvent, and idx.
_BEFORE_EXIT_STATUS = 21
_BEFORE_INDEX = 25
# From maxRMem to jobDescription.
_BEFORE_EXTENSIONS = 23
# From runLimit to subcwd, after the resource usage of hosts (six fields each).
_BEFORE_NETWORKS = 15
# affinity, serial_job_energy, cpi, gips, gbs, gflops.
_BEFORE_SLOTS = 6


def read_lsb_acct(lines: Iterable[tuple[int, str]]) -> Iterator[Entry]:
    """The records JOB_FINISH of LSF's ``lsb.acct``, versions 5 to 10, in whole lines (number from 1, text).

    Fields are separated by blanks, texts are in double quotes, and a quote within a text is doubled.  Lists
    have their number of members before them.  The order of the fields is that of the manual page lsb.acct(5)
    of IBM Spectrum LSF 10.1; older versions end earlier.  Times are seconds since the epoch, 0 if unknown.
    """
    for number, line in lines:
        if line.startswith(RECORD):
            yield _of_record(number, line)
        elif line.strip() and not line.startswith(OTHER_RECORDS):
            yield HistoryDoubt(number, "no record of lsb.acct", line)


def _of_record(number: int, line: str) -> Entry:
    record = _Record(line)
    try:
        ended, submitted, begin, started = (
            record.time(place) for place in (_EVENT_TIME, _SUBMIT, _BEGIN, _START)
        )
        depended, job = bool(record.fields[_DEPENDENCY]), record.fields[_JOB_NUMBER]
        record.at = _ASKED_HOSTS
        record.skip(record.whole())
        record.skip(record.whole())  # the hosts that it ran on
        state = record.whole()
        record.skip(1)  # hostFactor
        name, command = record.text(), record.text()
    except (IndexError, ValueError):
        return HistoryDoubt(number, "its fields are not those of a record JOB_FINISH", line)
    stopped = _signal_of_record(record) if state & EXITED else None
    index, ineligible, requeued = _late_fields(record)
    if not started:
        return HistoryEnd(NEVER_STARTED)
    if requeued is not None and requeued > started:
        requeued = 0  # after this run
    waited = None
    if ineligible is not None and ineligible >= 0 and not requeued:
        # Pending for a start time, another job or a hold, as TRACK_ELIGIBLE_PENDINFO counts it.
        waited = min(submitted + ineligible, started)
    first = max(begin, requeued or 0, waited or 0)
    return _entry(
        number,
        line,
        (submitted, first or None, started, ended),
        number=job,
        name=name,
        command=command,
        task=str(index) if index else None,
        why_unknown=DEPENDED if depended and waited is None and not requeued else None,
        stopped=stopped,
    )


class _Record:
    """The fields of a record, and the place of the one that is read next."""

    def __init__(self, line: str) -> None:
        self.fields: Sequence[str] = [
            quoted.replace('""', '"') if word == "" else word for quoted, word in _FIELD.findall(line)
        ]
        self.at = 0

    def time(self, place: int) -> int:
        """Seconds since the epoch; ValueError if the field is no whole number."""
        return _whole_number(self.fields[place])

    def whole(self) -> int:
        return _whole_number(self.text())

    def text(self) -> str:
        self.at += 1
        return self.fields[self.at - 1]

    def skip(self, count: int) -> None:
        """Pass over fields; IndexError beyond the last."""
        if count < 0 or self.at + count > len(self.fields):
            raise IndexError(count)
        self.at += count


def _signal_of_record(record: _Record) -> str | None:
    """The signal that ended a job; its exit status is that of wait(2)."""
    place = record.at + _BEFORE_EXIT_STATUS
    field = record.fields[place] if place < len(record.fields) else ""
    if not _WHOLE.fullmatch(field):
        return None
    code, signal = divmod(int(field), 256)
    return signal_of(code, signal & SIGNAL_BITS)


def _whole_number(field: str) -> int:
    if not _WHOLE.fullmatch(field):
        raise ValueError(field)
    return int(field)


def _late_fields(record: _Record) -> tuple[int, int | None, int | None]:
    """Index in an array (0: none), seconds in which the job could not run, and when it was requeued.

    The last two are None if the record ends before them, or its fields are not those of version 10.1.
    """
    index = 0
    try:
        record.skip(_BEFORE_INDEX)
        index = record.whole()
        record.skip(_BEFORE_EXTENSIONS)
        record.skip(2 * record.whole())
        record.skip(6 * record.whole())
        record.skip(_BEFORE_NETWORKS)
        record.skip(2 * record.whole())
        record.skip(_BEFORE_SLOTS)
        record.skip(record.whole())
        ineligible = record.whole()
        record.skip(3 * record.whole())
        return index, ineligible, record.whole()
    except (IndexError, ValueError):
        return index, None, None
