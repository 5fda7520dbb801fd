"""The whole comparison of two sides or of many, as reports draw it and JSON holds it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from mawl.base.errors import UsageError
from mawl.base.units import format_bits
from mawl.figures.comparison.comparability import (
    CitedSettings,
    Difference,
    Obstacle,
    differences,
    obstacles,
    why_unjudged,
)
from mawl.figures.comparison.programs import (
    MARGIN_RATIO,
    ComparedPrograms,
    Statement,
    program_changes,
    statement,
)
from mawl.figures.comparison.rows import (
    AnswerChange,
    FigureChange,
    ShapeRow,
    alike_systems,
    answer_changes,
    answer_range,
    figure_changes,
    shape_rows,
)
from mawl.figures.comparison.sides import Reason, RunOverTime, Side, centre, reasons_of
from mawl.figures.comparison.waits import (
    LinkFinding,
    Named,
    PlaceChange,
    RoleChange,
    link_finding,
    main_change,
    place_changes,
    role_changes,
    verdicts,
)
from mawl.figures.published import over
from mawl.figures.statistics import Interval
from mawl.figures.throughput import cores_of
from mawl.plan.spec import shown_scale


class MatrixRow(msgspec.Struct, frozen=True, kw_only=True):
    """A side: its size, its fabric, and the middle of its runs (geometric means).

    ``limit`` is the commonest verdict of its runs.  Totals of unlike machines stand side by side
    to be read, not to be divided: per core is what compares, and only on one ``core_basis``.
    """

    label: str
    kind: str
    workload: str | None
    runs: int
    nodes: int
    sessions: int | None
    fabric: str | None
    cores: float | None
    core_basis: str | None
    elapsed_seconds: float | None
    real_time_seconds: float | None
    cpu_real_ratio: float | None
    peak_bytes_per_second: float | None
    sustained_bytes_per_second: float | None
    peak_bytes_per_second_per_core: float | None
    sustained_bytes_per_second_per_core: float | None
    limit: str
    slowdown: Interval | None = None
    delivered_cores: Interval | None = None


def matrix(sides: list[Side]) -> list[MatrixRow]:
    return [_published(side) if side.published is not None else _measured(side) for side in sides]


def _measured(side: Side) -> MatrixRow:
    first = side.runs[0].facts
    bases = {node.core_basis for node in first.nodes}
    cores = cores_of(first)[0]
    peak, sustained = (
        centre(side.values(f"io.device.{figure}.total_bytes_per_second")) for figure in ("peak", "sustained")
    )
    return MatrixRow(
        label=side.label,
        kind=first.kind,
        workload=first.workload.name,
        runs=len(side.runs),
        nodes=len(first.nodes),
        sessions=first.workload.sessions,
        fabric=_fabric(side),
        cores=cores,
        core_basis=bases.pop() if len(bases) == 1 else None,
        elapsed_seconds=centre(side.values("time.elapsed_seconds")),
        real_time_seconds=centre(side.values("time.real_time_seconds")),
        cpu_real_ratio=centre(side.values("cpu_real_ratio.of_sums")),
        peak_bytes_per_second=peak,
        sustained_bytes_per_second=sustained,
        peak_bytes_per_second_per_core=over(peak, cores),
        sustained_bytes_per_second_per_core=over(sustained, cores),
        limit=verdicts(side)[0][0],
        slowdown=answer_range("slowdown", side),
        delivered_cores=answer_range("delivered_cores", side),
    )


def _published(side: Side) -> MatrixRow:
    block = side.published
    assert block is not None, "a published side"
    return MatrixRow(
        label=side.label,
        kind="published",
        workload=None,
        runs=1,
        nodes=block.workload.nodes,
        sessions=block.workload.sessions,
        fabric=_ports(side),
        cores=block.per_core.cores,
        core_basis=block.per_core.core_basis,
        elapsed_seconds=block.time.elapsed_seconds,
        real_time_seconds=block.time.real_time_seconds,
        cpu_real_ratio=block.cpu_real_ratio.of_sums,
        peak_bytes_per_second=block.io.device.peak.total_bytes_per_second,
        sustained_bytes_per_second=block.io.device.sustained.total_bytes_per_second,
        peak_bytes_per_second_per_core=block.per_core.peak_bytes_per_second,
        sustained_bytes_per_second_per_core=block.per_core.sustained_bytes_per_second,
        limit=verdicts(side)[0][0],
    )


def _fabric(side: Side) -> str | None:
    volumes = side.runs[0].facts.volumes
    kinds = sorted({volume.file_system or "network" for volume in volumes if volume.network})
    disks = sorted({(volume.node, disk) for volume in volumes for disk in volume.disks})
    local = [f"{len(disks)} local disk{'s' if len(disks) > 1 else ''}"] if disks else []
    return ", ".join([*kinds, *local]) or None


def _ports(side: Side) -> str | None:
    """``8 x 8 Gbit/s fc``; None where the paper gives no fabric."""
    fabric = side.published.system.fabric if side.published else None
    if fabric is None:
        return None
    ports = fabric.ports or fabric.ports_per_node
    number = f"{ports} x " if ports else ""
    return f"{number}{format_bits(fabric.bits_per_second_per_port)} {fabric.kind}"


Basis = Literal["runs", "one paper", "per core and in shape"]
"""What may be compared: everything (two sides of runs), the paper's own table (two results of one paper on
servers alike), or only figures that no machine's size changes."""


class SideFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Who a side is; ``names`` are what ``mawl report`` calls its runs, in the order of ``run_ids``;
    ``answers`` (is the load carried), ``limits`` and ``validity`` are what its runs were judged, with how
    many had each, and ``reasons`` why."""

    label: str
    kind: str
    title: str
    run_ids: list[str]
    answers: list[tuple[str, int]]
    limits: list[tuple[str, int]]
    validity: list[tuple[str, int]]
    courses: list[RunOverTime]
    names: list[str] = []
    reasons: list[Reason] = []


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Candidate against reference; parts that the basis does not allow are None or empty.

    ``settings`` is None if no node has settings on both sides.
    """

    basis: Basis
    reference: SideFacts
    candidate: SideFacts
    obstacles: list[Obstacle]
    differences: list[Difference]
    answer: list[AnswerChange]
    statement: Statement | None
    figures: list[FigureChange]
    programs: ComparedPrograms | None
    places: list[PlaceChange]
    roles: list[RoleChange]
    named: Named | None
    links: LinkFinding | None
    shape: list[ShapeRow]
    settings: CitedSettings | None = None

    @property
    def sides(self) -> tuple[SideFacts, SideFacts]:
        return self.reference, self.candidate

    @property
    def reasons(self) -> list[Reason]:
        return [reason for side in self.sides for reason in side.reasons]

    @property
    def runs(self) -> int:
        return sum(len(side.run_ids) for side in self.sides)

    @property
    def statuses(self) -> list[str]:
        return [word for side in self.sides for word, _ in side.validity]


class ComparedPair(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate of many against the reference: the comparison, or why there is none."""

    candidate: str
    comparison: Comparison | None
    reason: str | None = None


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """Many sides: a row each, and each candidate against the first."""

    reference: str
    rows: list[MatrixRow]
    pairs: list[ComparedPair]


def compare(
    reference: Side, candidate: Side, *, anyway: bool = False, margin_ratio: float = MARGIN_RATIO
) -> Comparison:
    """Two sides; UsageError (one sentence) where they are not comparable.

    ``anyway`` goes on where that is merely doubtful, and leaves the doubt among the obstacles.
    """
    found = obstacles(reference, candidate)
    for obstacle in found:
        if obstacle.severity == "refused":
            raise UsageError("these are not comparable", why=obstacle.sentence)
        if obstacle.severity == "doubtful" and not anyway:
            raise UsageError(
                "these may not be comparable",
                why=obstacle.sentence,
                cure="compare them with --anyway if that is what you want",
            )
    measured = bool(reference.runs and candidate.runs)
    one_paper = alike_systems(reference, candidate)
    unjudged = why_unjudged(reference, candidate) if measured else None
    judged = measured and unjudged is None
    places = place_changes(reference, candidate, judged=judged) if measured else []
    roles = role_changes(reference, candidate) if measured else []
    return Comparison(
        basis="runs" if measured else "one paper" if one_paper else "per core and in shape",
        reference=_facts(reference),
        candidate=_facts(candidate),
        obstacles=found,
        differences=differences(reference, candidate),
        answer=answer_changes(reference, candidate, unjudged) if measured else [],
        statement=statement(reference, candidate, unjudged, margin_ratio) if measured else None,
        figures=figure_changes(reference, candidate, judged=judged) if measured or one_paper else [],
        programs=program_changes(reference, candidate, judged=judged) if measured else None,
        places=places,
        roles=roles,
        named=main_change(places, roles) if judged else None,
        links=link_finding(reference, candidate) if measured else None,
        shape=[] if measured else shape_rows(reference, candidate),
    )


def compare_many(
    sides: Sequence[Side], *, anyway: bool = False, margin_ratio: float = MARGIN_RATIO
) -> Matrix:
    """Three sides and more: the matrix, and each against the first where that is allowed."""
    return Matrix(
        reference=sides[0].label,
        rows=matrix(list(sides)),
        pairs=[_pair(sides[0], side, anyway, margin_ratio) for side in sides[1:]],
    )


def _pair(reference: Side, candidate: Side, anyway: bool, margin_ratio: float) -> ComparedPair:
    try:
        return ComparedPair(
            candidate=candidate.label,
            comparison=compare(reference, candidate, anyway=anyway, margin_ratio=margin_ratio),
        )
    except UsageError as error:
        return ComparedPair(candidate=candidate.label, comparison=None, reason=str(error))


def _facts(side: Side) -> SideFacts:
    if side.published is not None:
        return SideFacts(
            label=side.label,
            kind="published",
            title=f"{side.published.title} ({side.published.source.citation})",
            run_ids=[],
            answers=[],
            limits=verdicts(side),
            validity=[],
            courses=[],
        )
    first = side.runs[0].facts
    names = [run.name for run in side.runs]
    machines = sorted({node.cpu_model or node.name for node in first.nodes})
    known = shown_scale(first.workload.scale_name, first.workload.scale)
    scale = "" if known is None else f" at scale {known}"
    return SideFacts(
        label=side.label,
        kind=first.kind,
        title=f"{first.workload.name}{scale} on {', '.join(machines)}",
        run_ids=[run.facts.run_id for run in side.runs],
        answers=_counted([run.summary.answer.answer for run in side.runs]),
        limits=verdicts(side),
        validity=_counted([run.summary.validity.status for run in side.runs]),
        courses=[run.over_time for run in side.runs if run.over_time is not None],
        names=names,
        reasons=reasons_of(side.runs, names),
    )


def _counted(words: Sequence[str]) -> list[tuple[str, int]]:
    return sorted(((word, words.count(word)) for word in set(words)), key=lambda pair: -pair[1])
