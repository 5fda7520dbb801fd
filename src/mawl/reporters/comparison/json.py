"""A comparison as JSON: the fields of its records with the finding, missing figures null."""

from __future__ import annotations

import msgspec

from mawl.analysis.comparison.compare import ComparedPair, Comparison, Matrix
from mawl.analysis.comparison.matrix import MatrixRow
from mawl.reporters.comparison.finding import Headline, finding
from mawl.reporters.json import indented


class PrintedComparison(Comparison, frozen=True, kw_only=True):
    """A comparison with its headline."""

    finding: Headline


class PrintedPair(ComparedPair, frozen=True, kw_only=True):
    """One candidate of many; the comparison has its headline."""

    comparison: PrintedComparison | None


class PrintedMatrix(msgspec.Struct, frozen=True, kw_only=True):
    """Many sides: a row each, and each candidate against the first with its headline."""

    reference: str
    rows: list[MatrixRow]
    pairs: list[PrintedPair]


def render(found: Comparison | Matrix) -> str:
    """The comparison of two sides, or the matrix with a comparison for each pair, indented."""
    return indented(_compared(found) if isinstance(found, Comparison) else _matrix(found))


def _compared(comparison: Comparison) -> PrintedComparison:
    return PrintedComparison(finding=finding(comparison), **msgspec.structs.asdict(comparison))


def _matrix(matrix: Matrix) -> PrintedMatrix:
    pairs = [
        PrintedPair(
            candidate=pair.candidate,
            comparison=None if pair.comparison is None else _compared(pair.comparison),
            reason=pair.reason,
        )
        for pair in matrix.pairs
    ]
    return PrintedMatrix(reference=matrix.reference, rows=matrix.rows, pairs=pairs)
