"""The one way in which mawl removes trees: never across a mount, never through a link, only below a mark.

A job may leave a mount, a link or a file that cannot be removed in its directory.  ``shutil.rmtree`` crosses
mounts, and a bind mount has the device of what it shows, so this walk compares mount ids, too
(docs/design/clean.md, What stays).
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from mawl.base.printable import printable

MARK = ".mawl"
"""The file by which mawl marks a directory that it made."""

MOST_NAMED = 5
STAYS = " stays: "
"""In each sentence on what could not be removed."""
_LOOKED_AT = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_LISTED = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
BLOCK_BYTES = 512
"""Of ``st_blocks`` (inode(7))."""


class Removal(msgspec.Struct):
    """What one removal did: bytes of the blocks that went, and a sentence for each thing that stays.

    A file with further names outside of the tree keeps its blocks, and counts 0 bytes.
    """

    size_bytes: int = 0
    kept: list[str] = []

    def remarks(self) -> list[str]:
        """What stays, at most ``MOST_NAMED`` and the number of the others."""
        more = len(self.kept) - MOST_NAMED
        return self.kept[:MOST_NAMED] + ([f"and {more} more stay"] if more > 0 else [])

    def keep(self, path: str, why: str) -> None:
        self.kept.append(f"{printable(path)}{STAYS}{why}")


def remove_tree(directory: Path, mark: str = MARK) -> Removal:
    """Remove a directory that carries a mark, the mark last: what a kill leaves still carries it.

    Raises nothing; what cannot be removed stays and is named.  A directory that is not there is removed.
    """
    removal = Removal()
    with _opened(directory, mark, removal) as at:
        if at is None:
            return removal
        try:
            content = [entry for entry in _entries(at) if entry[0] != mark]
            if _Walk(at, str(directory), removal).clear(content):
                os.unlink(mark, dir_fd=at)
                directory.rmdir()
        except FileNotFoundError:
            pass  # somebody else removes it, too
        except OSError as error:
            removal.keep(str(directory), _why(error))
    return removal


def remove_below(directory: Path, *names: str, mark: str = MARK) -> Removal:
    """Remove files and trees of these names from a directory that carries a mark; as ``remove_tree``."""
    removal = Removal()
    with _opened(directory, mark, removal) as at:
        if at is None:
            return removal
        try:
            content = [entry for entry in _entries(at) if entry[0] in names]
            _Walk(at, str(directory), removal).clear(content)
        except OSError as error:
            removal.keep(str(directory), _why(error))
    return removal


@contextlib.contextmanager
def temporary_directory(prefix: str, within: Path | None = None) -> Iterator[Path]:
    """A directory of this process alone, among the temporary files by default; it goes at the end."""
    import tempfile  # each job imports this module, and needs none

    marked = Path(tempfile.mkdtemp(prefix=prefix, dir=within))
    try:
        (marked / MARK).touch(mode=0o600)
        directory = marked / "content"
        directory.mkdir(mode=0o700)
        yield directory
    finally:
        remove_tree(marked)


@contextlib.contextmanager
def _opened(directory: Path, mark: str, removal: Removal) -> Iterator[int | None]:
    """A descriptor of a directory with a mark; None where it is gone or carries none."""
    try:
        at = _open_whole(directory, None)
    except OSError as error:
        if error.errno != errno.ENOENT:
            removal.keep(str(directory), _why(error))
        yield None
        return
    try:
        if _is_file(mark, at):
            yield at
        else:
            removal.keep(str(directory), f"it has no mark of mawl (a file {mark})")
            yield None
    finally:
        os.close(at)


class _Level:
    """A directory on the way down: its name, its identity, and what is still to remove from it."""

    def __init__(self, name: str, at: int, entries: list[tuple[str, bool]]) -> None:
        self.name = name
        self.identity = _identity(at)
        self.entries = entries
        self.cleared = True


class _Walk:
    """Removes what is in one open directory, with two descriptors, however deep the tree is."""

    def __init__(self, at: int, path: str, removal: Removal) -> None:
        self._path, self._removal = path, removal
        self._mount = _mount_id(at)
        self._at = os.dup(at)
        self._levels: list[_Level] = []

    def clear(self, entries: list[tuple[str, bool]]) -> bool:
        """Remove these entries, each a name and whether it is a directory; whether all are gone."""
        top = _Level(self._path, self._at, entries)
        self._levels.append(top)
        try:
            while top.entries or len(self._levels) > 1:
                level = self._levels[-1]
                if not level.entries:
                    self._leave()
                elif not self._removed(*level.entries.pop()):
                    level.cleared = False
        except OSError as error:
            self._removal.keep(self._place(), _why(error))
            return False
        finally:
            os.close(self._at)
        return top.cleared

    def _removed(self, name: str, is_directory: bool) -> bool:
        """Remove a file, or go into a directory; False where it stays."""
        try:
            if is_directory:
                self._enter(name)
                return True
            status = os.stat(name, dir_fd=self._at, follow_symlinks=False)
            os.unlink(name, dir_fd=self._at)
        except FileNotFoundError:
            return True
        except OSError as error:
            self._removal.keep(f"{self._place()}/{name}", _why(error))
            return False
        if status.st_nlink == 1:
            self._removal.size_bytes += status.st_blocks * BLOCK_BYTES
        return True

    def _enter(self, name: str) -> None:
        """Go into a directory of this mount; raises OSError for one of another."""
        below = _open_whole(name, self._at, self._mount)
        os.close(self._at)
        self._at = below
        self._levels.append(_Level(name, below, _entries(below)))

    def _leave(self) -> None:
        """Go up to the directory that the walk came from, and remove the one that it leaves."""
        left, place = self._levels.pop(), self._place()
        above = os.open("..", _LISTED, dir_fd=self._at)
        os.close(self._at)
        self._at = above
        if _identity(above) != self._levels[-1].identity:
            raise OSError(errno.ESTALE, "somebody moved a directory out of it during the removal", place)
        if left.cleared:
            try:
                os.rmdir(left.name, dir_fd=above)
                return
            except FileNotFoundError:
                return
            except OSError as error:
                self._removal.keep(f"{place}/{left.name}", _why(error))
        self._levels[-1].cleared = False

    def _place(self) -> str:
        return "/".join(level.name for level in self._levels)


def _open_whole(name: str | Path, above: int | None, mount: int | None = None) -> int:
    """A descriptor of a directory that is no link, and of the mount that is asked for.

    One that its owner may not read or change gets the owner's permissions first.  Raises OSError.
    """
    looked_at = os.open(name, _LOOKED_AT, dir_fd=above)
    try:
        # Before anything else is asked of it: a file system that does not answer would stop the walk.
        if mount is not None and (other := _mount_id(looked_at)) != mount:
            raise OSError(errno.EXDEV, f"it is a separate mount{_named_mount(other)}")
        mode = os.fstat(looked_at).st_mode
        if not stat.S_ISDIR(mode):
            raise OSError(errno.ENOTDIR, "a link or file took the place of the directory")
        if mode & stat.S_IRWXU != stat.S_IRWXU:
            with contextlib.suppress(OSError):
                Path(f"/proc/self/fd/{looked_at}").chmod(stat.S_IMODE(mode) | stat.S_IRWXU)
        return os.open(".", _LISTED, dir_fd=looked_at)
    finally:
        os.close(looked_at)


def _entries(at: int) -> list[tuple[str, bool]]:
    """The name of each entry, and whether it is a directory."""
    with os.scandir(at) as found:
        return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]


def _is_file(name: str, at: int) -> bool:
    try:
        return stat.S_ISREG(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _identity(at: int) -> tuple[int, int]:
    status = os.fstat(at)
    return status.st_dev, status.st_ino


def _mount_id(at: int) -> int:
    """The id of the mount that a descriptor is on (proc_pid_fdinfo(5)); OSError where Linux does not say."""
    with open(f"/proc/self/fdinfo/{at}", encoding="ascii") as lines:
        for line in lines:
            name, _, value = line.partition(":")
            if name == "mnt_id":
                return int(value)
    raise OSError(errno.ENOTSUP, "Linux does not say on which mount it is")


def _named_mount(number: int) -> str:
    """`` (ext4 of /dev/sda1, /home)``: as proc_pid_mountinfo(5) lists the mount; empty if it does not."""
    with contextlib.suppress(OSError, ValueError), open("/proc/self/mountinfo", errors="replace") as lines:
        for line in lines:
            words = line.split()
            if words[0] == str(number):
                kind, source = words[words.index("-") + 1 :][:2]
                return f" ({kind} of {source}, {words[3]})"
    return ""


def _why(error: OSError) -> str:
    why = error.strerror or str(error)
    return why if " " in why and why[0].islower() else why.lower()
