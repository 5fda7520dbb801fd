"""A listener of a run that remembers what it was told."""

from __future__ import annotations

from mawl.records.model.records import JobRecord
from mawl.records.spec.program_options import StartMode
from mawl.run.runner.request import Listener, Status


class Watcher(Listener):
    """Keeps notices, records of ended jobs and statuses."""

    def __init__(self) -> None:
        self.notices: list[str] = []
        self.ended: list[JobRecord] = []
        self.statuses: list[Status] = []

    def launching(self, mode: StartMode, jobs: int) -> None:
        """Nothing to remember."""

    def status(self, status: Status) -> None:
        self.statuses.append(status)

    def job_ended(self, record: JobRecord) -> None:
        self.ended.append(record)

    def notice(self, text: str) -> None:
        self.notices.append(text)
