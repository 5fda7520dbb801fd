"""Series, findings in words and savings of a campaign, judged by what its bed says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from mawl.analysis.comparison.programs import program_changes, statement
from mawl.analysis.comparison.sides import Side
from mawl.config.published import paper_of, papers, published_result
from mawl.errors import UsageError
from mawl.lab.bed import BedSpec
from mawl.lab.experiment.findings import figures_of, finding_found
from mawl.lab.experiment.records import LabFound, LabRecord
from mawl.lab.experiment.saving_records import (
    LEAST_PART_RATIO,
    MOST_OFF_RATIO,
    RoleKept,
    SavingFound,
    SavingSpec,
)
from mawl.lab.experiment.series import series_found
from mawl.lab.experiment.series_records import FindingSpec, ProgramFound, ProgramsFound, SeriesSpec
from mawl.model.published import PublishedResult


def with_evidence(found: LabFound, record: LabRecord, arms: Mapping[str, Side]) -> LabFound:
    """The same with what the bed's series, findings and savings came to.

    Raises :class:`~mawl.errors.UsageError` where a bed cites what no paper says.
    """
    bed = msgspec.convert(record.description, BedSpec)
    runs = {name: run for name in arms if (run := record.run_of(name)) is not None}
    named = dict.fromkeys(spec.published for spec in bed.savings if spec.published is not None)
    results = {name: published_result(name) for name in named}
    return msgspec.structs.replace(
        found,
        figures=[figures_of(side) for side in arms.values()],
        series=[series_found(spec, arms, runs, _caps(bed, spec, record)) for spec in bed.series],
        findings=[finding_found(spec, arms, _citation(spec)) for spec in bed.findings],
        programs=[
            programs_found(arms[one.reference], arms[one.candidate])
            for one in bed.programs
            if one.reference in arms and one.candidate in arms
        ],
        savings=[
            saving_found(
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


def programs_found(reference: Side, candidate: Side) -> ProgramsFound:
    """Judged where both arms have runs enough, else plain changes; the programs that gained most first."""
    said, programs = statement(reference, candidate), program_changes(reference, candidate)
    return ProgramsFound(
        reference=reference.label,
        candidate=candidate.label,
        runs=[len(reference.runs), len(candidate.runs)],
        judged=reference.judged and candidate.judged,
        verdict=said.verdict,
        change_ratio=said.change_ratio,
        low_ratio=said.low_ratio,
        high_ratio=said.high_ratio,
        faster=programs.faster,
        slower=programs.slower,
        not_told_apart=programs.no_difference,
        ran_shorter=programs.ran_shorter,
        ran_longer=programs.ran_longer,
        changes=[
            ProgramFound(
                program=change.program,
                verdict=change.verdict,
                change_ratio=change.change_ratio,
                low_ratio=change.low_ratio,
                high_ratio=change.high_ratio,
            )
            for change in reversed(programs.changes)
        ],
    )


def saving_found(
    kept: RoleKept,
    specs: Sequence[SavingSpec],
    results: dict[str, PublishedResult],
    citations: dict[str, str],
) -> SavingFound:
    """Judge a role of an arm; ``results`` and ``citations`` are of the published results by id."""
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
    return SavingFound(
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
