"""The whole summary of a run: its figures, and what they mean."""

from __future__ import annotations

import msgspec

from mawl.advice.answer import answer_of
from mawl.advice.bounds import AnswerBounds
from mawl.advice.guideline import guideline_of
from mawl.advice.limit.verdict import limit_of
from mawl.advice.smt import smt_of
from mawl.advice.validity.status import validity_of
from mawl.figures.job_sums import reasons
from mawl.figures.missing import Missing
from mawl.figures.view import RunView
from mawl.records.model.summary.judgement import ThresholdUsed, Validity
from mawl.records.model.summary.summary import Judged, Summary
from mawl.records.model.threshold_rows import Threshold
from mawl.records.model.thresholds import thresholds_of


def judged(view: RunView, bounds: AnswerBounds | None = None) -> Judged:
    """The summary of a run with ``answer``, ``guideline``, ``limit``, ``smt`` and ``validity`` filled.

    ``bounds`` are those of answer and guideline; None for the defaults.
    """
    summary = view.summary
    bounds = bounds or AnswerBounds()
    found: Missing = dict(summary.missing)
    probe = None if isinstance(view.probe, str) else view.probe
    limit = limit_of(view, found, bounds.answer_bound)
    validity = validity_of(view)
    whole = msgspec.structs.replace(
        summary,
        limit=limit,
        answer=answer_of(view, bounds.answer_bound, found),
        guideline=guideline_of(view, limit, probe, bounds, found),
        smt=smt_of(view, found),
        validity=validity,
    )
    whole.thresholds = _deciding_thresholds(whole, validity, bounds)
    whole.missing = reasons(whole, found, view.facts.missing)
    return Judged(**msgspec.structs.asdict(whole))


def _deciding_thresholds(summary: Summary, validity: Validity, bounds: AnswerBounds) -> list[ThresholdUsed]:
    """``thresholds`` of a judged summary: those of answers, verdict, and rules with a finding.

    A rule that found nothing is met whatever its threshold's neighbour would be; the page of thresholds has
    them all.
    """
    groups = ["answer", "guideline"]
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
