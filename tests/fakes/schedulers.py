"""Histories of schedulers, written field by field as their manuals list them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple


class Ran(NamedTuple):
    """A job: times are seconds since the epoch; ``eligible`` is when it could run, None: at submission."""

    number: int
    name: str
    submitted: float
    started: float
    ended: float
    eligible: float | None = None
    task: int | None = None
    command: str = ""


def text(value: str) -> str:
    """A field of lsb.acct in quotes, those within it doubled."""
    return '"' + value.replace('"', '""') + '"'


def lsb_record(
    job: Ran,
    *,
    hosts: Sequence[str] = ("node1",),
    asked: Sequence[str] = (),
    depends: str = "",
    ineligible: int = -1,
    requeued: float = 0,
    version: str = "10.108",
    usage_of_hosts: bool = False,
    state: int = 64,
    exit_status: int = 0,
) -> str:
    """A record JOB_FINISH as lsb.acct(5) of LSF 10.1 lists its fields."""
    begin = 0 if job.eligible is None or depends else job.eligible
    fields: list[Any] = [
        *(text("JOB_FINISH"), text(version), int(job.ended), job.number, 1501, 33554434, 1),
        *(int(job.submitted), int(begin), 0, int(job.started), text("sas"), text("night"), text("")),
        *(text(depends), text(""), text("login1"), text("/shop"), text(""), text("%J.out"), text("")),
        text(f"{int(job.submitted)}.{job.number}"),
        *(len(asked), *map(text, asked), len(hosts), *map(text, hosts)),
        *(state, 100.0, text(job.name), text(job.command)),
        *("0.004997", "0.006155", 3748, 0, -1, 0, 0, 436, 4, 0, 928, 0, -1, 0, 0, 0, 19, 2, -1),
        *(text(""), text("default"), exit_status, 1, text(""), text("")),  # mailUser to timeEvent
        job.task or 0,
        *(2048, 0, text(""), text(""), text(""), text(""), 0, text(""), 0, text(""), -1),
        *(text(""), text(""), text(""), text(""), -1, text(""), text(""), 5136, text("")),
        *(int(job.started), text(""), text("")),  # lastResizeTime, rsvId, jobDescription
        *(2, 1032, text("0"), 1033, text("0")),  # submitExt
    ]
    fields += (
        [len(hosts), *(part for host in hosts for part in (host, 1306, 0, 12, 2, 0))]
        if usage_of_hosts
        else [0]
    )
    fields += [
        *(-1, 4194304, 1024, text("select[type == any] order[r15s:pg] "), text(""), -1, text(""), -1, 0),
        *(text(""), 0, 0, text(""), int(job.ended - job.started), text("/shop")),
        *(0, text(""), "0.000000", "0.00", "0.00", "0.00", "0.00"),
        *(len(hosts), *map(text, hosts), ineligible, 0, int(requeued), 0, 0, 1, text("schedulingOverhead")),
        text("0.00"),
    ]
    return " ".join(map(str, fields)) + "\n"


HEADING = "JobID|JobName|Submit|Eligible|Start|End|State"


def sacct_row(job: Ran, hours: float = 0.0, state: str = "COMPLETED") -> str:
    """A line of ``sacct -P`` on a machine whose clock is so many hours ahead of UTC."""
    number = str(job.number) if job.task is None else f"{job.number}_{job.task}"
    eligible = job.submitted if job.eligible is None else job.eligible
    times = (clock(at, hours) for at in (job.submitted, eligible, job.started, job.ended))
    return "|".join((number, job.name, *times, state)) + "\n"


def sacct(jobs: Sequence[Ran], hours: float = 0.0) -> str:
    """``sacct -P``: the heading, and each job with its step ``batch``."""
    rows = [f"{sacct_row(job, hours)}{sacct_row(job, hours).replace('|', '.batch|', 1)}" for job in jobs]
    return HEADING + "\n" + "".join(rows)


def clock(at: float, hours: float = 0.0) -> str:
    """A time without its zone."""
    return (datetime.fromtimestamp(at, UTC) + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%S")


def sacct_json(jobs: Sequence[Ran], state: str = "COMPLETED") -> str:
    """``sacct --json`` of Slurm 23.11."""
    return json.dumps(
        {
            "jobs": [
                {
                    "array": {
                        "job_id": 0 if job.task is None else job.number,
                        "task_id": {"set": job.task is not None, "infinite": False, "number": job.task or 0},
                    },
                    "job_id": job.number,
                    "name": job.name,
                    "state": {"current": [state], "reason": "None"},
                    "submit_line": job.command,
                    "time": {
                        "elapsed": int(job.ended - job.started),
                        "eligible": int(job.submitted if job.eligible is None else job.eligible),
                        "end": int(job.ended),
                        "start": int(job.started),
                        "submission": int(job.submitted),
                    },
                }
                for job in jobs
            ],
            "meta": {"plugin": {"type": "openapi/slurmdbd"}},
        }
    )


def orchestrator(jobs: Sequence[Ran]) -> str:
    """The answer of ``/sasgrid/api/jobs`` by the names that SAS's own programs read of it."""
    return json.dumps(
        {
            "version": 1,
            "jobs": [
                {
                    "id": job.number,
                    "processingInfo": {
                        "state": "FINISHED",
                        "queue": "default",
                        "submitTime": clock(job.submitted) + "Z",
                        "startTime": clock(job.started) + "Z",
                        "endTime": clock(job.ended) + "Z",
                        "executionHost": "node1",
                        "exitCode": 0,
                    },
                    "request": {"name": job.name, "user": "sas", "cmd": job.command},
                }
                for job in jobs
            ],
        }
    )


def grid_status(jobs: Sequence[Ran]) -> str:
    """``SASGSUB -GRIDGETSTATUS ALL``."""
    lines = [
        f"  Job {job.number} ({job.name}) is Finished:  Submitted: {_sas(job.submitted)}, Started: "
        f"{_sas(job.started)} on Host node1, Ended: {_sas(job.ended)}\n"
        for job in jobs
    ]
    return "Current Job Information\n" + "".join(lines)


def _sas(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%d%b%Y:%H:%M:%S}"
