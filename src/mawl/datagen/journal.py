"""The parts of an unfinished table that are done: one JSON line each, appended by one process.

A killed generation continues from it; the last line may be torn.  It is gone once the manifest is
there.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from mawl.tables.manifest import Part

JOURNAL = "journal.jsonl"


class _Head(msgspec.Struct, frozen=True):
    declaration: str


class PartsJournal:
    """Finished parts of a table that is being made in ``directory``.

    ``declaration`` is the first line: parts of another declaration are not taken over.
    """

    def __init__(self, directory: Path, declaration: str) -> None:
        self.path = directory / JOURNAL
        self._declaration = declaration

    def read(self) -> list[Part]:
        """The parts that are noted; none where the journal is missing or of another declaration."""
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        parts = []
        with contextlib.suppress(msgspec.DecodeError):
            if not lines or msgspec.json.decode(lines[0], type=_Head).declaration != self._declaration:
                return []
            for line in lines[1:]:
                parts.append(msgspec.json.decode(line, type=Part))
        return parts

    def begin(self, parts: list[Part]) -> None:
        """Start anew with these parts: a torn last line must not be appended to."""
        draft = self.path.with_suffix(".partial")
        lines = [msgspec.json.encode(line) for line in (_Head(self._declaration), *parts)]
        draft.write_bytes(b"\n".join(lines) + b"\n")
        draft.rename(self.path)

    def add(self, part: Part) -> None:
        """Note a finished part."""
        with open(self.path, "ab", buffering=0) as sink:
            sink.write(msgspec.json.encode(part) + b"\n")

    def remove(self) -> None:
        """The table is finished."""
        self.path.unlink(missing_ok=True)
