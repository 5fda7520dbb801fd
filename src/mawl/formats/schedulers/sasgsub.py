"""What ``SASGSUB -GRIDGETSTATUS ALL`` prints of the jobs of a SAS grid with any scheduler.

A line in *Grid Computing in SAS 9.4*::

    Job 61361 (testPgm) is Finished:  Submitted: 06Jan2011:10:28:57, Started: 06Jan2011:10:28:57 on Host
    d12345, Ended: 06Jan2011:10:28:57

Times are local to the machine of the command, without a zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mawl.formats.schedulers.history import (
    NEVER_STARTED,
    STILL_RUNS,
    Entry,
    HistoryDoubt,
    HistoryEnd,
    HistoryJob,
    times_of,
)

_JOB = re.compile(r"\s{0,99}Job (\S{1,99}) \((.{0,999})\) is \w{1,99}:")
_TIME = re.compile(r"(Submitted|Started|Ended): ([0-9]{2})([A-Za-z]{3})([0-9]{4}):([0-9:]{8})")


def read_jobs(lines: Iterable[tuple[int, str]]) -> Iterator[Entry]:
    """The jobs of whole lines (number from 1, text); other lines are passed over."""
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
