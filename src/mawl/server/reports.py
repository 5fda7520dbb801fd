"""Pages of runs that do not grow: made when asked for, kept for as long as their files are the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.analysis.view import StoredView
from mawl.errors import MawlError
from mawl.model.summary.summary import Judged
from mawl.reporters import json
from mawl.server.folders import State, examined
from mawl.server.overview import Overview, overview_of
from mawl.server.rendering import Renderers
from mawl.server.work import KeptAnswers, Worker
from mawl.store import Run, open_run

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
        """The report of a run, whose files have this state."""
        return await self._of_one("report", folder, state, self._renderers.report)

    async def summary(self, folder: Path, state: State) -> Judged:
        """The judged summary of a run."""
        kept = await self._of_one("summary", folder, state, lambda _, summary: json.render(summary))
        return msgspec.json.decode(kept, type=Judged)

    async def read(self, folder: Path, state: State) -> None:
        """Judge a run for its overview, unless that is known."""
        if self._overviews.get(folder.name, (None,))[0] != state:
            await self._worker.run(lambda: self._judged(folder, state))

    async def comparison(self, sides: Sequence[tuple[tuple[Path, State], ...]]) -> bytes:
        """The page that compares sides of runs, the first with the others."""
        compare = self._renderers.comparison
        assert compare is not None

        def made() -> bytes:
            opened = [
                [StoredView(open_run(folder, compacting=False)) for folder, _ in side] for side in sides
            ]
            return _encoded(compare(opened))

        return await self._kept.get(("comparison", *sides), made)

    async def campaign(self, folder: Path) -> bytes:
        """The page of a campaign, kept for as long as its record and its runs are the same."""
        render = self._renderers.campaign
        assert render is not None
        return await self._kept.get(
            ("campaign", folder, _campaign_state(folder)), lambda: _encoded(render(folder, _opened))
        )

    def overviews(self, states: Mapping[str, State]) -> Mapping[str, Overview]:
        """What is known of the folders that have the state in which they were judged."""
        return {
            name: found[1]
            for name, state in states.items()
            if (found := self._overviews.get(name)) is not None and found[0] == state
        }

    async def _of_one(
        self, kind: str, folder: Path, state: State, render: Callable[[StoredView, Judged], str]
    ) -> bytes:
        def made() -> bytes:
            return _encoded(render(*self._judged(folder, state)))

        return await self._kept.get((kind, folder, state), made)

    def _judged(self, folder: Path, state: State) -> tuple[StoredView, Judged]:
        """A run and its summary, of which the overview is kept."""
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
            found.append(examined(path) if path.is_dir() else ())
        except (MawlError, OSError):
            found.append(path.name)
    return tuple(found)


def _opened(folder: Path) -> Run:
    """A run of a campaign; MawlError for one that leads out of it, or cannot be read."""
    examined(folder)
    return open_run(folder, compacting=False)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
