"""The HTML report beside a run: made at the end of a run, or by `mawl report --format html`."""

from __future__ import annotations

import sys
from pathlib import Path

from mawl.analysis.view import StoredView
from mawl.model.summary.summary import Judged
from mawl.store.files import replace_file

FILE_NAME = "report.html"


def render_html(view: StoredView, summary: Judged) -> str:
    """The report of a judged run; templates and plotting library are imported by who asks for it."""
    from mawl.reporters.html.report import render

    return render(view, summary)


def write_html(view: StoredView, summary: Judged) -> Path:
    """Write the report into the run folder, whole or not at all; OSError where that is not possible."""
    path = view.run.path / FILE_NAME
    replace_file(path, render_html(view, summary).encode())
    return path


def named(path: Path) -> str:
    """A path as a person here would type it: relative where it lies under the working directory."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def leave_html(view: StoredView, summary: Judged) -> Path | None:
    """Write the report; a run that went well is not spoilt by a page that did not: None, and a warning."""
    try:
        return write_html(view, summary)
    except Exception as error:
        print(f"warning: the HTML report was not written: {error}", file=sys.stderr)
        return None
