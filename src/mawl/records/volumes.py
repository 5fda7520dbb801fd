"""Directories that mawl makes and marks under the roles; mawl removes nothing else.

Each volume of a role holds ``mawl-inputs`` (data: input tables), and for each run ``mawl-run-RUN_ID`` with
one directory per job.  A mark in each of these names its run and its role.  The runner locks the mark
(flock), so a mark without a lock is what an interrupted run left behind.  The mark alone decides what may be
removed (docs/design/clean.md): one directory may be work of one run and data of another.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import secrets
import stat
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from mawl.base.errors import UnsuitableMachineError, cure_of
from mawl.base.foreign import read_regular
from mawl.base.removal import MARK, Removal, remove_below, remove_tree
from mawl.records.spec.program_options import ROLES, Role, VolumeOrder

INPUTS = "mawl-inputs"
RUN_PREFIX = "mawl-run-"
NEW_PREFIX = ".mawl-new-"
WRITE_TEST_PREFIX = ".mawl-write-test-"
WRITE_TEST_SECONDS = 60.0
"""How old a write test is that a killed run left; a run takes milliseconds for it."""
PROBE_PREFIX = "probe-"
"""What the id of a probe begins with."""

Purpose: TypeAlias = Role | Literal["output", "counters", "probe"]
"""What a run's directory is for, as its mark says; only one for data holds what anybody keeps.

A run whose jobs keep nothing under data has a directory for output there.
"""

TEMPORARY: tuple[Role, ...] = ("work", "util")
"""Roles whose directories of a job go at its end."""

_SAID = re.compile(r"made by mawl: run (?P<run>\S+) as (?P<purpose>work|util|data|output|counters|probe)\n")
_LARGEST_MARK_BYTES = 4096

GOLDEN_RATIO = (5**0.5 - 1) / 2


class Volumes:
    """The volumes of each role, and one run's directories on them."""

    def __init__(self, directories: Mapping[Role, Sequence[Path]]) -> None:
        self.directories: dict[Role, list[Path]] = {
            role: [Path(path).absolute() for path in directories[role]] for role in ROLES
        }
        self.before_removal: Callable[[str], None] = lambda _: None
        """Hears a job's name while its directories under work and util still stand."""
        self.kept = Removal()
        """What could not be removed so far."""
        self._locks: dict[Path, int] = {}
        """The directories that this run claimed, and the lock on each."""
        self._run_id: str | None = None
        self._keeps_results = True

    def ensure(self, *roles: Role) -> None:
        """Make what is missing of these roles (all by default) and check that mawl can write there."""
        for role in roles or ROLES:
            for path in self.directories[role]:
                try:
                    path.mkdir(mode=0o700, parents=True, exist_ok=True)
                    # Without a name where the file system can: a kill leaves nothing, clean sees nothing.
                    with tempfile.TemporaryFile(dir=path, prefix=WRITE_TEST_PREFIX):
                        pass
                except OSError as error:
                    raise UnsuitableMachineError(
                        f"the {role} directory cannot be written",
                        where=str(path),
                        why=(error.strerror or str(error)).lower(),
                        cure=cure_of(error, path, f"name another directory with --{role}"),
                    ) from None

    def inputs(self) -> list[Path]:
        """The marked directory for input tables on each volume of data."""
        return [_inputs_on(volume) for volume in self.directories["data"]]

    def claim(self, run_id: str, *, keeps_results: bool = True) -> None:
        """Make and lock this run's directory on every volume; ``keeps_results``: that under data may stay."""
        self._run_id, self._keeps_results = run_id, keeps_results
        for role in ROLES:
            purpose = "output" if role == "data" and not keeps_results else role
            for directory in self.run_directories(role):
                try:
                    self._locks[directory] = _make_marked(directory, f"run {run_id} as {purpose}")
                except FileExistsError:
                    raise UnsuitableMachineError(
                        "another run of this id has been here", where=str(directory), cure="run mawl clean"
                    ) from None

    def run_directories(self, role: Role) -> list[Path]:
        return [volume / f"{RUN_PREFIX}{self._run_id}" for volume in self.directories[role]]

    def run_places(self) -> list[Path]:
        """This run's directory on each volume, in the order of the volumes' numbers."""
        return [directory for role in ROLES for directory in self.run_directories(role)]

    def make_job(self, job: str) -> dict[Role, list[Path]]:
        """Empty directories for a job's temporary tables; the one under data is not made yet.

        A volume that refuses one (full, read-only, gone) costs the job that needs it, when it needs
        it.  Raises OSError where every volume of a role refuses.
        """
        places = {role: [run / job for run in self.run_directories(role)] for role in ROLES}
        for role in ("work", "util"):
            refusals = []
            for place in places[role]:
                try:
                    place.mkdir(mode=0o700)
                except OSError as error:
                    refusals.append(error)
            if len(refusals) == len(places[role]):
                raise refusals[0]
        return places

    def remove_job(self, job: str, *, keeps_results: bool = True) -> list[str]:
        """Remove a job's directories; sentences on what stays, and why.  Kept results stay under data."""
        self.before_removal(job)
        roles = TEMPORARY if keeps_results else ROLES
        places = [run for role in roles for run in self.run_directories(role)]
        kept = [sentence for place in places for sentence in remove_below(place, job).kept]
        self.kept.kept += kept
        return Removal(kept=kept).remarks()

    def release(self) -> None:
        """Remove the run's directories (kept results under data stay, if any) and let the locks go."""
        for role in ROLES:
            for run in self.run_directories(role):
                if run not in self._locks or not run.is_dir():
                    continue
                if role == "data" and self._keeps_results and not _is_bare(run):
                    continue
                remove_tree(run)
        for lock in self._locks.values():
            os.close(lock)
        self._locks.clear()

    def leftovers(self) -> list[Path]:
        """What ``leftovers_under`` finds on each volume of each role, each once."""
        volumes = dict.fromkeys(volume for role in ROLES for volume in self.directories[role])
        return [directory for volume in volumes for directory in leftovers_under(volume)]

    def role_of(self, path: str | os.PathLike[str]) -> Role | None:
        absolute = os.path.realpath(path)
        for role, volumes in self.directories.items():
            for volume in volumes:
                root = os.path.realpath(volume)
                if absolute == root or absolute.startswith(root + os.sep):
                    return role
        return None


def _inputs_on(volume: Path) -> Path:
    directory = volume / INPUTS
    if not (directory / MARK).is_file():
        try:
            os.close(_make_marked(directory, "inputs"))
        except FileExistsError:
            if not (directory / MARK).is_file():
                raise UnsuitableMachineError(
                    "exists but was not made by mawl",
                    where=str(directory),
                    why=f"it has no {MARK} file",
                    cure="move it away or name another directory with --data",
                ) from None
    return directory


def choose(order: VolumeOrder, directories: Sequence[str | os.PathLike[str]], turn: int) -> int:
    """The number of the volume that the file of this turn goes to.

    By rotation the volumes follow each other.  By free space each gets a part of the line from 0 to 1
    as long as its share of the space that is free now, and the turn's point decides: the fractions of
    the multiples of the golden ratio, which lie evenly however many there are (Knuth, The Art of
    Computer Programming 3, 6.4), so that jobs that choose at the same moment choose in proportion.
    The same turn and space give the same volume.  A volume that cannot be looked at counts as full;
    where all are full the rotation decides.
    """
    if order == "rotation" or len(directories) == 1:
        return turn % len(directories)
    free = [_free_bytes(directory) for directory in directories]
    point = turn * GOLDEN_RATIO % 1.0 * sum(free)
    for number, size in enumerate(free):
        point -= size
        if point < 0:
            return number
    return turn % len(directories)


def _free_bytes(directory: str | os.PathLike[str]) -> int:
    """Bytes that may still be written on a directory's file system; of one that is not there, above it."""
    place = Path(directory)
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        status = os.statvfs(place)
    except OSError:
        return 0
    return 0 if status.f_flag & os.ST_RDONLY else status.f_bavail * status.f_frsize


def leftovers_under(volume: Path) -> list[Path]:
    """Directories in one place that no runner holds and that hold nothing anybody keeps.

    These are, by their own mark, work, util, output, counters or a probe; and those without any content,
    which a kill left before the first job.  One whose mark names no purpose (made before marks did) stays
    if it holds anything.
    """
    return [
        directory
        for directory in _unheld(volume)
        if _purpose_of(directory) not in (None, "data") or _is_bare(directory)
    ]


def write_tests_under(volume: Path) -> list[Path]:
    """Empty files in one place by which a run that was killed tried whether it may write there."""
    found = []
    for file in sorted(volume.glob(f"{WRITE_TEST_PREFIX}*")):
        with contextlib.suppress(FileNotFoundError):  # its run has just removed it
            status = file.lstat()
            is_old = time.time() - status.st_mtime > WRITE_TEST_SECONDS
            if is_old and stat.S_ISREG(status.st_mode) and status.st_size == 0:
                found.append(file)
    return found


def kept_under(volume: Path) -> list[Path]:
    """Directories in one place that hold something, that no runner holds, and whose mark names no purpose."""
    return [
        directory
        for directory in _unheld(volume)
        if (directory / MARK).exists() and _purpose_of(directory) is None and not _is_bare(directory)
    ]


def unmarked_under(volume: Path) -> list[Path]:
    """Directories in one place that are named like those of runs, hold something, and carry no mark."""
    return [
        directory
        for directory in _unheld(volume)
        if not os.path.lexists(directory / MARK) and not _is_bare(directory)
    ]


def held_under(volume: Path) -> list[Path]:
    """Directories in one place that a living run or probe holds, as their own marks say."""
    return [
        directory
        for directory in _of_runs(volume)
        if _purpose_of(directory) is not None and _held(directory / MARK)
    ]


def _unheld(volume: Path) -> list[Path]:
    """Directories of runs that no runner holds, and those that a kill left half made."""
    return [directory for directory in _of_runs(volume) if not _held(directory / MARK)]


def _of_runs(volume: Path) -> list[Path]:
    """Directories that are named like those of runs, also half made ones."""
    return [
        directory
        for directory in [*sorted(volume.glob(f"{RUN_PREFIX}*")), *sorted(volume.glob(f"{NEW_PREFIX}*"))]
        if not directory.is_symlink() and directory.is_dir() and os.access(directory, os.R_OK)
    ]


def _is_bare(directory: Path) -> bool:
    try:
        return {entry.name for entry in directory.iterdir()} <= {MARK}
    except FileNotFoundError:  # its run has just removed it
        return False


def _purpose_of(directory: Path) -> Purpose | None:
    """What a directory's mark says it is for; None where it has none, or one of another directory's run."""
    try:
        match = _SAID.fullmatch(
            read_regular(directory / MARK, _LARGEST_MARK_BYTES).decode("utf-8", "replace")
        )
    except OSError:
        return None
    if match is None or not directory.name.endswith(f"{RUN_PREFIX}{match['run']}"):
        return None
    return match["purpose"]  # type: ignore[return-value]


def claim_directory(place: Path, run_id: str, purpose: Purpose) -> tuple[Path, int]:
    """A run's marked directory anywhere, and the lock to keep open for as long as the run lasts.

    Errors as ``claim``; FileExistsError where it is already there.
    """
    directory = place / f"{RUN_PREFIX}{run_id}"
    return directory, _make_marked(directory, f"run {run_id} as {purpose}")


def run_of(directory: Path) -> str:
    """The id of the run that a directory belongs to, also one half made; empty where its name has none."""
    return directory.name.partition(RUN_PREFIX)[2]


def remove_leftover(directory: Path) -> Removal | None:
    """Remove what ``leftovers`` found, marked or empty; None where a run holds it by now."""
    if not os.path.lexists(directory / MARK):
        with contextlib.suppress(OSError):
            directory.rmdir()
            return Removal()
    lock = _lock_of(directory / MARK)
    if lock is None:
        return None
    try:
        return remove_tree(directory)
    finally:
        os.close(lock)


def _make_marked(directory: Path, what: str) -> int:
    """Make a directory with mode 0700 and mawl's mark; returns the mark, locked.

    It is made under another name and renamed, so that it never stands there without its mark and lock;
    an empty directory in its place gives way.  What `mawl clean` takes away before it is locked is made
    again.  Raises FileExistsError where something else stands.
    """
    try:
        directory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        while (lock := _make_under_another_name(directory, what)) is None:
            pass
    except FileExistsError:
        raise
    except OSError as error:
        raise UnsuitableMachineError(
            "cannot be made", where=str(directory), why=(error.strerror or str(error)).lower()
        ) from None
    return lock


def _make_under_another_name(directory: Path, what: str) -> int | None:
    """One try of ``_make_marked``; None where somebody took it away before its lock was held."""
    new = directory.parent / f"{NEW_PREFIX}{os.getpid()}-{secrets.token_hex(4)}-{directory.name}"
    new.mkdir(mode=0o700)
    try:
        lock = os.open(new / MARK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        return None
    try:
        os.write(lock, f"made by mawl: {what}\n".encode())
        # Who looks whether it is held holds it for a moment, and who removes it until it is gone.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.fstat(lock).st_nlink == 0:
            os.close(lock)
            return None
        new.rename(directory)
    except OSError as error:
        remove_tree(new)
        os.close(lock)
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise FileExistsError from None
        raise
    return lock


def _held(mark: Path) -> bool:
    if not os.path.lexists(mark):
        return False
    lock = _lock_of(mark)
    if lock is not None:
        os.close(lock)
    return lock is None and os.path.lexists(mark)


def _lock_of(mark: Path) -> int | None:
    """A mark that nobody holds, locked; None for one that a run holds, and for what is none of mawl's."""
    try:
        lock = os.open(mark, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # gone, a link, a directory, or a file of somebody else
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock
