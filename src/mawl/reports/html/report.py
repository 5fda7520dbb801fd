"""A run as one HTML file that opens anywhere."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from mawl.base.units import counted_noun
from mawl.figures.nights import LoggedNights, logged_nights
from mawl.figures.trends import Trends, trends_of
from mawl.figures.view import StoredView
from mawl.plan.spec import shown_scale
from mawl.records.model.summary.summary import Judged
from mawl.reports.html.charts.every import charts_of
from mawl.reports.html.charts.frame import Chart
from mawl.reports.html.charts.lead import NO_BYTES
from mawl.reports.html.charts.nights import night_lines, trend_line
from mawl.reports.html.embed import embedded
from mawl.reports.html.figures import ShownFigures, chart_of
from mawl.reports.html.page import fill, page
from mawl.reports.html.sections.jobs import performance, programs, signature, slowest, spent
from mawl.reports.html.sections.nights import change_card, every_night, headline, leading, story
from mawl.reports.html.sections.storage import (
    compressibility,
    host,
    nodes,
    roles,
    storage,
    timeline,
)
from mawl.reports.html.sections.system import definitions, missing, system
from mawl.reports.html.sections.verdict import answer, findings, verdict
from mawl.reports.html.sources import chart_data, sources_of
from mawl.reports.run_lines import UNKNOWN_NODE, finding, node_name, traits

CONTENTS = {
    "nights": "Nights",
    "answer": "Why",
    "findings": "Trust",
    "summary": "Summary",
    "programs": "Programs",
    "timeline": "Timeline",
    "nodes": "Nodes",
    "roles": "Roles",
    "storage": "Storage",
    "host": "Host",
    "slowest": "Slowest jobs",
    "signature": "Signature",
    "compressibility": "Compression",
    "system": "System",
    "missing": "Missing",
    "definitions": "Definitions",
}
"""Every part that a report may have to its name in the contents, in the order in which people ask."""


def render(view: StoredView, summary: Judged, *, scripts: Sequence[str] = (), connect: str = "'none'") -> str:
    """The report of a stored run and its summary (``judged``) as an HTML document.

    ``scripts`` run after its own; ``connect`` is what the page may fetch from: nothing, unless a server
    keeps it up to date.
    Raises ``UnreadableRunError`` where the records of its jobs are damaged.
    """
    found = chart_data(view)
    charts = charts_of(found, sources_of(found, summary), summary)
    nights = logged_nights(view.jobs, view.facts.sources) if summary.kind == "imported" else None
    trends = None if nights is None else trends_of(nights.nights)
    laid_over, trend = _of_nights(view, nights, trends)
    every = [*charts, *(one for one in (laid_over, trend) if one)]
    drawn = embedded({chart.name: chart.figure for chart in every if chart.figure is not None})
    by_name = {chart.name: chart for chart in charts}
    apart = {
        name: chart_of(by_name.pop(name), drawn.places)
        for name in ("lead", "latency_distribution", "cpu_real")
    }
    figures = ShownFigures(summary)
    title, over_nights, card, told = finding(summary), Markup(), None, Markup()
    if nights is not None and trends is not None and laid_over is not None:
        title, card = headline(nights, trends), change_card(figures, nights, trends)
        shown = Markup() if trend is None else chart_of(trend, drawn.places)
        told = story(figures, nights, trends, shown, chart_of(laid_over, drawn.places))
        over_nights = every_night(figures, nights, trends)
    first = [verdict(figures, card), told, _drawn(apart["lead"], charts), spent(figures)]
    parts = {
        "nights": over_nights,
        "answer": answer(figures),
        "findings": findings(figures),
        "summary": performance(figures, view),
        "programs": programs(figures, view, apart["cpu_real"]),
        "timeline": timeline(figures, view, list(by_name.values()), drawn.places),
        "nodes": nodes(figures, view),
        "roles": roles(figures, view, apart["latency_distribution"]),
        "storage": storage(figures, view),
        "host": host(figures, view),
        "slowest": slowest(figures, view.run, found.jobs),
        "signature": signature(figures),
        "compressibility": compressibility(figures),
        "system": system(figures, view),
        "missing": missing(figures),
    }
    parts["definitions"] = definitions(figures)
    there = {anchor: part for anchor in CONTENTS if (part := parts[anchor])}
    return page(
        title,
        Markup("\n").join([*first, *there.values(), drawn.data]),
        [*drawn.scripts, *scripts],
        lead=_lead(view, summary),
        tools=fill("print.html"),
        sections=[(anchor, CONTENTS[anchor]) for anchor in there],
        connect=connect,
    )


def _of_nights(
    view: StoredView, nights: LoggedNights | None, trends: Trends | None
) -> tuple[Chart | None, Chart | None]:
    """The nights laid over each other, and the program that changed most; None if there is none."""
    if nights is None or trends is None:
        return None, None
    changed = leading(trends)
    return night_lines(nights, view), None if changed is None else trend_line(nights, changed)


def _drawn(lead: Markup, charts: Sequence[Chart]) -> Markup:
    """The chart of the first page, or the sentence that the run is too short for one.

    Any other reason why there is no chart is shown with the other charts.
    """
    others = {chart.reason for chart in charts if chart.name != "lead"} | {NO_BYTES}
    (own,) = (chart for chart in charts if chart.name == "lead")
    return lead if own.figure is not None or own.reason not in others else Markup()


def _tone(summary: Judged) -> str:
    """The colour of the outcome: a completed run is good only if its load is carried."""
    if summary.outcome == "completed":
        return "good" if summary.answer.answer == "carried" else ""
    return "warn" if summary.outcome == "running" else "bad"


def _lead(view: StoredView, summary: Judged) -> Markup:
    """One line under the title: what ran, on what, how it ended."""
    workload = summary.workload
    nodes = summary.nodes
    return fill(
        "lead.html",
        sign=summary.outcome,
        going_on=summary.outcome == "running",
        tone=_tone(summary),
        facts=[
            workload.name,
            f"{counted_noun(workload.sessions, 'session')}, {counted_noun(workload.jobs, 'job')}",
            *([f"scale {scale}"] if (scale := shown_scale(workload.scale_name, workload.scale)) else []),
            *([counted_noun(len(nodes), "node")] if len(nodes) != 1 else []),
            *([node_name(nodes[0])] if len(nodes) == 1 and nodes[0].name != UNKNOWN_NODE else []),
            *([nodes[0].cpu_model] if nodes and nodes[0].cpu_model else []),
            summary.started_at.replace("T", " ")[:16] + " UTC",
            *traits(view),
            *([] if summary.kind in ("measured", workload.name) else [summary.kind]),
            summary.run_id if summary.run_id.startswith("run") else f"run {summary.run_id}",
        ],
    )
