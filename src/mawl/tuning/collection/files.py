"""Folders and files of collections, read as input that cannot be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from mawl.errors import InvalidFileError, UsageError
from mawl.foreign import read_regular
from mawl.formats.settings import cksum
from mawl.formats.settings.collected import Section, UnreadOutput, sections

MANIFEST = "MANIFEST"
"""What cksum(1) printed of the files of a folder, once all were written."""
MOST_FILES = 5000
MOST_FOLDERS = 200
MOST_BYTES = 16 * 2**20


class NodeFiles(msgspec.Struct, frozen=True):
    """A folder of one node, or files that were named one by one."""

    name: str
    parts: list[Section | UnreadOutput]


def places(paths: Sequence[Path]) -> list[NodeFiles]:
    """What the paths hold: a folder is one node, a folder of folders several, files together one.

    :class:`~mawl.errors.UsageError` for a path that is not there, or holds no file.
    """
    found, files = [], []
    for path in paths:
        if not path.exists():
            raise UsageError(
                f"{path} is not there", cure="name the folder that the collector wrote, or files"
            )
        if path.is_dir():
            found += list(_folders(path))
        else:
            files.append(path)
    if files:
        found.append(NodeFiles("", [part for path in files for part in _parts(path, path.name, None)]))
    if not any(place.parts for place in found):
        raise UsageError(
            f"{', '.join(map(str, paths))}: no file in it",
            cure="collect with the script that mawl tune collector prints",
        )
    return found


def _folders(path: Path) -> Iterator[NodeFiles]:
    below = [one for one in _entries(path) if one.is_dir() and not one.is_symlink()]
    own = [one for one in _entries(path) if not one.is_dir()]
    if own:
        yield _folder(path, own)
    for folder in below[:MOST_FOLDERS]:
        held = [one for one in _entries(folder) if not one.is_dir()]
        if held:
            yield _folder(folder, held)


def _entries(path: Path) -> list[Path]:
    try:
        return sorted(one for one in path.iterdir() if not one.name.startswith("."))[:MOST_FILES]
    except OSError as error:
        raise InvalidFileError("cannot be read", where=str(path), why=error.strerror) from None


def _folder(path: Path, files: list[Path]) -> NodeFiles:
    sums: dict[str, tuple[int, int]] | None = None
    if any(one.name == MANIFEST for one in files):
        content = _content(path / MANIFEST, path)
        rows = cksum.rows(content) if isinstance(content, bytes) else ()
        sums = {name: (value, size) for name, value, size in rows}
    parts = [part for one in files if one.name != MANIFEST for part in _parts(one, one.name, path, sums)]
    there = {one.name for one in files}
    parts += [
        _unread(name, f"{MANIFEST} lists it, but it is not there") for name in sums or () if name not in there
    ]
    return NodeFiles(path.name, parts)


def _content(path: Path, inside: Path | None) -> bytes | str:
    """What the file holds, or why it cannot be read."""
    try:
        return read_regular(path, MOST_BYTES, inside=inside)
    except OSError as error:
        return (error.strerror or str(error)).lower()


def _parts(
    path: Path, name: str, inside: Path | None, sums: dict[str, tuple[int, int]] | None = None
) -> Iterator[Section | UnreadOutput]:
    content = _content(path, inside)
    if isinstance(content, str):
        yield _unread(name, content)
    elif sums is not None and name not in sums:
        yield _unread(name, f"not in {MANIFEST}: collect again if it belongs to the collection")
    elif sums is not None and not _intact(content, *sums[name]):
        yield _unread(name, f"changed since it was collected: its checksum differs from {MANIFEST}")
    else:
        yield from sections(name, content)


def _intact(content: bytes, value: int, size: int) -> bool:
    """A transfer as text may have changed the ends of lines, and nothing else."""
    return any(
        len(one) == size and cksum.check_sum(one) == value
        for one in (content, content.replace(b"\r\n", b"\n"))
    )


def _unread(name: str, reason: str) -> UnreadOutput:
    return UnreadOutput(command=(), lines=(), whole=False, file=name, reason=reason)
