"""The page of a comparison in a browser without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.figures.comparison.compare import compare
from mawl.figures.comparison.sides import Side, run_over_time
from mawl.figures.view import RunView
from mawl.reports import campaign_document as campaigns
from mawl.reports.comparison.document import document
from mawl.reports.document import rendered
from tests import needs
from tests.fakes.compared_runs import side
from tests.fakes.found_campaigns import EVERY
from tests.fakes.measured_run import IDLE, four_jobs, samples
from tests.fakes.stored_run import facts
from tests.pages.opened import DRAWN, INKED, UNFOLD, Opened, chromium

pytestmark = [pytest.mark.lab, needs.marks(needs.program("chromium"))]

BLANK_BYTES = 3000
"""An image of an empty chart is smaller."""

LOCAL = ("file:", "data:", "blob:")
PAPER = {"width": 703, "height": 1032}
"""A4 less margins of 12 mm, at 96 pixels an inch."""

DOT = """() => {
  const view = Array.from(Bokeh.index).find(one => one.model.name === "runs" && one.model.type === "Figure");
  const {data} = view.model.renderers.at(-1).data_source;
  const {x_scale, y_scale} = view.frame;
  return [x_scale.compute(data.change[0]), y_scale.compute(data.row[0])];
}"""

QUIET = [0.98, 1.01, 1.0, 1.02, 0.99]


def drawn(label: str, first: int, seconds: int) -> Side:
    """Five runs that are known over time, as long as ``seconds`` says."""
    plain = side(label, [seconds / 40 * factor for factor in QUIET], first=first)
    rates = run_over_time(RunView(facts(), four_jobs(float(seconds)), samples(seconds, IDLE)))
    runs = tuple(msgspec.structs.replace(run, over_time=rates) for run in plain.runs)
    return msgspec.structs.replace(plain, runs=runs)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


def wrong(shown: Opened) -> list[str]:
    """What the page complained of, and what it asked for outside itself."""
    return shown.complaints + [url for url in shown.requests if not url.startswith(LOCAL)]


def compared_page(folder: Path) -> Path:
    file = folder / "comparison.html"
    file.write_text(rendered(document(compare(drawn("before", 0, 40), drawn("after", 1, 60))), "html"))
    return file


def test_every_chart_draws_and_time_is_one_axis(browser: Any, tmp_path: Path) -> None:
    opened = Opened(browser, compared_page(tmp_path), unfolded=False)
    page = opened.page
    charts = page.locator(".chart")
    names = charts.evaluate_all("all => all.map(one => one.dataset.chart)")
    assert names == [
        "runs",
        "programs",
        "places",
        "pair_times",
        "pair_throughput",
        "device",
        "application",
        "jobs",
        "cpu",
    ]
    page.evaluate(UNFOLD)
    opened.until(DRAWN)
    assert all(len(charts.nth(at).screenshot()) > BLANK_BYTES for at in range(len(names)))
    ranges = page.evaluate(
        """() => {
            const [one, other] = ["application", "device"].map(
                name => Bokeh.documents[0].get_model_by_name(name));
            one.x_range.end = 20;
            return [one.x_range.id == other.x_range.id, other.x_range.end];
        }"""
    )
    assert ranges == [True, 20]
    assert wrong(opened) == []


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1440, "light")])
def test_every_campaign_shows_its_finding_and_chart_and_fits_the_screen(
    browser: Any, tmp_path: Path, kind: str, width: int, scheme: str
) -> None:
    file = tmp_path / "campaign.html"
    file.write_text(rendered(campaigns.document(EVERY[kind]()), "html"))
    size = {"width": width, "height": 1000}
    opened = Opened(browser, file, unfolded=False, viewport=size, color_scheme=scheme)
    page = opened.page
    assert page.locator("main .cards").bounding_box()["y"] < 600
    lead = page.locator("main > figure .chart").first
    assert lead.locator("canvas").first.evaluate(INKED) > 3
    if width == 1440:
        box = lead.bounding_box()
        assert box["y"] + box["height"] <= 1000, "the chart is on the first screen"
    page.evaluate(UNFOLD)
    opened.until(DRAWN)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert wrong(opened) == []


def test_a_dot_tells_its_run_where_the_pointer_is(browser: Any, tmp_path: Path) -> None:
    opened = Opened(browser, compared_page(tmp_path), unfolded=False, viewport={"width": 1280, "height": 900})
    page = opened.page
    place = page.locator("#chart-runs")
    box = place.bounding_box()
    at = page.evaluate(DOT)
    page.mouse.move(box["x"] + at[0], box["y"] + at[1])
    page.wait_for_timeout(400)
    shown = page.locator(".bk-tooltip-content").first.text_content()
    assert "run" in shown and "real time per job" in shown and "NaN" not in shown
    assert wrong(opened) == []


def test_one_printed_page_has_the_cards_the_dots_and_the_tables_of_the_papers(
    browser: Any, tmp_path: Path
) -> None:
    opened = Opened(browser, compared_page(tmp_path), unfolded=False, viewport=PAPER)
    page = opened.page
    page.emulate_media(media="print")
    page.evaluate(
        "document.documentElement.classList.add('one-page'); dispatchEvent(new Event('beforeprint'))"
    )
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER["width"]
    assert page.evaluate("document.documentElement.scrollHeight") <= PAPER["height"]
    visible = page.locator("table:visible caption").all_text_contents()
    assert [text.split(":")[0].strip() for text in visible] == [
        "Time and memory",
        "CPU over real time of the jobs",
        "Elapsed time and device throughput",
    ]
    assert page.locator(".chart img:visible").count() == 1
    assert wrong(opened) == []


def test_tables_are_there_without_scripts(browser: Any, tmp_path: Path) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(compared_page(tmp_path).as_uri())
    assert 'Worse: "after" against "before", ' in page.locator("h1").inner_text()
    page.locator("#summary > summary").click()
    assert page.locator("#summary table").first.is_visible()
