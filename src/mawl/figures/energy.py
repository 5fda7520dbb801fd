"""Energy of a run: which counters add up, and what a job's part is (docs/design/energy.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from mawl.figures.host_parts import part_names
from mawl.figures.missing import Missing, counted
from mawl.figures.series import CounterChange, RunSamples, gain
from mawl.records.model.records import JobRecord
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.host import Energy, EnergyDomain
from mawl.records.model.summary.programs import ProgramFigures

NO_SAMPLES = (
    "the run holds no samples of energy: its machine told none, or it is older than format 2.3, imported or "
    "simulated"
)
SHARE = "the run's energy is not known"
EVENLY_KNOWN_RATIO = 0.95
"""Domains that are known for less than this share of the best known one make no sum.  A sum that is known
for less than this share of the run is not the energy of its jobs."""

MACHINE, PROCESSORS, WITH_MEMORY = "machine", "processors", "processors and memory"
Domains = dict[str, CounterChange | None]


class _Whole(msgspec.Struct, frozen=True, kw_only=True):
    """The sum of one machine: what it measures, the domains in it, and without a sum the reason."""

    scope: str | None = None
    summed: tuple[str, ...] = ()
    reason: str = ""


def energy_block(
    facts: RunFacts,
    samples: RunSamples | None,
    edges: Sequence[float] | None,
    jobs: Sequence[JobRecord],
    missing: Missing,
) -> Energy | None:
    """The block over the time between the first and the last of ``edges``; None with the reason without any.

    Energy is that of machines: two nodes on one machine count once.
    """
    machines = {node.name for node in facts.machines()}
    if samples is None or edges is None:
        missing["energy"] = NO_SAMPLES
        return None
    span = (edges[0], edges[-1])
    found = {
        node: {
            name: gain(facts, samples, node, f"energy.{name}.joules", span)
            for name in part_names(samples, node, "energy")
        }
        for node in samples.nodes
        if node in machines
    }
    if not any(found.values()):
        missing["energy"] = facts.missing.get("energy", NO_SAMPLES)
        return None
    whole = {node: _whole(domains) for node, domains in found.items()}
    reason = _no_sum(machines, found, whole)
    if reason:
        missing |= dict.fromkeys(
            (f"energy.{name}" for name in ("scope", "known_seconds", "joules", "mean_watts")), reason
        )
    parts = [] if reason else [found[node][name] for node, one in whole.items() for name in one.summed]
    total = sum(part.amount for part in parts if part) if parts else None
    known = min((part.seconds for part in parts if part), default=None)
    good = len(counted(jobs))
    partial = _partial(known, edges[-1] - edges[0])
    per_job = total / good if total is not None and good and not partial else None
    if per_job is None:
        missing["energy.joules_per_job"] = reason or partial or "no job counts"
    return Energy(
        scope=None if reason else next(one.scope for one in whole.values()),
        known_seconds=known,
        joules=total,
        mean_watts=sum(part.per_second for part in parts if part) if parts else None,
        joules_per_job=per_job,
        domain={
            name if len(samples.nodes) == 1 else f"{node}:{name}": _domain(change, name in whole[node].summed)
            for node, domains in found.items()
            for name, change in domains.items()
        },
    )


def share_energy(
    programs: Mapping[str, ProgramFigures],
    energy: Energy | None,
    jobs: Sequence[JobRecord],
    missing: Missing,
) -> None:
    """Put each program's energy of a job there: the run's, shared out to all jobs by their CPU time.

    A job's CPU time is that of its whole process tree, start-up and check included, however the job ended.
    """
    started = [job for job in jobs if job.started_at is not None]
    spent = {job.job: job.total.cpu_seconds for job in started}
    known = [seconds for seconds in spent.values() if seconds is not None]
    joules, reason = (None if energy is None else energy.joules), SHARE
    if energy is not None and joules is not None and energy.joules_per_job is None:
        joules, reason = None, missing["energy.joules_per_job"]
    if joules is not None and (len(known) < len(started) or not sum(known)):
        joules, reason = None, "a job left no account of its CPU time"
    if joules is None:
        missing["programs.*.joules_per_job"] = reason
        return
    for name, figures in programs.items():
        good = counted([job for job in started if job.program == name])
        if good:
            own = sum(spent[job.job] or 0.0 for job in good)
            figures.joules_per_job = joules * own / sum(known) / len(good)


def _partial(known: float | None, seconds: float) -> str | None:
    if known is None or known >= EVENLY_KNOWN_RATIO * seconds:
        return None
    whole = f"{seconds:.0f} s from the first start of a job to the last end"
    return f"energy was known for {known:.0f} s of the {whole}"


def _whole(domains: Domains) -> _Whole:
    """A meter of the whole machine if it has one, else packages and, where it is counted, memory."""
    meters = tuple(name for name in domains if name.startswith("machine/"))
    if len(meters) > 1:
        return _Whole(reason=f"{len(meters)} power meters may measure the same: {', '.join(meters)}")
    packages = tuple(name for name in domains if name.startswith("package") and "/" not in name)
    memory = tuple(name for name in domains if name.startswith("package") and name.endswith("/dram"))
    scope = MACHINE if meters else WITH_MEMORY if memory else PROCESSORS
    summed = meters or packages + memory
    if not summed:
        return _Whole(reason=f"{', '.join(domains)}: neither a whole processor nor a whole machine")
    seconds = {name: change.seconds if (change := domains[name]) else 0.0 for name in summed}
    least, most = min(seconds, key=seconds.__getitem__), max(seconds.values())
    if not most:
        return _Whole(reason=f"{least} was read too seldom for a run as short as this")
    if seconds[least] < EVENLY_KNOWN_RATIO * most:
        return _Whole(reason=f"{least} was known for {seconds[least]:.0f} s only, others for {most:.0f} s")
    return _Whole(scope=scope, summed=summed)


def _no_sum(machines: set[str], found: Mapping[str, Domains], whole: Mapping[str, _Whole]) -> str | None:
    silent = sorted(node for node in machines if not found.get(node))
    if silent:
        return f"{', '.join(silent)} measured no energy"
    reasons = [f"{node}: {one.reason}" if len(whole) > 1 else one.reason for node, one in whole.items()
               if one.reason]  # fmt: skip
    if reasons:
        return reasons[0]
    seconds = {
        node: min(change.seconds for name in one.summed if (change := found[node][name]))
        for node, one in whole.items()
    }
    least, most = min(seconds, key=seconds.__getitem__), max(seconds.values())
    if seconds[least] < EVENLY_KNOWN_RATIO * most:
        return f"{least} was known for {seconds[least]:.0f} s only, others for {most:.0f} s"
    scopes = sorted({one.scope or "" for one in whole.values()})
    return f"the scope differs between nodes: {', '.join(scopes)}" if len(scopes) > 1 else None


def _domain(change: CounterChange | None, summed: bool) -> EnergyDomain:
    return EnergyDomain(
        joules=None if change is None else change.amount,
        mean_watts=None if change is None else change.per_second,
        known_seconds=None if change is None else change.seconds,
        counted=summed,
    )
