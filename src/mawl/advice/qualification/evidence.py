"""What an answer rests on: figures over all measured runs, None with a reason if not known; other work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from mawl.advice.answer import Disturbance
from mawl.advice.next_step import Lack
from mawl.advice.validity.host import MOST_FOREIGN_RATIO, foreign_cpu_ratio
from mawl.base.units import counted_noun
from mawl.figures.knee import SessionRun
from mawl.figures.others import other_programs_of
from mawl.figures.statistics import Interval
from mawl.figures.view import RunView
from mawl.records.model.node import notable
from mawl.records.model.qualification import (
    AnswerLimit,
    AnswerStorage,
    AnswerSystem,
    Fits,
    QualificationChange,
    QualifyRun,
)
from mawl.records.model.run import Reference
from mawl.records.model.summary.judgement import Parts


class Others(msgspec.Struct, frozen=True, kw_only=True):
    """The share in the busiest run, None with ``reason``; ``names`` are the processes that used most."""

    ratio: float | None = None
    reason: str = "no run of this kind was read"
    names: tuple[str, ...] = ()

    @property
    def busy(self) -> bool:
        return self.ratio is not None and self.ratio > MOST_FOREIGN_RATIO


def others_of(views: Iterable[RunView]) -> Others:
    """Of the run in which others used most."""
    found = Others()
    for view in views:
        ratio = foreign_cpu_ratio(view)
        if ratio is not None and (found.ratio is None or ratio > found.ratio):
            programs = notable(other_programs_of(view.facts)[0])
            found = Others(ratio=ratio, names=tuple(f"{one.name}, pid {one.pid}" for one in programs))
        elif found.ratio is None:
            found = Others(reason=view.why_not_drawn or "the samples do not say who used the processors")
    return found


def shows_nothing(run: QualifyRun, found: SessionRun, bad_jobs: int) -> bool:
    """Whether a run is too slow and other work may be the reason: then its sessions may still fit.

    A run that is fast enough beside other work shows that they fit.  A failed job shows that they do not.
    """
    return found.verdict == "too many" and not bad_jobs and run.disturbance is not None


def uncounted(runs: Sequence[QualifyRun]) -> list[str]:
    """A caution that runs do not count for the number that fits, and why; empty where all count."""
    numbers = " and ".join(counted_noun(one, "session") for one in sorted({run.sessions for run in runs}))
    return _not_counted(runs, f"with {numbers}", " for the number that fits")


def left_out(runs: Iterable[QualifyRun]) -> list[str]:
    """The same of further runs that are left out."""
    found = [run for run in runs if run.state == "left out"]
    return _not_counted(found, "beyond the planned ones")


def _not_counted(runs: Sequence[QualifyRun], which: str, for_what: str = "") -> list[str]:
    if not runs:
        return []
    do = "does" if len(runs) == 1 else "do"
    worst = max(runs, key=lambda run: run.others_cpu_ratio or 0.0)
    return [f"{counted_noun(len(runs), 'run')} {which} {do} not count{for_what}: {worst.disturbance}."]


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
