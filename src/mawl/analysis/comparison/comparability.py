"""Whether two sides may be compared with each other: what refuses, what casts doubt, what merely differs.

One rule for each thing; docs/design/comparison.md says why each stands where it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from mawl.analysis.comparison.configuration import OWN, Reader, shown
from mawl.analysis.comparison.cpu_accounting import accounting
from mawl.analysis.comparison.sides import ComparedRun, Side, centre, same
from mawl.model.thresholds import value_of
from mawl.units import format_percent

Severity = Literal["refused", "doubtful", "remark"]
"""``refused``: no comparison; ``doubtful``: only with ``--anyway``; ``remark``: said beside the figures."""

NEVER_MET = "no figure of one says anything about the other"


class Obstacle(msgspec.Struct, frozen=True, kw_only=True):
    """Something that stands between two sides, in one sentence with both values."""

    rule: str
    severity: Severity
    sentence: str


CONFIGURATION: tuple[tuple[str, Severity, Reader], ...] = (
    ("jobs of the workload", "refused", lambda run: _jobs(run)),
    ("scale", "refused", lambda run: run.facts.workload.scale),
    ("what derived jobs do and when they start", "refused", lambda run: run.facts.derived),
    ("page cache", "refused", lambda run: _page_cache(run)),
    ("kind", "doubtful", lambda run: _kind(run)),
    ("seed of the inputs", "doubtful", lambda run: run.facts.workload.seed),
)
"""What the runs of both sides must share: name, what happens where they do not, how to read it."""

WARMTH_RATIO = value_of("comparison.most_warmth_difference")
"""Inputs that were in memory before the start: sides further apart than this did not read alike."""


def obstacles(reference: Side, candidate: Side) -> list[Obstacle]:
    """Everything in the way, the gravest first; published sides have no plan to be unlike in."""
    found: list[Obstacle] = []
    for side in (reference, candidate):
        found += _within(side)
    if reference.runs and candidate.runs:
        found += _between(reference, candidate)
    found += _bases(reference, candidate)
    order: tuple[Severity, ...] = ("refused", "doubtful", "remark")
    return sorted(found, key=lambda obstacle: order.index(obstacle.severity))


def _within(side: Side) -> Iterator[Obstacle]:
    """A side is one configuration, measured again and again."""
    for name, severity, read in CONFIGURATION:
        if not same(read(run) for run in side.runs):
            yield Obstacle(
                rule=name, severity=severity, sentence=f"the runs of {side.label} differ in: {name}"
            )
    for name, read in OWN:
        values = list(dict.fromkeys(shown(read(run)) for run in side.runs))
        if len(values) > 1:
            yield Obstacle(
                rule=name,
                severity="doubtful",
                sentence=f"the runs of {side.label} are not repeats of each other: "
                f"{name} is {values[0]} and {values[1]}",
            )
    invalid = [run.facts.run_id for run in side.runs if run.summary.validity.status == "invalid"]
    if invalid:
        yield Obstacle(
            rule="validity",
            severity="remark",
            sentence=f"not trusted by their own report: {', '.join(invalid)} of {side.label}",
        )
    for run in side.runs:
        if run.facts.outcome != "completed":
            jobs = run.summary.jobs
            yield Obstacle(
                rule="outcome",
                severity="doubtful" if run.facts.outcome == "running" else "remark",
                sentence=f"run {run.facts.run_id} is {run.facts.outcome}: "
                f"{jobs.counted} of its {run.facts.workload.jobs} jobs count",
            )


def _between(reference: Side, candidate: Side) -> Iterator[Obstacle]:
    before, after = reference.runs[0], candidate.runs[0]
    shared = sorted(
        {run.facts.run_id for run in reference.runs} & {run.facts.run_id for run in candidate.runs}
    )
    if shared:
        yield Obstacle(
            rule="same run",
            severity="doubtful",
            sentence=f"run {shared[0]} is on both sides: it is compared with itself",
        )
    for name, severity, read in CONFIGURATION:
        one, other = read(before), read(after)
        if one != other:
            yield Obstacle(rule=name, severity=severity, sentence=_unlike(name, one, other, before, after))
    if _in_turn(reference, candidate) is False:
        yield Obstacle(
            rule="order",
            severity="remark",
            sentence="all runs of one side were made before those of the other: what drifted meanwhile "
            "would look like an effect; take turns",
        )
    warmth = [centre(side.values("inputs.resident_ratio")) for side in (reference, candidate)]
    if None not in warmth and abs((warmth[0] or 0.0) - (warmth[1] or 0.0)) > WARMTH_RATIO:
        shares = " and ".join(format_percent(share or 0.0) for share in warmth)
        yield Obstacle(
            rule="warmth",
            severity="remark",
            sentence=f"{shares} of the input files were cached before the start: run both with --cache cold",
        )
    if not same(_device_source(run) for run in (before, after)):
        yield Obstacle(
            rule="device side",
            severity="remark",
            sentence=f"bytes at the device are those of {_device_source(before)} on one side and of "
            f"{_device_source(after)} on the other: figures of the device are not compared",
        )


def _bases(reference: Side, candidate: Side) -> Iterator[Obstacle]:
    """Figures that are left out because the sides count them differently."""
    cores = [core_basis(side) for side in (reference, candidate)]
    if cores[0] != cores[1]:
        yield Obstacle(
            rule="core basis",
            severity="remark",
            sentence=f"cores are counted as {cores[0] or 'not known'} and {cores[1] or 'not known'}: "
            "figures per core are not compared",
        )
    accounts = [accounting(side) for side in (reference, candidate)]
    if accounts[0] != accounts[1]:
        yield Obstacle(
            rule="CPU accounting",
            severity="remark",
            sentence=f"CPU time is {accounts[0] or 'not known'} and {accounts[1] or 'not known'}: "
            "CPU times and CPU/real are not compared",
        )


def core_basis(side: Side) -> str | None:
    """What a core of this side is; None where it is not known or its nodes differ."""
    if side.published is not None:
        basis: str | None = side.published.per_core.core_basis
        return basis
    bases = {node.core_basis for run in side.runs for node in run.facts.nodes}
    return bases.pop() if len(bases) == 1 else None


def compares_devices(reference: Side, candidate: Side) -> bool:
    """Whether both sides counted device bytes at the same place."""
    return same(_device_source(run) for side in (reference, candidate) for run in side.runs)


def _unlike(name: str, one: object, other: object, before: ComparedRun, after: ComparedRun) -> str:
    if name != "jobs of the workload":
        return f"the sides differ in {name}: {shown(one)} and {shown(other)}"
    names = [run.facts.workload.name for run in (before, after)]
    return (
        f"the sides ran other jobs ({names[0]} with {len(before.jobs)}, "
        f"{names[1]} with {len(after.jobs)}): {NEVER_MET}"
    )


def _in_turn(reference: Side, candidate: Side) -> bool | None:
    """Whether runs of the sides were made by turns; None where there is one of a side only."""
    if min(len(reference.runs), len(candidate.runs)) < 2:
        return None
    spans = [
        (side.runs[0].facts.started_at, side.runs[-1].facts.started_at) for side in (reference, candidate)
    ]
    return spans[0][0] < spans[1][1] and spans[1][0] < spans[0][1]


def _device_source(run: ComparedRun) -> str:
    """``block devices``, or that none are known; which devices may well differ."""
    source = str(run.summary.io.device.windows_source)
    return "block devices" if source.startswith("block device") else "no known devices"


def _jobs(run: ComparedRun) -> object:
    planned = {job.job: job.program for job in run.facts.planned_jobs}
    return planned or {job: time.program for job, time in run.jobs.items()}


def _page_cache(run: ComparedRun) -> str:
    """Where the page cache was denied to the roles, times and bytes are of another load."""
    denied = run.facts.cache is not None and run.facts.cache.mode == "none"
    return "denied (--cache none)" if denied else "in use"


def _kind(run: ComparedRun) -> str:
    return "simulated" if run.facts.kind == "simulated" else "measured"
