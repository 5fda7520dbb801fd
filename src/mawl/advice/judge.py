"""The whole summary of a stored run: its figures, and what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mawl.advice.capacity.bounds import Bounds
from mawl.advice.capacity.carried import capacity_block
from mawl.advice.capacity.slowdown import by_program, slowdowns
from mawl.advice.deciding import deciding
from mawl.advice.evidence import Reading
from mawl.advice.limit.verdict import limit_block
from mawl.advice.smt import smt_block
from mawl.advice.validity.status import validity_block
from mawl.analysis.blocks import Missing
from mawl.analysis.missing import reasons
from mawl.analysis.moments import moments
from mawl.analysis.series import Samples
from mawl.analysis.summary import probe_of, sampled, summarise
from mawl.analysis.throughput import device_counters
from mawl.analysis.unended import happened, line_of
from mawl.analysis.windows import windows_of
from mawl.model.probe import Probe
from mawl.model.records import EventRecord, JobRecord
from mawl.model.run import RunFacts
from mawl.store import Run


def judged(run: Run, bounds: Bounds | None = None) -> dict[str, Any]:
    """The summary of a stored run with ``capacity``, ``limit``, ``smt`` and ``validity`` filled.

    ``bounds`` are those of the capacity; None for the defaults.  Raises
    :class:`~mawl.errors.UnreadableRunError` where the records of its jobs are damaged.
    """
    samples = sampled(run)
    probe = probe_of(run)
    return judge(
        run.facts,
        run.job_records(),
        summarise(run, samples),
        samples,
        bounds,
        happened(run),
        None if isinstance(probe, str) else probe,
        run.stride,
    )


def judge(
    facts: RunFacts,
    jobs: list[JobRecord],
    summary: dict[str, Any],
    samples: Samples | None = None,
    bounds: Bounds | None = None,
    events: Sequence[EventRecord] = (),
    probe: Probe | None = None,
    stride: int = 1,
) -> dict[str, Any]:
    """The summary with its judgement; ``summary`` is that of the same facts, jobs,
    samples and events."""
    line = line_of(facts, jobs, events, samples)
    windows = windows_of(line) if line else None
    reading = Reading(
        facts=facts,
        jobs=jobs,
        summary=summary,
        samples=samples,
        windows=windows,
        line=line,
        moments=moments(samples, windows, device_counters(facts, samples), facts)
        if samples and windows
        else [],
        stride=stride,
    )
    found: Missing = dict(summary["missing"])
    whole = {name: value for name, value in summary.items() if name != "missing"}
    whole["limit"] = limit_block(reading, found)
    whole["capacity"] = capacity_block(reading, bounds or Bounds(), found, whole["limit"], probe)
    whole["smt"] = smt_block(reading, found)
    whole["programs"] = _slowed(whole["programs"], reading)
    whole["validity"] = validity_block(reading)
    whole["thresholds"] = deciding(whole, bounds or Bounds())
    whole["missing"] = reasons(whole, found, facts.missing)
    return whole


def _slowed(programs: dict[str, Any], reading: Reading) -> dict[str, Any]:
    """The programs with their slowdown, where they were run alone."""
    found = by_program(slowdowns(reading.jobs, reading.facts.alone))
    return {name: {**program, "slowdown": found.get(name)} for name, program in programs.items()}
