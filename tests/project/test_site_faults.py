"""Faults of pages that are planted here are found, and a page without one is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.site_faults import faults

GOOD = """<nav><h4>menu</h4></nav><article><h1 id="top">One</h1>
<h2 id="a b">Two</h2><h3>Three</h3><h2>Four</h2>
<a href="#a%20b">here</a><a href="two.html#there">there</a><a href="https://example.com/x#y">out</a>
<a href="folder/">folder</a><a href="mailto:a@example.com">mail</a>
<img src="p.png" alt="a picture"></article>"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    (site / "folder").mkdir(parents=True)
    (site / "folder" / "index.html").write_text("<article><h1>Folder</h1></article>")
    (site / "two.html").write_text('<article><h1>Two</h1><p id="there"></p></article>')
    (site / "p.png").write_bytes(b"")
    (site / "404.html").write_text('<a href="/absent.html">top</a>')
    (tmp_path / "outside.md").write_text("")
    return site


def test_a_page_without_a_fault(site: Path) -> None:
    (site / "one.html").write_text(GOOD)
    assert faults(site) == []


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("two.html#there", "three.html", "link three.html leads to no file of the site"),
        ("two.html#there", "../outside.md", "link ../outside.md leads to no file of the site"),
        ("two.html#there", "two.html#absent", "link two.html#absent leads to no place of that page"),
        ("#a%20b", "#absent", "link #absent leads to no place of that page"),
        ('src="p.png"', 'src="q.png"', "link q.png leads to no file of the site"),
        ('alt="a picture"', "", "picture p.png has no alt text"),
        ('alt="a picture"', 'alt=" "', "picture p.png has no alt text"),
        ("<h1 ", "<h2 ", "0 headings of level 1, and a page has one"),
        ("<h2>Four", "<h1>Four", "2 headings of level 1, and a page has one"),
        ("<h3>Three", "<h4>Three", "a heading of level 4 follows one of level 2"),
    ],
)
def test_a_planted_fault_is_found(site: Path, before: str, after: str, fault: str) -> None:
    assert GOOD.count(before) == 1
    (site / "one.html").write_text(GOOD.replace(before, after))
    assert f"one.html: {fault}" in faults(site)
