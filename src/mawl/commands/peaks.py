"""The memory that programs really used, kept beside the runs: a plan's need is measured before declared."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

import msgspec

from mawl.analysis.blocks import counted
from mawl.measure.suitability import libraries
from mawl.model.records import JobRecord
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.needs import Needs, needs
from mawl.plan.solo import JobKind, is_of_catalogue, kind_of, kinds
from mawl.plan.workload import Plan
from mawl.spec.program_options import StartMode
from mawl.store import open_run
from mawl.store.peaks import Peak, read_peak, write_peak
from mawl.store.solo import Condition
from mawl.version import __version__

SAME_RATIO = 1.05
"""A peak this much above the one that is kept is the same: the margin of a plan covers it."""


class Peaks:
    """The measured peaks of one plan's jobs.

    Commands and programs of users have none: their processes side by side are not measured, and their
    code may change under the same name.
    """

    def __init__(self, plan: Plan, runs: Path, start: StartMode) -> None:
        self._runs, self._start = runs, start
        around: dict[str, Condition] = {
            "start_mode": start,
            "mawl_version": __version__,
            "libraries": libraries(),
        }
        kept = {kind_of(job) for job in plan.jobs() if is_of_catalogue(job)}
        self._conditions: dict[JobKind, dict[str, Condition]] = {
            kind: {
                "scale": kind.scale,
                **{f"option_{name}": value for name, value in msgspec.structs.asdict(kind.options).items()},
                **around,
            }
            for kind in kinds(plan)
            if kind in kept
        }

    def needs(self, plan: Plan) -> Needs:
        """What a plan of such jobs needs, its memory measured before declared."""
        return needs(plan, CATALOGUE, spawn=self._start == "spawn", measured=self.known())

    def known(self) -> dict[JobKind, Peak]:
        """Those that runs in the same directory of run folders have measured."""
        found = {
            kind: read_peak(self._runs, kind.program, conditions)
            for kind, conditions in self._conditions.items()
        }
        return {kind: peak for kind, peak in found.items() if peak is not None}

    def keep(self, plan: Plan, folder: Path) -> None:
        """Take the peaks of a run that has ended; a directory that cannot be written keeps none."""
        before = self.known()
        run = open_run(folder)
        for kind, peak in peaks_of(plan, run.job_records(), run.facts.run_id).items():
            if kind not in self._conditions:
                continue
            old = before.get(kind)
            most = peak if old is None or peak.private_bytes > SAME_RATIO * old.private_bytes else old
            jobs = peak.jobs + (0 if old is None else old.jobs)
            with contextlib.suppress(OSError):
                write_peak(
                    self._runs, msgspec.structs.replace(most, jobs=jobs, conditions=self._conditions[kind])
                )


def peaks_of(plan: Plan, jobs: Iterable[JobRecord], run_id: str) -> dict[JobKind, Peak]:
    """The largest peak of each kind of job of a run, ``verify`` included; without conditions."""
    planned = {job.job: kind_of(job) for job in plan.jobs() if is_of_catalogue(job)}
    found: dict[JobKind, Peak] = {}
    for job in counted(jobs):
        private, own, beyond = job.private_memory_bytes, job.usage.os_memory_bytes, job.usage.memory_bytes
        kind = planned.get(job.job)
        if kind is None or private is None or own is None or beyond is None:
            continue
        old = found.get(kind)
        found[kind] = Peak(
            program=kind.program,
            private_bytes=max(private, 0 if old is None else old.private_bytes),
            ready_bytes=max(own - beyond, 0 if old is None else old.ready_bytes),
            jobs=1 + (0 if old is None else old.jobs),
            run_id=run_id,
            conditions={},
        )
    return found
