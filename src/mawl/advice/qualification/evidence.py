"""What an answer rests on: figures over all measured runs, each None with a reason where it is not known."""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.advice.answer import Disturbance
from mawl.advice.next_step import Lack
from mawl.advice.qualification.other_work import Others
from mawl.figures.statistics import Interval
from mawl.records.model.qualification import (
    AnswerLimit,
    AnswerStorage,
    AnswerSystem,
    Fits,
    QualificationChange,
)
from mawl.records.model.run import Reference
from mawl.records.model.summary.judgement import Parts


class NodesEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """Of several nodes what the first of ``names`` did alone, in ``runs`` runs.

    ``ratio`` is the slowdown of all nodes over that of one, ``failed`` says which jobs of one node failed,
    ``shared_machine`` which nodes are one machine.
    """

    names: list[str]
    runs: int
    one: Interval | None
    ratio: Interval | None
    one_jobs_per_hour: float | None = None
    failed: str | None = None
    shared_machine: str | None = None


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """``failed`` says which jobs failed, if any did; ``raised`` is what can only have raised W, each kind
    once, ``lowered`` what can only have lowered it, ``unknown`` why it is not known.
    ``foreign_bytes_known`` says whether each run shows what others moved at the devices of the roles.

    ``active_seconds`` are those that count for the storage: without a page cache of all runs of the mix, also
    with other numbers of sessions, else of the longest.  ``limit`` is the verdict of the runs.  ``again`` is
    the command that asks the same, ``longer`` with more time.
    Where there are ``nodes``, the sessions are those of each, and all other figures of all together.
    """

    sessions: int
    answer_bound: float
    guideline_bytes_per_second_per_core: float
    slowdown: Interval | None
    parts: Parts | None = None
    reference: Reference | None = None
    outside: list[str] = []
    delivered_cores: Interval | None = None
    preliminary_scale: str | None = None
    runs: int
    active_seconds: float
    failed: str | None = None
    unknown: tuple[str, Lack] | None = None
    raised: list[Disturbance] = []
    foreign_bytes_known: bool
    lowered: tuple[str, Lack] | None = None
    device_bytes_per_second_per_core: float | None = None
    device_basis: Literal["probe", "run", "demand"] | None = None
    guideline_met: bool | None = None
    jobs_per_hour: float | None = None
    joules_per_job: float | None = None
    energy_scope: str | None = None
    limit: AnswerLimit | None = None
    fits: Fits
    changes: list[QualificationChange] = []
    cautions: list[str] = []
    others_calibration: Others = Others()
    others_measured: Others = Others()
    system: AnswerSystem | None = None
    during: list[AnswerStorage] = []
    nodes: NodesEvidence | None = None
    again: str
    longer: str
    missing: dict[str, str] = {}
