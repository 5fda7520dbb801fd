"""Records JOB_FINISH of LSF's ``lsb.acct``, versions 5 to 10.

Fields are separated by blanks, texts are in double quotes, and a quote within a text is doubled.  Lists
have their number of members before them.  The order of the fields is that of the manual page lsb.acct(5) of
IBM Spectrum LSF 10.1; older versions end earlier.  Times are seconds since the epoch, 0 where unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from mawl.importers.formats.schedulers.history import (
    NEVER_STARTED,
    Entry,
    HistoryDoubt,
    HistoryEnd,
    HistoryJob,
    signal_of,
    times_of,
)

RECORD = '"JOB_FINISH" '
OTHER_RECORDS = ('"EVENT_ADRSV_FINISH" ', '"JOB_RESIZE" ', "#")
DEPENDED = "bsub -w made it depend on other jobs, and the record does not have how long it waited for them"

EXITED = 0x20
"""The bit of jStatus for a job that did not end with exit code 0 (lsbatch.h)."""
SIGNAL_BITS = 0x7F

_FIELD = re.compile(r'"((?:[^"]|"")*)"|([^\s"]+)')
_WHOLE = re.compile(r"-?[0-9]{1,18}")

# Places of fields before the first list, from 0.
_EVENT_TIME, _JOB, _SUBMIT, _BEGIN, _START, _DEPENDENCY, _ASKED_HOSTS = 2, 3, 7, 8, 10, 14, 22

# Fields after the command: 19 of resource usage, mailUser, projectName, exitStatus to timeEvent, and idx.
_BEFORE_EXIT_STATUS = 21
_BEFORE_INDEX = 25
# From maxRMem to jobDescription.
_BEFORE_EXTENSIONS = 23
# From runLimit to subcwd, after the resource usage of hosts (six fields each).
_BEFORE_NETWORKS = 15
# affinity, serial_job_energy, cpi, gips, gbs, gflops.
_BEFORE_SLOTS = 6


def read_jobs(lines: Iterable[tuple[int, str]]) -> Iterator[Entry]:
    """The jobs of whole lines (number from 1, text)."""
    for number, line in lines:
        if line.startswith(RECORD):
            yield _job(number, line)
        elif line.strip() and not line.startswith(OTHER_RECORDS):
            yield HistoryDoubt(number, "no record of lsb.acct", line)


def _job(number: int, line: str) -> Entry:
    record = _Record(line)
    try:
        ended, submitted, begin, started = (
            record.time(place) for place in (_EVENT_TIME, _SUBMIT, _BEGIN, _START)
        )
        depended, job = bool(record.fields[_DEPENDENCY]), record.fields[_JOB]
        record.at = _ASKED_HOSTS
        record.skip(record.whole())
        record.skip(record.whole())  # the hosts that it ran on
        state = record.whole()
        record.skip(1)  # hostFactor
        name, command = record.text(), record.text()
    except (IndexError, ValueError):
        return HistoryDoubt(number, "its fields are not those of a record JOB_FINISH", line)
    stopped = _stopped(record) if state & EXITED else None
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
    times = times_of(submitted, first or None, started, ended)
    if isinstance(times, str):
        return HistoryDoubt(number, times, line)
    unknown = DEPENDED if depended and waited is None and not requeued else None
    return HistoryJob(number, job, name, command, str(index) if index else None, times, unknown, stopped)


class _Record:
    """The fields of a record, and the place of the one that is read next."""

    def __init__(self, line: str) -> None:
        self.fields: Sequence[str] = [
            quoted.replace('""', '"') if word == "" else word for quoted, word in _FIELD.findall(line)
        ]
        self.at = 0

    def time(self, place: int) -> int:
        """Seconds since the epoch; ValueError if the field is no whole number."""
        return _number(self.fields[place])

    def whole(self) -> int:
        return _number(self.text())

    def text(self) -> str:
        self.at += 1
        return self.fields[self.at - 1]

    def skip(self, count: int) -> None:
        """Pass over fields; IndexError beyond the last."""
        if count < 0 or self.at + count > len(self.fields):
            raise IndexError(count)
        self.at += count


def _stopped(record: _Record) -> str | None:
    """The signal that ended a job; its exit status is that of wait(2)."""
    place = record.at + _BEFORE_EXIT_STATUS
    field = record.fields[place] if place < len(record.fields) else ""
    if not _WHOLE.fullmatch(field):
        return None
    code, signal = divmod(int(field), 256)
    return signal_of(code, signal & SIGNAL_BITS)


def _number(field: str) -> int:
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
