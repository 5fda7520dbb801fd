"""The thresholds that decided something in a run, with the values that were used."""

from __future__ import annotations

from mawl.advice.capacity.bounds import CapacityBounds
from mawl.model.summary.judgement import ThresholdUsed, Validity
from mawl.model.summary.summary import Summary
from mawl.model.threshold import Threshold
from mawl.model.thresholds import thresholds_of


def deciding(summary: Summary, validity: Validity, bounds: CapacityBounds) -> list[ThresholdUsed]:
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
        groups += ["limit.links"] if any("their links" in line for line in sentences) else []
    groups += [f"validity.{finding.rule}" for finding in validity.findings]
    groups += ["smt"] if summary.smt and summary.smt.findings else []
    groups += ["imported"] if summary.time.periods else []
    asked = bounds.by_threshold()
    return [_used(one, asked.get(one.name, one.value)) for one in thresholds_of(groups)]


def _used(one: Threshold, used: float) -> ThresholdUsed:
    source = one.source if used == one.value else "set by the user (mawl.toml)"
    return ThresholdUsed(name=one.name, bound=used, unit=one.unit, meaning=one.meaning, source=source)
