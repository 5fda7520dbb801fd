"""The renderers that ``mawl serve`` uses: the reports, charts, comparisons and metrics of the verbs."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.advice.bounds import AnswerBounds
from mawl.advice.judge import judged
from mawl.commands.server.library import SIDES
from mawl.commands.server.reports import Renderers, script
from mawl.figures.comparison.compare import compare, compare_many
from mawl.figures.comparison.sides import compared_run, side_of
from mawl.figures.view import StoredView
from mawl.records.model.summary.summary import Judged
from mawl.reports import openmetrics
from mawl.reports.comparison.document import document
from mawl.reports.document import rendered
from mawl.reports.html import report
from mawl.reports.html.sources import sources


def standard_renderers(bounds: AnswerBounds) -> Renderers:
    """Renderers whose summaries are judged by these bounds."""

    def judge(view: StoredView) -> Judged:
        return judged(view, bounds)

    def comparison(views: Sequence[Sequence[StoredView]]) -> str:
        sides = [
            side_of(label(number, some), [compared_run(view, judge(view)) for view in some])
            for number, some in enumerate(views)
        ]
        return rendered(document(compare(*sides) if len(sides) == 2 else compare_many(sides)), "html")

    def label(number: int, views: Sequence[StoredView]) -> str:
        return views[0].run.path.name if len(views) == 1 else SIDES[number]

    return Renderers(
        report=report.render,
        following=lambda view, summary: report.render(
            view, summary, scripts=[script("following.js")], connect="'self'"
        ),
        sources=sources,
        metrics=lambda summaries: openmetrics.render(*summaries) + "\n",
        comparison=comparison,
        judged=judge,
    )
