"""The server's pages of finished runs, cached for as long as the run's files are the same.

The renderers of reports are passed in, so the server does not know the formats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from mawl.advice.bounds import AnswerBounds
from mawl.advice.judge import judged
from mawl.base.errors import MawlError
from mawl.commands.server.connections import policy_of
from mawl.commands.server.library import SIDES, Overview, RunRow, overview_of
from mawl.commands.server.run_folders import KeptAnswers, State, Worker, state_of
from mawl.figures.comparison.compare import compare, compare_many
from mawl.figures.comparison.sides import compared_run, side_of
from mawl.figures.view import StoredView
from mawl.records.model.summary.summary import Judged
from mawl.records.store import Run, open_run
from mawl.reports import json, openmetrics
from mawl.reports.comparison.document import document
from mawl.reports.document import rendered
from mawl.reports.html import report
from mawl.reports.html.page import page
from mawl.reports.html.sources import sources

Columns = Mapping[str, Any]
"""Name of a column to its values: a list, or what has ``tolist``."""


class Renderers(msgspec.Struct, frozen=True, kw_only=True):
    """Functions of the view of a run and its judged summary.

    ``report`` is a whole page; ``following`` the same with the script that follows a growing run;
    ``sources`` the data of its charts by name; ``metrics`` OpenMetrics text of several summaries;
    ``comparison`` a whole page of sides, each of one run or several, None where there is none; ``campaign`` a
    whole page of the folder of a campaign, whose runs it opens by the function that it is given.
    """

    report: Callable[[StoredView, Judged], str]
    following: Callable[[StoredView, Judged], str]
    sources: Callable[[StoredView, Judged], Mapping[str, Columns]]
    metrics: Callable[[Sequence[Judged]], str]
    comparison: Callable[[Sequence[Sequence[StoredView]]], str] | None = None
    campaign: Callable[[Path, Callable[[Path], Run]], str] | None = None
    judged: Callable[[StoredView], Judged] = judged


MOST_BYTES = 64 * 2**20
"""Of pages kept; a report has a few MB."""


MOST_OVERVIEWS = 10_000
"""Of runs by name: folders come and go under a server."""


class Reports:
    """Makes and keeps pages, metrics and comparisons; nothing is written, a killed run stays uncompacted."""

    def __init__(self, worker: Worker, renderers: Renderers) -> None:
        self._worker = worker
        self._kept = KeptAnswers(worker, MOST_BYTES)
        self._renderers = renderers
        self._overviews: dict[str, tuple[State, Overview]] = {}

    async def page(self, folder: Path, state: State) -> bytes:
        return await self._page_of_run("report", folder, state, self._renderers.report)

    async def summary(self, folder: Path, state: State) -> Judged:
        kept = await self._page_of_run("summary", folder, state, lambda _, summary: json.render(summary))
        return msgspec.json.decode(kept, type=Judged)

    async def read(self, folder: Path, state: State) -> None:
        if self._overviews.get(folder.name, (None,))[0] != state:
            await self._worker.run(lambda: self._judged(folder, state))

    async def comparison(self, sides: Sequence[tuple[tuple[Path, State], ...]]) -> bytes:
        """The page that compares sides of runs, the first with the others."""
        compare = self._renderers.comparison
        assert compare is not None

        def encoded() -> bytes:
            opened = [
                [StoredView(open_run(folder, compacting=False)) for folder, _ in side] for side in sides
            ]
            return _encode(compare(opened))

        return await self._kept.get(("comparison", *sides), encoded)

    async def campaign(self, folder: Path) -> bytes:
        """The page of a campaign, kept for as long as its record and its runs are the same."""
        render = self._renderers.campaign
        assert render is not None
        return await self._kept.get(
            ("campaign", folder, _campaign_state(folder)), lambda: _encode(render(folder, _open_campaign_run))
        )

    def overviews(self, states: Mapping[str, State]) -> Mapping[str, Overview]:
        return {
            name: found[1]
            for name, state in states.items()
            if (found := self._overviews.get(name)) is not None and found[0] == state
        }

    async def _page_of_run(
        self, kind: str, folder: Path, state: State, render: Callable[[StoredView, Judged], str]
    ) -> bytes:
        def encoded() -> bytes:
            return _encode(render(*self._judged(folder, state)))

        return await self._kept.get((kind, folder, state), encoded)

    def _judged(self, folder: Path, state: State) -> tuple[StoredView, Judged]:
        view = StoredView(open_run(folder, compacting=False))
        summary = self._renderers.judged(view)
        self._overviews.pop(folder.name, None)
        self._overviews[folder.name] = (state, overview_of(summary))
        while len(self._overviews) > MOST_OVERVIEWS:
            del self._overviews[next(iter(self._overviews))]
        return view, summary


def _campaign_state(folder: Path) -> tuple[object, ...]:
    """Another state is another page; a campaign that runs has another one each time its runs have grown."""
    found: list[object] = []
    for path in sorted(folder.iterdir()):
        try:
            seen = path.lstat()
            found.append((path.name, seen.st_ino, seen.st_size, seen.st_mtime_ns))
            found.append(state_of(path) if path.is_dir() else ())
        except (MawlError, OSError):
            found.append(path.name)
    return tuple(found)


def _open_campaign_run(folder: Path) -> Run:
    state_of(folder)
    return open_run(folder, compacting=False)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


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
    """All runs; ``values`` of ``contents``."""
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
    return resources.files("mawl.commands.server").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("mawl.commands.server", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _fill(template: str, **values: object) -> str:
    return _templates().get_template(template).render(**values)


def standard_renderers(bounds: AnswerBounds) -> Renderers:
    """Renderers whose summaries are judged by these bounds."""

    def judge(view: StoredView) -> Judged:
        return judged(view, bounds)

    def comparison(views: Sequence[Sequence[StoredView]]) -> str:
        sides = [
            side_of(label(number, some), [compared_run(view, judge(view)) for view in some])
            for number, some in enumerate(views)
        ]
        return rendered(document(compare(*sides) if len(sides) == 2 else compare_many(sides)), "html")

    def label(number: int, views: Sequence[StoredView]) -> str:
        return views[0].run.path.name if len(views) == 1 else SIDES[number]

    return Renderers(
        report=report.render,
        following=lambda view, summary: report.render(
            view, summary, scripts=[script("following.js")], connect="'self'"
        ),
        sources=sources,
        metrics=lambda summaries: openmetrics.render(*summaries) + "\n",
        comparison=comparison,
        judged=judge,
    )
