"""One sentence for whatever ends a job early: what, where, why and the cure."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from mawl.errors import MawlError, WrongAnswerError, cure_of, out_of_inodes
from mawl.measure.account import address_space_limit
from mawl.model.messages import Assignment
from mawl.spec.program_options import ROLES, Role
from mawl.units import format_memory

_FULL = (errno.ENOSPC, errno.EDQUOT)
_FULL_TEXTS = tuple(os.strerror(number).lower() for number in _FULL)
_BROKEN_TEXT = os.strerror(errno.EIO).lower()
_LONGEST = 1500
"""Characters of a sentence at most: with the rest of its message it must fit one pipe write."""


def sentence(
    error: BaseException, assignment: Assignment, step: str | None, refused: Collection[Role] = ()
) -> tuple[str, bool]:
    """The sentence for an error, and whether it is a failed check.

    ``refused`` are the roles where a read or a write of the job failed, as far as anybody counted.
    """
    wrong = isinstance(error, WrongAnswerError)
    text = str(error) if isinstance(error, MawlError) else _foreign(error, assignment, step, refused)
    text = " ".join(text.split())
    return (text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."), wrong


def _foreign(
    error: BaseException, assignment: Assignment, step: str | None, refused: Collection[Role]
) -> str:
    where = f"in step {step}" if step else "before its first step"
    if is_full(error):
        return full_sentence(error, _places(assignment), step)
    if is_broken(error):
        return _broken_sentence(error, assignment, where, refused)
    if isinstance(error, MemoryError) or "OutOfMemory" in type(error).__name__:
        bound, cure = f"memsize ({format_memory(assignment.options.memsize_bytes)})", ""
        if (limit := address_space_limit()) is not None:
            bound += f" or the limit of address space (ulimit -v, {format_memory(limit)})"
            cure = ", or raise the limit"
        return (
            f"needs more memory than {bound} allows {where}: {_first_line(error)}; "
            f"give the job more with memsize{cure}"
        )
    return f"{type(error).__name__} {where}: {_first_line(error)}; the job's log has the traceback"


def is_full(error: BaseException) -> bool:
    """Whether a file system had no space left: an OSError, or what Arrow and DuckDB make of one."""
    if isinstance(error, OSError) and error.errno in _FULL:
        return True
    text = str(error).lower()
    return any(full in text for full in _FULL_TEXTS)


def full_sentence(error: BaseException, places: Mapping[Role, Sequence[str]], step: str | None) -> str:
    """Name the role and directory that are full.

    The file that the error names decides; without one, the file system with the least free space.
    """
    named = f"{getattr(error, 'filename', None) or ''} {error}"
    candidates = [(role, directory) for role, directories in places.items() for directory in directories]
    role, directory = next(
        ((role, directory) for role, directory in candidates if directory in named),
        min(candidates, key=lambda place: free_bytes(place[1])),
    )
    return (
        f"{role} is full: {directory} has {_free(directory)} free while "
        f"step {step} wrote to it; {_room(directory)} or name a larger volume with --{role}"
    )


def _room(directory: str) -> str:
    return "free inodes (remove files)" if out_of_inodes(directory) else "free space"


def is_broken(error: BaseException) -> bool:
    """Whether a device failed (EIO): an OSError, or what Arrow and DuckDB make of one."""
    return (isinstance(error, OSError) and error.errno == errno.EIO) or _BROKEN_TEXT in str(error).lower()


def _broken_sentence(
    error: BaseException, assignment: Assignment, where: str, refused: Collection[Role]
) -> str:
    """Name the role whose device failed: by the file that the error names, else by what was counted."""
    text = str(error)
    roles = [
        role
        for role, directories in {**_places(assignment), "data": _data(assignment)}.items()
        if any(directory in text for directory in directories)
    ]
    named = roles or [role for role in ROLES if role in refused]
    devices = f"a device of {' or '.join(named or ROLES)}"
    return f"{devices} failed {where}: {_first_line(error)}; {broken_cure(named)}"


def broken_cure(roles: Sequence[Role]) -> str:
    """What to do where a device of one of these roles failed; of any role where none is named."""
    options = " or ".join(f"--{role}" for role in roles or ROLES)
    return f"see the kernel's log (dmesg) for the device, or name another directory with {options}"


def not_made_sentence(error: OSError, role: Role) -> str:
    """Why a job's directory under a role cannot be made."""
    cure = cure_of(error, error.filename or ".", f"name another directory with --{role}")
    return (
        f"{error.filename}: the {role} directory of the job cannot be made: "
        f"{(error.strerror or str(error)).lower()}; {broken_cure([role]) if is_broken(error) else cure}"
    )


def free_bytes(directory: str) -> int:
    """Bytes that an ordinary user may still write where a directory is, or was."""
    figures = _figures(directory)
    return figures.f_bavail * figures.f_frsize


def _free(directory: str) -> str:
    """What is left: bytes, or the files where those have run out first."""
    return "no inode" if out_of_inodes(directory) else f"{free_bytes(directory)} bytes"


def _figures(directory: str) -> os.statvfs_result:
    path = Path(directory)
    while not path.exists() and path != path.parent:
        path = path.parent
    return os.statvfs(path)


def _places(assignment: Assignment) -> dict[Role, Sequence[str]]:
    return {"work": assignment.work, "util": assignment.util, "data": [assignment.results]}


def _data(assignment: Assignment) -> list[str]:
    """Where the job's inputs and results lie."""
    return [*assignment.inputs.values(), assignment.results]


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else "no message"
