"""The campaign folder of `mawl lab run`: ``RUNS/lab/CAMPAIGN_ID/lab.json``, written as the campaign goes."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from mawl.errors import UnreadableRunError, UsageError
from mawl.foreign import read_regular
from mawl.lab.experiment.records import LAB_FORMAT_VERSION, LabRecord
from mawl.store.files import replace_file, replace_link
from mawl.store.layout import LARGEST_FACTS_BYTES, LATEST, major
from mawl.store.plain import decoded

FOLDER = "lab"
"""Where campaigns of the lab are, in the directory of run folders."""

RECORD = "lab.json"


def write_record(folder: Path, record: LabRecord) -> None:
    """Replace the record, whole."""
    text = msgspec.json.format(msgspec.json.encode(record), indent=2)
    replace_file(folder / RECORD, text + b"\n")


def new_folder(runs: Path, campaign_id: str) -> Path:
    """The folder of a new campaign, and the link to the newest."""
    folder = runs / FOLDER / campaign_id
    folder.mkdir(mode=0o700, parents=True)
    replace_link(runs / FOLDER / LATEST, folder)
    return folder.absolute()


def read_record(name: str, runs: Path) -> tuple[LabRecord, Path]:
    """A campaign by its folder, its id, or ``latest``; with its folder."""
    folder = next(
        (place for place in (Path(name), runs / FOLDER / name) if os.path.lexists(place / RECORD)), None
    )
    if folder is None:
        raise UsageError(
            "is no campaign of the lab",
            where=name or "an empty name",
            cure="name a folder that mawl lab run made, or its id",
        )
    try:
        content = read_regular(folder / RECORD, LARGEST_FACTS_BYTES, inside=folder)
        record = msgspec.convert(decoded(content), LabRecord)
        known = major(record.format_version) == major(LAB_FORMAT_VERSION)
    except (OSError, ValueError) as error:
        raise UnreadableRunError("cannot be read", where=str(folder / RECORD), why=str(error)) from None
    if not known:
        raise UnreadableRunError(
            f"has format version {record.format_version}, this mawl reads {LAB_FORMAT_VERSION}",
            where=str(folder / RECORD),
            cure="use a newer mawl",
        )
    return record, folder.resolve()
