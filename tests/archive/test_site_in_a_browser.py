"""A site in a browser without a network: filters, pairs, narrow windows, dark pages, and no scripts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright import sync_api

from mawl.archive.container import PackKind
from mawl.archive.manifest import SubmitterStatement
from mawl.archive.packing import PackRequest, pack
from mawl.archive.site.build import build_site
from tests import needs
from tests.fakes.published_run import write_published, write_published_campaign

pytestmark = [pytest.mark.lab, needs.marks(needs.program("chromium"))]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of an accepted pack, one like it of another system, a short run, and an open one."""
    place = tmp_path_factory.mktemp("site")
    packs = []

    def made(name: str, system: str, *, kind: PackKind = "run", division: str = "closed") -> None:
        words = SubmitterStatement(
            submitter="Example", contact="x@example.com", system=system, storage="ssd", tuning="none"
        )
        packs.append(place / f"{name}.mawl.zip")
        request = PackRequest(
            folder=place / name,
            kind=kind,
            statement=words,
            division=division,  # type: ignore[arg-type]
        )
        pack(request, packs[-1])

    write_published_campaign(place / "five")
    made("five", "Old array", kind="campaign")
    write_published_campaign(place / "other", seconds=1250.0)
    made("other", "New </script><b>array</b>", kind="campaign")
    write_published(place / "short", seconds=600.0)
    made("short", "Short")
    write_published(place / "open", seconds=640.0)
    made("open", "Tuned", division="open")
    build_site(packs, place / "site", "urn:x:", {"XDG_CACHE_HOME": str(place / "cache")})
    return place / "site"


class Seen:
    """A browser page that notes every message and every address that it asks for."""

    def __init__(self, page: sync_api.Page) -> None:
        self.page = page
        self.said: list[str] = []
        self.asked: set[str] = set()
        page.on("console", lambda line: self.said.append(line.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("request", lambda request: self.asked.add(request.url.partition(":")[0]))


@pytest.fixture(scope="module")
def browser() -> Iterator[sync_api.Browser]:
    """Chromium."""
    path = shutil.which("chromium")
    with sync_api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture
def seen(browser: sync_api.Browser) -> Iterator[Seen]:
    """A page of a wide window, which must end without a message and without a network."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    found = Seen(page)
    yield found
    page.close()
    assert found.said == []
    assert found.asked <= {"file", "data"}


def shown_rows(page: sync_api.Page) -> list[str]:
    rows = page.locator("tr[data-row]:visible td:first-child")
    return [text.strip() for text in rows.all_inner_texts()]


def test_filters_hide_rows_and_tables_that_are_left_empty(site: Path, seen: Seen) -> None:
    page = seen.page
    page.goto((site / "index.html").as_uri())
    assert set(shown_rows(page)) == {"Old array", "New </script><b>array</b>", "Short", "Tuned"}
    assert page.locator("#shown").inner_text() == "4 of 4 results"
    page.locator("input[name=accepted]").check()
    assert set(shown_rows(page)) == {"Old array", "New </script><b>array</b>"}
    assert page.locator("section:visible").count() == 1
    page.locator("input[name=words]").fill("array old")
    assert shown_rows(page) == ["Old array"]
    page.locator("input[name=words]").fill("")
    page.locator("input[name=accepted]").uncheck()
    page.locator("select[name=division]").select_option("open")
    assert shown_rows(page) == ["Tuned"]
    assert page.locator("h2", has_text="papers").is_visible()


def test_a_pair_is_compared_with_ranges_or_refused_with_the_reason(site: Path, seen: Seen) -> None:
    page = seen.page
    page.goto((site / "compare.html").as_uri() + "#five,other")
    text = page.locator("#beside").inner_text()
    assert "second against first" in text and "-4.0 %" in text, text
    assert "New </script><b>array</b>" in text, "text of a pack is text"
    assert page.url.endswith("#five,other"), "a pair has an address"
    page.locator("select[name=second]").select_option("open")
    text = page.locator("#beside").inner_text()
    assert "must not be compared" in text and "division: closed and open" in text
    assert page.locator("#beside table").count() == 0
    page.locator("select[name=second]").select_option("short")
    text = page.locator("#beside").inner_text()
    assert "Compare with care" in text and "Short is not accepted: V" in text
    assert "single runs: not judged" in text
    page.locator("select[name=second]").select_option("five")
    assert "one result" in page.locator("#beside").inner_text()
    page.goto((site / "compare.html").as_uri() + "#%,%E0%A4,<b>")
    page.locator("#beside table").wait_for()


def test_every_link_of_every_page_opens_and_nothing_is_wider_than_a_phone(site: Path, seen: Seen) -> None:
    page = seen.page
    page.set_viewport_size({"width": 390, "height": 844})
    for file in sorted(site.rglob("*.html")):
        page.goto(file.as_uri())
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390, f"{file.relative_to(site)} is {wide} px wide"
        links = page.eval_on_selector_all("a[href]", "all => all.map(one => one.href.split('#')[0])")
        for link in links:
            assert Path(link.removeprefix("file://")).is_file(), link
    page.goto((site / "index.html").as_uri())
    assert page.locator("td[data-none]").count() and not page.locator("td[data-none]:visible").count()
    labels = (
        page.locator("tr[data-row]")
        .first.locator("td")
        .evaluate_all("all => all.map(one => getComputedStyle(one, '::before').content)")
    )
    assert '"elapsed"' in labels, "a narrow window shows a row as a list of labels and figures"


def test_the_first_column_keeps_its_words_together_and_paper_cuts_no_column(site: Path, seen: Seen) -> None:
    page = seen.page
    page.goto((site / "index.html").as_uri())
    assert page.locator("tr[data-row] td").first.evaluate("one => one.offsetWidth") >= 200
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 1046, "height": 700})
    excess = "all => all.map(one => one.scrollWidth - one.clientWidth)"
    assert max(page.eval_on_selector_all("div.wide", excess)) <= 0


def test_the_tables_need_no_script(site: Path, browser: sync_api.Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    assert len(shown_rows(page)) == 4
    assert not page.locator("#filters").is_visible(), "fields that would do nothing are not shown"
    page.locator("a", has_text="Old array").first.click()
    assert page.locator("h1").inner_text() == "Old array"
    page.locator("a", has_text="All results of this system").click()
    assert "Machine" in page.locator("body").inner_text()
    page.goto((site / "compare.html").as_uri())
    assert "needs its script" in page.locator("body").inner_text()
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_follow_the_colours_of_the_reader(site: Path, browser: sync_api.Browser, scheme: str) -> None:
    page = browser.new_page(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto((site / "index.html").as_uri())
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    page.close()
