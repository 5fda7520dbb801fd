"""What mawl found in each pack of a site, kept for the next build of it.

It lies in the cache directory of the user and not in the site, which others may write, and which a web server
shows.  Whoever could write here could also change mawl itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.archive.site.entries import FIGURES, SiteEntry
from mawl.foreign import open_regular
from mawl.store.files import replace_file
from mawl.store.plain import in_calendar
from mawl.store.user_cache import cache_place
from mawl.version import source_sha256

_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


class KeptEntries(msgspec.Struct, frozen=True, kw_only=True):
    """Entries by the SHA-256 of their packs; ``code`` is the mawl that checked them."""

    code: str
    entries: dict[str, SiteEntry] = {}


def kept_file(site: Path, environment: Mapping[str, str]) -> Path | None:
    """Where the checks of a site are kept; None without a home directory, or where the site holds it."""
    try:
        folder = cache_place(environment) / "sites"
    except RuntimeError:
        return None
    real = os.path.realpath(site)  # unlike Path.resolve(), for loops of links, too
    if Path(os.path.realpath(folder)).is_relative_to(real):
        return None
    return folder / f"{hashlib.sha256(os.fsencode(real)).hexdigest()[:32]}.json"


def read_kept(path: Path | None) -> dict[str, SiteEntry]:
    """What an earlier build of this code kept, by the SHA-256 of a pack.

    Nothing where it cannot be read, or where another user wrote it or may write it.
    """
    try:
        if path is None or not _is_mine(path.parent.stat()):
            return {}
        with open_regular(path, inside=path.parent) as file:
            if not _is_mine(os.fstat(file.fileno())):
                return {}
            found = msgspec.json.decode(file.read(), type=KeptEntries)
    except (OSError, ValueError, RecursionError):
        return {}
    if found.code != source_sha256():
        return {}
    return {digest: entry for digest, entry in found.entries.items() if _is_whole(digest, entry)}


def keep(path: Path | None, entries: Sequence[SiteEntry]) -> None:
    """Keep the entries for the next build; without a place that can be written it checks every pack again."""
    if path is None:
        return
    kept = KeptEntries(code=source_sha256(), entries={entry.sha256: entry for entry in entries})
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(path, msgspec.json.encode(kept))


def _is_mine(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not status.st_mode & _OTHERS_MAY_WRITE


def _is_whole(digest: str, entry: SiteEntry) -> bool:
    """Whether an entry is of the pack that it is kept for, and has what pages are made of."""
    return (
        entry.sha256 == digest
        and in_calendar(entry.started_at)
        and entry.figures.keys() == FIGURES.keys()
        and "cache mode" in entry.must_match
    )
