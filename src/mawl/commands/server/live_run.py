"""A run that is still being written: read once for all visitors, within a share of one processor."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from mawl.base.units import counted_noun, format_seconds
from mawl.commands.server.reports import Columns, Renderers
from mawl.commands.server.run_folders import Worker, grows
from mawl.figures.view import StoredView
from mawl.records.model.summary.summary import Judged
from mawl.records.store.tail import Tail
from mawl.records.store.thinning import Thinned

Result = TypeVar("Result")

LOOK_SECONDS = 1.0
"""How often a journal is looked at while somebody follows it: samples come once a second."""

SHARE_RATIO = 0.1
"""Of one processor, the most that the chart data of one growing run may take, and as much again its page:
the server may stand on the machine that is measured.  After figures that took a CPU second, the next
are made nine seconds later."""

EARLY_REST_SECONDS = 3.0
MOST_EARLY_PAGES = 4
"""A page that lacks charts which can be drawn now waits no longer than that, so many times in a run: the
first pages are small, and one that was opened as the run began would stay empty for long."""

MOST_GROWING = 8
FORGET_SECONDS = 600.0
"""After so long without a request a run is forgotten.  The next request reads its journal again."""


class RunEndedError(Exception):
    """The runner has let go of the run, or its folder is gone."""


class Picture(msgspec.Struct, frozen=True):
    """A growing run at one moment.

    ``sources`` are the columns of each chart as JSON by name, with the ``version`` of the picture in
    which they last changed; ``status`` is one line for people: all of the same moment.
    ``charts`` is what can be drawn of them (``drawable``), ``obtainable`` what a page that is asked
    for now is sure to draw.
    """

    version: int
    status: str
    view: StoredView
    summary: Judged
    sources: dict[str, tuple[int, bytes]]
    charts: frozenset[str]
    obtainable: frozenset[str] = frozenset()
    page_due: bool = False
    """Whether a page that is asked for now has later figures than the one that was made last."""

    def since(self, version: int) -> bytes | None:
        """JSON of the sources that changed after ``version``; None where none did."""
        changed = {name: columns for name, (at, columns) in self.sources.items() if at > version}
        return _object(changed) if changed else None


class PicturePage(msgspec.Struct, frozen=True):
    """The page of the picture of this ``version``, and what it draws."""

    version: int
    html: bytes
    charts: frozenset[str]


class CpuShare:
    """Lets work be done again once its share of one processor allows."""

    def __init__(self, cpu: Callable[[], float], clock: Callable[[], float]) -> None:
        self._cpu, self._clock = cpu, clock
        self._rest_until = self._ended_at = -math.inf

    def allows(self, rest_seconds: float = math.inf) -> bool:
        """Whether the rest after the last work is over, or as long as ``rest_seconds`` already."""
        return self._clock() >= min(self._rest_until, self._ended_at + rest_seconds)

    def spend(self, work: Callable[[], Result]) -> Result:
        before = self._cpu()
        path = work()
        self._ended_at = self._clock()
        self._rest_until = self._ended_at + (self._cpu() - before) * (1 / SHARE_RATIO - 1)
        return path


class Growing:
    """Reads one journal and makes pictures of it; used by one thread at a time."""

    def __init__(
        self,
        folder: Path,
        renderers: Renderers,
        *,
        cpu: Callable[[], float] = time.thread_time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.folder, self._renderers = folder, renderers
        self._clock = clock
        self._figures, self._pages = CpuShare(cpu, clock), CpuShare(cpu, clock)
        self._tail: Tail | None = None
        self._picture: Picture | None = None
        self._looked = -math.inf
        self._fresh = False
        self._page: PicturePage | None = None
        self._early_pages = 0

    def picture(self) -> Picture:
        """The newest picture that the share allows; RunEndedError once nobody writes any more."""
        now = self._clock()
        if self._picture is not None and now - self._looked < LOOK_SECONDS:
            return self._picture
        if not grows(self.folder):
            raise RunEndedError(self.folder.name)
        try:
            if self._tail is None:
                self._tail = Tail(self.folder, Thinned())
            self._fresh = self._tail.look() or self._fresh
        except FileNotFoundError:
            raise RunEndedError(self.folder.name) from None
        self._looked = now
        if self._picture is None or (self._fresh and self._figures.allows()):
            tail = self._tail
            self._picture = self._figures.spend(lambda: self._make_picture(tail))
            self._fresh = False
        page = self._page
        anew = page is None or self._page_allowed(page, self._picture)
        self._picture = msgspec.structs.replace(
            self._picture,
            obtainable=self._picture.charts if page is None or anew else page.charts,
            page_due=anew,
        )
        return self._picture

    def page(self) -> PicturePage:
        """The page of a picture, made once for each; the newest picture that the share allows.

        It draws at least what the last picture called obtainable: a page that loads itself anew
        because of that does not get the one it has.
        """
        picture = self.picture()
        if self._page is None or self._page_allowed(self._page, picture):
            self._early_pages += not self._pages.allows()
            made = self._pages.spend(lambda: self._renderers.following(picture.view, picture.summary))
            self._page = PicturePage(
                picture.version, made.encode("utf-8", "backslashreplace"), picture.charts
            )
        return self._page

    def _page_allowed(self, page: PicturePage, picture: Picture) -> bool:
        if page.version == picture.version:
            return False
        early = bool(picture.charts - page.charts) and self._early_pages < MOST_EARLY_PAGES
        return self._pages.allows(EARLY_REST_SECONDS if early else math.inf)

    def _make_picture(self, tail: Tail) -> Picture:
        view, now = StoredView(tail.run()), status(tail, time.time())
        summary = self._renderers.judged(view)
        old = self._picture
        version = 1 if old is None else old.version + 1
        sources: dict[str, tuple[int, bytes]] = {}
        found = self._renderers.sources(view, summary)
        for name, columns in found.items():
            made = msgspec.json.encode(columns, enc_hook=_as_list)
            before = None if old is None else old.sources.get(name)
            sources[name] = before if before is not None and before[1] == made else (version, made)
        return Picture(version, now, view, summary, sources, drawable(found))


class GrowingRuns:
    """The growing runs that somebody looks at; each is read by one thread at a time, for all."""

    def __init__(self, worker: Worker, renderers: Renderers) -> None:
        self._worker, self._renderers = worker, renderers
        self._runs: OrderedDict[Path, tuple[Growing, asyncio.Lock]] = OrderedDict()
        self._forgetting: dict[Path, asyncio.TimerHandle] = {}

    def __len__(self) -> int:
        return len(self._runs)

    async def picture(self, folder: Path) -> Picture:
        """The run as it is; RunEndedError where it does not grow (any more)."""
        return await self._ask(folder, Growing.picture)

    async def page(self, folder: Path) -> PicturePage:
        return await self._ask(folder, Growing.page)

    async def _ask(self, folder: Path, what: Callable[[Growing], Result]) -> Result:
        if folder not in self._runs:
            self._runs[folder] = (Growing(folder, self._renderers), asyncio.Lock())
            while len(self._runs) > MOST_GROWING:
                self._forget(next(iter(self._runs)))
        self._runs.move_to_end(folder)
        growing, lock = self._runs[folder]

        async def asked() -> Result:
            async with lock:
                return await self._worker.run(lambda: what(growing))

        task = asyncio.create_task(asked())
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        try:
            # A visitor who leaves must not let a second thread in beside the first.
            answer = await asyncio.shield(task)
        except Exception:
            if self._runs.get(folder, (None,))[0] is growing:
                self._forget(folder)
            raise
        if folder in self._runs:
            self._forget_later(folder)
        return answer

    def _forget_later(self, folder: Path) -> None:
        if folder in self._forgetting:
            self._forgetting[folder].cancel()
        later = asyncio.get_running_loop().call_later(FORGET_SECONDS, self._forget, folder)
        self._forgetting[folder] = later

    def _forget(self, folder: Path) -> None:
        del self._runs[folder]
        if folder in self._forgetting:
            self._forgetting.pop(folder).cancel()


def status(tail: Tail, now: float) -> str:
    """``12 of 71 jobs ended (1 not well), 9 running, 35.2 s since the start``."""
    started = {event.job for event in tail.events if event.event == "job_started"}
    ended = {job.job for job in tail.jobs}
    bad = sum(job.outcome != "finished" for job in tail.jobs)
    failed = f" ({bad} not well)" if bad else ""
    seconds = format_seconds(max(0.0, now - tail.facts.started_at))
    return (
        f"{len(ended)} of {counted_noun(tail.facts.workload.jobs, 'job')} ended{failed}, "
        f"{len(started - ended)} running, {seconds} since the start"
    )


def drawable(sources: Mapping[str, Columns]) -> frozenset[str]:
    """What can be drawn: ``SOURCE.COLUMN`` with a figure, ``SOURCE`` with two in a column (a line)."""
    found = set()
    for name, columns in sources.items():
        for column, values in columns.items():
            plain = values if isinstance(values, list) else values.tolist()
            # NaN is the one number that differs from itself.
            figures = (one for one in plain if isinstance(one, int | float) and one == one)
            known = len(list(islice(figures, 2)))
            found |= {f"{name}.{column}"} if known else set()
            found |= {name} if known == 2 else set()
    return frozenset(found)


def _as_list(columns: Any) -> Any:
    """Arrays of numbers as lists; JSON has no NaN, so what is missing becomes null."""
    return columns.tolist()


def _object(parts: dict[str, bytes]) -> bytes:
    return b"{" + b",".join(msgspec.json.encode(name) + b":" + part for name, part in parts.items()) + b"}"
