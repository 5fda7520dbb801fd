"""Jobs of SAS Workload Orchestrator: the answer of its interface, ``/sasgrid/api/jobs``, as JSON.

Public programs of SAS read these names of it: ``jobs`` with ``id``; below each ``processingInfo`` with
``state``, ``submitTime``, ``startTime``, ``endTime``; and ``request`` with ``name`` and ``cmd``.  Names in
SAS have no case, so mawl reads them in upper or lower case.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from mawl.formats.schedulers.history import (
    NEVER_STARTED,
    STILL_RUNS,
    Entry,
    HistoryDoubt,
    HistoryEnd,
    HistoryJob,
    times_of,
)


class OrchestratorJson(msgspec.Struct):
    """The answer."""

    jobs: list[dict[str, Any]]

    def entries(self) -> Iterator[Entry]:
        """Its jobs, in order."""
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
