"""The campaigns in a directory and in the folders below it; a link is not followed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from mawl.errors import MawlError
from mawl.model.campaign import Campaign
from mawl.store.campaign import RECORD, read_campaign
from mawl.store.layout import FACTS

DEEPEST = 4
"""Folders below the directory of runs that are looked into, one in another."""
MOST_FOLDERS = 2000
"""Folders that are looked into for one page: a directory of runs may hold other things."""


class CampaignEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A campaign: ``name`` is its path below the directory of runs, ``trouble`` why it cannot be read.

    ``finished`` of ``planned`` runs are over; ``created_at`` is in seconds since the epoch.
    """

    name: str
    trouble: str | None = None
    kind: str = ""
    finished: int = 0
    planned: int = 0
    outcome: str = ""
    created_at: float | None = None


class FoundCampaigns(NamedTuple):
    """Campaigns by their path below the directory of runs, in order; ``whole`` where every folder was looked
    into."""

    folders: dict[str, Path]
    whole: bool


def campaigns_below(runs: Path) -> FoundCampaigns:
    """The campaigns in the first :data:`MOST_FOLDERS`, the least deep ones first; nothing below a run or a
    campaign."""
    found: dict[str, Path] = {}
    waiting, whole = [(runs, 0)], True
    for folder, depth in waiting:
        for child in _folders(folder):
            if (child / RECORD).is_file():
                found[child.relative_to(runs).as_posix()] = child
            elif depth + 1 < DEEPEST and not (child / FACTS).exists():
                if len(waiting) < MOST_FOLDERS:
                    waiting.append((child, depth + 1))
                else:
                    whole = False
    return FoundCampaigns(dict(sorted(found.items())), whole)


class CampaignRecords:
    """What the records of campaigns say; one is read again only when its file changed."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, int, int], CampaignEntry]] = {}

    def entries(self, folders: Mapping[str, Path]) -> list[CampaignEntry]:
        """An entry for each campaign, in their order; those that are gone are forgotten."""
        found = [self._entry(name, folder) for name, folder in folders.items()]
        self._known = {folder: self._known[folder] for folder in folders.values() if folder in self._known}
        return found

    def _entry(self, name: str, folder: Path) -> CampaignEntry:
        try:
            seen = (folder / RECORD).stat()
            identity = (seen.st_ino, seen.st_size, seen.st_mtime_ns)
            known = self._known.get(folder)
            if known is None or known[0] != identity:
                known = self._known[folder] = (identity, _entry_of(name, read_campaign(folder)))
        except (MawlError, OSError) as error:
            return CampaignEntry(name=name, trouble=str(error))
        return known[1]


def _entry_of(name: str, record: Campaign) -> CampaignEntry:
    return CampaignEntry(
        name=name,
        kind=record.kind,
        finished=sum(slot.state == "finished" for slot in record.slots),
        planned=len(record.slots),
        outcome=record.outcome,
        created_at=record.created_at,
    )


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [
                Path(entry.path)
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
            ]
    except OSError:
        return []
