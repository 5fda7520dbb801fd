"""What mawl prints of a run in a pack; ``mawl validate`` prints it again."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path

from mawl.advice.judge import judged
from mawl.analysis.view import StoredView
from mawl.archive.contents import contents_of
from mawl.archive.folder import node_runs
from mawl.archive.layout import CAMPAIGN, CONTENTS, DISCLOSURE, REPORT, SUMMARY
from mawl.model.summary.summary import Judged
from mawl.reporters import disclosure, json, markdown
from mawl.store import Run, open_run


class PrintedRun:
    """A run folder with its summary, judged by mawl's default bounds without any ``mawl.toml``."""

    def __init__(self, folder: Path, campaign: bytes | None = None) -> None:
        """``campaign`` is the record of the campaign that the run is packed with.

        Raises :class:`~mawl.errors.UnreadableRunError` where the folder cannot be read.
        """
        self.folder, self._campaign = folder, campaign
        self.run = open_run(folder, compacting=False)
        _ = self.run.jobs  # kept for the digests, so that the view does not read the table again
        self.view = StoredView(self.run)

    @cached_property
    def summary(self) -> Judged:
        """Its judged summary."""
        return judged(self.view)

    @cached_property
    def nodes(self) -> dict[str, Run]:
        """The runs of the nodes of a cluster's run, by their place below its folder; none of another run.

        Raises :class:`~mawl.errors.UnreadableRunError` where one cannot be read.
        """
        return node_runs(self.folder)

    def contents(self) -> str:
        """``contents.json``."""
        found = contents_of(self.run)
        if self._campaign is not None:
            found.files[CAMPAIGN] = hashlib.sha256(self._campaign).hexdigest()
        return json.render(found) + "\n"

    @cached_property
    def pages(self) -> dict[str, str]:
        """The other printed files by their names."""
        return {
            SUMMARY: json.render(self.summary) + "\n",
            REPORT: markdown.render(self.view, self.summary) + "\n",
            DISCLOSURE: disclosure.render(self.view, self.summary) + "\n",
        }

    def files(self) -> dict[str, bytes]:
        """All of them, as bytes."""
        return {name: text.encode() for name, text in {CONTENTS: self.contents(), **self.pages}.items()}
