"""Pages of runs that do not grow: made when asked for, kept for as long as their files are the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.analysis.view import StoredView
from mawl.errors import MawlError
from mawl.model.summary.summary import Judged
from mawl.reporters import json
from mawl.server.folders import LibraryEntry, State, examined
from mawl.server.library import Judgement
from mawl.server.rendering import Renderers
from mawl.server.work import KeptAnswers, Worker
from mawl.store import open_run

MOST_BYTES = 64 * 2**20
"""Of pages kept; a report has a few MB."""


MOST_JUDGEMENTS = 10_000
"""Of runs by name: folders come and go under a server."""


class Reports:
    """Makes and keeps pages, metrics and comparisons; nothing is written, a killed run stays uncompacted."""

    def __init__(self, worker: Worker, renderers: Renderers) -> None:
        self._kept = KeptAnswers(worker, MOST_BYTES)
        self._renderers = renderers
        self._judgements: dict[str, tuple[State, Judgement]] = {}

    async def page(self, folder: Path, state: State) -> bytes:
        """The report of a run, whose files have this state."""
        return await self._of_one("report", folder, state, self._renderers.report)

    async def summary(self, folder: Path, state: State) -> Judged:
        """The judged summary of a run."""
        kept = await self._of_one("summary", folder, state, lambda _, summary: json.render(summary))
        return msgspec.json.decode(kept, type=Judged)

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

    def judgements(self, runs: Path, entries: Iterable[LibraryEntry]) -> Mapping[str, Judgement]:
        """What is known of the entries whose files are as they were when they were judged."""
        known: dict[str, Judgement] = {}
        for entry in entries:
            state, judgement = self._judgements.get(entry.name, (None, None))
            if judgement is not None and state == _state(runs / entry.name):
                known[entry.name] = judgement
        return known

    async def _of_one(
        self, kind: str, folder: Path, state: State, render: Callable[[StoredView, Judged], str]
    ) -> bytes:
        def made() -> bytes:
            view = StoredView(open_run(folder, compacting=False))
            summary = self._renderers.judged(view)
            self._judgements.pop(folder.name, None)
            self._judgements[folder.name] = (state, judgement_of(summary))
            while len(self._judgements) > MOST_JUDGEMENTS:
                del self._judgements[next(iter(self._judgements))]
            return _encoded(render(view, summary))

        return await self._kept.get((kind, folder, state), made)


def judgement_of(summary: Judged) -> Judgement:
    """Verdict and validity of a judged summary, None where it has none."""
    return Judgement(summary.limit.verdict if summary.limit else None, summary.validity.status)


def _state(folder: Path) -> State | None:
    try:
        return examined(folder)
    except (MawlError, OSError):
        return None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
