"""Every page in a browser: silent, offline, as wide as its window, readable, by keyboard, whole on paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from axe_playwright_python.sync_playwright import Axe
from pypdf import PdfReader

from mawl.reports.html.colours import COLOURS
from tests import needs
from tests.pages.kinds import KINDS
from tests.pages.opened import Opened, chromium
from tests.reports.html.test_colours import LEAST_TEXT, contrast

pytestmark = [pytest.mark.lab, needs.marks(needs.program("chromium"))]

WIDTHS = (390, 768, 1440)
SCHEMES = ("light", "dark")
HEIGHT = 900
GRAVE = ("serious", "critical")
PAPERS = {"A4": 210.0, "Letter": 215.9}
"""Width in millimetres."""
PIXELS_A_MILLIMETRE = 96 / 25.4
MARGIN = 12.0
"""Millimetres at each side of the paper, as in the style sheets."""
LONGEST_WORD = 20
"""Letters of a word that fits every column: a longer one may be broken."""

IN_THE_GATE = (
    "run",
    "import of nights",
    "answer yes",
    "comparison",
    "campaign ab",
)
"""The others share their parts with these, and would make the gate too long."""
EACH = [
    kind if kind in IN_THE_GATE else pytest.param(kind, marks=pytest.mark.long(minutes=1)) for kind in KINDS
]

Open = Callable[..., Opened]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def file_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The file of a kind of page, made once."""

    @cache
    def made(kind: str) -> Path:
        folder = tmp_path_factory.mktemp("page")
        (folder / "in").mkdir()
        file = folder / "page.html"
        file.write_text(KINDS[kind](folder / "in"))
        return file

    return made


@pytest.fixture
def opened(browser: Any, file_of: Callable[[str], Path]) -> Iterator[Open]:
    """Opens a kind of page; the test's pages are closed when it ends."""
    pages = []

    def open_page(kind: str, **context: Any) -> Opened:
        pages.append(Opened(browser, file_of(kind), **context))
        return pages[-1]

    yield open_page
    for one in pages:
        one.close()


def window(width: int) -> dict[str, int]:
    return {"width": width, "height": HEIGHT}


@pytest.mark.parametrize("kind", EACH)
def test_a_page_is_silent_offline_and_no_wider_than_its_window(opened: Open, kind: str) -> None:
    shown = opened(kind)
    for width in WIDTHS:
        shown.page.set_viewport_size(window(width))
        shown.page.wait_for_timeout(300)
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
    assert (shown.requests, shown.complaints) == ([shown.file.as_uri()], [])


@pytest.mark.parametrize("kind", EACH)
@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1440)])
def test_axe_finds_nothing_serious(opened: Open, kind: str, scheme: str, width: int) -> None:
    page = opened(kind, color_scheme=scheme, viewport=window(width)).page
    said = [
        f"{one['id']} ({one['impact']}): {one['help']}: {node['html'][:300]}"
        for one in Axe().run(page).response["violations"]
        if one["impact"] in GRAVE
        for node in one["nodes"][:3]
    ]
    assert said == []


PAIRS = """() => {
  const seen = new Set();
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (colour !== "rgba(0, 0, 0, 0)") return colour;
    }
    return getComputedStyle(document.documentElement).backgroundColor;
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.textContent.trim() || !element.checkVisibility()) continue;
    if (["SCRIPT", "STYLE"].includes(element.tagName)) continue;
    seen.add(`${getComputedStyle(element).color}|${ground(element)}`);
  }
  return Array.from(seen);
}"""
"""Colour and ground of every text that is shown."""


def hexadecimal(colour: str) -> str:
    """``#rrggbb`` of an opaque ``rgb(r, g, b)``; ValueError for any other."""
    if not colour.startswith("rgb("):
        raise ValueError(colour)
    return "#" + "".join(f"{int(part):02x}" for part in colour[4:-1].split(","))


@pytest.mark.parametrize("kind", EACH)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_text_has_contrast_with_its_ground_and_a_colour_with_a_meaning(
    opened: Open, kind: str, scheme: str
) -> None:
    page = opened(kind, color_scheme=scheme).page
    pairs = [[hexadecimal(one) for one in pair.split("|")] for pair in page.evaluate(PAIRS)]
    known = {str(getattr(colour, scheme)) for colour in COLOURS.values()}
    assert pairs
    assert [pair for pair in pairs if contrast(*pair) < LEAST_TEXT or not known.issuperset(pair)] == []


BROKEN = """most => {
  const words = /(?<=^|\\s)([A-Za-z]+|--[a-z-]+|\\d{4}-\\d\\d-\\d\\d)(?=[.,:;]?(\\s|$))/g;
  const broken = new Set(), range = document.createRange();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode, element = node.parentElement;
    if (!element.checkVisibility() || ["SCRIPT", "STYLE"].includes(element.tagName)) continue;
    for (const word of node.textContent.matchAll(words)) {
      if (word[0].length > most) continue;
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (new Set(Array.from(range.getClientRects(), box => box.top)).size > 1) broken.add(word[0]);
    }
  }
  return Array.from(broken);
}"""
"""Words of letters, options and dates that begin on one line and end on another."""


@pytest.mark.parametrize("kind", EACH)
def test_no_word_is_broken_on_a_phone(opened: Open, kind: str) -> None:
    page = opened(kind, viewport=window(390)).page
    assert page.evaluate(BROKEN, LONGEST_WORD) == []
    assert page.evaluate(WITHOUT_BLANKS) == []


CUT = """selector => Array.from(document.querySelectorAll(selector)).filter(one => one.checkVisibility()
    && one.getBoundingClientRect().right > one.closest(".scroll").getBoundingClientRect().right + 1)
  .map(one => one.textContent.slice(0, 60))"""


@pytest.mark.parametrize("kind", EACH)
def test_titles_of_tables_and_on_a_phone_their_sentences_are_shown_whole(opened: Open, kind: str) -> None:
    page = opened(kind, viewport=window(1440)).page
    assert page.evaluate(CUT, "caption") == []
    page.set_viewport_size(window(390))
    assert page.evaluate(CUT, "caption, table:has(.words):not(.narrow) :is(th, td)") == []


ALIKE = """() => Array.from(document.querySelectorAll(".legend")).flatMap(legend => {
  const looks = Array.from(legend.querySelectorAll(".swatch"), one => {
    const look = getComputedStyle(one);
    return ["width", "height", "backgroundColor", "backgroundImage", "opacity", "borderRadius", "clipPath"]
      .map(name => look[name]).join();
  });
  return looks.filter((look, at) => looks.indexOf(look) < at).map(() => legend.innerText);
})"""
"""Legends with two keys that look alike."""


@pytest.mark.parametrize("kind", EACH)
def test_no_two_keys_of_a_legend_look_alike(opened: Open, kind: str) -> None:
    assert opened(kind).page.evaluate(ALIKE) == []


WITHOUT_BLANKS = """() => Array.from(document.querySelectorAll(".legend li"), one => one.innerText)
  .filter(text => /[:,;][^\\s:]/.test(text) && !/\\d:\\d/.test(text))"""
PHONE = {"width": 390, "height": 844}
ANSWERED = """() => Array.from(
  document.querySelectorAll("h1, .cards > .card, p.next"), one => one.getBoundingClientRect().bottom)"""


@pytest.mark.parametrize("kind", [kind for kind in IN_THE_GATE if not kind.startswith("answer")])
def test_the_first_screen_of_a_phone_has_answer_limit_trust_and_next_step(opened: Open, kind: str) -> None:
    page = opened(kind, unfolded=False, viewport=PHONE, is_mobile=True).page
    bottoms = page.evaluate(ANSWERED)
    assert page.locator(".card").count() >= 3 and page.locator("p.next").count() == 1
    assert min(bottoms) > 0 and max(bottoms) <= PHONE["height"]


REACHABLE = """() => Array.from(
    document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']"))
  .filter(one => one.checkVisibility() && !one.disabled && one.type !== "hidden" && !one.closest("[inert]"))
  .map((one, number) => { one.dataset.reached = "no"; return number; }).length"""
HERE = """() => {
  const one = document.activeElement;
  one.dataset.reached = "yes";
  const {outlineStyle, outlineWidth} = getComputedStyle(one);
  return outlineStyle !== "none" && parseFloat(outlineWidth) > 0;
}"""
MISSED = """() => Array.from(
  document.querySelectorAll("[data-reached='no']"), one => one.outerHTML.slice(0, 200))"""


@pytest.mark.parametrize("kind", EACH)
def test_the_tab_key_reaches_everything_and_shows_where_it_is(opened: Open, kind: str) -> None:
    page = opened(kind, unfolded=False, viewport=window(1440)).page
    unseen = 0
    for _ in range(page.evaluate(REACHABLE)):
        page.keyboard.press("Tab")
        unseen += not page.evaluate(HERE)
    assert (unseen, page.evaluate(MISSED)) == (0, [])


PAST = """width => Array.from(document.body.querySelectorAll("*"))
  .filter(one => one.checkVisibility() && one.getBoundingClientRect().width > 0)
  .filter(one => one.getBoundingClientRect().right > width + 1 || one.getBoundingClientRect().left < -1)
  .map(one => `${one.tagName} ${one.className}: ${one.textContent.slice(0, 60)}`)"""
CAPTIONS = """() => Array.from(document.querySelectorAll("caption"),
  one => one.innerText.normalize("NFKC").replace(/\\s+/g, ""))"""
SPLIT = """() => Array.from(
    document.querySelectorAll(".scroll > table:has(> caption):not(.stacked) td:not(.words, .text, .pair)"))
  .filter(one => {
    const range = document.createRange();
    range.selectNodeContents(one);
    const tops = Array.from(range.getClientRects()).filter(box => box.width > 0).map(box => box.top);
    return one.checkVisibility() && Math.max(...tops) - Math.min(...tops) > 6;
  }).map(one => one.textContent)"""
"""Figures of tables that take more than one line."""
HEADS = """() => Array.from(document.querySelectorAll("caption, thead tr, summary, h2, h3, dt"),
  one => one.innerText.replace(/\\s+/g, "")).filter(text => text.length > 3)"""


def test_a_long_table_shows_the_rows_with_the_words_asked_for(opened: Open) -> None:
    page = opened("ranking").page
    field, table = page.locator("caption input[type=search]"), page.locator(".scroll > table")
    rows, first = table.locator("tbody tr"), table.locator("tbody tr").first.inner_text()
    every = rows.count()
    field.fill(" ".join(first.split()[:2]).upper())
    shown = table.locator("tbody tr:visible")
    assert 0 < shown.count() < every
    assert shown.first.inner_text() == first
    assert table.locator("caption").inner_text().count(f"{shown.count()} of {every} rows") == 1
    field.fill("no such row")
    assert table.locator("tbody tr:visible").count() == 0
    press(page)
    assert table.locator("tbody tr:visible").count() == every, "paper has all rows"
    page.emulate_media(media="screen")
    field.fill("")
    assert table.locator("tbody tr:visible").count() == every


def press(page: Any) -> None:
    """What the browser does to a page before it prints."""
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_timeout(500)


@pytest.mark.parametrize("kind", EACH)
def test_nothing_is_past_the_edge_of_the_paper_and_no_figure_is_split(opened: Open, kind: str) -> None:
    page = opened(kind).page
    press(page)
    for millimetres in PAPERS.values():
        width = int((millimetres - 2 * MARGIN) * PIXELS_A_MILLIMETRE)
        page.set_viewport_size(window(width))
        assert page.evaluate(PAST, width) == []
        assert page.evaluate(SPLIT) == []
        assert page.evaluate(BROKEN, LONGEST_WORD) == []


def printed(page: Any, file: Path) -> list[list[str]]:
    """The lines of each sheet that a page is printed on, without blanks and ligatures."""
    page.pdf(path=str(file), format="A4", prefer_css_page_size=True)
    texts = [normalize("NFKC", sheet.extract_text()) for sheet in PdfReader(file).pages]
    return [["".join(line.split()) for line in text.splitlines() if line.strip()] for text in texts]


def heads_at_the_ends(sheets: list[list[str]], heads: set[str]) -> list[tuple[int, str]]:
    """The numbers of sheets, but for the last, that end with a head, and this head.

    A head may take several lines; words at the end of a longer line are no head.
    """
    last = {
        (number, "".join(lines[first:]))
        for number, lines in enumerate(sheets[:-1], 1)
        for first in range(len(lines))
    }
    return sorted((number, text) for number, text in last if text in heads)


@pytest.mark.parametrize("kind", EACH)
def test_no_sheet_of_paper_ends_with_a_head(opened: Open, kind: str, tmp_path: Path) -> None:
    page = opened(kind).page
    press(page)
    heads = set(page.evaluate(HEADS))
    sheets = printed(page, tmp_path / "page.pdf")
    assert all(sheets), "a sheet has no word"
    captions = [text for text in page.evaluate(CAPTIONS) if not any(text in "".join(one) for one in sheets)]
    assert captions == [], "a title of a table begins on one sheet and ends on the next"
    assert heads_at_the_ends(sheets, heads) == []


TORN = """<!DOCTYPE html><title>Torn</title>
<h2>First head</h2><p style="break-after: page">Words with First head
<p>Words<h2 style="width: 5em; break-after: page">A head of many lines that a sheet ends with</h2><p>Words"""


def test_heads_at_the_ends_of_sheets_are_found(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "torn.html").write_text(TORN)
    page = browser.new_page()
    page.goto((tmp_path / "torn.html").as_uri())
    heads, sheets = set(page.evaluate(HEADS)), printed(page, tmp_path / "torn.pdf")
    page.close()
    assert heads_at_the_ends(sheets, heads) == [(2, "Aheadofmanylinesthatasheetendswith")]
