"""Writing a site into a directory."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from mawl.archive.site.entries import SiteEntry, entries_of
from mawl.archive.site.pages import feed, index, result
from mawl.errors import UsageError

MARK = "mawl-site"
"""A file that says that mawl made the directory, and may write into it again."""


def build_site(packs: Sequence[Path], output: Path, address: str) -> list[SiteEntry]:
    """Check packs and write their site; pages of packs that are not named any more go.

    Raises :class:`~mawl.errors.UsageError` where the directory holds something else, and what
    :func:`~mawl.archive.site.entries.entries_of` raises, before anything is written.
    """
    if output.exists() and (not output.is_dir() or (any(output.iterdir()) and not (output / MARK).is_file())):
        raise UsageError("is no site of mawl", where=str(output), cure="name a new directory with --output")
    entries = entries_of(packs)
    output.mkdir(parents=True, exist_ok=True)
    (output / MARK).write_text("made by mawl publish\n")
    for name in ("results", "packs"):
        shutil.rmtree(output / name, ignore_errors=True)
        (output / name).mkdir()
    for entry in entries:
        page = output / "results" / entry.slug
        page.mkdir()
        _write(page / "index.html", result(entry))
        shutil.copyfile(entry.file, output / "packs" / f"{entry.slug}.zip")
    _write(output / "index.html", index(entries))
    _write(output / "feed.xml", feed(entries, address))
    return entries


def _write(path: Path, text: str) -> None:
    """Without a sync of each page, which takes longer than all else: the command makes the site again."""
    path.write_text(text, encoding="utf-8")
    path.chmod(0o644)  # a web server reads it
