"""A run as one HTML file that opens anywhere."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from mawl.analysis.view import StoredView
from mawl.model.summary.summary import Judged
from mawl.reporters.head import node_name, traits
from mawl.reporters.html.chart_data import chart_data
from mawl.reporters.html.charts.every import charts_of
from mawl.reporters.html.embed import embedded
from mawl.reporters.html.figures import ShownFigures
from mawl.reporters.html.page import page
from mawl.reporters.html.sections.compressibility import compressibility
from mawl.reporters.html.sections.definitions import definitions, missing
from mawl.reporters.html.sections.findings import findings
from mawl.reporters.html.sections.host import host
from mawl.reporters.html.sections.nodes import nodes
from mawl.reporters.html.sections.performance import performance
from mawl.reporters.html.sections.programs import programs
from mawl.reporters.html.sections.roles import roles
from mawl.reporters.html.sections.signature import signature
from mawl.reporters.html.sections.slowest import slowest
from mawl.reporters.html.sections.storage import storage
from mawl.reporters.html.sections.system import system
from mawl.reporters.html.sections.timeline import chart_of, timeline
from mawl.reporters.html.sections.verdict import verdict
from mawl.reporters.html.sources import sources_of
from mawl.reporters.html.templating import fill
from mawl.units import counted_noun

SECTIONS = (
    ("timeline", "Timeline"),
    ("summary", "Summary"),
    ("findings", "Findings"),
    ("roles", "Roles"),
    ("storage", "Storage"),
    ("compressibility", "Compression"),
    ("programs", "Programs"),
    ("signature", "Signature"),
    ("slowest", "Slowest jobs"),
    ("host", "Host"),
    ("system", "System"),
    ("missing", "Missing"),
    ("definitions", "Definitions"),
)


def render(view: StoredView, summary: Judged, *, scripts: Sequence[str] = (), connect: str = "'none'") -> str:
    """The report of a stored run and its summary (:func:`mawl.advice.judge.judged`) as an HTML document.

    ``scripts`` run after its own; ``connect`` is what the page may fetch from: nothing, unless a server
    keeps it up to date.
    Raises :class:`~mawl.errors.UnreadableRunError` where the records of its jobs are damaged.
    """
    found = chart_data(view)
    charts = charts_of(found, sources_of(found, summary), summary)
    drawn = embedded({chart.name: chart.figure for chart in charts if chart.figure is not None})
    by_name = {chart.name: chart for chart in charts}
    apart = {
        name: chart_of(by_name.pop(name), drawn.places)
        for name in ("lead", "latency_distribution", "cpu_real")
    }
    figures = ShownFigures(summary)
    parts = [
        verdict(figures),
        apart["lead"],
        timeline(figures, view, list(by_name.values()), drawn.places),
        performance(figures, view),
        nodes(figures, view),
        findings(figures),
        roles(figures, view, apart["latency_distribution"]),
        storage(figures, view),
        compressibility(figures),
        programs(figures, view, apart["cpu_real"]),
        signature(figures),
        slowest(figures, view.run, found.jobs),
        host(figures, view),
        system(figures, view),
        missing(figures),
    ]
    body = Markup("\n").join([*parts, definitions(figures), drawn.data])
    return page(
        f"{summary.workload.name}: run {summary.run_id}",
        body,
        [*drawn.scripts, *scripts],
        lead=_lead(view, summary),
        sections=_sections(summary),
        connect=connect,
    )


def _sections(summary: Judged) -> Sequence[tuple[str, str]]:
    """Names of the sections that the page has."""
    return SECTIONS if summary.cluster is None else (*SECTIONS[:2], ("nodes", "Nodes"), *SECTIONS[2:])


def _lead(view: StoredView, summary: Judged) -> Markup:
    """One line under the title: what ran, on what, how it ended."""
    workload = summary.workload
    nodes = summary.nodes
    return fill(
        "lead.html",
        outcome=summary.outcome,
        going_on=summary.outcome == "running",
        well=summary.outcome == "completed",
        parts=[
            f"{counted_noun(workload.sessions, 'session')}, {counted_noun(workload.jobs, 'job')}",
            *([f"scale {workload.scale_name}"] if workload.scale_name else []),
            counted_noun(len(nodes), "node") if len(nodes) != 1 else node_name(nodes[0]),
            *([nodes[0].cpu_model] if nodes and nodes[0].cpu_model else []),
            summary.started_at.replace("T", " ")[:16] + " UTC",
            *traits(view),
            *([] if summary.kind == "measured" else [summary.kind]),
        ],
    )
