"""The processors of a run, and how many threads each of its jobs gets of them."""

from __future__ import annotations

import os

import msgspec

from mawl.base.errors import UsageError
from mawl.plan.workload import JobPlan, Plan
from mawl.records.spec.program_options import AUTO, Options


def parse_cores(text: str) -> tuple[int, ...]:
    """Processors from ``4`` (the first four this process may use) or a list (``0,2-5``)."""
    usable = sorted(os.sched_getaffinity(0))
    text = text.strip()
    if text.isdecimal():
        if not 1 <= int(text) <= len(usable):
            raise UsageError(
                f"--cores {text}: expected 1 to {len(usable)}, the processors this process may use"
            )
        return tuple(usable[: int(text)])
    chosen: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not (first.isdecimal() and (last.isdecimal() if dash else not last)) or int(last or first) < int(
            first
        ):
            raise UsageError(f"--cores {text}: expected a count (4) or a list (0,2-5)")
        # The first that is not usable is enough to refuse a range, however long it is.
        chosen.update(range(int(first), min(int(last or first), max(int(first), usable[-1] + 1)) + 1))
    missing = chosen - set(usable)
    if missing:
        raise UsageError(
            f"--cores {text}: processor {min(missing)} is not among those this process may use",
            cure=f"choose from {usable[0]}-{usable[-1]}",
        )
    return tuple(sorted(chosen))


def processors_of(cores: str | None) -> tuple[int, ...]:
    """Those that a run may use: what ``--cores`` names, or all that this process may use."""
    return parse_cores(cores) if cores else tuple(sorted(os.sched_getaffinity(0)))


def asks_for_threads(plan: Plan) -> bool:
    """Whether any job has ``cpucount=auto``."""
    return any(job.options.cpucount == AUTO for job in plan.jobs())


def with_threads(plan: Plan, processors: int) -> Plan:
    """The plan with a number in place of ``cpucount=auto``: processors by sessions, at least one.

    A job that runs alone (``--solo``) gets what it gets in the run, so that both can be compared.
    """
    threads = max(processors // max(len(plan.sessions), 1), 1)

    def known(options: Options) -> Options:
        return msgspec.structs.replace(options, cpucount=threads) if options.cpucount == AUTO else options

    def job_with(job: JobPlan) -> JobPlan:
        return msgspec.structs.replace(job, options=known(job.options))

    sessions = tuple(
        msgspec.structs.replace(
            session, stages=tuple(tuple(map(job_with, stage)) for stage in session.stages)
        )
        for session in plan.sessions
    )
    return msgspec.structs.replace(plan, options=known(plan.options), sessions=sessions)
