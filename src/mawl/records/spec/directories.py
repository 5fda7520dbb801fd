"""The directories of the roles: which paths are refused, and which overlap."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from mawl.base.errors import UsageError, check_name
from mawl.base.printable import printable
from mawl.records.spec.program_options import Role

SYSTEM_DIRECTORIES = (
    *("/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/proc", "/root", "/run", "/sbin"),
    *("/sys", "/usr", "/var"),
)
"""Never a role themselves.  A directory below most of them may be one, and so may any mount point."""


def role_place(role: Role, text: str) -> Path:
    """A directory of a role; UsageError for no name and for directories of the system."""
    if not text:
        raise UsageError(
            f"--{role} is empty",
            why="a shell variable that is not set reads like that",
            cure=f"name a directory, or leave --{role} out for ./mawl-{role}",
        )
    path = Path(text)
    check_name(path, f"--{role}")
    real = os.path.realpath(path)
    if real in SYSTEM_DIRECTORIES or real.startswith(("/proc/", "/sys/")):
        raise UsageError(
            f"--{role} names a directory of the system",
            where=printable(real),
            why="mawl makes directories there and removes them again",
            cure=f"name a separate one, such as {os.path.join(real, f'mawl-{role}')}"
            if real in ("/", "/home", "/root", "/var")
            else "name a directory on the storage that you measure",
        )
    return path


def is_there(path: Path) -> bool:
    """Whether a path exists; False, too, where this user may not look (Path.exists raises then)."""
    with contextlib.suppress(OSError):
        return path.exists()
    return False


def refuse_overlaps(places: Mapping[Role, Sequence[Path]]) -> None:
    """Refuse two names of one directory, and within a role a directory inside another.

    Their bytes could not be told apart.  A role inside another role's directory is well.
    """
    known = [(role, path, os.path.realpath(path)) for role in places for path in places[role]]
    for place, (role, path, real) in enumerate(known):
        for other_role, other, other_real in known[:place]:
            names = f"--{role}" if role == other_role else f"--{other_role} and --{role}"
            if real == other_real or (is_there(path) and is_there(other) and path.samefile(other)):
                twice = (
                    "the same directory twice" if str(other) == str(path) else "one directory by two names"
                )
                verb = "names" if role == other_role else "name"
                raise UsageError(
                    f"{names} {verb} {twice}: {other}" + ("" if str(other) == str(path) else f" and {path}"),
                    cure="give each volume its own directory",
                )
            inner, outer = (path, other) if real.startswith(other_real + os.sep) else (other, path)
            if role == other_role and os.path.realpath(inner).startswith(os.path.realpath(outer) + os.sep):
                raise UsageError(
                    f"--{role} names {inner}, which lies inside {outer}",
                    why="what is written to the one would count for the other",
                    cure="give each volume its own directory",
                )
