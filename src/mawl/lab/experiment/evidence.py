"""Judge a campaign by its bed: series and their knees, papers' findings in words, savings, programs.

docs/design/lab-beds.md has the rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

import msgspec

from mawl.base.errors import UsageError
from mawl.base.units import (
    format_bytes,
    format_change,
    format_percent,
    format_rate,
    format_ratio,
    format_seconds,
)
from mawl.figures.comparison.comparability import why_unjudged
from mawl.figures.comparison.programs import program_changes, statement
from mawl.figures.comparison.sides import Side, centre, change
from mawl.figures.comparison.waits import main_change, place_changes, role_changes
from mawl.lab.bed import BedSpec
from mawl.lab.experiment.records import (
    LEAST_PART_RATIO,
    MOST_OFF_RATIO,
    ArmFigures,
    ArmRun,
    Direction,
    FindingResult,
    FindingSpec,
    LabRecord,
    LabReport,
    ProgramResult,
    ProgramsResult,
    RoleKept,
    SavingResult,
    SavingSpec,
    SeriesResult,
    SeriesSpec,
    SeriesStep,
)
from mawl.records.model.published import PublishedResult, paper_of, papers, published_result
from mawl.records.model.summary.summary import Summary
from mawl.records.spec.program_options import ROLES, Role

KNEE_SHARE = 0.5
"""The knee is before the first step that gains less than this share of the ideal."""

CAP_SHARE = 0.9
"""From this share of their caps' sum on, the volumes themselves are what holds."""

BUSY_RATIO = 0.7
"""From this share of all CPU time on, the processors may be what holds."""

EVEN_RATIO = 0.8
"""Below it, the busiest volume moves so much more than the mean that it may be what holds."""


def series_result(
    spec: SeriesSpec,
    arms: Mapping[str, Side],
    runs: Mapping[str, ArmRun],
    caps: Mapping[str, float | None],
) -> SeriesResult:
    """Judge a series; ``caps`` are the sums over an arm's volumes, bytes per second of one direction."""
    steps: list[SeriesStep] = []
    for name in spec.arms:
        if name in arms:
            steps.append(
                _step(spec, arms[name], runs.get(name), caps.get(name), steps[-1] if steps else None)
            )
    knee = next((place for place, step in enumerate(steps) if _gains_little(step)), None)
    before = None if knee is None else steps[knee - 1]
    return SeriesResult(
        title=spec.title,
        roles=spec.roles,
        steps=steps,
        knee=None if before is None else before.arm,
        knee_volumes=None if before is None else before.volumes,
        sentence=_no_knee(steps) if knee is None else _knee(steps[knee - 1], steps[knee]),
        reasons=[] if knee is None else _reasons(steps[knee]),
    )


def _step(
    spec: SeriesSpec, side: Side, run: ArmRun | None, cap: float | None, before: SeriesStep | None
) -> SeriesStep:
    summary = side.runs[0].summary
    moved = moved_by_device(summary, spec.roles)
    elapsed = summary.time.elapsed_seconds
    read, written = (fsum(way) for way in zip(*moved.values(), strict=True)) if moved else (0.0, 0.0)
    rate = (read + written) / elapsed if elapsed and moved else None
    busier = max(read, written) / elapsed if elapsed and moved else None
    largest = max((sum(both) for both in moved.values()), default=0.0)
    return SeriesStep(
        arm=side.label,
        volumes=len(moved),
        bytes_per_second=rate,
        elapsed_seconds=elapsed,
        gain_ratio=change(before.bytes_per_second, rate) if before else None,
        ideal_gain_ratio=change(float(before.volumes), float(len(moved))) if before else None,
        cap_bytes_per_second=cap,
        cap_share_ratio=busier / cap if busier is not None and cap else None,
        even_ratio=(read + written) / len(moved) / largest if largest else None,
        concurrent_jobs=summary.jobs.mean_concurrent,
        own_cpu_ratio=run.own_cpu_ratio if run else None,
    )


def moved_by_device(summary: Summary, roles: Sequence[Role]) -> dict[str, tuple[float, float]]:
    """Bytes read and written at each device of the roles' volumes; empty where one is not known."""
    found: dict[str, tuple[float, float]] = {}
    devices = (summary.host.device if summary.host else None) or {}
    for volume in summary.volumes:
        if volume.role not in roles:
            continue
        for name in volume.devices:
            device = devices.get(name)
            if device is None or device.read_bytes is None or device.written_bytes is None:
                return {}
            found[name] = (device.read_bytes, device.written_bytes)
    return found


def _gains_little(step: SeriesStep) -> bool:
    if step.gain_ratio is None or not step.ideal_gain_ratio:
        return False
    return step.gain_ratio < KNEE_SHARE * step.ideal_gain_ratio


def _knee(before: SeriesStep, step: SeriesStep) -> str:
    assert step.gain_ratio is not None and step.ideal_gain_ratio is not None
    assert before.bytes_per_second is not None and step.bytes_per_second is not None
    return (
        f"the knee is at {before.volumes}: {step.volumes} volumes move {format_rate(step.bytes_per_second)} "
        f"instead of {format_rate(before.bytes_per_second)}, {format_change(step.gain_ratio)} where "
        f"{format_change(step.ideal_gain_ratio)} would be ideal, less than half of it"
    )


def _no_knee(steps: list[SeriesStep]) -> str:
    if len(steps) < 2:
        return "a series needs two steps or more that ran"
    if any(step.bytes_per_second is None for step in steps):
        return "no knee can be found: bytes at a device are not known of every step"
    return f"no knee up to {steps[-1].volumes} volumes: every step brought at least half of the ideal gain"


def _reasons(step: SeriesStep) -> list[str]:
    found = []
    if step.cap_share_ratio is not None and step.cap_share_ratio >= CAP_SHARE:
        found.append(f"the volumes are at {format_percent(step.cap_share_ratio)} of the sum of their caps")
    if step.own_cpu_ratio is not None and step.own_cpu_ratio >= BUSY_RATIO:
        found.append(f"the run used {format_percent(step.own_cpu_ratio)} of the processors")
    if step.concurrent_jobs is not None and step.concurrent_jobs < step.volumes:
        found.append(
            f"{format_ratio(step.concurrent_jobs)} jobs ran side by side, each a stream that waits for one "
            f"volume at a time: fewer streams than {step.volumes} volumes"
        )
    if step.even_ratio is not None and step.even_ratio < EVEN_RATIO:
        found.append(f"the mean volume moved {format_percent(step.even_ratio)} of what the busiest moved")
    return found or ["caps, processors, streams and evenness do not explain it"]


ALIKE_RATIO = 0.10
"""Two single runs whose figures differ by less are alike."""

MOVED_RATIO = 0.20
"""Devices that moved so much less or more for the same application bytes are worth a sentence."""


def finding_result(spec: FindingSpec, arms: Mapping[str, Side], citation: str) -> FindingResult:
    reference, candidate = arms.get(spec.reference), arms.get(spec.candidate)
    values = [None if side is None else centre(side.values(spec.figure)) for side in (reference, candidate)]
    here = change(*values)
    found = None if here is None else _direction(here)
    agrees = None if found is None else found == spec.direction
    reasons = []
    if agrees is None:
        reasons = ["the figure is not known of both arms"]
    elif not agrees and reference is not None and candidate is not None:
        reasons = why_otherwise(reference, candidate)
    return FindingResult(
        text=spec.text,
        citation=citation,
        figure=spec.figure,
        reference=spec.reference,
        candidate=spec.candidate,
        expected=spec.direction,
        found=found,
        reference_value=values[0],
        candidate_value=values[1],
        change_ratio=here,
        agrees=agrees,
        reasons=reasons,
    )


def _direction(ratio: float) -> Direction:
    if abs(ratio) < ALIKE_RATIO:
        return "alike"
    return "higher" if ratio > 0.0 else "lower"


def why_otherwise(reference: Side, candidate: Side) -> list[str]:
    names = f"{reference.label} -> {candidate.label}"
    reasons = []
    moved = [_device_share(side) for side in (reference, candidate)]
    ratio = change(*moved)
    if ratio is not None and abs(ratio) >= MOVED_RATIO:
        before, after = (_device_bytes(side) or 0.0 for side in (reference, candidate))
        less = "fewer" if ratio < 0.0 else "more"
        reasons.append(
            f"{names}: devices moved {format_bytes(before)} -> {format_bytes(after)} for the same "
            f"application bytes, {less} bytes under the same caps"
        )
    places = place_changes(reference, candidate, judged=why_unjudged(reference, candidate) is None)
    place = main_change(places, role_changes(reference, candidate))
    if place is not None:
        reasons.append(f"{names}: {place.sentence}")
    cpu = [_cpu_seconds(side) for side in (reference, candidate)]
    ratio = change(*cpu)
    if ratio is not None and abs(ratio) >= ALIKE_RATIO:
        seconds = " -> ".join(format_seconds(value or 0.0) for value in cpu)
        reasons.append(f"{names}: CPU time of the jobs {seconds}")
    return reasons or [f"{names}: no figure of the two runs shows it"]


def _device_bytes(side: Side) -> float | None:
    """Both ways at the devices of all roles; charged bytes are counted before compression."""
    moved = moved_by_device(side.runs[0].summary, ROLES) if side.runs else {}
    return sum(read + written for read, written in moved.values()) if moved else None


def _device_rate(side: Side) -> float | None:
    moved, elapsed = _device_bytes(side), centre(side.values("time.elapsed_seconds"))
    return moved / elapsed if moved is not None and elapsed else None


def _device_share(side: Side) -> float | None:
    asked = [centre(side.values(f"io.application.{way}_bytes")) for way in ("read", "written")]
    whole = None if None in asked else sum(value or 0.0 for value in asked)
    moved = _device_bytes(side)
    return moved / whole if moved is not None and whole else None


def _cpu_seconds(side: Side) -> float | None:
    both = [centre(side.values(f"time.{kind}_cpu_seconds")) for kind in ("user", "system")]
    return None if None in both else sum(value or 0.0 for value in both)


def figures_of(side: Side) -> ArmFigures:
    def value(path: str) -> float | None:
        return centre(side.values(path))

    latencies = {
        way: {role: value(f"io.by_role.{role}.{way}_latency_seconds.mean") for role in ROLES}
        for way in ("read", "write")
    }
    return ArmFigures(
        arm=side.label,
        real_time_seconds=value("time.real_time_seconds"),
        user_cpu_seconds=value("time.user_cpu_seconds"),
        system_cpu_seconds=value("time.system_cpu_seconds"),
        application_bytes_per_second=value("io.application.run_mean.total_bytes_per_second"),
        device_bytes_per_second=_device_rate(side),
        read_latency_seconds=latencies["read"],
        write_latency_seconds=latencies["write"],
        host_cpu_busy_seconds=value("host.cpu_busy_seconds"),
    )


def with_evidence(found: LabReport, record: LabRecord, arms: Mapping[str, Side]) -> LabReport:
    """The same with what the bed's series, findings and savings came to.

    Raises ``UsageError`` where a bed cites what no paper says.
    """
    bed = msgspec.convert(record.description, BedSpec)
    runs = {name: run for name in arms if (run := record.run_of(name)) is not None}
    named = dict.fromkeys(spec.published for spec in bed.savings if spec.published is not None)
    results = {name: published_result(name) for name in named}
    return msgspec.structs.replace(
        found,
        figures=[figures_of(side) for side in arms.values()],
        series=[series_result(spec, arms, runs, _caps(bed, spec, record)) for spec in bed.series],
        findings=[finding_result(spec, arms, _citation(spec)) for spec in bed.findings],
        programs=[
            programs_result(arms[one.reference], arms[one.candidate])
            for one in bed.programs
            if one.reference in arms and one.candidate in arms
        ],
        savings=[
            saving_result(
                kept,
                bed.savings,
                results,
                {name: str(paper_of(result).source) for name, result in results.items()},
            )
            for kept in record.savings
        ],
    )


def _caps(bed: BedSpec, spec: SeriesSpec, record: LabRecord) -> dict[str, float | None]:
    """Sum of the caps of each arm's volumes at the speed that it ran at; None where one has no cap."""
    volumes = {volume.name: volume for volume in bed.volumes}
    found: dict[str, float | None] = {}
    for name in spec.arms:
        run = record.run_of(name)
        used = {volume for role in spec.roles for volume in bed.arm(name).volumes(role)}
        rates = [cap.rate for volume in used if (cap := volumes[volume].cap) is not None]
        complete = run is not None and len(rates) == len(used)
        found[name] = run.speed_factor * sum(rates) if run is not None and complete else None
    return found


def _citation(spec: FindingSpec) -> str:
    for paper in papers():
        if paper.source.key == spec.source:
            if spec.text in paper.findings:
                return str(paper.source)
            raise UsageError(f"the paper {spec.source} has no such finding", why=spec.text)
    raise UsageError(f"{spec.source} is no paper", cure="see mawl published")


def programs_result(reference: Side, candidate: Side) -> ProgramsResult:
    """Judged where both arms have runs enough, else plain changes; the programs that gained most first."""
    unjudged = why_unjudged(reference, candidate)
    comparison = statement(reference, candidate, unjudged)
    programs = program_changes(reference, candidate, judged=unjudged is None)
    return ProgramsResult(
        reference=reference.label,
        candidate=candidate.label,
        runs=[len(reference.runs), len(candidate.runs)],
        judged=unjudged is None,
        verdict=comparison.verdict,
        change_ratio=comparison.change_ratio,
        low_ratio=comparison.low_ratio,
        high_ratio=comparison.high_ratio,
        faster=programs.faster,
        slower=programs.slower,
        not_told_apart=programs.no_difference,
        ran_shorter=programs.ran_shorter,
        ran_longer=programs.ran_longer,
        changes=[
            ProgramResult(
                program=change.program,
                verdict=change.verdict,
                change_ratio=change.change_ratio,
                low_ratio=change.low_ratio,
                high_ratio=change.high_ratio,
            )
            for change in reversed(programs.changes)
        ],
    )


def saving_result(
    kept: RoleKept,
    specs: Sequence[SavingSpec],
    results: dict[str, PublishedResult],
    citations: dict[str, str],
) -> SavingResult:
    original = sum(volume.original_bytes for volume in kept.volumes)
    stored = sum(volume.stored_bytes for volume in kept.volumes)
    real = 1.0 - stored / original if original else None
    least = LEAST_PART_RATIO * original / len(kept.volumes) if kept.volumes else 0.0
    fair = [volume for volume in kept.volumes if volume.original_bytes >= least]
    each = [ratio for volume in fair if (ratio := volume.saving_ratio) is not None]
    estimated = kept.estimated_saving_ratio
    off = None if real is None or estimated is None else real - estimated
    name = next((spec.published for spec in specs if spec.arm == kept.arm), None)
    compression = results[name].compression.get(kept.role) if name is not None else None
    return SavingResult(
        arm=kept.arm,
        role=kept.role,
        codec=kept.codec,
        storage=kept.storage,
        source=kept.source,
        volumes=kept.volumes,
        original_bytes=original,
        stored_bytes=stored,
        saving_ratio=real,
        spread_ratio=max(each) - min(each) if each else None,
        estimated_saving_ratio=estimated,
        half_width_ratio=kept.half_width_ratio,
        block_bytes=kept.block_bytes,
        off_ratio=off,
        agrees=None if off is None else abs(off) <= MOST_OFF_RATIO,
        published=name,
        citation=None if name is None else citations[name],
        published_saving_ratio=compression.saving_ratio if compression else None,
        reason=kept.reason,
    )
