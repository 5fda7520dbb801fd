"""What an experiment over a test bed found, beside what papers found (docs/design/lab.md)."""

from __future__ import annotations

from collections.abc import Mapping

from mawl.analysis.comparison.places import named, place_changes, role_changes
from mawl.analysis.comparison.sides import Side, at, centre, change
from mawl.lab.experiment.records import (
    ClaimFound,
    ClaimSpec,
    LabFound,
    LabRecord,
    PairFound,
    VerdictFound,
    VerdictSpec,
)
from mawl.spec.program_options import ROLES

LEAST_CHANGE_RATIO = 0.02
"""A single run a side that differs by less is not said to differ."""


def found(record: LabRecord, arms: Mapping[str, Side], papers: Mapping[str, Side]) -> LabFound:
    """Judge a campaign.

    ``arms`` are the sides of the arms that ran, ``papers`` the published results that the claims name.
    """
    pairs = dict.fromkeys((claim.reference, claim.candidate) for claim in record.claims)
    return LabFound(
        campaign_id=record.campaign_id,
        bed=record.bed,
        title=record.title,
        question=record.question,
        outcome=record.outcome,
        arms=record.arms,
        calibration=record.calibration,
        claims=[_claim(claim, arms, papers) for claim in record.claims],
        verdicts=[_verdict(verdict, arms) for verdict in record.verdicts],
        pairs=[_pair(arms[one], arms[other]) for one, other in pairs if one in arms and other in arms],
        remarks=record.remarks,
    )


def _claim(claim: ClaimSpec, arms: Mapping[str, Side], papers: Mapping[str, Side]) -> ClaimFound:
    published = papers[claim.published_reference], papers[claim.published_candidate]
    path = claim.published_figure or claim.figure
    then = [_value(side, path) for side in published]
    now = [_value(arms.get(name), claim.figure) for name in (claim.reference, claim.candidate)]
    published_change, here = change(*then), change(*now)
    agrees, reason = _agreement(published_change, here)
    cited = dict.fromkeys(at(side.published, "source.citation") for side in published)
    return ClaimFound(
        title=claim.title,
        figure=claim.figure,
        published_figure=path,
        reference=claim.reference,
        candidate=claim.candidate,
        published_reference=claim.published_reference,
        published_candidate=claim.published_candidate,
        citation="; ".join(cited),
        published_reference_value=then[0],
        published_candidate_value=then[1],
        published_change_ratio=published_change,
        reference_value=now[0],
        candidate_value=now[1],
        change_ratio=here,
        direction_agrees=agrees,
        reason=reason,
    )


def _agreement(published: float | None, here: float | None) -> tuple[bool | None, str | None]:
    if published is None:
        return None, "the paper does not give this figure of both systems"
    if here is None:
        return None, "the figure is not known of both arms"
    if abs(here) < LEAST_CHANGE_RATIO:
        return False, f"less than {LEAST_CHANGE_RATIO:.0%} between two single runs is no difference"
    return (published > 0) == (here > 0), None


def _value(side: Side | None, path: str) -> float | None:
    return None if side is None else centre(side.values(path))


def _verdict(spec: VerdictSpec, arms: Mapping[str, Side]) -> VerdictFound:
    runs = arms[spec.arm].runs if spec.arm in arms else ()
    limit = runs[0].summary.limit if runs else None
    verdict = limit.verdict if limit else None
    return VerdictFound(
        arm=spec.arm,
        expected=spec.verdict if spec.holds else f"not {spec.verdict}",
        source=spec.source,
        verdict=verdict,
        role=limit.role if limit else None,
        device=limit.device if limit else None,
        agrees=None if verdict is None else (verdict == spec.verdict) == spec.holds,
    )


def _pair(reference: Side, candidate: Side) -> PairFound:
    differs = named(place_changes(reference, candidate), role_changes(reference, candidate))
    blocked = {role: _value(reference, f"wait.blocked_seconds.{role}") for role in ROLES}
    whole = None if None in blocked.values() else sum(seconds or 0.0 for seconds in blocked.values())
    fast = (blocked["work"] or 0.0) + (blocked["util"] or 0.0)
    return PairFound(
        reference=reference.label,
        candidate=candidate.label,
        place=None if differs is None else differs.place,
        sentence=None if differs is None else differs.sentence,
        blocked_seconds=whole,
        work_util_blocked_ratio=fast / whole if whole else None,
        work_util_ratio=_value(reference, "signature.work_util_ratio.value"),
    )
