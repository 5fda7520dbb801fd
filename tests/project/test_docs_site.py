"""The documents as a site: what is changed on the way, and that a browser needs no other host."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests import needs
from tools import docs_site as site

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    guides = root / "docs" / "guides"
    guides.mkdir(parents=True)
    for name in site.TOP_PAGES:
        (root / name).write_text(f"# {name}\n[guide](docs/guides/one.md#part) [next](CHANGELOG.md)\n")
    (root / "docs" / "README.md").write_text("[readme](../README.md) [one](guides/one.md)\n")
    (root / "deploy").mkdir()
    (root / "deploy" / "recipe").write_text("flour")
    (root / "examples").mkdir()
    (root / "examples" / "README.md").write_text("# Examples\n[run](run.sh) [guide](../docs/guides/one.md)\n")
    (root / "examples" / "run.sh").write_text("#!/bin/sh\n")
    (root / "examples" / "open.ipynb").write_text("{}")
    (guides / "one.md").write_text(
        "[house](../../ARCHITECTURE.md#floors) [out](https://example.com/a.md) [here](#part)\n"
        "[recipe](../../deploy/recipe) [absent](../../deploy/absent)\n"
        "[run](../../examples/run.sh) [open](../../examples/open.ipynb) [all](../../examples/README.md)\n"
        "[why](../design/why.md#because)\n"
        "```console ignore\n$ true\n```\n```toml mine.toml\n```\n"
    )
    (root / "docs" / "design").mkdir()
    (root / "docs" / "design" / "why.md").write_text("# Why\n")
    (root / "ARCHITECTURE.md").write_text("# House\n")
    site.assemble(root, tmp_path / "pages", {"README.md", "guides/one.md"})
    return tmp_path / "pages"


def test_links_lead_to_where_the_site_has_the_page(pages: Path) -> None:
    assert (pages / "project" / "readme.md").read_text().splitlines()[1] == (
        "[guide](../guides/one.md#part) [next](changelog.md)"
    )
    assert (pages / "README.md").read_text() == "[readme](project/readme.md) [one](guides/one.md)\n"
    assert (pages / "guides" / "one.md").read_text().splitlines()[0] == (
        "[house](../repository/ARCHITECTURE.md.txt) [out](https://example.com/a.md) [here](#part)"
    )


def test_the_page_of_examples_shows_each_file_and_links_lead_to_it(pages: Path) -> None:
    assert (pages / "examples" / "README.md").read_text() == (
        "# Examples\n[run](README.md#run-sh) [guide](../guides/one.md)\n"
        "\n## run.sh { #run-sh }\n[Save the file](run.sh)\n\n```sh\n#!/bin/sh\n```\n"
    )
    assert (pages / "guides" / "one.md").read_text().splitlines()[2] == (
        "[run](../examples/README.md#run-sh) [open](../examples/open.ipynb) [all](../examples/README.md)"
    )
    assert (pages / "examples" / "open.ipynb").is_file()


def test_another_file_of_the_project_is_copied_for_the_link_to_it(pages: Path) -> None:
    line = (pages / "guides" / "one.md").read_text().splitlines()[1]
    assert line.startswith("[recipe](../repository/deploy/recipe) [absent](../..")
    assert (pages / "repository" / "deploy" / "recipe").read_text() == "flour"


def test_a_design_note_is_no_page_and_its_text_is_copied_for_a_link_to_it(pages: Path) -> None:
    assert not (pages / "design").exists() or not list((pages / "design").iterdir())
    assert "[why](../repository/docs/design/why.md.txt)\n" in (pages / "guides" / "one.md").read_text()
    assert (pages / "repository" / "docs" / "design" / "why.md.txt").read_text() == "# Why\n"


def test_a_fence_keeps_its_language_and_shows_the_name_of_its_file(pages: Path) -> None:
    text = (pages / "guides" / "one.md").read_text()
    assert "```console\n$ true\n```\n" in text
    assert '```toml title="mine.toml"\n' in text


@pytest.mark.parametrize(
    "text",
    [
        '<script async src="https://example.com/a.js"></script>',
        '<link rel=stylesheet href="//example.com/a.css">',
        "<img alt='' src='http://example.com/a.png'>",
        "@import 'https://example.com/a.css';",
        "@font-face { src: url(https://example.com/a.woff2) }",
    ],
)
def test_what_a_page_would_fetch_from_another_host_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "page.html").write_text(text)
    (found,) = site.foreign_loads(tmp_path)
    assert found.startswith("page.html loads ") and "//example.com/a" in found


def test_a_link_that_a_reader_follows_is_no_fetch(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        '<a href="https://example.com/">there</a><script src="../a.js"></script>'
    )
    assert site.foreign_loads(tmp_path) == []


def test_every_page_for_users_has_a_place_in_the_navigation() -> None:
    pages = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    of_users = {page for page in pages if not page.startswith("design/")} | {"examples/README.md"}
    assert of_users - site.listed() == set()
    others = {f"project/{name.lower()}" for name in site.TOP_PAGES} | {"examples/README.md"}
    assert site.listed() - others <= pages


@pytest.mark.lab
@needs.marks(needs.program("chromium"))
def test_the_site_is_searched_from_a_file_without_a_network() -> None:
    from playwright import sync_api

    assert site.main() == 0
    with sync_api.sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_context(offline=True).new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site.SITE / "index.html").as_uri())
        page.keyboard.press("f")
        page.locator(".md-search__input").press_sequentially("guideline", delay=20)
        found = page.locator(".md-search-result__item")
        found.first.wait_for(timeout=60_000)
        assert found.count() > 3
        assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
        browser.close()
