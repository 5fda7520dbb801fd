"""The options a run carries, under the names that SAS shops know (docs/reference/options.md), and roles."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from mawl.base.errors import UsageError, check_name
from mawl.base.printable import printable
from mawl.base.units import parse_size
from mawl.records.definitions import OPTIONS, count, flag, size, text

Role = Literal["data", "work", "util"]
ROLES: tuple[Role, ...] = ("data", "work", "util")

StartMode = Literal["zygote", "spawn"]
OnFailure = Literal["continue", "abort"]
OnLostNode = Literal["continue", "stop"]
CacheMode = Literal["cold", "warm", "none"]
DirectMode = Literal["auto", "yes", "no"]
DIRECT_MODES: tuple[DirectMode, ...] = ("auto", "yes", "no")
VolumeOrder = Literal["rotation", "free-space"]
Arrivals = Literal["clock", "closed"]
ARRIVALS: tuple[Arrivals, ...] = ("clock", "closed")
VOLUME_ORDERS: tuple[VolumeOrder, ...] = ("rotation", "free-space")

MIB = 2**20
AUTO = 0
"""``cpucount=auto``, until a plan knows the processors (``with_threads``)."""


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every job of a run may use.

    ``memsize_bytes`` bounds a job's memory, ``sortsize_bytes`` the memory of a step that declares
    util bytes; both shrink with the scale (docs/design/scales.md) so that such
    steps spill at every scale.  ``bufsize_bytes`` is the sequential request size, ``cpucount`` the
    threads of one job, ``queue_depth`` the random requests that it keeps under way.
    """

    memsize_bytes: Annotated[
        int, Meta(description="memory of one job"), size("Memory a job may use.", OPTIONS)
    ] = 2048 * MIB
    sortsize_bytes: Annotated[
        int,
        Meta(description="memory of a step that sorts or spills"),
        size("Memory a step that declares util bytes may use.", OPTIONS),
    ] = 256 * MIB
    bufsize_bytes: Annotated[
        int,
        Meta(description="size of one sequential request to a table"),
        size("Size of a sequential request.", OPTIONS),
    ] = 256 * 1024
    cpucount: Annotated[
        int,
        Meta(description="threads of one job; auto: the processors divided by the sessions, at least one"),
        count("Threads of one job; 0: each node divides its processors by its sessions.", OPTIONS),
    ] = 1
    queue_depth: Annotated[
        int,
        Meta(description="requests that random_access keeps under way at a time; 1 as SAS by POINT="),
        count("Random requests of one job under way at a time.", OPTIONS),
    ] = 8
    compress: Annotated[
        bool,
        Meta(description="the table formats' own compression; refused by this version"),
        flag("Whether tables are stored compressed.", OPTIONS),
    ] = False
    fullstimer: Annotated[
        bool,
        Meta(description="every step's figures in the job's SAS-style log"),
        flag("Whether SAS-style logs are written.", OPTIONS),
    ] = True
    direct: Annotated[
        DirectMode,
        Meta(
            description="bypass the page cache (O_DIRECT) in random_access and wide_sort's scan; "
            "auto: if the file system allows it; yes: or the job fails; no: never"
        ),
        text("Whether direct I/O is used: auto, yes or no.", OPTIONS),
    ] = "auto"


SIZE_OPTIONS = {"memsize": "memsize_bytes", "sortsize": "sortsize_bytes", "bufsize": "bufsize_bytes"}
PLAIN_OPTIONS = ("cpucount", "queue_depth", "compress", "fullstimer", "direct")
_COUNTS = {"cpucount": 4096, "queue_depth": 256}
"""Options that are counts, from 1 to this."""

OPTION_FIELDS = SIZE_OPTIONS | {name: name for name in PLAIN_OPTIONS}
"""SAS name to field."""


def parse_options(
    given: Mapping[str, int | str | bool], *, where: str, base: Options | None = None
) -> Options:
    """Options from their SAS names (``sortsize = "64MiB"``, ``cpucount = 2``) over ``base``."""
    fields: dict[str, int | bool | str] = {}
    for name, value in given.items():
        if name in SIZE_OPTIONS and not isinstance(value, bool):
            try:
                fields[SIZE_OPTIONS[name]] = size = parse_size(value)
            except UsageError as error:
                raise UsageError(f"{where}: {name}: {error}") from None
            if size < 4096:
                raise UsageError(f"{where}: {name}: expected at least 4 KiB, found {value}")
        elif name == "cpucount" and value == "auto":
            fields[name] = AUTO
        elif name in _COUNTS and str(value).isdecimal() and 1 <= int(value) <= _COUNTS[name]:
            fields[name] = int(value)
        elif name in ("compress", "fullstimer") and str(value).lower() in _SWITCH:
            fields[name] = _SWITCH[str(value).lower()]
            if name == "compress" and fields[name]:
                raise UsageError(f"{where}: compress: this version stores every table uncompressed")
        elif name == "direct" and value in DIRECT_MODES:
            fields[name] = str(value)
        elif name in (*SIZE_OPTIONS, *PLAIN_OPTIONS):
            raise UsageError(f"{where}: {name}: cannot be {value!r}")
        else:
            known = ", ".join((*SIZE_OPTIONS, *PLAIN_OPTIONS))
            raise UsageError(f"{where}: unknown option {name!r}; the options are {known}")
    return msgspec.structs.replace(base or Options(), **fields)


_SWITCH = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


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
