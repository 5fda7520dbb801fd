"""Carried or not: no job failed, the median stretch keeps its bound, the gate is met."""

from __future__ import annotations

from typing import Any

from mawl.advice.capacity.bounds import Bounds
from mawl.advice.capacity.gate import gate_block
from mawl.advice.capacity.stretch import stretch_block
from mawl.advice.evidence import Reading
from mawl.analysis.blocks import Missing
from mawl.analysis.recordings import NO_JOBS
from mawl.analysis.unended import CUT
from mawl.units import format_rate, format_ratio

NONE_ALONE = "the imported files do not tell which jobs ran alone"


def capacity_block(reading: Reading, bounds: Bounds, missing: Missing) -> dict[str, Any]:
    """``capacity`` of the summary.

    ``carried`` is false where any of the three speaks against it, null where none does but one is
    not known, and true where all are known and well.  Of a run that did not go through, or not yet,
    only a job that failed speaks: stretch and throughput are of a part of its load.  Recordings of hosts
    without jobs carried nobody knows what.
    ``reasons`` has a sentence for each of them.
    """
    stretch = stretch_block(reading.jobs, reading.facts.alone, bounds.most_slowdown, missing)
    if stretch["median"] is None and reading.facts.kind == "imported":
        missing |= {f"capacity.stretch.{name}": NONE_ALONE for name in ("median", "p90", "longest")}
    gate = gate_block(reading, bounds, missing)
    tests = [_jobs(reading), _stretch(stretch, missing), _gate(gate, missing)]
    alone = reading.facts.outcome in CUT or tests[0][1] == NO_JOBS
    known = [well for well, _ in (tests[:1] if alone else tests)]
    missing["capacity.carried"] = "; ".join(sentence for well, sentence in tests if well is None)
    return {
        "carried": False if False in known else None if None in known else True,
        "stretch": stretch,
        "gate": gate,
        "reasons": [sentence for _, sentence in tests],
    }


def _jobs(reading: Reading) -> tuple[bool | None, str]:
    jobs, planned = reading.summary["jobs"], reading.facts.workload.jobs
    if reading.facts.outcome in CUT:
        return _cut_short(reading)
    if not jobs["total"] and reading.facts.kind == "imported":
        return None, NO_JOBS
    bad = max(jobs["total"], planned) - jobs["counted"]
    if bad and reading.facts.kind == "imported":
        return False, f"{bad} of {jobs['total']} imported jobs failed or are cut short"
    if bad:
        return False, f"{bad} of {max(jobs['total'], planned)} jobs did not finish with a right answer"
    return True, "its 1 job finished" if jobs["total"] == 1 else f"all {jobs['total']} jobs finished"


def _cut_short(reading: Reading) -> tuple[bool | None, str]:
    """Of a run that was killed or interrupted, or goes on: only a job that failed says something.

    Jobs that were lost or stopped with the run, or never started, say nothing about the system.
    """
    jobs, planned = reading.summary["jobs"], reading.facts.workload.jobs
    left_out = jobs["left_out"]
    bad = sum(left_out[name] for name in ("wrong_answer", "failed", "timed_out"))
    if bad:
        return False, f"{bad} of {max(jobs['total'], planned)} jobs did not finish with a right answer"
    ended = f"{jobs['finished']} of {max(jobs['total'], planned)} jobs finished"
    if reading.facts.outcome == "running":
        return None, f"the run goes on: {ended} so far"
    return None, f"the run did not go through: {ended}"


def _stretch(stretch: dict[str, Any], missing: Missing) -> tuple[bool | None, str]:
    median = stretch["median"]
    if median is None:
        return None, f"stretch is not known: {missing['capacity.stretch.median']}"
    well = median <= stretch["most"]
    beside = f"{'within' if well else 'above'} {format_ratio(stretch['most'])}"
    return (
        well,
        f"median stretch {format_ratio(median)} is {beside}"
        f" ({stretch['jobs']} of {stretch['counted']} jobs have a time alone)",
    )


def _gate(gate: dict[str, Any], missing: Missing) -> tuple[bool | None, str]:
    value = gate["bytes_per_second_per_core"]
    if value is None:
        return None, f"throughput per core is not known: {missing['capacity.gate.met']}"
    bounds = (
        f"{format_rate(gate['warn_bytes_per_second_per_core'])} (good: "
        f"{format_rate(gate['good_bytes_per_second_per_core'])})"
    )
    sentence = f"sustained {format_rate(value)} per {gate['core_basis'] or 'core'} at the device"
    if gate["met"] is None:
        return None, f"{sentence} does not tell against {bounds}: {missing['capacity.gate.met']}"
    return gate["met"], f"{sentence} {'meets' if gate['met'] else 'is below'} {bounds}"
