"""What a browser spends on drawing a report, compared with Bokeh's own page of the same charts.

The figures are CPU seconds from the navigation until what is open is drawn, so they hardly depend on what
else the machine does: of all processes of the browser, and of the page's main thread.  Both come from the
browser (``SystemInfo.getProcessInfo`` and ``Performance.getMetrics`` of its DevTools protocol), less those of
an empty page.  A page that takes C seconds of all processes is drawn within C seconds on any idle machine.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from bokeh.embed import file_html
from bokeh.resources import INLINE

from bench.harness import Result, alternate, at_most, ratio, sized, spread
from mawl.advice.judge import judged
from mawl.figures.view import StoredView
from mawl.records.store import open_run
from mawl.reports.html.charts.every import charts_of
from mawl.reports.html.report import render
from mawl.reports.html.sources import chart_data, sources_of
from tests.fakes.synthetic_run import write_synthetic_run
from tests.pages.opened import DRAWN, chromium, until

NAME = "drawing"
RUNS = sized(5, 1)
RUNS_OF = sized(
    {
        "71 jobs": {"jobs": 71, "nodes": 1, "seconds": 900},
        "404 jobs on 4 nodes": {"jobs": 404, "nodes": 4, "seconds": 7200},
    },
    {"5 jobs": {"jobs": 5, "nodes": 1, "seconds": 60}},
)
MOST_CPU_SECONDS = 2.0
SETTLED_MILLISECONDS = 500
"""Until a browser has ended what it does after a navigation."""
WINDOW = {"width": 1280, "height": 800}
EMPTY = "<!DOCTYPE html><title>Empty</title><p>Nothing"
BOKEH_DRAWN = "Bokeh.documents.length > 0 && Bokeh.documents[0].is_idle"


class DrawingCost(NamedTuple):
    """CPU seconds of all processes of the browser and of the main thread of the page, and elapsed seconds."""

    cpu_seconds: float
    main_thread_seconds: float
    elapsed_seconds: float


def run() -> list[Result]:
    """The page of a run and of a cluster's run, each in turn with Bokeh's page."""
    results = []
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as directory, chromium() as browser:
        empty = _written(Path(directory, "empty.html"), EMPTY)
        for what, shape in RUNS_OF.items():
            view = StoredView(open_run(write_synthetic_run(Path(directory, what), **shape)))
            ours = _written(Path(directory, "ours.html"), render(view, judged(view)))
            peer = _written(Path(directory, "peer.html"), _bokeh_page(view))
            results += _compared(
                what,
                partial(drawing_cost, browser, empty, ours, DRAWN),
                partial(drawing_cost, browser, empty, peer, BOKEH_DRAWN),
            )
    return results


def _compared(what: str, ours: Callable[[], DrawingCost], peer: Callable[[], DrawingCost]) -> list[Result]:
    mine, others = alternate(ours, peer, RUNS)
    seconds, theirs = ([cost.cpu_seconds for cost in side] for side in (mine, others))
    threads = spread([cost.main_thread_seconds for cost in mine], "s")
    elapsed = spread([cost.elapsed_seconds for cost in mine], "s")
    value, pairs = ratio(seconds, theirs)
    return [
        at_most(
            f"page of {what} drawn",
            statistics.median(seconds),
            "CPU s",
            MOST_CPU_SECONDS,
            f"all processes of the browser: {spread(seconds, 's')}; main thread {threads}; elapsed {elapsed}",
        ),
        at_most(
            f"page of {what} over Bokeh's",
            value,
            "",
            1.0,
            f"CPU s of the first screen over those of all its charts in a page that Bokeh writes "
            f"({spread(theirs, 's')}); {pairs}",
        ),
    ]


def _bokeh_page(view: StoredView) -> str:
    """The charts of a run in a page that Bokeh writes."""
    found, summary = chart_data(view), judged(view)
    charts = charts_of(found, sources_of(found, summary), summary)
    figures = [chart.figure for chart in charts if chart.figure is not None]
    return file_html(figures, INLINE, title="Bokeh's page")


def drawing_cost(browser: Any, empty: Path, file: Path, drawn: str) -> DrawingCost:
    """The cost of a page until the JavaScript ``drawn`` is true, less the cost of an empty page."""
    nothing = _navigation(browser, empty, empty, "true")
    cost = _navigation(browser, empty, file, drawn)
    return DrawingCost(
        cost.cpu_seconds - nothing.cpu_seconds,
        cost.main_thread_seconds - nothing.main_thread_seconds,
        cost.elapsed_seconds - nothing.elapsed_seconds,
    )


def _navigation(browser: Any, empty: Path, file: Path, drawn: str) -> DrawingCost:
    """The cost of going from an empty page to a page; the browser's processes have started before."""
    context = browser.new_context(offline=True, viewport=WINDOW)
    page = context.new_page()
    whole, one = browser.new_browser_cdp_session(), context.new_cdp_session(page)
    one.send("Performance.enable")
    page.goto(empty.as_uri())
    page.wait_for_timeout(2 * SETTLED_MILLISECONDS)
    before, started = _seconds(whole, one), time.perf_counter()
    page.goto(file.as_uri())
    until(page, drawn)
    elapsed = time.perf_counter() - started
    page.wait_for_timeout(SETTLED_MILLISECONDS)
    after = _seconds(whole, one)
    whole.detach()
    context.close()
    return DrawingCost(after[0] - before[0], after[1] - before[1], elapsed)


def _seconds(whole: Any, one: Any) -> tuple[float, float]:
    """CPU seconds so far of the processes of the browser, and of a page's main thread."""
    processes = whole.send("SystemInfo.getProcessInfo")["processInfo"]
    metrics = {each["name"]: each["value"] for each in one.send("Performance.getMetrics")["metrics"]}
    return sum(process["cpuTime"] for process in processes), metrics["ThreadTime"]


def _written(file: Path, html: str) -> Path:
    file.write_text(html)
    return file
