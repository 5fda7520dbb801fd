"""W, the slowdown: real time of the jobs of a run over their reference time, and what it is made of.

Response time over service requirement, as in queueing theory, with a requirement that no system under test
can change (docs/design/answer.md).  Times alone are for information.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

import msgspec

from mawl.figures.missing import counted
from mawl.figures.waits import PARTS, parts_of
from mawl.records.model.records import JobRecord
from mawl.records.model.run import Alone, RunFacts
from mawl.records.model.summary.judgement import ProgramAlone, TimesAlone
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import Options
from mawl.records.spec.run_spec import DEFAULT_SEED

LEAST_COVERED_RATIO = value_of("answer.least_covered_ratio")


class JobSums(msgspec.Struct, frozen=True, kw_only=True):
    """Sums in seconds over the jobs of a run that count.

    ``real`` is of all of them, ``covered`` and ``reference`` of those whose reference time is known;
    ``parts`` says what these did as far as that is known, by name (``PARTS``).
    """

    real: float
    covered: float
    reference: float
    parts: Mapping[str, float]

    @property
    def slowdown(self) -> float | None:
        """W; None where the reference time of more than a twentieth of the real time is not known."""
        if not self.reference or not self.covered or self.covered < LEAST_COVERED_RATIO * self.real:
            return None
        return self.covered / self.reference

    @property
    def slowdown_parts(self) -> dict[str, float] | None:
        """The parts of W by name, with ``unknown``; None where more than a twentieth of W is that."""
        known = sum(self.parts.values())
        if self.slowdown is None or known < LEAST_COVERED_RATIO * self.covered:
            return None
        found = {name: seconds / self.reference for name, seconds in self.parts.items()}
        return found | {"unknown": max(self.covered - known, 0.0) / self.reference}


def reference_seconds_of(facts: RunFacts) -> dict[str, float]:
    """Reference times by job, as far as they are known."""
    return {job.job: job.reference_seconds for job in facts.planned_jobs if job.reference_seconds is not None}


def job_sums(jobs: Iterable[JobRecord], facts: RunFacts) -> JobSums:
    """The sums of a run's jobs."""
    reference = reference_seconds_of(facts)
    real = covered = whole = 0.0
    parts = dict.fromkeys(PARTS, 0.0)
    for job in counted(jobs):
        seconds = job.usage.real_time_seconds
        if seconds is None:
            continue
        real += seconds
        if job.job not in reference:
            continue
        covered += seconds
        whole += reference[job.job]
        for name, part in parts_of(job).items():
            parts[name] += part
    return JobSums(real=real, covered=covered, reference=whole, parts=parts)


def pooled(runs: Sequence[JobSums]) -> JobSums:
    """The sums over several runs."""
    return JobSums(
        real=sum(run.real for run in runs),
        covered=sum(run.covered for run in runs),
        reference=sum(run.reference for run in runs),
        parts={name: sum(run.parts[name] for run in runs) for name in PARTS},
    )


def outside_of(facts: RunFacts) -> list[str]:
    """What sets a run apart from those it may be ranked with: its own reference times, seed, options."""
    found = other_options(facts)
    if facts.workload.seed not in (None, DEFAULT_SEED):
        found = [f"seed {facts.workload.seed}", *found]
    if facts.reference_file:
        found = [f"reference times of {facts.reference_file}", *found]
    return found


def other_options(facts: RunFacts) -> list[str]:
    """The options of programs that are not the default, which the reference times are of."""
    used = facts.workload.options
    if used is None:
        return []
    usual = msgspec.structs.asdict(Options())
    return [f"{name} {value}" for name, value in msgspec.structs.asdict(used).items() if value != usual[name]]


def times_alone_of(jobs: Sequence[JobRecord], facts: RunFacts) -> TimesAlone | None:
    """``times_alone`` of a summary; None where no program was run alone."""
    if not facts.alone:
        return None
    took = {job.job: job.usage.real_time_seconds for job in counted(jobs) if job.usage.real_time_seconds}
    mixed = alone = 0.0
    for one in facts.alone:
        own = [took[job] for job in one.jobs if job in took]
        mixed += sum(own)
        alone += one.real_time_seconds * len(own)
    starts = [run.started_at for one in facts.alone for run in one.runs]
    known = [start for start in starts if start is not None]
    return TimesAlone(
        ratio=mixed / alone if alone else None,
        age_seconds=facts.started_at - min(known) if known and len(known) == len(starts) else None,
        places=list(dict.fromkeys(place for one in facts.alone for place in one.places)),
        programs={one.program: _program(one, took) for one in facts.alone},
    )


def _program(alone: Alone, took: dict[str, float]) -> ProgramAlone:
    seconds = sorted(run.real_time_seconds for run in alone.runs)
    own = [took[job] / alone.real_time_seconds for job in alone.jobs if job in took]
    return ProgramAlone(
        seconds=alone.real_time_seconds,
        runs=max(len(seconds), 1),
        spread_ratio=(seconds[-1] - seconds[0]) / alone.real_time_seconds if len(seconds) > 1 else None,
        ratio=fmean(own) if own else None,
    )
