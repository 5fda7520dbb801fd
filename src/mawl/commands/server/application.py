"""The routes of the server: the library of runs, reports, a comparison, growing runs, and metrics."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from mawl.base.errors import MawlError, UsageError
from mawl.commands.server.connections import Guard
from mawl.commands.server.library import (
    Query,
    campaign_rows,
    contents,
    display_name,
    names_of,
    query_of,
    row_of,
)
from mawl.commands.server.live_run import LOOK_SECONDS, GrowingRuns, RunEndedError
from mawl.commands.server.reports import (
    Page,
    Renderers,
    Reports,
    library_page,
    row_html,
    sentence_page,
    way_back,
)
from mawl.commands.server.run_folders import (
    MOST_FOLDERS,
    CampaignRecords,
    Folders,
    State,
    Worker,
    campaigns_below,
    grows,
    state_of,
)
from mawl.records.model.summary.summary import Judged

MOST_VIEWERS = 16
"""Event streams that are served; each holds a connection.  One more takes the place of the first of them,
whose page asks again some seconds later: pages follow in turn, and no client keeps the places for itself."""

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


class Site:
    """What the pages share: the folders, what was made of them, and who follows."""

    def __init__(self, runs: Path, renderers: Renderers) -> None:
        reading = Worker(2)
        self.folders = Folders(runs)
        self.campaigns = CampaignRecords()
        self.listings = Worker(1)
        self.reports = Reports(reading, renderers)
        self.growing = GrowingRuns(reading, renderers)
        self.renderers = renderers
        self.viewers: list[_Following] = []


def create_app(
    runs: Path,
    renderers: Renderers,
    *,
    names: Iterable[str] = (),
    failed: Callable[[Exception], None],
) -> Starlette:
    """The application over the run folders in ``runs``.

    ``names`` are host names it answers to beside the loopback's; ``failed`` gets each exception
    that no page expects.
    """
    app = Starlette(
        routes=[
            Route("/", _library),
            Route("/runs/{name}", _run),
            Route("/runs/{name}/overview", _overview),
            Route("/runs/{name}/events", _events),
            Route("/campaigns/{name:path}", _campaign),
            Route("/compare", _compare),
            Route("/metrics", _metrics),
            Route("/favicon.ico", _no_icon),
        ],
        middleware=[Middleware(Guard, names=tuple(names), failed=failed)],
        exception_handlers={HTTPException: _http_error, MawlError: _unreadable},
    )
    app.router.redirect_slashes = False
    app.state.site = Site(runs, renderers)
    return app


async def _library(request: Request) -> Response:
    site: Site = request.app.state.site
    query = query_of(request.query_params.multi_items())

    def listing() -> Page:
        found, whole = campaigns_below(site.folders.runs)
        # A folder that holds campaigns is not listed as an unreadable run.
        above = {part for name in found for part in (name, name.partition("/")[0])}
        entries = [one for one in site.folders.listing() if not (one.trouble and one.name in above)]
        known = site.reports.overviews(site.folders.states)
        campaigns = campaign_rows(site.campaigns.entries(found), query)
        shown = {"campaigns": campaigns, "looked_into": None if whole else MOST_FOLDERS}
        return library_page({**contents(entries, query, known, time.time()), **shown})

    return await site.listings.run(listing)


async def _overview(request: Request) -> Response:
    site: Site = request.app.state.site
    folder = _folder(request, request.path_params["name"])
    trouble = None
    try:
        await site.reports.read(folder, state_of(folder))
    except MawlError as error:
        trouble = str(error)

    def row() -> str:
        entry = site.folders.entry(folder.name)
        overview = site.reports.overviews(site.folders.states).get(entry.name)
        entry = msgspec.structs.replace(entry, trouble=entry.trouble or trouble)
        return row_html(row_of(entry, Query(), overview, time.time()))

    return HTMLResponse(await site.listings.run(row))


async def _run(request: Request) -> Response:
    site: Site = request.app.state.site
    folder = _folder(request, request.path_params["name"])
    try:
        try:
            if grows(folder):
                followed = await site.growing.page(folder)
                return Page(way_back(followed.html, followed.charts))
        except RunEndedError:
            pass
        return Page(way_back(await site.reports.page(folder, state_of(folder))))
    except MawlError:
        _folder(request, folder.name)
        raise


async def _events(request: Request) -> Response:
    site: Site = request.app.state.site
    folder = _folder(request, request.path_params["name"])
    if request.method == "HEAD":
        return Response(media_type="text/event-stream")
    return _Following(site, folder)


class _Following(StreamingResponse):
    """An event stream, which has a place from the moment it is admitted: many asked for at once are many."""

    turn_is_over = False

    def __init__(self, site: Site, folder: Path) -> None:
        super().__init__(_follow(site, folder, self), media_type="text/event-stream")
        self._viewers = site.viewers
        while len(self._viewers) >= MOST_VIEWERS:
            self._viewers.pop(0).turn_is_over = True
        self._viewers.append(self)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self in self._viewers:
                self._viewers.remove(self)


async def _follow(site: Site, folder: Path, viewer: _Following) -> AsyncIterator[bytes]:
    """The events of a growing run until it ends, once a second; at least one whole picture in each turn."""
    try:
        version = 0
        charts: frozenset[str] = frozenset()
        while True:
            picture = await site.growing.picture(folder)
            yield _event("status", msgspec.json.encode(picture.status))
            if picture.obtainable != charts:
                charts = picture.obtainable
                yield _event("charts", msgspec.json.encode(sorted(charts)))
            changed = picture.since(version)
            if changed is not None:
                yield _event("sources", changed)
            if picture.version != version and picture.page_due:
                yield _event("page", b"null")
            version = picture.version
            await pause()
            if viewer.turn_is_over:
                yield _event("turn", msgspec.json.encode(MOST_VIEWERS))
                return
    except (RunEndedError, MawlError) as error:
        if site.folders.find(folder.name) is None:
            yield _event("gone", msgspec.json.encode(_gone(folder.name)))
        elif isinstance(error, MawlError):
            yield _event("trouble", msgspec.json.encode(str(error)))
        else:
            yield _event("ended", b"null")


async def pause() -> None:
    await asyncio.sleep(LOOK_SECONDS)


async def _compare(request: Request) -> Response:
    site: Site = request.app.state.site
    if site.renderers.comparison is None:
        text = "This mawl cannot compare runs in a page yet; `mawl report` shows each."
        return sentence_page("No comparison", text, 501)
    named_sides = query_of(request.query_params.multi_items()).sides
    sides = [[_folder(request, name) for name in side] for side in named_sides]
    if len(sides) < 2:
        text = (
            "A comparison takes at least two runs: tick reference and candidate in the list of runs, or "
            "several runs in one of the columns."
        )
        return sentence_page("Nothing to compare", text, 400)
    return Page(way_back(await site.reports.comparison([_states(side) for side in sides])))


async def _campaign(request: Request) -> Response:
    site: Site = request.app.state.site
    if site.renderers.campaign is None:
        text = "This mawl cannot show campaigns in a page yet; `mawl report CAMPAIGN` does."
        return sentence_page("No campaign", text, 501)
    name = request.path_params["name"]
    found = await site.listings.run(lambda: campaigns_below(site.folders.runs))
    folder = found.folders.get(name)
    if folder is None:
        raise HTTPException(404, f"There is no campaign called {display_name(name)} here.")
    return Page(way_back(await site.reports.campaign(folder)))


async def _metrics(request: Request) -> Response:
    site: Site = request.app.state.site
    asked = names_of(request.query_params.multi_items(), "run")
    folders = [_folder(request, name) for name in asked]
    folders = folders or await site.listings.run(site.folders.current)
    summaries = [await _summary(site, folder) for folder in folders]
    text = site.renderers.metrics(summaries)
    return Response(text, headers={"content-type": OPENMETRICS})


async def _summary(site: Site, folder: Path) -> Judged:
    try:
        return (await site.growing.picture(folder)).summary
    except RunEndedError:
        return await site.reports.summary(folder, state_of(folder))


async def _no_icon(request: Request) -> Response:  # noqa: ARG001
    return Response(status_code=204)


def _states(folders: Iterable[Path]) -> tuple[tuple[Path, State], ...]:
    return tuple((folder, state_of(folder)) for folder in folders)


def _folder(request: Request, name: str) -> Path:
    folder: Path | None = request.app.state.site.folders.find(name)
    if folder is None:
        raise HTTPException(404, _gone(name))
    return folder


def _gone(name: str) -> str:
    return f"There is no run called {display_name(name)} here: its folder was removed, or never was."


async def _http_error(request: Request, error: Exception) -> Response:  # noqa: ARG001
    assert isinstance(error, HTTPException)
    if error.status_code != 404:
        return PlainTextResponse(f"{error.detail}\n", error.status_code, error.headers)
    sentence = error.detail if error.detail != "Not Found" else "There is no such page."
    return sentence_page("Not here", sentence, 404)


async def _unreadable(request: Request, error: Exception) -> Response:  # noqa: ARG001
    if isinstance(error, UsageError):
        return sentence_page("This cannot be shown", str(error), 400)
    return sentence_page("This run cannot be read", str(error), 422)


def _event(name: str, data: bytes) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"
