"""Writes a site of packs into a directory, and keeps what it found in each pack for the next build.

The kept file lies in the cache directory of the user and not in the site, which others may write, and which a
web server shows.  Whoever could write there could also change mawl itself.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import gc
import hashlib
import multiprocessing
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path

import msgspec

from mawl.archive.site.entries import FIGURES, SiteEntry, checked, named_once, slug_of, sum_of
from mawl.archive.site.pages import NO_PRICES, compare_page, feed, index, result, system
from mawl.base.errors import UnsuitableMachineError, UsageError, cure_of
from mawl.base.foreign import open_regular
from mawl.base.process import without_interrupts
from mawl.base.removal import remove_below
from mawl.records.model.published import PriceBook
from mawl.records.store.facts import in_calendar
from mawl.records.store.files import cache_place, replace_file
from mawl.records.store.without_pandas import arrow_alone
from mawl.version import source_sha256

_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


class KeptEntries(msgspec.Struct, frozen=True, kw_only=True):
    """Entries by the SHA-256 of their packs; ``code`` is the mawl that checked them."""

    code: str
    entries: dict[str, SiteEntry] = {}


def kept_file(site: Path, environment: Mapping[str, str]) -> Path | None:
    """Where the checks of a site are kept; None if there is no cache, or the site holds it."""
    try:
        folder = cache_place(environment) / "sites"
    except OSError:
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


def write_kept(path: Path | None, entries: Sequence[SiteEntry]) -> None:
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
    return (
        entry.sha256 == digest
        and in_calendar(entry.started_at)
        and entry.figures.keys() == FIGURES.keys()
        and "cache mode" in entry.must_match
    )


MARKER = "mawl-site"
"""A file that says that mawl made the directory, and may write into it again."""
REPLACED_FOLDERS = ("results", "systems", "packs")
"""Directories of a site that each build replaces."""
TOP_PAGES = ("index.html", "compare.html", "feed.xml")
NEW_FOLDER = ".new"
"""Where a site is made before it takes the place of the earlier one."""
FEWEST_FOR_PROCESSES = 16
"""Fewer packs are checked sooner than other processes have started."""


def build_site(
    packs: Sequence[Path],
    output: Path,
    address: str,
    environment: Mapping[str, str] = os.environ,
    *,
    trusted: bool = False,
    prices: PriceBook = NO_PRICES,
) -> list[SiteEntry]:
    """Check packs and write their site; pages of packs that are not named any more go.

    Each pack is checked within bounds of memory and time unless all are ``trusted``.  ``prices`` are of
    qualified systems, by the names of their packs.

    The earlier site stays until the new one is whole.  Checks are kept in the cache directory of the user,
    which ``environment`` names.

    Raises ``UsageError`` where the directory holds something else, two packs have one name
    or one lies where the site is made anew, and what ``checked`` raises,
    before anything is written; ``UnsuitableMachineError`` if it cannot be written.
    """
    if output.exists() and (
        not output.is_dir() or (any(output.iterdir()) and not (output / MARKER).is_file())
    ):
        raise UsageError("is no site of mawl", where=str(output), cure="name a new directory with --output")
    slugs = [slug_of(path) for path in packs]
    named_once(slugs)
    unknown = sorted(set(prices.per_hour) - set(slugs))
    if unknown:
        cure = f"name one of {', '.join(slugs)}"
        raise UsageError(f"a price is given for {unknown[0]!r}, which is not published", cure=cure)
    _refuse_packs_of_site(packs, output)
    kept = kept_file(output, environment)
    entries = _entries(packs, read_kept(kept), partial(checked, trusted=trusted))
    write_kept(kept, entries)
    new = output / NEW_FOLDER
    try:
        output.mkdir(parents=True, exist_ok=True)
        (output / MARKER).write_text("made by mawl publish\n")
        remove_below(output, NEW_FOLDER, mark=MARKER)
        new.mkdir()
        _fill(new, packs, entries, address, prices)
        remove_below(output, *REPLACED_FOLDERS, mark=MARKER)
        for name in (*REPLACED_FOLDERS, *TOP_PAGES):
            (new / name).rename(output / name)
    except OSError as error:
        raise UnsuitableMachineError(
            "the site cannot be written",
            where=str(output),
            why=(error.strerror or str(error)).lower(),
            cure=cure_of(error, output, "name another directory with --output"),
        ) from None
    finally:
        remove_below(output, NEW_FOLDER, mark=MARKER)
    return entries


def _fill(
    site: Path, packs: Sequence[Path], entries: Sequence[SiteEntry], address: str, prices: PriceBook
) -> None:
    for name in REPLACED_FOLDERS:
        (site / name).mkdir()
    for path, entry in zip(packs, entries, strict=True):
        _write(site / "results" / entry.slug / "index.html", result(entry))
        shutil.copyfile(path, site / "packs" / f"{entry.slug}.zip")
    systems: dict[str, list[SiteEntry]] = {}
    for entry in entries:
        systems.setdefault(entry.system, []).append(entry)
    for name, members in systems.items():
        _write(site / "systems" / name / "index.html", system(members, prices))
    for name, text in zip(
        TOP_PAGES, (index(entries, prices), compare_page(entries), feed(entries, address)), strict=True
    ):
        _write(site / name, text)


def _refuse_packs_of_site(packs: Sequence[Path], output: Path) -> None:
    """UsageError where a build would remove a pack before it is copied."""
    removed = [os.path.realpath(output / name) for name in (*REPLACED_FOLDERS, NEW_FOLDER)]
    for path in packs:
        if any(Path(os.path.realpath(path)).is_relative_to(place) for place in removed):
            raise UsageError(
                "lies in the site, which is made anew",
                where=str(path),
                cure="copy it to another directory first, or name another one with --output",
            )


def _entries(
    packs: Sequence[Path], entries: Mapping[str, SiteEntry], check: Callable[[Path], SiteEntry]
) -> list[SiteEntry]:
    """The entries in the order of their packs: those that this code checked before, and the others."""
    known = {path: entries.get(sum_of(path)) for path in packs}
    new = [path for path, entry in known.items() if entry is None]
    found = dict(zip(new, _checked_in_parallel(new, check), strict=True))
    return [
        found[path] if entry is None else msgspec.structs.replace(entry, slug=slug_of(path))
        for path, entry in known.items()
    ]


def _checked_in_parallel(packs: Sequence[Path], check: Callable[[Path], SiteEntry]) -> Iterator[SiteEntry]:
    processes = min(len(os.sched_getaffinity(0)), len(packs) // (FEWEST_FOR_PROCESSES // 2))
    if len(packs) < FEWEST_FOR_PROCESSES or processes < 2:
        yield from map(check, packs)
        return
    # Spawned: a fork would share the locks of the threads of libraries.
    pool = concurrent.futures.ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _prepare)
    try:
        with without_interrupts():
            found = pool.map(check, packs, chunksize=4)
        yield from found
    except BrokenProcessPool:
        raise UnsuitableMachineError(
            "a process that checked packs was killed",
            why="most often the machine ran out of memory",
            cure="publish with fewer processors: taskset -c 0 mawl publish ...",
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _prepare() -> None:
    """Do once what each fork of a new process would do again.

    Modules stay, so the collector need not look at them after every few records.
    """
    arrow_alone()
    source_sha256()
    gc.freeze()


def _write(path: Path, text: str) -> None:
    """Without a sync of each page, which takes longer than all else: the command makes the site again."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o644)  # a web server reads it
