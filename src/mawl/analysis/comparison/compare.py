"""The whole comparison of two sides, or of many: what a reporter draws and JSON holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from mawl.analysis.comparison.comparability import Obstacle, obstacles
from mawl.analysis.comparison.configuration import Difference, differences
from mawl.analysis.comparison.figures import FigureChange, figure_changes
from mawl.analysis.comparison.links import LinkFinding, link_finding
from mawl.analysis.comparison.matrix import MatrixRow, matrix
from mawl.analysis.comparison.over_time import RunOverTime
from mawl.analysis.comparison.places import (
    Named,
    PlaceChange,
    RoleChange,
    named,
    place_changes,
    role_changes,
    verdicts,
)
from mawl.analysis.comparison.programs import (
    MARGIN_RATIO,
    ComparedPrograms,
    Statement,
    program_changes,
    statement,
)
from mawl.analysis.comparison.reasons import Reason, reasons_of
from mawl.analysis.comparison.settings import CitedSettings
from mawl.analysis.comparison.shapes import ShapeRow, alike_systems, shape_rows
from mawl.analysis.comparison.sides import Side
from mawl.errors import UsageError
from mawl.plan.scale import shown_scale
from mawl.units import counted_noun

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
        """Reference and candidate."""
        return self.reference, self.candidate

    @property
    def reasons(self) -> list[Reason]:
        """Why the runs of both sides were judged as they were."""
        return [one for side in self.sides for one in side.reasons]

    @property
    def runs(self) -> int:
        """How many runs both sides have together."""
        return sum(len(side.run_ids) for side in self.sides)

    @property
    def statuses(self) -> list[str]:
        """The validity of the runs by their checks: each status of a side once."""
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
    places = place_changes(reference, candidate) if measured else []
    roles = role_changes(reference, candidate) if measured else []
    return Comparison(
        basis="runs" if measured else "one paper" if one_paper else "per core and in shape",
        reference=_facts(reference),
        candidate=_facts(candidate),
        obstacles=found,
        differences=differences(reference, candidate),
        statement=statement(reference, candidate, margin_ratio) if measured else None,
        figures=figure_changes(reference, candidate) if measured or one_paper else [],
        programs=program_changes(reference, candidate) if measured else None,
        places=places,
        roles=roles,
        named=named(places, roles) if reference.judged and candidate.judged else None,
        links=link_finding(reference, candidate) if measured else None,
        shape=[] if measured else shape_rows(reference, candidate),
    )


def why_uncounted(comparison: Comparison) -> str | None:
    """Why no finding of a comparison counts: runs are invalid by their own checks.  None if none is."""
    found = []
    for side in comparison.sides:
        invalid = dict(side.validity).get("invalid", 0)
        if invalid:
            found.append(f"{invalid} of {counted_noun(len(side.run_ids), 'run')} of {side.label}")
    return f"invalid by their own checks: {' and '.join(found)}" if found else None


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
        answers=_counted([run.summary.capacity.answer for run in side.runs]),
        limits=verdicts(side),
        validity=_counted([run.summary.validity.status for run in side.runs]),
        courses=[run.over_time for run in side.runs if run.over_time is not None],
        names=names,
        reasons=reasons_of(side.runs, names),
    )


def _counted(words: Sequence[str]) -> list[tuple[str, int]]:
    return sorted(((word, words.count(word)) for word in set(words)), key=lambda pair: -pair[1])
