"""The report of a campaign as a document: what papers found, what was found here, and whether they agree."""

from __future__ import annotations

from collections.abc import Iterator

from mawl.base.units import (
    counted_noun,
    format_bytes,
    format_change,
    format_latency,
    format_percent,
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
    VerdictResult,
    VolumeCalibration,
)
from mawl.records.model.metrics import METRICS
from mawl.reports.comparison.tables import changed, interval, verdict_words
from mawl.reports.compressibility import percent, points, within
from mawl.reports.document import WHY, Document, Headline, Part, Sentences, Table, capital, each
from mawl.reports.layout import ABSENT, figure, figures

NOT_KNOWN = "not known"
ARMS = ("arm", "run", "outcome", "busy", "its own", "speed")
AGREES = {True: "agrees", False: "does not agree", None: NOT_KNOWN}
_DEFINITIONS = {metric.name: metric.definition for metric in METRICS}


def document(found: LabReport) -> Document:
    """The arms, what papers say of such systems beside what was found, and what the figures rest on."""
    sentence = f"{found.bed}: {found.title}"
    campaign = f"campaign {found.campaign_id}, {found.outcome}"
    return Document(
        headline=Headline(sign="measured", sentence=capital(sentence)),
        facts=[campaign],
        parts=[
            *each(Sentences([sentence, found.question, campaign])),
            *each(
                Table(
                    head=("arm", "run", "outcome", "busy", "its own", "speed"), rows=[*map(_arm, found.arms)]
                )
            ),
            Part([_claims(found.claims), Sentences(list(_of_claims(found.claims)))]),
            *each(Sentences(list(_places(found.pairs)))),
            *each(_figures(found.figures)),
            *map(_series, found.series),
            *each(Sentences([text for one in found.findings for text in _finding(one)])),
            *map(_programs, found.programs),
            Part([_savings(found.savings), _citations(found.savings)]),
            *each(_verdicts(found.verdicts)),
            *each(
                Sentences([*_calibration(found.calibration), *(f"Remark: {one}" for one in found.remarks)])
            ),
        ],
    )


def _arm(arm: ArmRun) -> tuple[str, ...]:
    name = f"{arm.arm}, ran again" if arm.repeated else arm.arm
    shares = figures((arm.cpu_busy_ratio, format_percent), (arm.own_cpu_ratio, format_percent))
    return name, arm.run_id, arm.outcome, *shares, format_ratio(arm.speed_factor)


def _claims(claims: list[ClaimResult]) -> Table:
    rows = [
        (
            claim.title,
            _change(
                claim.figure,
                claim.published_reference_value,
                claim.published_candidate_value,
                claim.published_change_ratio,
            ),
            _change(claim.figure, claim.reference_value, claim.candidate_value, claim.change_ratio),
            AGREES[claim.direction_agrees],
            claim.reason or "",
        )
        for claim in claims
    ]
    return Table(head=("papers and this campaign", "published", "here", "direction", WHY), rows=rows)


def _of_claims(claims: list[ClaimResult]) -> Iterator[str]:
    """Which systems and arms were compared, what figures of other names mean, and the papers."""
    sides = (
        f"published: {claim.published_reference} -> {claim.published_candidate}; "
        f"here: {claim.reference} -> {claim.candidate}"
        for claim in claims
    )
    yield from dict.fromkeys(sides)
    for claim in claims:
        if claim.published_figure != claim.figure:
            for side, name in (("published", claim.published_figure), ("here", claim.figure)):
                # A name may be of a member of a collection, such as a server.
                known = ".".join(generalised(tuple(name.split("."))))
                yield f"{claim.title}, {side} is {name}: {_DEFINITIONS[known]}"
    yield from dict.fromkeys(claim.citation for claim in claims)


def _change(name: str, reference: float | None, candidate: float | None, ratio: float | None) -> str:
    values = " -> ".join(
        NOT_KNOWN if value is None else _value(name, value) for value in (reference, candidate)
    )
    return values if ratio is None else f"{values} ({format_change(ratio)})"


def _value(name: str, value: float) -> str:
    if "_latency_seconds" in name:
        return format_latency(value)
    if name.endswith("_bytes_per_second"):
        return format_rate(value)
    if name.endswith("_seconds"):
        return format_seconds(value)
    return format_bytes(value) if name.endswith("_bytes") else format_ratio(value)


def _places(pairs: list[ArmPair]) -> Iterator[str]:
    for pair in pairs:
        yield f"{pair.reference} -> {pair.candidate}: {pair.sentence or 'no place of the time differs'}"
        if pair.blocked_seconds is not None and pair.work_util_blocked_ratio is not None:
            moved = pair.work_util_ratio
            share = "" if moved is None else f", which have {format_percent(moved)} of the bytes"
            yield (
                f"in {pair.reference} jobs were blocked {format_seconds(pair.blocked_seconds)} in I/O, "
                f"{format_percent(pair.work_util_blocked_ratio)} of it in work and util{share}"
            )


def _figures(arms: list[ArmFigures]) -> Table:
    rows = [
        (
            one.arm,
            *figures(
                (one.real_time_seconds, format_seconds),
                (one.user_cpu_seconds, format_seconds),
                (one.system_cpu_seconds, format_seconds),
                (one.application_bytes_per_second, format_rate),
                (one.device_bytes_per_second, format_rate),
                (one.write_latency_seconds["work"], format_latency),
                (one.write_latency_seconds["util"], format_latency),
                (one.host_cpu_busy_seconds, format_seconds),
            ),
        )
        for one in arms
    ]
    head = ("figures", "real", "user", "system", "application", "device", "work", "util", "machine busy")
    return Table(head=head, rows=rows, note="work, util: mean latency of writes")


def _series(series: SeriesResult) -> Part:
    rows = [
        (
            step.arm,
            str(step.volumes),
            *figures(
                (step.bytes_per_second, format_rate),
                (step.gain_ratio, format_change),
                (step.ideal_gain_ratio, format_change),
                (step.cap_share_ratio, format_percent),
                (step.elapsed_seconds, format_seconds),
            ),
        )
        for step in series.steps
    ]
    title = f"{series.title} ({', '.join(series.roles)})"
    head = (title, "volumes", "throughput", "gain", "ideal", "of their caps", "elapsed")
    return Part([Table(head=head, rows=rows), Sentences([series.sentence, *series.reasons])])


def _finding(found: FindingResult) -> Iterator[str]:
    yield f"{found.text} ({found.citation})"
    values = _change(found.figure, found.reference_value, found.candidate_value, found.change_ratio)
    yield (
        f"{found.figure}, {found.reference} -> {found.candidate}: {values}, expected {found.expected}, "
        f"found {found.found or NOT_KNOWN}: {AGREES[found.agrees]}"
    )
    yield from (f"why: {reason}" for reason in found.reasons)


def _programs(found: ProgramsResult) -> Part:
    """The counts, the change of all jobs, and a row for each program, those that gained most first."""
    one, other = found.runs
    counts = (
        f"{counted_noun(found.faster, 'program')} faster, {found.slower} slower, "
        f"{found.not_told_apart} without a difference"
        if found.judged
        else f"{found.ran_shorter} took less time, {found.ran_longer} more; not judged"
    )
    rows = [("all jobs", *_cells(found)), *((change.program, *_cells(change)) for change in found.changes)]
    title = f"programs, {found.reference} -> {found.candidate}"
    note = f"{counts} ({one} against {counted_noun(other, 'run')})"
    return Part([Table(head=(title, "change", "95 % interval", "verdict"), rows=rows, note=note)])


def _cells(found: ProgramsResult | ProgramResult) -> tuple[str, ...]:
    ends = interval(found.low_ratio, found.high_ratio)
    return changed(found.change_ratio), ends, verdict_words(found.verdict)


def _savings(savings: list[SavingResult]) -> Table:
    rows = [
        (
            f"{found.arm}, {found.role}",
            format_bytes(found.original_bytes),
            f"{found.codec} on {found.storage}",
            *figures((found.saving_ratio, percent), (found.spread_ratio, points)),
            within(found.estimated_saving_ratio, found.half_width_ratio or 0.0),
            ABSENT if found.off_ratio is None else f"{AGREES[found.agrees]} ({points(found.off_ratio)})",
            figure(found.published_saving_ratio, percent),
            found.reason or "",
        )
        for found in savings
    ]
    head = ("compression", "of", "by", "saved", "spread", "estimated", "off", "published", WHY)
    return Table(head=head, rows=rows)


def _citations(savings: list[SavingResult]) -> Sentences:
    return Sentences(list(dict.fromkeys(one.citation for one in savings if one.citation)))


def _verdicts(verdicts: list[VerdictResult]) -> Table:
    rows = []
    for found in verdicts:
        place = " on ".join(part for part in (found.role, found.device) if part)
        said = NOT_KNOWN if found.verdict is None else found.verdict + (f" ({place})" if place else "")
        rows.append((found.arm, said, found.expected, AGREES[found.agrees], found.source))
    return Table(head=("verdicts", "found", "expected", "agreement", WHY), rows=rows)


def _calibration(made: list[VolumeCalibration]) -> Iterator[str]:
    if not made:
        return
    worst = max(made, key=lambda one: abs(one.off_ratio))
    yield (
        f"Calibration: {len(made)} measurements, "
        f"the worst {100 * worst.off_ratio:+.1f} % off ({worst.volume}, {worst.what})"
    )
    for one in made:
        if one.tries > 1:
            yield (
                f"{one.volume}, {one.what}: the first was too far off, this is the median of {one.tries} "
                f"({100 * one.off_ratio:+.1f} %)"
            )
    for one in made:
        if one.path_seconds is not None:
            yield (
                f"{one.volume}: a request's way to the disk model and back took "
                f"{format_latency(one.path_seconds)}, which is taken off each seek"
            )
