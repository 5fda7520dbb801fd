"""The whole summary of a run: its figures, and what they mean."""

from __future__ import annotations

import msgspec

from mawl.advice.capacity.bounds import CapacityBounds
from mawl.advice.capacity.judgement import capacity_of
from mawl.advice.capacity.slowdown import by_program, slowdowns
from mawl.advice.limit.verdict import limit_of
from mawl.advice.smt import smt_of
from mawl.advice.validity.status import validity_of
from mawl.figures.job_sums import reasons
from mawl.figures.missing import Missing
from mawl.figures.view import RunView
from mawl.records.model.summary.judgement import ThresholdUsed, Validity
from mawl.records.model.summary.programs import ProgramFigures
from mawl.records.model.summary.summary import Judged, Summary
from mawl.records.model.threshold_rows import Threshold
from mawl.records.model.thresholds import thresholds_of


def judged(view: RunView, bounds: CapacityBounds | None = None) -> Judged:
    """The summary of a run with ``capacity``, ``limit``, ``smt`` and ``validity`` filled.

    ``bounds`` are those of the capacity; None for the defaults.
    """
    summary = view.summary
    found: Missing = dict(summary.missing)
    probe = None if isinstance(view.probe, str) else view.probe
    limit = limit_of(view, found)
    capacity = capacity_of(view, bounds or CapacityBounds(), found, limit, probe)
    validity = validity_of(view)
    whole = msgspec.structs.replace(
        summary,
        limit=limit,
        capacity=capacity,
        smt=smt_of(view, found),
        programs=_with_slowdowns(summary.programs, view),
        validity=validity,
    )
    whole.thresholds = _deciding_thresholds(whole, validity, bounds or CapacityBounds())
    whole.missing = reasons(whole, found, view.facts.missing)
    return Judged(**msgspec.structs.asdict(whole))


def _with_slowdowns(programs: dict[str, ProgramFigures], view: RunView) -> dict[str, ProgramFigures]:
    found = by_program(slowdowns(view.jobs, view.facts.alone))
    return {
        name: msgspec.structs.replace(program, slowdown=found.get(name)) for name, program in programs.items()
    }


def _deciding_thresholds(summary: Summary, validity: Validity, bounds: CapacityBounds) -> list[ThresholdUsed]:
    """``thresholds`` of a judged summary: those of answers, verdict, and rules with a finding.

    A rule that found nothing is met whatever its threshold's neighbour would be; the page of thresholds has
    them all.
    """
    groups = ["capacity"]
    if summary.limit:
        groups.append("limit")
        sentences = [line.sentence for line in summary.limit.evidence]
        groups += ["imported.limit"] if summary.kind == "imported" else []
        groups += ["limit.plateau"] if any(line.startswith("plateau") for line in sentences) else []
        groups += ["limit.cap"] if summary.limit.caps_reached else []
        groups += ["limit.links"] if any("their links" in line for line in sentences) else []
    groups += [f"validity.{finding.rule}" for finding in validity.findings]
    groups += ["smt"] if summary.smt and summary.smt.findings else []
    groups += ["imported"] if summary.time.periods else []
    asked = bounds.by_threshold()
    return [_threshold_used(one, asked.get(one.name, one.value)) for one in thresholds_of(groups)]


def _threshold_used(one: Threshold, used: float) -> ThresholdUsed:
    source = one.source if used == one.value else "set by the user (mawl.toml)"
    return ThresholdUsed(name=one.name, bound=used, unit=one.unit, meaning=one.meaning, source=source)
