"""The page of thresholds: every number that decides, with its source."""

from __future__ import annotations

from mawl.records.model.thresholds import THRESHOLDS
from mawl.reports.judgement import shown
from tools.markdown import table


def thresholds_page() -> list[str]:
    """A table of all thresholds in the order of the registry."""
    rows = [
        (f"`{one.name}`", shown(one.value, one.unit), one.meaning, one.source) for one in THRESHOLDS.values()
    ]
    return [
        "# Thresholds",
        "",
        "Every number that a rule, an answer or a verdict decides by. The rules read their values from",
        "`src/mawl/records/model/thresholds.toml`. `mawl report --all`, HTML and JSON print those used.",
        "A convention was chosen, not measured: another value would be as right, if it is said.",
        "",
        *table(("threshold", "value", "meaning", "source"), rows),
    ]
