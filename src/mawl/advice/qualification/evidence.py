"""What an answer rests on: figures over all measured runs, each None with a reason where it is not known."""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.advice.capacity.answers import Lack
from mawl.advice.qualification.fits import MedianEstimate
from mawl.advice.qualification.other_work import Others, busy_words
from mawl.records.model.qualification import (
    AnswerLimit,
    AnswerStorage,
    AnswerSystem,
    Fits,
    QualificationChange,
)


class NodesEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """Of several nodes what the first of ``names`` did alone, in ``runs`` runs.

    ``ratio`` is the slowdown of all nodes over that of one, ``failed`` says which jobs of one node failed,
    ``shared_machine`` which nodes are one machine.
    """

    names: list[str]
    runs: int
    one: MedianEstimate | None
    ratio: MedianEstimate | None
    one_jobs_per_hour: float | None = None
    failed: str | None = None
    shared_machine: str | None = None


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """``failed`` says which jobs failed, if any did; ``lack`` why the storage was not asked, if it was not.

    ``active_seconds`` are those that count for the storage: of all runs without a page cache, else of the
    longest.  ``limit`` is the verdict of the runs, and ``processors_active_ratio`` the share of the active
    time that the processors limited.  ``again`` is the command that asks the same, ``longer`` with more time.
    Where there are ``nodes``, the sessions are those of each, and all other figures of all together.
    """

    sessions: int
    most_slowdown: float
    guideline_bytes_per_second_per_core: float
    whole: MedianEstimate | None
    compute: MedianEstimate | None
    storage: MedianEstimate | None
    runs: int
    runs_alone: int
    active_seconds: float
    failed: str | None = None
    lack: tuple[str, Lack] | None = None
    device_bytes_per_second_per_core: float | None = None
    device_basis: Literal["probe", "run", "demand"] | None = None
    guideline_met: bool | None = None
    jobs_per_hour: float | None = None
    joules_per_job: float | None = None
    energy_scope: str | None = None
    limit: AnswerLimit | None = None
    processors_active_ratio: float | None = None
    fits: Fits
    changes: list[QualificationChange] = []
    cautions: list[str] = []
    others_alone: Others = Others()
    others_measured: Others = Others()
    system: AnswerSystem | None = None
    during: list[AnswerStorage] = []
    nodes: NodesEvidence | None = None
    again: str
    longer: str
    missing: dict[str, str] = {}

    @property
    def busy(self) -> str | None:
        return busy_words(self.others_alone, self.others_measured)
