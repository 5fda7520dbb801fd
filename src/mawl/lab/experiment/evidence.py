"""Series, findings in words and savings of a campaign, judged by what its bed says of them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from mawl.analysis.comparison.sides import Side
from mawl.config.published import paper_of, papers, published_result
from mawl.errors import UsageError
from mawl.lab.bed import BedSpec
from mawl.lab.experiment.findings import figures_of, finding_found
from mawl.lab.experiment.programs import programs_found
from mawl.lab.experiment.records import LabFound, LabRecord
from mawl.lab.experiment.saving_estimates import saving_found
from mawl.lab.experiment.series import series_found
from mawl.lab.experiment.series_records import FindingSpec, SeriesSpec


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
