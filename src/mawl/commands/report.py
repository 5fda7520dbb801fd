"""Report a stored run: a screen of text, JSON for scripts, or the SAS-style logs of its jobs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from mawl.advice.capacity.bounds import Bounds
from mawl.advice.judge import judged
from mawl.analysis.blocks import Block
from mawl.commands.arguments import bounds_of, settings
from mawl.errors import UsageError
from mawl.reporters import json, openmetrics, saslog, text
from mawl.store import Run, open_run

NAME = "report"
HELP = "report a stored run as text, JSON or SAS-style logs"

Renderer = Callable[[Run, Block], str]


def _html(run: Run, summary: Block) -> str:
    from mawl.reporters.html.report import render  # templates and Bokeh: only who asks for HTML waits

    return render(run, summary)


FORMATS: dict[str, Renderer] = {
    "text": lambda _, summary: text.render(summary),
    "json": lambda _, summary: json.render(summary),
    "html": _html,
    "openmetrics": lambda _, summary: openmetrics.render(summary),
}
"""Name of a format to what makes it of a stored run and its judged summary; ``saslog`` takes jobs, too."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``mawl report [RUN]``."""
    parser.add_argument(
        "run", nargs="?", default="latest", metavar="RUN", help="a run folder, a run id, or latest (default)"
    )
    parser.add_argument("--format", choices=(*FORMATS, "saslog"), default="text", help="default: text")
    parser.add_argument(
        "--job",
        action="append",
        default=[],
        metavar="JOB",
        help="with saslog: only this job; may be repeated",
    )
    parser.add_argument("--output", metavar="FILE", help="write there instead of to the terminal")
    parser.add_argument("--runs", metavar="DIR", help="where run folders are (default: ./runs)")


def run(arguments: argparse.Namespace) -> int:
    """Write the report; the output file is opened first, so that a bad path fails before any work."""
    if arguments.job and arguments.format != "saslog":
        raise UsageError("--job goes with --format saslog", cure="leave it out, or ask for that format")
    chosen = settings()
    runs, bounds = chosen.runs(arguments.runs), bounds_of(chosen)
    if arguments.output is None:
        sys.stdout.write(_report(open_run(arguments.run, runs), bounds, arguments))
        return 0
    output = Path(arguments.output)
    new = not output.exists()
    with output.open("a", encoding="utf-8") as file:
        try:
            report = _report(open_run(arguments.run, runs), bounds, arguments)
        except BaseException:
            if new:
                output.unlink()
            raise
        if output.is_file():
            file.truncate(0)
        file.write(report)
    return 0


def _report(stored: Run, bounds: Bounds, arguments: argparse.Namespace) -> str:
    if arguments.format == "saslog":
        return saslog.render(stored, arguments.job)
    return FORMATS[arguments.format](stored, judged(stored, bounds)) + "\n"
