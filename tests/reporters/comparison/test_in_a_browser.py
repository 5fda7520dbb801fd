"""The page of a comparison in a browser without a network."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest
from playwright import sync_api

from mawl.analysis.comparison.compare import compare
from mawl.analysis.comparison.over_time import run_over_time
from mawl.analysis.comparison.sides import Side
from mawl.analysis.view import RunView
from mawl.reporters.comparison import html
from tests import needs
from tests.fakes.compared_runs import side
from tests.fakes.measured_run import IDLE, four_jobs, samples
from tests.fakes.stored_run import facts

pytestmark = [pytest.mark.lab, pytest.mark.parallel]

BLANK_BYTES = 3000
"""An image of an empty chart is smaller."""

QUIET = [0.98, 1.01, 1.0, 1.02, 0.99]


def drawn(label: str, first: int, seconds: int) -> Side:
    """Five runs that are known over time."""
    plain = side(label, QUIET, first=first)
    rates = run_over_time(RunView(facts(), four_jobs(float(seconds)), samples(seconds, IDLE)))
    runs = tuple(msgspec.structs.replace(run, over_time=rates) for run in plain.runs)
    return msgspec.structs.replace(plain, runs=runs)


def test_every_chart_draws_and_time_is_one_axis(tmp_path: Path) -> None:
    needs.program("chromium").require()
    browser_path = shutil.which("chromium")
    page_file = tmp_path / "comparison.html"
    page_file.write_text(html.render(compare(drawn("before", 0, 40), drawn("after", 1, 60))))
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page()
        said: list[str] = []
        page.on("console", lambda line: said.append(line.text) if line.type != "log" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(page_file.as_uri())
        page.wait_for_function("Bokeh.documents.length == 1 && Bokeh.documents[0].is_idle")
        charts = page.locator(".chart")
        names = charts.evaluate_all("all => all.map(one => one.dataset.chart)")
        assert names == ["programs", "places", "device", "application", "jobs", "cpu"]
        assert all(len(charts.nth(at).screenshot()) > BLANK_BYTES for at in range(6))
        ranges = page.evaluate(
            """() => {
                const [one, other] = ["application", "device"].map(
                    name => Bokeh.documents[0].get_model_by_name(name));
                one.x_range.end = 20;
                return [one.x_range.id == other.x_range.id, other.x_range.end];
            }"""
        )
        assert ranges == [True, 20]
        browser.close()
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
