"""One run: made as its spec asks, on this machine or on several nodes, and shown when it is over."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from mawl.advice.judge import judged
from mawl.base.process import importing
from mawl.commands.arguments import bounds_of, settings
from mawl.commands.report import screen_of
from mawl.commands.reporting import leave_html, short_path
from mawl.commands.terminal import style_of
from mawl.figures.view import StoredView
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.summary import Judged
from mawl.records.spec.run_spec import RunSpec
from mawl.records.spec.settings import Settings
from mawl.records.store import open_run


def make_run(spec: RunSpec, command: Sequence[str]) -> tuple[Path, RunFacts]:
    """Make the run; its folder and its facts, whatever became of it.

    ``command`` is what a person typed, or would type.  Raises MawlError where the run cannot begin.
    """
    if spec.nodes is not None:
        from mawl.commands.cluster_run import run_on_nodes

        return run_on_nodes(spec, spec.nodes, command)
    with importing():  # what it takes to run jobs a run on several nodes has in the nodes' processes
        from mawl.commands.local_run import run_here
    return run_here(spec, command)


EXIT_OF_OUTCOME = {"completed": 0, "failed": 1, "aborted": 1, "interrupted": 130}


def show(folder: Path, chosen: Settings, *, html: bool) -> Judged:
    """Report a run on one screen, leave the HTML report in its folder where wanted; the judged summary."""
    view = StoredView(open_run(folder))
    summary = judged(view, bounds_of(chosen))
    # The page first: whoever reads this text may leave early (`| head`).
    page = leave_html(view, summary) if html else None
    print(screen_of(view, summary, style_of(sys.stdout)))
    print(f"\nrun folder: {shlex.quote(str(folder))}")
    if page is not None:
        print(f"report: {shlex.quote(short_path(page))}")
    return summary


def leave_page(folder: Path) -> None:
    """Leave the HTML report in the folder of a run that nobody watches."""
    view = StoredView(open_run(folder))
    leave_html(view, judged(view, bounds_of(settings())))
