"""The renderers of ``mawl serve``: the reports, charts, comparisons and metrics that the verbs write, too."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from mawl.advice.capacity.bounds import Bounds
from mawl.advice.judge import judged
from mawl.analysis.blocks import Block
from mawl.analysis.comparison.compare import compare, compare_many
from mawl.analysis.comparison.sides import compared_run, side_of
from mawl.reporters import openmetrics, text
from mawl.reporters.comparison import html
from mawl.reporters.html.charts.every import charts_of
from mawl.reporters.html.embed import embedded
from mawl.reporters.html.material import material
from mawl.reporters.html.page import page
from mawl.reporters.html.sources import sources, sources_of
from mawl.server.pages import script
from mawl.server.rendering import Renderers
from mawl.store import Run


def standard(bounds: Bounds) -> Renderers:
    """Renderers whose summaries are judged by these bounds of the capacity."""

    def judge(run: Run) -> Block:
        return judged(run, bounds)

    def comparison(runs: Sequence[Run]) -> str:
        sides = [side_of(run.path.name, [compared_run(run, judge(run))]) for run in runs]
        if len(sides) == 2:
            return html.render(compare(*sides))
        return html.render_matrix(compare_many(sides))

    return Renderers(
        report=lambda run, summary: _drawn(run, summary, [], "'none'"),
        following=lambda run, summary: _drawn(run, summary, [script("following.js")], "'self'"),
        sources=sources,
        metrics=lambda summaries: openmetrics.render(*summaries) + "\n",
        comparison=comparison,
        judged=judge,
    )


def _drawn(run: Run, summary: Block, scripts: list[str], connect: str) -> str:
    """The charts of a run, and its report in text."""
    found = material(run)
    charts = charts_of(found, sources_of(found, summary), summary)
    drawn = embedded({chart.name: chart.figure for chart in charts if chart.figure is not None})
    body = Markup().join([*drawn.places.values(), drawn.data])
    body += Markup("<pre>{}</pre>").format(text.render(summary))
    return page(run.path.name, body, [*drawn.scripts, *scripts], connect=connect)
