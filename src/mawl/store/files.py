"""Files that are whole or absent, and a lock that tells whether a runner lives."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from mawl.errors import UnreadableRunError, UnsuitableMachineError
from mawl.foreign import descriptor_of, read_regular
from mawl.store.layout import LARGEST_FACTS_BYTES, LATEST


def _draft_of(path: Path) -> Path:
    """A new name in the same directory, of at most 130 bytes; it contains the begin of the file's name."""
    begin = os.fsencode(path.name)[:100].decode(errors="ignore")
    return path.with_name(f".{begin}.{os.getpid()}-{secrets.token_hex(4)}")


@contextlib.contextmanager
def replacing(path: Path, mode: int = 0o600) -> Iterator[BinaryIO]:
    """A new file to write, which gets the name of ``path`` at the end of the block, whole and synced.

    A reader, or a power cut, finds the old content or the new.  Before its end the new file has a name that
    nothing had before (O_EXCL); it is removed if the block fails.  ``mode`` is less the umask.
    """
    draft = _draft_of(path)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.rename(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def replace_file(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all (:func:`replacing`); an OSError names ``path``."""
    try:
        with replacing(path) as file:
            file.write(content)
    except OSError as error:  # that of a write names no file
        error.filename = str(path)
        raise


def read_bounded(path: Path, cure: str, *, inside: Path | None = None) -> bytes:
    """A record's file, of at most :data:`~mawl.store.layout.LARGEST_FACTS_BYTES`, in a folder or named.

    Raises :class:`~mawl.errors.UnreadableRunError` where :func:`~mawl.foreign.read_regular` refuses it
    (``cure`` says what helps).
    """
    try:
        return read_regular(path, LARGEST_FACTS_BYTES, inside=inside)
    except OSError as error:
        raise UnreadableRunError(
            "cannot be read", where=str(path), why=(error.strerror or str(error)).lower(), cure=cure
        ) from None


def sync_directory(path: Path) -> None:
    """Make renames inside a directory last."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def lies_in(folder: Path, runs: Path) -> bool:
    """Whether a run folder is one of those of a directory of runs."""
    return folder.absolute().parent.resolve() == runs.resolve()


def replace_link(link: Path, target: Path) -> None:
    """Point a symbolic link at a target, relative to the link's directory, in one step.

    Raises :class:`~mawl.errors.UnsuitableMachineError` where something else has that name.
    """
    if os.path.lexists(link) and not link.is_symlink():
        raise UnsuitableMachineError(
            "is in the way of the link to the newest run",
            where=str(link),
            cure="rename it, or name another directory with --runs",
        )
    draft = _draft_of(link)
    draft.symlink_to(os.path.relpath(target.absolute(), link.absolute().parent))
    draft.rename(link)


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Take a flock without waiting; False when another process holds it."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_held(folder: Path, lock: str) -> bool:
    """Whether a living process holds a lock (flock) in a folder; a link out of the folder is none."""
    try:
        descriptor = descriptor_of(folder / lock, inside=folder)
    except OSError:
        return False
    try:
        return not try_lock(descriptor, shared=True)
    finally:
        os.close(descriptor)


def folder_with(record: str, name: str, runs: Path) -> Path | None:
    """The folder with that record that a path, or a name in ``runs``, means; None for anything else."""
    if name == LATEST or not name:
        return None
    return next((place for place in (Path(name), runs / name) if os.path.lexists(place / record)), None)
