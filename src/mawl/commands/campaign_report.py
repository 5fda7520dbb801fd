"""The report of a campaign's folder, whatever state it is in."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from mawl.advice.capacity.bounds import CapacityBounds
from mawl.advice.judge import judged
from mawl.analysis.campaign.arm_settings import arm_settings, left_changed
from mawl.analysis.campaign.results import CampaignFound, found, side_of_arm
from mawl.analysis.comparison.sides import ComparedRun, compared_run
from mawl.analysis.view import StoredView
from mawl.campaigns.arm_setting.change import to_undo
from mawl.errors import MawlError
from mawl.reporters.campaign import json, markdown, text
from mawl.reporters.columns import LINE_WIDTH
from mawl.store import Run, open_run
from mawl.store.arm_settings import read_settings
from mawl.store.campaign import is_conducted, read_campaign
from mawl.store.files import replace_file

FILE_NAME = "report.html"
FORMATS = ("text", "json", "markdown", "html")


def campaign_found(
    folder: Path,
    bounds: CapacityBounds,
    opening: Callable[[Path], Run] = open_run,
    called: str | None = None,
) -> CampaignFound:
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
    left = left_changed(made, conducted=conducted)
    if left is not None:
        remarks.append(to_undo(left, folder))
    settings = arm_settings(record, made, conducted=conducted)
    what = found(
        msgspec.structs.replace(record, remarks=remarks),
        runs,
        settings,
        called=called or folder.absolute().name,
    )
    if what.comparison is None:
        return what
    from mawl.tuning.sides import settings_between  # profiles are read only for comparisons

    sides = (side_of_arm(record, arm, runs) for arm in (record.arms[0], record.arms[-1]))
    comparison = msgspec.structs.replace(what.comparison, settings=settings_between(*sides))
    return msgspec.structs.replace(what, comparison=comparison)


def read_run(folder: Path, bounds: CapacityBounds, opening: Callable[[Path], Run] = open_run) -> ComparedRun:
    """A run with its judged summary."""
    view = StoredView(opening(folder))
    return compared_run(view, judged(view, bounds))


def rendered(found: CampaignFound, form: str, width: int = LINE_WIDTH) -> str:
    """The report in one of :data:`FORMATS`; ``width`` is that of lines of text."""
    if form == "html":
        # Bokeh takes a second to import, which only a page should pay.
        from mawl.reporters.campaign import html

        return html.render(found)
    if form == "text":
        return text.render(found, width)
    return {"json": json.render, "markdown": markdown.render}[form](found)


def leave_page(folder: Path, found: CampaignFound) -> Path | None:
    """Write the page into the campaign's folder; a campaign that went well is not spoilt by its page."""
    try:
        return write_page(folder, found)
    except Exception as error:
        print(f"warning: the HTML report was not written: {error}", file=sys.stderr)
        return None


def write_page(folder: Path, found: CampaignFound) -> Path:
    """Write the page into the campaign's folder, whole or not at all; raises OSError."""
    replace_file(folder / FILE_NAME, rendered(found, "html").encode())
    return folder / FILE_NAME
