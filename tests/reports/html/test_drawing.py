"""When charts are drawn: at once, when their part is opened, before a print; the crosshair of nights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from tests import needs
from tests.fakes.synthetic_run import write_synthetic_run
from tests.pages.kinds import KINDS, run_page
from tests.pages.opened import DRAWN, UNFOLD, Opened, chromium
from tests.reports.html.test_chromium import CHARTS, LEGENDS, RANGES, point_at

pytestmark = [pytest.mark.lab, needs.marks(needs.program("chromium"))]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("full")
    file = folder / "report.html"
    file.write_text(run_page(write_synthetic_run(folder / "run", jobs=80, nodes=2, seconds=900)))
    return file


NAMES = "Array.from(Bokeh.index, view => view.model.name)"
HEIGHTS = """Object.fromEntries(Array.from(
  document.querySelectorAll(".chart"), place => [place.id, place.getBoundingClientRect().height]))"""


def test_charts_of_a_folded_part_are_drawn_when_it_is_opened_and_move_nothing(
    browser: Any, full: Path
) -> None:
    opened = Opened(browser, full, unfolded=False)
    page = opened.page
    assert page.evaluate(NAMES) == ["lead"]
    page.locator("#timeline > summary").click()
    opened.until(DRAWN)
    some = page.evaluate(NAMES)
    assert {"lead", "device", "sessions"} < set(some) and not {"cpu_real", "latency_distribution"} & set(some)
    before = page.evaluate(f"() => {{ {UNFOLD}; return {HEIGHTS}; }}")
    opened.until(DRAWN)
    every = page.evaluate(NAMES)
    assert len(every) == len(set(every)) == CHARTS
    assert page.evaluate(HEIGHTS) == before and min(before.values()) > 200
    assert opened.complaints == []


def test_a_page_prints_all_charts_as_soon_as_it_is_there(browser: Any, full: Path, tmp_path: Path) -> None:
    page = browser.new_context(offline=True).new_page()
    page.goto(full.as_uri())
    page.pdf(path=str(tmp_path / "page.pdf"), format="A4")
    page.context.close()
    assert sum(len(sheet.images) for sheet in PdfReader(tmp_path / "page.pdf").pages) == CHARTS


def test_a_print_button_waits_until_all_charts_are_drawn(browser: Any, full: Path) -> None:
    opened = Opened(browser, full, unfolded=False)
    opened.page.evaluate(f"window.print = () => {{ window.printed = {NAMES}.length; }}")
    opened.page.get_by_role("button", name="Print everything").click()
    opened.until("window.printed !== undefined")
    assert opened.page.evaluate("window.printed") == CHARTS


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nights")
    file = folder / "nights.html"
    file.write_text(KINDS["import of nights"](folder))
    return file


AT_AN_HOUR = """hour => {
  const source = (name) => Array.from(Bokeh.documents[0]._all_models.values())
    .find(one => one.type === "ColumnDataSource" && one.name === name).data;
  const {hours, ...columns} = source("nights");
  const gaps = Array.from(hours, one => Math.abs(one - hour)), at = gaps.indexOf(Math.min(...gaps));
  const night = Array.from(source("every_night").jobs, line => line[at]).filter(one => !isNaN(one));
  const found = Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, column[at]]));
  return {...found, least: Math.min(...night), most: Math.max(...night)};
}"""


def test_the_crosshair_of_nights_shows_all_figures_of_an_hour(browser: Any, nights: Path) -> None:
    opened = Opened(browser, nights, unfolded=False, viewport={"width": 1280, "height": 1000})
    page = opened.page
    point_at(page, "nights", 0.64)
    start, end = page.evaluate(RANGES)["nights"]
    data = page.evaluate(AT_AN_HOUR, start + 0.64 * (end - start))
    found = {name: text.split(" to ") for name, text in page.evaluate(LEGENDS, "nights").items()}
    shown = {name: [float(text) for text in texts] for name, texts in found.items()}
    assert shown == {
        "every_night": pytest.approx([data["least"], data["most"]], abs=0.006),
        "band": pytest.approx([data["low"], data["high"]], abs=0.006),
        "longest": pytest.approx([data["longest"]], abs=0.006),
        "middle": pytest.approx([data["middle"]], abs=0.006),
    }
    assert 0 < data["low"] < data["high"], "an hour at which nights differ"
    line = page.locator(".crosshair")
    assert line.inner_text() in ("23:39", "23:40")
    chart = page.locator("#chart-nights")
    chart.press("ArrowRight")
    assert chart.get_attribute("aria-valuetext") in ("23:43", "23:44")
    chart.press("Escape")
    assert set(page.evaluate(LEGENDS, "nights").values()) == {""} and not line.is_visible()
    assert opened.complaints == []
