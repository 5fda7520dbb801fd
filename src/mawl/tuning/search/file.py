"""``search.json``: what a search was asked, beside the record of its campaign; written whole."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from mawl.errors import UnreadableRunError, UsageError
from mawl.store.files import read_bounded, replace_file
from mawl.store.layout import major
from mawl.store.plain import decoded
from mawl.tuning.search.records import SEARCH_FORMAT_VERSION, SearchRecord

RECORD = "search.json"


def write_search(folder: Path, record: SearchRecord) -> None:
    """Replace the record, whole."""
    replace_file(folder / RECORD, msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")


def read_search(folder: Path) -> SearchRecord:
    """The record of a search's folder.

    Raises :class:`~mawl.errors.UsageError` where there is none,
    :class:`~mawl.errors.UnreadableRunError` naming the file and what is wrong with it.
    """
    path = folder / RECORD
    if not os.path.lexists(path):
        raise UsageError(
            "is no search",
            where=str(folder),
            why=f"it has no {RECORD}",
            cure="name the folder that mawl tune search made",
        )
    content = read_bounded(path, "name the folder that mawl tune search made", inside=folder)
    try:
        record = msgspec.convert(decoded(content), SearchRecord)
        other = major(record.format_version) != major(SEARCH_FORMAT_VERSION)
    except ValueError as error:
        raise UnreadableRunError(
            "is no record of a search", where=str(path), why=str(error), cure="start the search again"
        ) from None
    if other:
        raise UnreadableRunError(
            f"was written in format {record.format_version[:40]}, this mawl knows {SEARCH_FORMAT_VERSION}",
            where=str(path),
            cure="continue it with the mawl that began it",
        )
    return record
