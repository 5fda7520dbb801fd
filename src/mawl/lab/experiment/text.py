"""A judged campaign of the lab as text: what the papers found, what was found here, do they agree."""

from __future__ import annotations

from mawl.analysis.missing import generalised
from mawl.lab.experiment.evidence_text import evidence
from mawl.lab.experiment.records import (
    ArmRun,
    ClaimFound,
    LabFound,
    PairFound,
    VerdictFound,
    VolumeCalibration,
)
from mawl.model.metrics import METRICS
from mawl.units import format_bytes, format_change, format_latency, format_rate, format_ratio, format_seconds

NOT_KNOWN = "not known"
_DEFINITIONS = {metric.name: metric.definition for metric in METRICS}
_AGREES = {True: "agrees", False: "does not agree", None: NOT_KNOWN}


def render(found: LabFound) -> str:
    """The whole report, with a newline at its end."""
    lines = [
        f"{found.bed}: {found.title}",
        found.question,
        f"campaign {found.campaign_id}, {found.outcome}",
        "",
    ]
    lines += ["Arms"] + [_arm(arm) for arm in found.arms]
    if found.claims:
        lines += ["", "What the papers found, and what was found here"]
        lines += [line for claim in found.claims for line in _claim(claim)]
        lines += [f"  {citation}" for citation in dict.fromkeys(claim.citation for claim in found.claims)]
    if found.pairs:
        lines += ["", "Why"] + [line for pair in found.pairs for line in _pair(pair)]
    lines += evidence(found, _value)
    if found.verdicts:
        lines += ["", "Verdicts"] + [_verdict(verdict) for verdict in found.verdicts]
    if found.calibration:
        lines += ["", *_calibration(found.calibration)]
    lines += [f"Remark: {remark}" for remark in found.remarks]
    return "\n".join(lines) + "\n"


def _arm(arm: ArmRun) -> str:
    busy, own = (
        NOT_KNOWN if ratio is None else f"{ratio:.0%}" for ratio in (arm.cpu_busy_ratio, arm.own_cpu_ratio)
    )
    speed = "" if arm.speed_factor == 1.0 else f", volumes at {format_ratio(arm.speed_factor)} of their speed"
    again = ", ran again" if arm.repeated else ""
    return (
        f"  {arm.arm}: run {arm.run_id}, {arm.outcome}, processors busy {busy} (its own {own}){speed}{again}"
    )


def _claim(claim: ClaimFound) -> list[str]:
    published = _change(
        claim.figure,
        claim.published_reference_value,
        claim.published_candidate_value,
        claim.published_change_ratio,
    )
    here = _change(claim.figure, claim.reference_value, claim.candidate_value, claim.change_ratio)
    reason = f" ({claim.reason})" if claim.reason else ""
    lines = [
        f"  {claim.title}: direction {_AGREES[claim.direction_agrees]}{reason}",
        f"    published  {claim.published_reference} -> {claim.published_candidate}: {published}",
        f"    here       {claim.reference} -> {claim.candidate}: {here}",
    ]
    if claim.published_figure != claim.figure:
        for side, name in (("published", claim.published_figure), ("here", claim.figure)):
            known = ".".join(
                generalised(tuple(name.split(".")))
            )  # of a member of a collection, such as a server
            lines.append(f"    {side:<9}  is {name}: {_DEFINITIONS[known]}")
    return lines


def _change(figure: str, reference: float | None, candidate: float | None, ratio: float | None) -> str:
    values = " -> ".join(
        NOT_KNOWN if value is None else _value(figure, value) for value in (reference, candidate)
    )
    return values if ratio is None else f"{values} ({format_change(ratio)})"


def _value(figure: str, value: float) -> str:
    if "_latency_seconds" in figure:
        return format_latency(value)
    if figure.endswith("_bytes_per_second"):
        return format_rate(value)
    if figure.endswith("_seconds"):
        return format_seconds(value)
    return format_bytes(value) if figure.endswith("_bytes") else format_ratio(value)


def _pair(pair: PairFound) -> list[str]:
    lines = [f"  {pair.reference} -> {pair.candidate}: {pair.sentence or 'no place of the time differs'}"]
    if pair.blocked_seconds is not None and pair.work_util_blocked_ratio is not None:
        share = (
            "" if pair.work_util_ratio is None else f", which have {pair.work_util_ratio:.0%} of the bytes"
        )
        lines.append(
            f"    in {pair.reference} jobs were blocked {format_seconds(pair.blocked_seconds)} in I/O, "
            f"{pair.work_util_blocked_ratio:.0%} of it in work and util{share}"
        )
    return lines


def _calibration(made: list[VolumeCalibration]) -> list[str]:
    worst = max(made, key=lambda one: abs(one.off_ratio))
    lines = [
        f"Calibration: {len(made)} measurements, "
        f"the worst {100 * worst.off_ratio:+.1f} % off ({worst.volume}, {worst.what})"
    ]
    return (
        lines
        + [
            f"  {one.volume}, {one.what}: the first was too far off, this is the median of {one.tries} "
            f"({100 * one.off_ratio:+.1f} %)"
            for one in made
            if one.tries > 1
        ]
        + [
            f"  {one.volume}: a request's way to the disk model and back took "
            f"{format_latency(one.path_seconds)}, "
            "which is taken off each seek"
            for one in made
            if one.path_seconds is not None
        ]
    )


def _verdict(found: VerdictFound) -> str:
    place = " on ".join(part for part in (found.role, found.device) if part)
    verdict = NOT_KNOWN if found.verdict is None else found.verdict + (f" ({place})" if place else "")
    return f"  {found.arm}: {verdict}, expected {found.expected}: {_AGREES[found.agrees]} ({found.source})"
