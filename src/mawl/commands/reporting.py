"""Reports of runs and campaigns for several verbs, and the names by which a command finds them.

The name of a run or campaign is the one that works from the current directory: its id or folder name, else
a path.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from mawl.advice.bounds import AnswerBounds
from mawl.advice.judge import judged
from mawl.base.errors import MawlError
from mawl.campaigns.arm_setting import undo_sentence
from mawl.commands.arguments import settings
from mawl.figures.campaign import (
    CampaignFound,
    arm_settings,
    campaign_figures,
    change_in_force,
    side_of_arm,
)
from mawl.figures.comparison.sides import ComparedRun, compared_run
from mawl.figures.view import StoredView
from mawl.records.model.summary.summary import Judged
from mawl.records.store import Run, open_run
from mawl.records.store.campaign import is_conducted, read_campaign, read_settings
from mawl.records.store.files import lies_in, replace_file
from mawl.reports.campaign_document import document, render_json
from mawl.reports.document import rendered
from mawl.reports.layout import LINE_WIDTH

HTML_REPORT = "report.html"
CAMPAIGN_FORMATS = ("text", "json", "markdown", "html")


class StoredCampaign(NamedTuple):
    """What a campaign's finished runs say together, and the runs by their position."""

    figures: CampaignFound
    runs: dict[int, ComparedRun]


def stored_campaign(
    folder: Path,
    bounds: AnswerBounds,
    opening: Callable[[Path], Run] = open_run,
    called: str | None = None,
) -> StoredCampaign:
    """What the runs that are finished say together; one that cannot be read is a remark.

    ``opening`` opens each run; MawlError of it is such a remark.  ``called`` is how a command finds the
    campaign (None: by the name of its folder).
    """
    record = read_campaign(folder)
    runs: dict[int, ComparedRun] = {}
    remarks = list(record.remarks)
    for slot in record.slots:
        if slot.state == "finished" and slot.folder is not None:
            try:
                runs[slot.position] = read_run(folder / slot.folder, bounds, opening)
            except MawlError as error:
                remarks.append(f"run {slot.position} is left out: {error}")
    conducted = is_conducted(folder)
    try:
        made = read_settings(folder)
    except MawlError as error:
        made = None
        remarks.append(f"the record of settings is left out: {error}")
    left = change_in_force(made, conducted=conducted)
    if left is not None:
        remarks.append(undo_sentence(left, folder))
    settings = arm_settings(record, made, conducted=conducted)
    what = campaign_figures(
        msgspec.structs.replace(record, remarks=remarks),
        runs,
        settings,
        called=called or folder.absolute().name,
    )
    if what.comparison is None:
        return StoredCampaign(what, runs)
    from mawl.tuning.text import settings_between  # profiles are read only for comparisons

    sides = (side_of_arm(record, arm, runs) for arm in (record.arms[0], record.arms[-1]))
    comparison = msgspec.structs.replace(what.comparison, settings=settings_between(*sides))
    return StoredCampaign(msgspec.structs.replace(what, comparison=comparison), runs)


def read_run(folder: Path, bounds: AnswerBounds, opening: Callable[[Path], Run] = open_run) -> ComparedRun:
    """A run with its judged summary."""
    view = StoredView(opening(folder))
    return compared_run(view, judged(view, bounds))


def render_campaign(figures: CampaignFound, form: str, width: int = LINE_WIDTH) -> str:
    """The report in one of ``FORMATS``; ``width`` is that of lines of text."""
    return render_json(figures) if form == "json" else rendered(document(figures), form, width)


def leave_campaign_page(folder: Path, figures: CampaignFound) -> Path | None:
    """Write the page into the campaign's folder; a campaign that went well is not spoilt by its page."""
    try:
        return write_campaign_page(folder, figures)
    except Exception as error:
        print(f"warning: the HTML report was not written: {error}", file=sys.stderr)
        return None


def write_campaign_page(folder: Path, figures: CampaignFound) -> Path:
    """Write the page into the campaign's folder, whole or not at all; raises OSError."""
    replace_file(folder / HTML_REPORT, render_campaign(figures, "html").encode())
    return folder / HTML_REPORT


def render_html(view: StoredView, summary: Judged) -> str:
    """The report of a judged run; templates and plotting library are imported by who asks for it."""
    from mawl.reports.html.report import render

    return render(view, summary)


def write_html(view: StoredView, summary: Judged) -> Path:
    """Write the report into the run folder, whole or not at all; OSError where that is not possible."""
    path = view.run.path / HTML_REPORT
    replace_file(path, render_html(view, summary).encode())
    return path


def short_path(path: Path) -> str:
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


def run_name(stored: Run) -> str:
    """The id of a run, or the path of a folder that lies elsewhere or has another name."""
    run_id = stored.facts.run_id
    found_by_id = stored.path.name == run_id and lies_in(stored.path, settings().runs(None))
    return run_id if found_by_id else short_path(stored.path)


def campaign_name(folder: Path) -> str:
    """The name of a campaign's folder, or its path if it lies elsewhere."""
    place = folder.resolve()  # "." has no name
    return place.name if lies_in(place, settings().runs(None)) else short_path(folder)
