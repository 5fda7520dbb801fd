"""Where things lie and what a user prefers: option, then environment, then ``mawl.toml``, then default."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from mawl.config import toml
from mawl.errors import UsageError, check_name
from mawl.model.options import DIRECT_MODES, ROLES, OnFailure, Options, Role, StartMode, VolumeOrder
from mawl.printable import printable
from mawl.units import parse_size

FILE_NAME = "mawl.toml"
SYSTEM_DIRECTORIES = (
    *("/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/proc", "/root", "/run", "/sbin"),
    *("/sys", "/usr", "/var"),
)
"""Never a role themselves.  A directory below most of them may be one, and so may any mount point."""

SIZE_OPTIONS = {"memsize": "memsize_bytes", "sortsize": "sortsize_bytes", "bufsize": "bufsize_bytes"}
PLAIN_OPTIONS = ("cpucount", "compress", "fullstimer", "direct")


class FileSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of ``mawl.toml``."""

    runs: str | None = None
    data: str | list[str] | None = None
    work: str | list[str] | None = None
    util: str | list[str] | None = None
    scale: str | float | None = None
    start: StartMode | None = None
    on_failure: OnFailure | None = None
    html: Literal["yes", "no"] | None = None
    compressibility: Literal["yes", "no"] | None = None
    cores: int | str | None = None
    memory_limit: int | str | None = None
    seed: int | None = None
    saving: float | None = None
    processes: int | None = None
    volume_order: VolumeOrder | None = None
    most_slowdown: float | None = None
    guideline_warn: int | str | None = None
    guideline_good: int | str | None = None
    options: dict[str, int | str | bool] = {}


class Settings:
    """Looks a setting up in order: command-line value, ``MAWL_NAME``, ``mawl.toml``, default."""

    def __init__(self, environment: Mapping[str, str], directory: Path) -> None:
        self.environment = environment
        named = environment.get("MAWL_CONFIG")
        path = Path(named) if named else directory / FILE_NAME
        self.file = toml.load(path, FileSettings) if named or os.path.lexists(path) else FileSettings()

    def text(self, name: str, given: object, default: str) -> str:
        """One setting as text."""
        return self.optional_text(name, given) or default

    def optional_text(self, name: str, given: object) -> str | None:
        """One setting as text, None where nobody set it."""
        for value in (given, self.environment.get(f"MAWL_{name.upper()}"), getattr(self.file, name)):
            if value is not None and value != "":
                return str(value)
        return None

    def choice(self, name: str, given: object, allowed: tuple[str, ...]) -> Any:
        """One setting out of those allowed, the first where nobody set it."""
        value = self.text(name, given, allowed[0])
        if value not in allowed:
            raise UsageError(f"{name}: expected {' or '.join(allowed)}, found {value!r}")
        return value

    def number(self, name: str, given: float | None, default: float) -> float:
        """One setting as a number."""
        text = self.text(name, given, str(default))
        try:
            return float(text)
        except ValueError:
            raise UsageError(f"{name}: expected a number, found {text!r}") from None

    def whole(self, name: str, given: int | None, default: int, low: int, high: int) -> int:
        """One setting as a whole number from ``low`` to ``high``."""
        text = self.text(name, given, str(default))
        value = int(text) if text.lstrip("-").isdecimal() and len(text) < 20 else None
        if value is None or not low <= value <= high:
            raise UsageError(f"{name}: expected a whole number from {low} to {high}, found {text!r}")
        return value

    def roles(self, given: Mapping[Role, Sequence[str] | None]) -> dict[Role, list[Path]]:
        """The directories of each role; an environment variable separates several with ``:``."""
        places: dict[Role, list[Path]] = {}
        for role in ROLES:
            paths: Sequence[str] | str | None = given.get(role)
            if not paths:
                variable = self.environment.get(f"MAWL_{role.upper()}")
                paths = variable.split(os.pathsep) if variable else getattr(self.file, role)
            if isinstance(paths, str):
                paths = [paths]
            places[role] = [_role_place(role, path) for path in paths or [f"mawl-{role}"]]
        _refuse_overlaps(places)
        return places

    def runs(self, given: str | None) -> Path:
        """The directory of run folders."""
        return Path(self.text("runs", given, "runs"))

    def options(self, given: Sequence[str]) -> Options:
        """Run options from ``mawl.toml`` and then ``--option NAME=VALUE``."""
        chosen = parse_options(self.file.options, where=FILE_NAME)
        pairs: dict[str, int | str | bool] = {}
        for text in given:
            name, separator, value = text.partition("=")
            if not separator:
                raise UsageError(f"--option {text}: expected NAME=VALUE, such as sortsize=64MiB")
            pairs[name] = value
        return parse_options(pairs, where="--option", base=chosen)


def _role_place(role: Role, text: str) -> Path:
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
            cure=f"name one of its own, such as {os.path.join(real, f'mawl-{role}')}"
            if real in ("/", "/home", "/root", "/var")
            else "name a directory on the storage that you measure",
        )
    return path


def _refuse_overlaps(places: Mapping[Role, Sequence[Path]]) -> None:
    """Refuse two names of one directory, and within a role a directory inside another.

    Their bytes could not be told apart.  A role inside another role's directory is well.
    """
    known = [(role, path, os.path.realpath(path)) for role in places for path in places[role]]
    for place, (role, path, real) in enumerate(known):
        for other_role, other, other_real in known[:place]:
            names = f"--{role}" if role == other_role else f"--{other_role} and --{role}"
            if real == other_real or (path.exists() and other.exists() and path.samefile(other)):
                twice = (
                    "the same directory twice" if str(other) == str(path) else "one directory by two names"
                )
                verb = "names" if role == other_role else "name"
                raise UsageError(
                    f"{names} {verb} {twice}: {other}" + ("" if str(other) == str(path) else f" and {path}"),
                    cure="give each volume a directory of its own",
                )
            inner, outer = (path, other) if real.startswith(other_real + os.sep) else (other, path)
            if role == other_role and os.path.realpath(inner).startswith(os.path.realpath(outer) + os.sep):
                raise UsageError(
                    f"--{role} names {inner}, which lies inside {outer}",
                    why="what is written to the one would count for the other",
                    cure="give each volume a directory of its own",
                )


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
        elif name == "cpucount" and str(value).isdecimal() and 1 <= int(value) <= 4096:
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
