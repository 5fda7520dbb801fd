"""The server's own pages, in the frame of the reports."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from html import escape
from importlib import resources
from typing import Any

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from mawl.reporters.html.page import page
from mawl.server.guard import policy_of
from mawl.server.library import RunRow


class Page(HTMLResponse):
    """A whole page; its policy stands in the header, too."""

    def __init__(self, html: str | bytes, status_code: int = 200) -> None:
        # A name on disk need not be UTF-8.
        body = html.encode("utf-8", "backslashreplace") if isinstance(html, str) else html
        policy = policy_of(body[:8192].decode("utf-8", "replace"))
        super().__init__(body, status_code, {"content-security-policy": policy})


HEAD = b'<header class="page-head">'
WAY_BACK = b'<p class="quiet screen"><a href="/">All runs</a></p>'


def way_back(page: bytes, charts: Iterable[str] | None = None) -> bytes:
    """A page that others made, with a link to the library at its head (where no text of a run stands yet).

    ``charts`` is what the page of a growing run draws, for its script to compare.
    """
    head = HEAD
    if charts is not None:
        drawn = escape(msgspec.json.encode(sorted(charts)).decode())
        head = HEAD[:-1] + f' data-charts="{drawn}">'.encode()
    return page.replace(HEAD, head + WAY_BACK, 1)


def library_page(values: dict[str, Any]) -> Page:
    """All runs; ``values`` of :func:`mawl.server.library.contents`."""
    body = _fill("library.html", **values)
    return Page(page("Runs", body, [script("library.js")], connect="'self'", forms="'self'"))


def row_html(row: RunRow) -> str:
    """The table row of one run, for the script of the library."""
    return _fill("row.html", row=row)


def sentence_page(title: str, sentence: str, status_code: int) -> Page:
    """A page that says why there is no other."""
    return Page(page(title, _fill("sentence.html", sentence=sentence)), status_code)


@cache
def script(name: str) -> str:
    """A script of the pages."""
    return resources.files("mawl.server").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("mawl.server", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _fill(template: str, **values: object) -> str:
    return _templates().get_template(template).render(**values)
