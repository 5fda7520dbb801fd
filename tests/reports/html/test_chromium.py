"""The report in a browser: from a file, with networking blocked, in light, dark, on a phone and printed."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from mawl.figures.view import StoredView
from mawl.records.store import open_run
from mawl.records.store.folder import RunWriter
from mawl.reports.document import Document, Headline, Part, Table, rendered
from mawl.reports.html.colours import COLOURS
from mawl.reports.html.report import render
from tests import needs
from tests.fakes.hostile_run import write_hostile_run
from tests.fakes.stored_run import PLAN, facts, job, samples
from tests.fakes.synthetic_run import write_synthetic_run
from tests.fakes.views import judged, typed
from tests.pages.opened import INKED, Opened, chromium

pytestmark = [
    pytest.mark.lab,
    needs.marks(needs.program("chromium")),
]

CHARTS = 11
TIME_TICKS = """() => Object.fromEntries(Array.from(Bokeh.index)
  .filter(view => view.model.x_range?.name === "time")
  .map(({model, frame}) => {
    const {start, end} = model.x_range;
    const found = model.below[0].ticker.get_ticks(start, end, model.x_range, NaN).major;
    return [model.name, [found.length, frame.bbox.width]];
  }))"""
RANGES = """() => Object.fromEntries(
  Bokeh.documents[0].roots().map(one => [one.name, [one.x_range.start, one.x_range.end]])
)"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


def written(folder: Path, run: Path) -> Path:
    stored = open_run(run)
    file = folder / "report.html"
    file.write_text(render(StoredView(stored), typed(judged(StoredView(stored)))))
    return file


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("full")
    return written(folder, write_synthetic_run(folder / "run", jobs=80, nodes=2, seconds=900))


@pytest.fixture(scope="module")
def uneven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of one program the jobs took ten times as long as they did."""
    folder = tmp_path_factory.mktemp("uneven")
    run = write_synthetic_run(folder / "run", jobs=80, nodes=2, seconds=900)
    jobs = pq.read_table(run / "jobs.parquet")
    slow = pc.equal(jobs["program"], "wide_sort")
    for name in ("real_time_seconds", "user_cpu_seconds"):
        longer = pc.if_else(slow, pc.multiply(jobs[name], 10.0), jobs[name])
        jobs = jobs.set_column(jobs.schema.get_field_index(name), jobs.schema.field(name), longer)
    pq.write_table(jobs, run / "jobs.parquet")
    return written(folder, run)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    return written(folder, write_hostile_run(folder / "run"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_charts_draw_without_a_network_and_without_a_complaint(
    browser: Any, full: Path, scheme: str
) -> None:
    opened = Opened(browser, full, color_scheme=scheme)
    places = opened.page.locator(".chart")
    assert places.count() == CHARTS
    for number in range(CHARTS):
        canvas = places.nth(number).locator("canvas").first
        assert canvas.evaluate(INKED) > 3, f"chart {number} is blank"
    assert opened.requests == [full.as_uri()] and opened.complaints == []


def test_charts_over_time_zoom_together(browser: Any, full: Path) -> None:
    page = Opened(browser, full, viewport={"width": 1280, "height": 900}).page
    before = page.evaluate(RANGES)
    over_time = [name for name in before if name not in ("latency_distribution", "cpu_real")]
    box = page.locator("#chart-device").bounding_box()
    page.mouse.wheel(0, box["y"] - 200)
    page.wait_for_timeout(300)
    box = page.locator("#chart-device").bounding_box()
    page.mouse.move(box["x"] + 400, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 700, box["y"] + 120, steps=8)
    page.mouse.up()
    page.wait_for_timeout(300)
    after = page.evaluate(RANGES)
    assert len({tuple(after[name]) for name in over_time}) == 1
    start, end = after["device"]
    assert before["device"][0] < start < end < before["device"][1]
    assert after["cpu_real"] == before["cpu_real"]
    page.get_by_role("button", name="Whole run").press("Enter")
    assert page.evaluate(RANGES)["sessions"] == pytest.approx(before["sessions"])


def test_names_that_attack_the_page_are_inert(browser: Any, hostile: Path) -> None:
    opened = Opened(browser, hostile)
    page = opened.page
    for name in ("sessions", "application"):
        chart = page.locator(f"#chart-{name}")
        chart.scroll_into_view_if_needed()
        box = chart.bounding_box()
        for share in (0.3, 0.5, 0.7):
            page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * share)
            page.wait_for_timeout(150)
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    page.wait_for_timeout(300)
    assert page.evaluate("window.attacked") is None
    assert opened.requests == [hostile.as_uri()] and opened.complaints == []
    assert page.locator("img, iframe, object, embed").count() == 0


def test_the_page_is_walked_by_keyboard(browser: Any, full: Path) -> None:
    page = Opened(browser, full).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    link = page.get_by_role("link", name="sustained, device").first
    link.press("Enter")
    definition = page.get_by_role("dialog")
    assert definition.is_visible() and "io.device.sustained" in definition.inner_text()
    page.keyboard.press("Escape")
    assert definition.count() == 0
    assert page.evaluate("document.activeElement.textContent") == "sustained, device"
    link.press("Enter")
    definition.get_by_role("link").press("Enter")
    assert "io.device.sustained" in page.locator("dt:target").inner_text()
    headings = page.locator("h1, h2").all_inner_texts()
    assert len(headings) == len(set(headings)) > 12


def test_a_phone_scrolls_down_and_never_sideways(browser: Any, full: Path) -> None:
    page = Opened(browser, full, viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True).page
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.evaluate("Bokeh.documents[0].roots().every(one => one.toolbar.active_drag == null)")


@pytest.fixture(scope="module")
def long_names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("long")
    writer = RunWriter(folder / "run", facts(), plan=PLAN)
    for number, end in enumerate((20.5, 30.5, 40.5)):
        name = f"job{number}-".ljust(120, "x")
        program, session = name.replace("job", "program"), name.replace("job", "session")
        changes = {"job": name, "program": program, "session": session}
        writer.job(msgspec.structs.replace(job("s1-1", 0.0, end), **changes))
    for second in range(41):
        writer.samples(samples(second))
    writer.finish(facts())
    return written(folder, folder / "run")


def test_long_names_keep_a_phone_from_scrolling_sideways(browser: Any, long_names: Path) -> None:
    page = Opened(browser, long_names, viewport={"width": 390, "height": 800}).page
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    assert "job0-".ljust(120, "x") in page.locator("main").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("width", [390, 1280])
def test_the_words_of_the_time_axis_stand_apart(browser: Any, full: Path, width: int) -> None:
    page = Opened(browser, full, viewport={"width": width, "height": 800}).page
    page.wait_for_function(TIME_TICKS)
    for name, (ticks, pixels) in page.evaluate(TIME_TICKS).items():
        # "0:15:00" takes some 45 pixels.
        assert 2 <= ticks <= pixels / 55, (name, ticks, pixels)


def test_print_is_light_and_shows_what_is_folded(browser: Any, full: Path, tmp_path: Path) -> None:
    page = Opened(
        browser, full, unfolded=False, color_scheme="dark", viewport={"width": 780, "height": 1100}
    ).page
    page.pdf(path=str(tmp_path / "report.pdf"), format="A4")
    assert (tmp_path / "report.pdf").stat().st_size > 50_000
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("details:not([open])").count() == 0
    assert not page.locator(".zoom").is_visible() and not page.locator("nav").is_visible()
    pictures = page.locator(".chart img")
    assert pictures.count() == CHARTS
    for picture in pictures.all():
        box = picture.bounding_box()
        assert box["x"] >= 0 and box["width"] > 600 and box["x"] + box["width"] <= 780
        seen = picture.evaluate(PICTURED)
        assert seen["inked"] > 3, "a picture is blank"
    device = page.locator("#chart-device img").evaluate(PICTURED)["colours"]
    for name in ("read", "written"):
        assert COLOURS[name].light in device and COLOURS[name].dark not in device
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0 and pictures.count() == 0


PICTURED = """async picture => {
  await picture.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [picture.naturalWidth, picture.naturalHeight];
  const context = canvas.getContext("2d");
  context.drawImage(picture, 0, 0);
  const {data} = context.getImageData(0, 0, canvas.width, canvas.height), colours = new Set();
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] === 255) {
      const hex = Array.from(data.slice(at, at + 3), one => one.toString(16).padStart(2, "0"));
      colours.add("#" + hex.join(""));
    }
  }
  return {inked: colours.size, colours: Array.from(colours)};
}"""


def pages_of(pdf: Path) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes()))


def test_one_page_prints_on_one_page_and_everything_on_several(
    browser: Any, full: Path, tmp_path: Path
) -> None:
    page = Opened(browser, full, unfolded=False).page
    page.evaluate("window.print = () => {}")
    page.get_by_role("button", name="Print everything").click()
    page.pdf(path=str(tmp_path / "all.pdf"), format="A4")
    page.get_by_role("button", name="Print one page").click()
    page.pdf(path=str(tmp_path / "one.pdf"), format="A4")
    assert pages_of(tmp_path / "one.pdf") == 1 and pages_of(tmp_path / "all.pdf") > 5
    assert page.locator("html.one-page, html.printing").count() == 0
    page.evaluate("document.documentElement.classList.add('one-page')")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    box = page.locator("#chart-lead img").bounding_box()
    assert box["width"] > 600 and box["height"] < 200, "low, and as wide as the sheet"


@pytest.mark.parametrize("width", [390, 768, 1440])
def test_the_first_page_has_title_cards_chart_and_bar_and_the_rest_folded(
    browser: Any, full: Path, width: int
) -> None:
    opened = Opened(browser, full, unfolded=False, viewport={"width": width, "height": 900})
    page = opened.page
    assert page.locator("h1").inner_text().startswith("60 sessions carried (preliminary), largest cost: ")
    assert page.locator(".card").count() == 3
    for card in page.locator(".card").all():
        assert card.locator(".rests").count() == 1 and card.locator("ul").count() == 0
    assert page.locator("#chart-lead canvas").first.evaluate(INKED) > 3
    assert page.locator(".spent .bar span").count() > 1
    assert page.locator("details[open]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.get_by_role("link", name="Every check that failed, with its fix").click()
    page.locator("details#findings[open]").wait_for()
    assert opened.complaints == []


LEGENDS = """name => Object.fromEntries(Array.from(
  document.querySelectorAll(`#figure-${name} .legend [data-series]`),
  key => [key.dataset.series, key.querySelector("output").textContent]))"""


def point_at(page: Any, name: str, share: float) -> None:
    """Move the pointer over a chart, so far from the left of its frame."""
    page.locator(f"#chart-{name}").scroll_into_view_if_needed()
    left, top, width, height = page.evaluate(
        """name => {
          const view = Array.from(Bokeh.index).find(one => one.model.name === name && one.frame);
          const place = document.getElementById(`chart-${name}`).getBoundingClientRect();
          const {left, top, width, height} = view.frame.bbox;
          return [place.left + left, place.top + top, width, height];
        }""",
        name,
    )
    page.mouse.move(left + width * share, top + height / 2)


def test_one_crosshair_shows_the_figures_of_every_chart_over_time(browser: Any, full: Path) -> None:
    opened = Opened(browser, full, viewport={"width": 1280, "height": 900})
    page = opened.page
    point_at(page, "jobs", 0.5)
    found = {name: page.evaluate(LEGENDS, name) for name in ("lead", "application", "cpu", "memory")}
    assert re.fullmatch(r"[\d.]+ [kMG]?B/s", found["lead"]["device_read_bytes_per_second"])
    assert re.fullmatch(r"[\d.]+ %", found["cpu"]["cpu_user_ratio"])
    assert re.fullmatch(r"[\d.]+ [KMGT]iB", found["memory"]["memory_available_bytes"])
    texts = [text for legend in found.values() for text in legend.values()]
    assert all(texts) and not any("NaN" in text for text in texts)
    lines = page.locator(".crosshair:not([hidden])")
    assert lines.count() > 6
    (moment,) = set(lines.all_inner_texts())
    assert moment in ("0:07:29", "0:07:30")
    page.mouse.move(5, 5)
    assert page.evaluate(LEGENDS, "cpu")["cpu_user_ratio"] == ""
    assert opened.complaints == []


def test_arrow_keys_move_the_crosshair(browser: Any, full: Path) -> None:
    page = Opened(browser, full).page
    chart = page.locator("#chart-cpu")
    chart.press("ArrowRight")
    assert chart.get_attribute("aria-valuetext") == "0:07:39"
    chart.press("Escape")
    assert page.locator(".crosshair:not([hidden])").count() == 0


def test_an_entry_of_a_legend_switches_its_area_and_those_above_come_down(browser: Any, full: Path) -> None:
    page = Opened(browser, full).page
    tops = """() => {
      const view = Array.from(Bokeh.index).find(one => one.model.name === "jobs" && one.frame);
      return view.model.renderers.filter(one => one.visible)
        .map(one => one.glyph.y2.expr.fields.join("+"));
    }"""
    before = page.evaluate(tops)
    key = page.locator('#figure-jobs [data-series="jobs_on_cpu"]')
    key.click()
    assert key.get_attribute("aria-pressed") == "false"
    after = page.evaluate(tops)
    assert len(after) == len(before) - 1
    assert after[-1] == before[-1].removeprefix("jobs_on_cpu+")
    key.click()
    assert page.evaluate(tops) == before


@pytest.fixture(scope="module")
def with_a_gap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gap")
    writer = RunWriter(folder / "run", facts(), plan=PLAN)
    writer.job(job("s1-1", 0.0, 100.0))
    for second in (*range(31), *range(70, 101)):
        writer.samples(samples(second))
    writer.finish(facts())
    return written(folder, folder / "run")


def test_a_missing_figure_is_a_gap_in_areas_and_a_dash_at_the_crosshair(
    browser: Any, with_a_gap: Path
) -> None:
    page = Opened(browser, with_a_gap, viewport={"width": 1280, "height": 900}).page
    inked = """share => {
      const view = Array.from(Bokeh.index).find(one => one.model.name === "application" && one.frame);
      const find = (root) => root.querySelector("canvas") ?? Array.from(root.querySelectorAll("*"))
        .map(one => one.shadowRoot && find(one.shadowRoot)).find(Boolean);
      const drawing = find(document.querySelector("#chart-application"));
      const {left, top, width, height} = view.frame.bbox, ratio = drawing.width / drawing.clientWidth;
      const column = drawing.getContext("2d").getImageData(
        (left + share * width) * ratio, (top + height - 4) * ratio, 1, 1).data;
      return column[3] > 0;
    }"""
    assert [page.evaluate(inked, share) for share in (0.2, 0.52, 0.85)] == [True, False, True]
    point_at(page, "application", 0.52)
    assert set(page.evaluate(LEGENDS, "application").values()) - {""} <= {"-"} | {
        text for text in page.evaluate(LEGENDS, "application").values() if "peak" in text
    }
    assert "-" in page.evaluate(LEGENDS, "application").values()


def test_charts_take_the_colours_of_the_scheme(browser: Any, full: Path) -> None:
    painted = """() => Array.from(Bokeh.index).find(one => one.model.name === "jobs" && one.frame)
      .model.renderers[0].glyph.fill_color.value"""
    assert Opened(browser, full, color_scheme="light").page.evaluate(painted) == COLOURS["on-cpu"].light
    opened = Opened(browser, full, color_scheme="dark")
    assert opened.page.evaluate(painted) == COLOURS["on-cpu"].dark
    opened.page.emulate_media(color_scheme="light")
    opened.until(f"({painted})() === {json.dumps(COLOURS['on-cpu'].light)}")


def test_a_click_on_a_figure_opens_its_definition_there(browser: Any, full: Path) -> None:
    opened = Opened(browser, full, viewport={"width": 390, "height": 800})
    page = opened.page
    figure = page.locator("#programs [data-path]").first
    figure.click()
    definition = page.get_by_role("dialog")
    assert "programs.*." in definition.inner_text() and "Unit:" in definition.inner_text()
    box, below = definition.bounding_box(), figure.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    assert 0 <= box["y"] - below["y"] - below["height"] < 10
    page.locator("h1").click()
    assert definition.count() == 0 and opened.complaints == []


CELLS = """column => Array.from(
  document.querySelectorAll("#programs table")[0].tBodies[0].rows,
  row => JSON.parse(row.cells[column].querySelector("[data-value]").dataset.value))"""


def test_a_table_sorts_by_its_figures_the_largest_first(browser: Any, full: Path) -> None:
    page = Opened(browser, full, viewport={"width": 1440, "height": 900}).page
    table = page.locator("#programs table").first
    heads = table.locator("thead th").evaluate_all("all => all.map(one => one.dataset.name)")
    column = heads.index("real median")
    before = page.evaluate(CELLS, column)
    button = table.get_by_role("button", name="Sort by real median")
    button.press("Enter")
    assert page.evaluate(CELLS, column) == sorted(before, reverse=True) != before
    head = table.locator("thead th").nth(column)
    assert head.get_attribute("aria-sort") == "descending"
    button.press("Enter")
    assert page.evaluate(CELLS, column) == sorted(before)
    table.get_by_role("button", name="Sort by program", exact=True).click()
    names = table.locator("tbody th").all_inner_texts()
    assert names == sorted(names) and head.get_attribute("aria-sort") is None


def test_a_table_is_copied_as_csv_with_its_exact_figures(browser: Any, hostile: Path) -> None:
    opened = Opened(browser, hostile, permissions=["clipboard-read", "clipboard-write"])
    page = opened.page
    table = page.locator("#programs table").first
    table.get_by_role("button", name="Copy as CSV").click()
    copied = list(csv.reader(page.evaluate("navigator.clipboard.readText()").splitlines()))
    assert copied[0][0] == "program" and not any("Sort" in name for name in copied[0])
    assert len(copied) == table.locator("tbody tr").count() + 1
    assert all(len(row) == len(copied[0]) for row in copied)
    value = table.locator("tbody tr").first.locator("[data-value]").first
    assert float(json.loads(str(value.get_attribute("data-value")))) in {
        float(cell) for cell in copied[1][1:] if re.fullmatch(r"-?[\d.e-]+", cell)
    }
    assert not any(cell.startswith(("=", "+", "@")) for row in copied for cell in row)
    assert opened.complaints == []


OUTLIERS = """() => {
  const table = document.querySelectorAll("#programs table")[0];
  return Array.from(table.tBodies[0].querySelectorAll("td.outlier"), cell => cell.title);
}"""


def test_figures_outside_the_usual_range_of_their_column_are_shaded(browser: Any, uneven: Path) -> None:
    page = Opened(browser, uneven).page
    shaded = page.evaluate(OUTLIERS)
    assert shaded and all("interquartile" in title for title in shaded)
    wrong = page.evaluate(
        """() => {
          const rows = Array.from(document.querySelectorAll("#programs table")[0].tBodies[0].rows);
          const value = cell => JSON.parse(cell.querySelector("[data-value]")?.dataset.value ?? "null");
          const found = [];
          for (let column = 1; column < rows[0].cells.length; column++) {
            const known = rows.map(row => [value(row.cells[column]), row.cells[column].className])
              .filter(([one]) => typeof one === "number");
            const plain = known.filter(([, look]) => !look.includes("outlier")).map(([one]) => one);
            for (const [one, look] of known) {
              if (!look.includes("outlier")) continue;
              if (one >= Math.min(...plain) && one <= Math.max(...plain)) found.push([column, one]);
            }
          }
          return found;
        }"""
    )
    assert wrong == []


def test_counts_in_groups_of_three_sort_as_numbers(browser: Any, tmp_path: Path) -> None:
    rows = [("a", "9"), ("b", "1,912,000"), ("c", "30,100"), ("d", "-"), ("e", "220,000")]
    page = Document(
        headline=Headline(sign="measured", sentence="Counts"),
        tag=("counts", ""),
        parts=[Part([Table(name="counts", title="counts", head=("step", "switches"), rows=rows)])],
    )
    (tmp_path / "counts.html").write_text(rendered(page, "html"))
    opened = Opened(browser, tmp_path / "counts.html").page
    opened.get_by_role("button", name="Sort by switches").press("Enter")
    assert opened.locator("tbody tr").evaluate_all("all => all.map(row => row.cells[0].innerText)") == list(
        "becad"
    )
