"""Runs to compare: the synthetic run, slower or faster, in any number, with noise or planted changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from mawl.figures.comparison.sides import ComparedRun, JobTime, Side, side_of
from mawl.records.model.records import JobRecord
from mawl.records.model.role_io import Waits
from mawl.records.model.run import RunFacts, WorkloadFacts
from tests.fakes.stored_run import MOVED, NAMES, START, facts, job, planned
from tests.fakes.views import judge, summary_of, typed

NOISE = 0.15
"""Standard deviation of the mean over jobs of log real time, from run to run of the workload nano.

Measured 2026-11-20 on two virtual processors of a Xeon at 2.5 GHz that other work shared: 48 runs gave
0.152 (elapsed 0.137; by program 0.127 to 0.204; first half 0.144, second 0.160; from one run to the
next correlated by 0.30, hence: take turns).
"""

COMPLETED: dict[str, Any] = {
    "outcome": "completed",
    "outcome_reason": None,
    "workload": msgspec.structs.replace(facts().workload, jobs=len(NAMES)),
}


def slowed(record: JobRecord, factor: float, blocked_work_seconds: float = 0.0) -> JobRecord:
    """A job that took ``factor`` times as long, and was blocked in work for so much more."""
    usage, waits = record.usage, record.waits
    assert usage.real_time_seconds is not None and waits.blocked_work_seconds is not None
    real = usage.real_time_seconds * factor
    states = msgspec.structs.asdict(waits)
    states["blocked_work_seconds"] += blocked_work_seconds
    # A job cannot wait for longer than it lasts: what it waits more in work it waits less elsewhere.
    elsewhere = max(states["on_cpu_seconds"] - usage.real_time_seconds / 2, 0.0)
    states["on_cpu_seconds"] -= elsewhere
    states["blocked_other_seconds"] += elsewhere
    states["blocked_other_seconds"] -= max(sum(states.values()) - real, 0.0)
    return msgspec.structs.replace(
        record,
        usage=msgspec.structs.replace(usage, real_time_seconds=real),
        waits=Waits(**states),
    )


def jobs(factors: Mapping[str, float], blocked_work_seconds: float = 0.0) -> list[JobRecord]:
    """The six jobs of the synthetic run, all good; ``factors`` by program."""
    spans = {"s1-1": (0, 20.5), "s2-1": (0, 30.5), "s3-1": (0, 10.5), "s4-1": (0, 40.5), "s1-2": (20.5, 31)}
    return [
        slowed(
            job(name, *spans.get(name, (40.5, 60.5))),
            factors.get(planned(name).program, 1.0),
            blocked_work_seconds,
        )
        for name in NAMES
    ]


def compared(
    number: int = 0,
    factors: Mapping[str, float] | None = None,
    *,
    records: list[JobRecord] | None = None,
    blocked_work_seconds: float = 0.0,
    **changes: object,
) -> ComparedRun:
    """A run as a comparison reads it; ``number`` is its place in time, ``changes`` are of its facts."""
    some: RunFacts = facts(
        **{**COMPLETED, "run_id": f"run-{number}", "started_at": START + 100.0 * number, **changes}
    )
    records = jobs(factors or {}, blocked_work_seconds) if records is None else records
    summary = judge(some, records, summary_of(some, records, moved=MOVED))
    times = {
        record.job: JobTime(
            program=record.program,
            real_time_seconds=record.usage.real_time_seconds if record.outcome == "finished" else None,
        )
        for record in records
    }
    return ComparedRun(facts=some, summary=typed(summary), jobs=times)


def side(label: str, factors: Iterable[float], *, first: int = 0, step: int = 2, **changes: Any) -> Side:
    """A run for each factor, which all its jobs took; ``first`` and ``step`` order them in time."""
    runs = [
        compared(first + step * place, {"wide_sort": factor, "census_load": factor}, **changes)
        for place, factor in enumerate(factors)
    ]
    return side_of(label, runs)


def pair(reference: Sequence[float], candidate: Sequence[float], **changes: Any) -> tuple[Side, Side]:
    """Two sides that took turns; ``changes`` are of the candidate's facts."""
    return side("before", reference), side("after", candidate, first=1, **changes)


def workload(**changes: object) -> WorkloadFacts:
    """The workload of the runs with changes."""
    whole: WorkloadFacts = msgspec.structs.replace(COMPLETED["workload"], **changes)
    return whole
