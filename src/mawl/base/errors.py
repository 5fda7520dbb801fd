"""Every error that a user can meet: what, where, why, cure, and exit code.

Only ``commands`` turns one into text and an exit status; everything below raises.
"""

from __future__ import annotations

import difflib
import errno
import os
from collections.abc import Iterable
from pathlib import Path

from mawl.base.printable import printable

LIMITS = {
    errno.EMFILE: "raise the limit of open files of a process (ulimit -n)",
    errno.ENFILE: "raise the machine's limit of open files (sysctl fs.file-max)",
    errno.EAGAIN: "raise the limit of processes (ulimit -u; in a container pids.max)",
    errno.ENOMEM: "free memory, or raise the limit of a process's address space (ulimit -v)",
    errno.EFBIG: "raise the limit of a file's size (ulimit -f)",
    errno.EDQUOT: "raise the quota",
    errno.EROFS: "mount the file system writable",
    errno.EACCES: "take a directory that this user may write",
    errno.EPERM: "take a directory that this user may write",
    errno.ENOENT: "leave the directory in place while mawl uses it",
    errno.EIO: "see the kernel's log (dmesg) for the device",
}
"""What helps against an error of the kernel, where another directory alone does not."""
LONGEST_PART = 1000
"""Characters of a part of an error's sentence: what a damaged file holds may be long."""


def shortened(text: str) -> str:
    """A part of a sentence at its longest."""
    return text if len(text) <= LONGEST_PART else f"{text[:LONGEST_PART]}..."


class MawlError(Exception):
    """An error with a sentence for the user.

    ``what`` is the sentence's subject and verb, ``where`` a file, key or directory, ``why`` the
    reason, ``cure`` what to do next.  ``str()`` joins what is given into one sentence.
    """

    exit_code = 1

    def __init__(
        self, what: str, *, where: str | None = None, why: str | None = None, cure: str | None = None
    ) -> None:
        self.what, self.where, self.why, self.cure = what, where, why, cure
        super().__init__(what)

    def __str__(self) -> str:
        text = shortened(self.what)
        if self.where:
            text = f"{printable(shortened(self.where))}: {text}"
        if self.why:
            text = f"{text}: {shortened(self.why)}"
        if self.cure:
            text = f"{text}; {self.cure}"
        return printable(text, "\n")


class UsageError(MawlError):
    """The command line, an environment variable or a file given by the user is wrong."""

    exit_code = 2


class InvalidFileError(UsageError):
    """A TOML or JSON file holds something other than what its schema says."""


class BusyMachineError(MawlError):
    """Other programs use the machine, so that a slow answer would not be known."""

    exit_code = 4


class UnsuitableMachineError(MawlError):
    """The machine lacks something that the run needs (space, memory, a permission)."""

    exit_code = 1


class UnreadableRunError(MawlError):
    """A run folder is missing, damaged, or of a version this mawl does not know."""

    exit_code = 1


class DamagedTableError(MawlError):
    """An input or temporary table is not what its manifest or its program says."""

    exit_code = 1


class WrongAnswerError(MawlError):
    """A job's answer failed its check: the job counts as failed and its time does not count."""

    exit_code = 1


class NotStartedError(MawlError):
    """A command that the user named cannot be started; ``exit_code`` is a shell's: 127 or 126."""

    exit_code = 127

    def __init__(self, what: str, exit_code: int = exit_code) -> None:
        super().__init__(what)
        self.exit_code = exit_code


class RunFailedError(MawlError):
    """A run ended, and at least one of its jobs failed."""

    exit_code = 1


class InterruptedRunError(MawlError):
    """The user stopped the run (Ctrl-C or SIGTERM)."""

    exit_code = 130


def cure_of(error: OSError, place: str | os.PathLike[str], otherwise: str) -> str:
    """What to do about an error of the kernel at a place: the limit that was met, and the way around it.

    ``otherwise`` is what helps beside it, such as ``name another directory with --work``.
    """
    if error.errno == errno.ENOSPC:
        return (
            f"{'free inodes (remove files)' if out_of_inodes(place) else 'free space'} there, or {otherwise}"
        )
    limit = LIMITS.get(error.errno or 0)
    return otherwise if limit is None else f"{limit}, or {otherwise}"


def out_of_inodes(place: str | os.PathLike[str]) -> bool:
    """Whether the file system of a place, or of what is left of its path, has blocks and no inodes left."""
    path = Path(place)
    while not path.exists() and path != path.parent:
        path = path.parent
    try:
        figures = os.statvfs(path)
    except OSError:
        return False
    return figures.f_files > 0 and figures.f_favail == 0


def meant(name: str, known: Iterable[str]) -> str:
    """``did you mean "report"? `` where a known name is like this one, else nothing."""
    like = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {like[0]!r}? " if like else ""


def check_name(path: Path, what: str) -> None:
    """UsageError where a directory has a name that is no text; ``what`` it is to be."""
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"{what}: the name of this directory is not UTF-8",
            where=os.fsencode(path.absolute()).decode(errors="backslashreplace"),
            why="run.json, reports and mawl clean name it as text",
            cure="give it, or the directory you are in, another name",
        ) from None
