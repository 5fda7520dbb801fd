"""The renderers of ``mawl serve``: the reports, charts, comparisons and metrics that the verbs write, too."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.advice.capacity.bounds import Bounds
from mawl.advice.judge import judged
from mawl.analysis.blocks import Block
from mawl.analysis.comparison.compare import compare, compare_many
from mawl.analysis.comparison.sides import compared_run, side_of
from mawl.reporters import openmetrics
from mawl.reporters.comparison import html
from mawl.reporters.html import report
from mawl.reporters.html.figures import Figures
from mawl.reporters.html.sections.verdict import verdict
from mawl.reporters.html.sources import sources
from mawl.server.library import SIDES
from mawl.server.pages import script
from mawl.server.rendering import Renderers
from mawl.store import Run


def standard(bounds: Bounds) -> Renderers:
    """Renderers whose summaries are judged by these bounds of the capacity."""

    def judge(run: Run) -> Block:
        return judged(run, bounds)

    def comparison(runs: Sequence[Sequence[Run]]) -> str:
        sides = [
            side_of(label(number, some), [compared_run(run, judge(run)) for run in some])
            for number, some in enumerate(runs)
        ]
        if len(sides) == 2:
            return html.render(compare(*sides))
        return html.render_matrix(compare_many(sides))

    def label(number: int, runs: Sequence[Run]) -> str:
        return runs[0].path.name if len(runs) == 1 else SIDES[number]

    return Renderers(
        report=report.render,
        following=lambda run, summary: report.render(
            run, summary, scripts=[script("following.js")], connect="'self'"
        ),
        cards=lambda summary: str(verdict(Figures(summary))),
        sources=sources,
        metrics=lambda summaries: openmetrics.render(*summaries) + "\n",
        comparison=comparison,
        judged=judge,
    )
