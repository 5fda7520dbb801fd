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
from mawl.model.derived import DerivedJob, DerivedStep, RoleLoad
from mawl.model.records import JobRecord, StepRecord
from mawl.model.role_io import RoleIo
from mawl.spec.program_options import ROLES
from mawl.store import Run

LEAST: Mapping[str, float] = {
    "real_seconds": 0.1,
    "cpu_seconds": 0.1,
    "memory_bytes": 8 * 2**20,
    "moved_bytes": 2**20,
}
"""The ratios of steps with less in the logs mean nothing: times in a log have hundredths of a second, and any
derived job holds 7 to 10 MB."""


def steps_of(
    jobs: Sequence[MatchedJob], records: Mapping[str, JobRecord], run: Run, factor: float
) -> tuple[list[ReplayedStep], int]:
    """The steps on both sides, sorted by the change of real time, and how many the run lacks."""
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
    """The figures of the log, at the scale of the run, and those of the run.

    Bytes of the log are those that the derived job has: inferred or assumed.
    """
    scale = job.scale * factor
    rows = job.growth if step.kernel in GROWS_WITH_ROWS else 1.0
    loads = {role: _moved(step.load(role)) * factor for role in ROLES}
    moved: Mapping[str, float] = {}
    if own.io is not None:
        moved = {role: _moved(own.io.get(role, RoleIo())) for role in ROLES}
    return Figures(
        real_seconds=both(_times(told.usage.real_time_seconds, scale), own.usage.real_time_seconds),
        cpu_seconds=both(_times(told.usage.cpu_seconds, scale * job.growth), own.usage.cpu_seconds),
        memory_bytes=both(_times(told.usage.memory_bytes, scale * rows), own.usage.memory_bytes),
        moved_bytes=both(math.fsum(loads.values()), math.fsum(moved.values()) if moved else None),
        data_bytes=both(loads["data"], moved.get("data")),
        work_bytes=both(loads["work"], moved.get("work")),
        util_bytes=both(loads["util"], moved.get("util")),
    )


def _moved(load: RoleLoad | RoleIo) -> float:
    return float(load.read_bytes + load.written_bytes)


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
    """The programs of the logs, sorted by the change of real time, the largest first."""
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
    return Closeness(
        figure=name,
        least=least,
        steps=len(errors),
        median=_finite(median(errors)) if errors else None,
        high=_finite(errors[math.ceil(0.95 * len(errors)) - 1]) if errors else None,
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
