"""Print docs/reference/published-forecasts.md: ``python -m tools.published_table``; ``--check`` compares."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from mawl.whatif.published_comparison import published_forecasts
from mawl.whatif.published_system import assumed
from mawl.whatif.text import (
    CHANGE_HEAD,
    CHANGE_LEGEND,
    HEAD,
    LEGEND,
    PAIR_HEAD,
    PAIR_LEGEND,
    SCORE_HEAD,
    SCORE_LEGEND,
    change_cells,
    pair_cells,
    reasons,
    row_cells,
    score_cells,
    standing,
)
from tools.markdown import table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "published-forecasts.md"
NOTICE = "<!-- Printed from the code by tools/published_table.py (make reference); do not edit. -->"


def page() -> str:
    """The whole page."""
    forecasts = published_forecasts()
    fitted = [(f"`{name}`", f"{number:g}") for name, number in vars(forecasts.fitted.values).items()]
    values = [(f"`{name}`", f"{one.value:g}", one.reason) for name, one in assumed().items()]
    lines = [
        NOTICE,
        "",
        "# Forecasts of the papers' systems",
        "",
        "What `mawl simulate --published` prints; [how it is done](../design/published-forecasts.md).",
        "",
        *(f"- {line}" for line in standing(forecasts)),
        "",
        "## Every figure",
        "",
        LEGEND,
        "",
        *table(HEAD, map(_escaped, map(row_cells, forecasts.rows))),
        *(f"- {line}" for line in reasons(forecasts.rows)),
        "",
        "## Pairs",
        "",
        PAIR_LEGEND,
        "",
        *table(PAIR_HEAD, map(pair_cells, forecasts.pairs)),
        "## Changes that the papers print",
        "",
        CHANGE_LEGEND,
        "",
        *table(CHANGE_HEAD, map(change_cells, forecasts.changes)),
        "## Compared with simple rules",
        "",
        SCORE_LEGEND,
        "",
        *table(SCORE_HEAD, map(score_cells, forecasts.scores)),
        "## Fitted numbers",
        "",
        f"From {' and '.join(forecasts.fitted.on)} alone, by `python -m tools.published_fit`.",
        "",
        *table(("number", "value"), fitted),
        "## Assumed values",
        "",
        "What no paper gives, once for all systems.",
        "",
        *table(("value", "in base units", "reason"), values),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _escaped(cells: Sequence[str]) -> list[str]:
    return [cell.replace("*", "\\*") for cell in cells]


def main(arguments: Sequence[str]) -> int:
    """Write the page; with ``--check`` write nothing, and 1 where it is stale."""
    text = page()
    if "--check" not in arguments:
        PAGE.write_text(text)
        return 0
    if PAGE.is_file() and PAGE.read_text() == text:
        return 0
    print(
        "published_table: docs/reference/published-forecasts.md is stale; run make reference", file=sys.stderr
    )
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
