"""A node's run folder as the controller keeps it: ``nodes/NAME``, which grows as the node's own does.

What the node appended to its journal is appended here, byte for byte, so that a node that is lost
leaves a folder like that of any killed run.  Of one that ends well the whole folder is copied over it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from mawl.errors import MawlError
from mawl.store.files import replace_file, sync_directory, try_lock
from mawl.store.folder import make_folder
from mawl.store.journal import Appender
from mawl.store.layout import FACTS, JOURNAL, JOURNAL_FILES, LOGS, PLAN
from mawl.store.tail import EverySample, Fresh, Tail


class Mirror:
    """The one writer of ``nodes/NAME`` while the run lasts; OSError where it cannot be written."""

    def __init__(self, path: Path, facts: bytes, plan: bytes) -> None:
        """Make the folder with what the node's ``run.json`` and ``plan.toml`` hold."""
        self.path = path
        make_folder(path)
        for name in (JOURNAL, LOGS):
            (path / name).mkdir(mode=0o700)
        replace_file(path / FACTS, facts)
        replace_file(path / PLAN, plan)
        self._files = {name: Appender(path / JOURNAL / name) for name in JOURNAL_FILES}
        self.offsets = dict.fromkeys(JOURNAL_FILES, 0)
        try_lock(self._files["events.jsonl"].fileno())
        self._samples = EverySample()
        self._tail = Tail(path, self._samples)

    def append(self, journal: Mapping[str, bytes]) -> Fresh:
        """Keep what the node's journal got, and give the records that are whole now."""
        for name, content in journal.items():
            self._files[name].append(content)
            self.offsets[name] += len(content)
        self._tail.look()
        return self._tail.fresh(self._samples.take())

    def close(self) -> None:
        """Let go: the folder then reads as that of a run that was interrupted."""
        for file in self._files.values():
            file.close()

    def begin_copy(self) -> Path:
        """An empty folder beside this one, for the copy of the node's whole folder."""
        place = self.path.with_name(f".{self.path.name}")
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(mode=0o700)
        return place

    def replace(self, copy: Path) -> None:
        """The copy takes this folder's place."""
        self.close()
        shutil.rmtree(self.path)
        copy.rename(self.path)
        sync_directory(self.path.parent)


def place_of(folder: Path, name: str) -> Path:
    """Where a file of a node's folder goes in its copy; MawlError for a name that leads out of it."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise MawlError("a node names a file outside its run folder", where=name[:200])
    place = folder.joinpath(*path.parts)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return place


def append_to(place: Path, content: bytes) -> None:
    """Add a piece to a file of the copy (0600)."""
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "ab") as file:
        file.write(content)
