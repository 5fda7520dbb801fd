"""A comparison as JSON: the fields of its records, missing figures null."""

from __future__ import annotations

import msgspec

from mawl.analysis.comparison.compare import Comparison, Matrix
from mawl.printable import printable_json


def render(found: Comparison | Matrix) -> str:
    """The comparison of two sides, or the matrix with a comparison for each pair, indented."""
    return printable_json(msgspec.json.format(msgspec.json.encode(found), indent=2))
