"""Jobs that Slurm's ``sacct`` prints: with ``--parsable2`` or ``--parsable``, and with ``--json``.

Times of the text are local to the machine of ``sacct``, without a zone, unless ``SLURM_TIME_FORMAT`` says
otherwise; those of the JSON are seconds since the epoch.  ``Submit`` is the time at which the job was last
queued: Slurm sets it again when it requeues the job (sacct(1)).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from mawl.importers.formats.schedulers.history import (
    NEVER_STARTED,
    STILL_RUNS,
    Entry,
    HistoryDoubt,
    HistoryEnd,
    HistoryJob,
    signal_of,
    times_of,
)

REQUIRED = ("JobID", "JobName", "Submit", "Start", "End")
GIVE = "sacct -P -o JobID,JobName,Submit,Eligible,Start,End,State,ExitCode"
_NOT_YET = frozenset({"", "unknown", "none", "none assigned", "n/a"})
STOPPED = frozenset(
    ("BOOT_FAIL", "CANCELLED", "DEADLINE", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT")
)
"""States of sacct(1) in which Slurm ended the job."""
_EXIT_CODE = re.compile(r"([0-9]{1,3}):([0-9]{1,3})")
_TASK = re.compile(r"([0-9]{1,18})_([0-9]{1,18})")


def read_jobs(lines: Iterable[tuple[int, str]]) -> Iterator[Entry]:
    """The jobs of whole lines (number from 1, text); the first line that is not blank is the heading.

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
            entry = _of_row(number, dict(zip(columns, cells, strict=True)), line)
            if entry is not None:
                yield entry


def _of_row(line: int, row: dict[str, str], text: str) -> Entry | None:
    job = row["JobID"]
    if "." in job:
        return None
    for name, reason in (("Start", NEVER_STARTED), ("End", STILL_RUNS)):
        if row[name].lower() in _NOT_YET:
            return HistoryEnd(reason)
    eligible = row.get("Eligible", "")
    times = times_of(
        row["Submit"], None if eligible.lower() in _NOT_YET else eligible, row["Start"], row["End"]
    )
    if isinstance(times, str):
        return HistoryDoubt(line, times, text)
    task = _TASK.fullmatch(job)
    return HistoryJob(
        line,
        task[1] if task else job,
        row["JobName"],
        row.get("SubmitLine", ""),
        task[2] if task else None,
        times,
        stopped=_stopped(row.get("State", "")) or _ended_by(row.get("ExitCode", "")),
    )


def _stopped(state: object) -> str | None:
    """The state, such as ``CANCELLED by 1000``, if Slurm ended the job."""
    return state if isinstance(state, str) and state.partition(" ")[0] in STOPPED else None


def _ended_by(exit_code: str) -> str | None:
    """The signal of an ``ExitCode`` (exit code:signal)."""
    if found := _EXIT_CODE.fullmatch(exit_code):
        return signal_of(int(found[1]), int(found[2]))
    return None


class _Job(msgspec.Struct):
    """What is read of a job of ``sacct --json`` (its data parser of the database)."""

    job_id: Any = None
    name: Any = None
    array: Any = None
    submit_line: Any = None
    time: Any = None
    state: Any = None


class SacctJson(msgspec.Struct):
    """``sacct --json``."""

    jobs: list[_Job]

    def entries(self) -> Iterator[Entry]:
        return map(_of_json, self.jobs)


def _of_json(job: _Job) -> Entry:
    times = job.time if isinstance(job.time, dict) else {}
    submitted, eligible, started, ended = (
        _number(times.get(name), unset=0) for name in ("submission", "eligible", "start", "end")
    )
    name, command = (text if isinstance(text, str) else "" for text in (job.name, job.submit_line))
    for value, reason in ((started, NEVER_STARTED), (ended, STILL_RUNS)):
        if value == 0:
            return HistoryEnd(reason)
    found = times_of(submitted, eligible or None, started, ended)
    if isinstance(found, str):
        return HistoryDoubt(None, found, name)
    array = job.array if isinstance(job.array, dict) else {}
    task = _number(array.get("task_id"))
    number = _number(array.get("job_id")) if task is not None else None
    return HistoryJob(
        None,
        str(number or _number(job.job_id) or ""),
        name,
        command,
        None if task is None else str(task),
        found,
        stopped=next(filter(None, map(_stopped, _states(job.state))), None),
    )


def _states(state: object) -> list[object]:
    """The states of a job: a list in newer versions, one text in older ones."""
    current = state.get("current") if isinstance(state, dict) else None
    return current if isinstance(current, list) else [current]


def _number(value: object, unset: int | None = None) -> int | None:
    """A number as some versions write it, or within ``{"set": true, "number": 1}`` as others do."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") is True else unset
    return value if isinstance(value, int) and not isinstance(value, bool) else None
