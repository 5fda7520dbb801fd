"""Steps on both sides, their sums by program, and how near single steps come."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from mawl.derive.jobs import GROWS_WITH_ROWS
from mawl.derive.replay.match import MatchedJob
from mawl.derive.replay.records import (
    FIGURES,
    Both,
    Closeness,
    Figures,
    ReplayedProgram,
    ReplayedStep,
    both,
)
from mawl.model.derived import DerivedJob, DerivedStep
from mawl.model.records import JobRecord, StepRecord
from mawl.spec.program_options import ROLES
from mawl.store import Run

LEAST: Mapping[str, float] = {
    "real_seconds": 0.1,
    "cpu_seconds": 0.1,
    "memory_bytes": 8 * 2**20,
    "moved_bytes": 2**20,
}
"""Steps with less in the logs have no ratio that means anything: times in a log are to the hundredth of a
second, and a derived job holds 7 to 10 MB in any case."""


def steps_of(
    jobs: Sequence[MatchedJob], records: Mapping[str, JobRecord], run: Run, factor: float
) -> tuple[list[ReplayedStep], int]:
    """The steps on both sides, those first whose real time changed most, and how many the run lacks."""
    ran = {(step.job, step.name): step for step in run.step_records([_id(one, records) for one in jobs])}
    found, missing = [], 0
    for one in jobs:
        for step, told in zip(one.derived.steps, one.logged.steps, strict=True):
            own = ran.get((_id(one, records), step.name))
            if own is None:
                missing += 1
                continue
            found.append(
                ReplayedStep(
                    program=one.logged.job.program,
                    job=one.logged.job.job,
                    run_job=own.job,
                    step=step.name,
                    figures=_figures(one.derived, step, told, own, factor),
                )
            )
    return sorted(found, key=_least_changed), missing


def _id(one: MatchedJob, records: Mapping[str, JobRecord]) -> str:
    return records[one.derived.name].job


def _figures(job: DerivedJob, step: DerivedStep, told: StepRecord, own: StepRecord, factor: float) -> Figures:
    """What the log tells, at the scale of the run; bytes are those that were inferred, of the record."""
    scale = job.scale * factor
    rows = job.growth if step.kernel in GROWS_WITH_ROWS else 1.0
    moved = {
        role: None
        if own.io is None
        else float(own.io[role].read_bytes + own.io[role].written_bytes if role in own.io else 0)
        for role in ROLES
    }
    loads = {role: (step.load(role).read_bytes + step.load(role).written_bytes) * factor for role in ROLES}
    every = None if own.io is None else math.fsum(part or 0.0 for part in moved.values())
    return Figures(
        real_seconds=both(_times(told.usage.real_time_seconds, scale), own.usage.real_time_seconds),
        cpu_seconds=both(_times(told.usage.cpu_seconds, scale * job.growth), own.usage.cpu_seconds),
        memory_bytes=both(_times(told.usage.memory_bytes, scale * rows), own.usage.memory_bytes),
        moved_bytes=both(math.fsum(loads.values()), every),
        data_bytes=both(loads["data"], moved["data"]),
        work_bytes=both(loads["work"], moved["work"]),
        util_bytes=both(loads["util"], moved["util"]),
    )


def _times(figure: float | None, factor: float) -> float | None:
    return None if figure is None else figure * factor


def _least_changed(one: ReplayedStep | ReplayedProgram) -> float:
    """Sorts by the change of real time, the largest first, unknown ones last."""
    real = one.figures.real_seconds
    return -abs(real.run - real.logs) if real.run is not None and real.logs is not None else math.inf


def summed(parts: Sequence[Figures]) -> Figures:
    """Sums over the steps that have a figure on both sides; of memory the largest."""

    def figure(name: str) -> Both:
        pairs: list[Both] = [getattr(one, name) for one in parts]
        known = [(one.logs, one.run) for one in pairs if one.logs is not None and one.run is not None]
        if not known:
            return Both()
        logs, run = [one for one, _ in known], [one for _, one in known]
        if name == "memory_bytes":
            return both(max(logs), max(run))
        return both(math.fsum(logs), math.fsum(run))

    return Figures(**{name: figure(name) for name in FIGURES})


def programs_of(steps: Iterable[ReplayedStep]) -> list[ReplayedProgram]:
    """The programs of the logs, those first whose real time changed most."""
    mine: dict[str, list[ReplayedStep]] = {}
    for step in steps:
        mine.setdefault(step.program, []).append(step)
    found = [
        ReplayedProgram(
            program=program,
            jobs=len({one.job for one in group}),
            steps=len(group),
            figures=summed([one.figures for one in group]),
        )
        for program, group in mine.items()
    ]
    return sorted(found, key=_least_changed)


def closeness_of(name: str, steps: Sequence[ReplayedStep]) -> Closeness:
    """How near the run comes in one figure of :data:`LEAST`, step by step."""
    least = LEAST[name]
    pairs: list[Both] = [getattr(one.figures, name) for one in steps]
    errors = sorted(
        max(one.ratio, 1 / one.ratio) if one.ratio else math.inf
        for one in pairs
        if one.ratio is not None and (one.logs or 0.0) >= least
    )
    finite = [error if math.isfinite(error) else None for error in errors]
    return Closeness(
        figure=name,
        least=least,
        steps=len(errors),
        median=_finite(median(errors)) if errors else None,
        high=finite[math.ceil(0.95 * len(finite)) - 1] if finite else None,
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
