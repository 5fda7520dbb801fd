"""The report of a campaign as text: what papers found, what was found here, and whether they agree."""

from __future__ import annotations

from collections.abc import Callable

from mawl.base.units import (
    counted_noun,
    format_bytes,
    format_change,
    format_latency,
    format_rate,
    format_ratio,
    format_seconds,
)
from mawl.figures.job_sums import generalised
from mawl.lab.experiment.records import (
    ArmFigures,
    ArmPair,
    ArmRun,
    ClaimResult,
    FindingResult,
    LabReport,
    ProgramResult,
    ProgramsResult,
    SavingResult,
    SeriesResult,
    SeriesStep,
    VerdictResult,
    VolumeCalibration,
)
from mawl.records.model.metrics import METRICS
from mawl.reports.comparison.tables import verdict_words

NOT_KNOWN = "not known"
AGREES = {True: "agrees", False: "does not agree", None: NOT_KNOWN}


def evidence(found: LabReport, value: Callable[[str, float], str]) -> list[str]:
    """Lines of what there is, each part after an empty line; ``value`` formats a figure by its name."""
    lines = ["", "Figures of the arms", *(_figures(one) for one in found.figures)] if found.figures else []
    for series in found.series:
        lines += ["", f"{series.title} ({', '.join(series.roles)})", *_series(series)]
    if found.findings:
        lines += ["", "What the papers say, and what was found here"]
        lines += [line for one in found.findings for line in _finding(one, value)]
    for pair in found.programs:
        lines += ["", f"Programs, {pair.reference} -> {pair.candidate}", *_programs(pair)]
    if found.savings:
        lines += ["", "What compression saved: real, estimated, published"]
        lines += [line for one in found.savings for line in _saving(one)]
        cited = dict.fromkeys(one.citation for one in found.savings if one.citation)
        lines += [f"  {citation}" for citation in cited]
    return lines


def _figures(found: ArmFigures) -> str:
    latencies = ", ".join(
        f"{role} {_or(found.write_latency_seconds[role], format_latency)}" for role in ("work", "util")
    )
    return (
        f"  {found.arm}: real {_or(found.real_time_seconds, format_seconds)}, "
        f"user {_or(found.user_cpu_seconds, format_seconds)}, "
        f"system {_or(found.system_cpu_seconds, format_seconds)}; "
        f"application {_or(found.application_bytes_per_second, format_rate)}, "
        f"device {_or(found.device_bytes_per_second, format_rate)}; mean write latency {latencies}; "
        f"machine busy {_or(found.host_cpu_busy_seconds, format_seconds)}"
    )


def _series(series: SeriesResult) -> list[str]:
    return [
        *(_step(step) for step in series.steps),
        f"  {series.sentence}",
        *(f"    {reason}" for reason in series.reasons),
    ]


def _step(step: SeriesStep) -> str:
    gain = (
        ""
        if step.gain_ratio is None or step.ideal_gain_ratio is None
        else f" ({format_change(step.gain_ratio)}, ideal {format_change(step.ideal_gain_ratio)})"
    )
    share = "" if step.cap_share_ratio is None else f", {step.cap_share_ratio:.0%} of their caps"
    return (
        f"  {step.arm}: {_volumes(step.volumes)}, {_or(step.bytes_per_second, format_rate)}{gain}{share}, "
        f"elapsed {_or(step.elapsed_seconds, format_seconds)}"
    )


def _finding(found: FindingResult, value: Callable[[str, float], str]) -> list[str]:
    values = " -> ".join(
        NOT_KNOWN if one is None else value(found.figure, one)
        for one in (found.reference_value, found.candidate_value)
    )
    ratio = "" if found.change_ratio is None else f" ({format_change(found.change_ratio)})"
    return [
        f"  {found.text}",
        f"    {found.citation}",
        f"    {found.figure}, {found.reference} -> {found.candidate}: {values}{ratio}, expected "
        f"{found.expected}, found {found.found or NOT_KNOWN}: {AGREES[found.agrees]}",
        *(f"    why: {reason}" for reason in found.reasons),
    ]


def _programs(found: ProgramsResult) -> list[str]:
    """The counts, the change of all jobs, and a line for each program, those that gained most first."""
    one, other = found.runs
    counts = (
        f"{counted_noun(found.faster, 'program')} faster, {found.slower} slower, "
        f"{found.not_told_apart} without a difference"
        if found.judged
        else f"{found.ran_shorter} took less time, {found.ran_longer} more; not judged"
    )
    return [
        f"  {counts} ({one} against {counted_noun(other, 'run')})",
        f"  all jobs: {_change_with_range(found)}, {verdict_words(found.verdict)}",
        *(
            f"    {change.program}: {_change_with_range(change)}, {verdict_words(change.verdict)}"
            for change in found.changes
        ),
    ]


def _change_with_range(found: ProgramsResult | ProgramResult) -> str:
    between = (
        ""
        if found.low_ratio is None or found.high_ratio is None
        else f" ({format_change(found.low_ratio)} to {format_change(found.high_ratio)})"
    )
    return _or(found.change_ratio, format_change) + between


def _saving(found: SavingResult) -> list[str]:
    published = (
        "" if found.published_saving_ratio is None else f", published {found.published_saving_ratio:.0%}"
    )
    half = "" if found.half_width_ratio is None else f" ± {100 * found.half_width_ratio:.1f}"
    off = "" if found.off_ratio is None else f" ({100 * found.off_ratio:+.1f} points: {AGREES[found.agrees]})"
    spread = (
        ""
        if found.spread_ratio is None
        else f", {100 * found.spread_ratio:.1f} points between {_volumes(len(found.volumes))}"
    )
    return [
        f"  {found.arm}, {found.role}: {_or(found.saving_ratio, _percent)} of "
        f"{format_bytes(found.original_bytes)} by {found.codec} on {found.storage}{spread}",
        f"    estimated {_or(found.estimated_saving_ratio, _percent)}{half}{off}{published}"
        + (f"; {found.reason}" if found.reason else ""),
    ]


def _volumes(count: int) -> str:
    return "1 volume" if count == 1 else f"{count} volumes"


def _percent(ratio: float) -> str:
    return f"{100 * ratio:.1f} %"


def _or(value: float | None, form: Callable[[float], str]) -> str:
    return NOT_KNOWN if value is None else form(value)


_DEFINITIONS = {metric.name: metric.definition for metric in METRICS}


def render(found: LabReport) -> str:
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


def _claim(claim: ClaimResult) -> list[str]:
    published = _change(
        claim.figure,
        claim.published_reference_value,
        claim.published_candidate_value,
        claim.published_change_ratio,
    )
    here = _change(claim.figure, claim.reference_value, claim.candidate_value, claim.change_ratio)
    reason = f" ({claim.reason})" if claim.reason else ""
    lines = [
        f"  {claim.title}: direction {AGREES[claim.direction_agrees]}{reason}",
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


def _pair(pair: ArmPair) -> list[str]:
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


def _verdict(found: VerdictResult) -> str:
    place = " on ".join(part for part in (found.role, found.device) if part)
    verdict = NOT_KNOWN if found.verdict is None else found.verdict + (f" ({place})" if place else "")
    return f"  {found.arm}: {verdict}, expected {found.expected}: {AGREES[found.agrees]} ({found.source})"
