"""What other programs used while jobs ran, and what that cost the jobs (docs/design/verdict.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mawl.figures.io import foreign_at
from mawl.figures.series import RunSamples
from mawl.figures.sessions import added, rates
from mawl.figures.view import RunView
from mawl.records.model.node import OtherProgram, largest_first
from mawl.records.model.run import RunFacts
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import Role

FULL_RATIO = value_of("limit.others.most_idle_ratio")
LEAST_BYTES_RATIO = value_of("validity.competition.most_foreign_bytes_ratio")
LEAST_BYTES_PER_SECOND = value_of("validity.competition.least_foreign_bytes_per_second")


RECORDED_SINCE = [2, 8]
OLDER = "format {} does not record other programs (mawl before format 2.8)"


def other_programs_of(facts: RunFacts) -> tuple[list[OtherProgram], str | None]:
    """The other programs of a run, the largest first; and why not all could be seen, None where they were."""
    if facts.kind != "measured":
        return [], "only measured runs know which other programs ran"
    reason = facts.missing.get("other_programs")
    if facts.other_programs is None and reason is None:
        version = [int(part) for part in facts.format_version.split(".") if part]
        older = [] < version < RECORDED_SINCE
        reason = OLDER.format(facts.format_version) if older else "the run ended before it recorded them"
    return largest_first(facts.other_programs or []), reason


class ProcessorUse(NamedTuple):
    """Processors of a window: all, those that idled, and those that neither the jobs nor mawl kept busy."""

    processors: float
    idle: float
    others: float


def processor_use(samples: RunSamples, edges: Sequence[float]) -> list[ProcessorUse | None]:
    """The processors of all machines in each window; None where it is not known."""

    def rate(*names: str) -> list[float | None]:
        return rates(samples, [f"host.cpu_{name}_seconds" for name in names], edges)

    columns = (
        rate("user", "system", "interrupt"),
        rate("idle", "iowait"),
        rate("idle", "iowait", "steal"),
        rates(samples, ["jobs.on_cpu_seconds"], edges),
        rates(samples, ["mawl_cpu_seconds"], edges),
    )
    return [_use(*row) for row in zip(*columns, strict=True)]


def _use(
    busy: float | None, idle: float | None, rest: float | None, jobs: float | None, mawl: float | None
) -> ProcessorUse | None:
    every, own = added((busy, rest)), added((jobs, mawl))
    if every is None or own is None or busy is None or idle is None or every <= 0:
        return None
    return ProcessorUse(every, idle, max(busy - own, 0.0))


CONFINED = (
    "the jobs were held to some processors or to a quota, so it is not known whose processors others used"
)
SEVERAL = "the run has several machines, and the jobs' waits are not known by machine"


def waiting_for_others(view: RunView) -> tuple[list[float | None], str | None]:
    """How many jobs in the run queue others cost in each window, as mean numbers of jobs; and why not known.

    Without others ``r`` more jobs would be on a processor, the least of those in the queue ``q`` and the
    processors that others kept busy.  The work of ``c`` jobs on a processor then takes ``c / (c + r)`` of the
    time, so that ``r (c + q) / (c + r)`` of the waiting jobs are lost to others.
    """
    unknown: list[float | None] = [None] * len(view.moments)
    machines = view.facts.machines()
    if any(view.facts.granted_cpus(machine) is not None for machine in machines):
        return unknown, CONFINED
    if len(machines) > 1:
        return unknown, SEVERAL
    if view.over_time is None:
        return unknown, view.why_not_drawn
    samples, windows = view.over_time
    found: list[float | None] = []
    for moment, use in zip(view.moments, processor_use(samples, windows.edges), strict=True):
        queued, on_cpu = moment.jobs_in_run_queue, moment.jobs_on_cpu
        if use is None or queued is None or on_cpu is None:
            found.append(None)
            continue
        relieved = min(queued, use.others) if use.idle < FULL_RATIO * use.processors else 0.0
        found.append(relieved * (on_cpu + queued) / (on_cpu + relieved) if relieved else 0.0)
    known = any(value is not None for value in found)
    return found, None if known else "the samples do not say who used the processors"


def waiting_for_foreign_bytes(view: RunView, role: Role) -> float | None:
    """The part of a role's waiting at its devices that was for others: their part of the bytes there.

    0 where it is as little as journals and metadata make; None where it is not known.
    """
    foreign = foreign_at(view, role)
    if foreign is None or foreign.total_bytes_per_second is None:
        return None
    if foreign.ratio is None:  # the devices moved nothing, for nobody
        return 0.0
    much = foreign.ratio > LEAST_BYTES_RATIO and foreign.total_bytes_per_second >= LEAST_BYTES_PER_SECOND
    return foreign.ratio if much else 0.0
