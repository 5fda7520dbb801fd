"""The preload library: compiled at first use, kept in the user's cache, and tested before it is used.

Without a compiler there is a reason, and no I/O by role.
Where mawl is installed for machines without a compiler (a container image), ``install()`` compiles it
next to its sources.  Every user may trust that file: a user who can write there can change mawl itself.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from mawl.base.errors import UnsuitableMachineError
from mawl.base.printable import printable
from mawl.base.removal import temporary_directory
from mawl.measure.preload.counters import COUNTERS_VARIABLE, CounterFile, c_header, create
from mawl.records.compiled import Recipe, compile_library, is_whole, shared_library
from mawl.records.model.role_io import RoleIo
from mawl.records.store.files import cache_place

PRELOAD_VARIABLE = "LD_PRELOAD"

_SOURCES = Path(__file__).parent
_INSTALLED = _SOURCES / "built"
_FLAGS = ("-O2", "-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-plt", "-pthread")
_REFUSAL = re.compile(r"cannot be preloaded \(([^)]*)\)")
"""What the loader writes (ld.so(8)) of a library that it leaves out, with the reason."""
_PATIENCE_SECONDS = 120

_PROBE = """
import os, sys
probe = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
for _ in range(3):
    os.write(probe, bytes(4096))
os.fsync(probe)
os.pread(probe, 100, 4096)
os.close(probe)
"""


class Library(msgspec.Struct, frozen=True):
    """The library's file; or None, and why there is none."""

    path: Path | None
    reason: str | None = None

    def environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """An environment with the library before whatever it preloads already; as it is without one."""
        if self.path is None:
            return dict(environment)
        others = environment.get(PRELOAD_VARIABLE, "").split(":")
        names = [str(self.path), *(name for name in others if name and name != str(self.path))]
        return {**environment, PRELOAD_VARIABLE: ":".join(names)}


def library(environment: Mapping[str, str]) -> Library:
    """The library, compiled if need be and tried; never raises."""
    try:
        return _library(environment)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return Library(None, f"the library that counts cannot be made: {error}")


def install(environment: Mapping[str, str] = os.environ, place: Path | None = None) -> Path:
    """Compile the library for every user of this installation, and try it; the file that was made.

    Raises ``UnsuitableMachineError`` if it cannot be compiled or fails its trial.
    """
    recipe = _recipe()
    path = (place or _INSTALLED) / recipe.file_name
    path.parent.mkdir(exist_ok=True)
    complaint = compile_library(recipe, path, environment) or _try_out(Library(path), environment)
    if complaint is not None:
        path.unlink(missing_ok=True)
        raise UnsuitableMachineError(
            "the library that counts cannot be installed",
            why=complaint,
            cure="install a C compiler and its headers, for example with apt-get install gcc libc6-dev",
        )
    path.parent.chmod(0o755)
    path.chmod(0o755)  # whatever the umask: it is for every user
    return path


def _library(environment: Mapping[str, str]) -> Library:
    recipe = _recipe()
    installed = _INSTALLED / recipe.file_name
    if is_whole(installed) and _unfit_path(installed) is None:
        return _tried(installed, environment)
    place = cache_place(environment)
    unfit = _unfit_path(place)
    if unfit is not None:
        raise ValueError(
            f"the loader's list {PRELOAD_VARIABLE} cannot hold {unfit}, as the cache "
            f"{printable(str(place))} has; set XDG_CACHE_HOME to another directory"
        )
    path, why = shared_library(recipe, environment)
    return Library(None, why) if path is None else _tried(path, environment)


def _unfit_path(path: Path) -> str | None:
    """What of a path the loader takes for something else (ld.so(8)); None where it takes all as it is."""
    names = {" ": "a blank", ":": "a colon", "$": "a dollar sign"}
    return next((name for character, name in names.items() if character in str(path)), None)


def _tried(path: Path, environment: Mapping[str, str]) -> Library:
    made = Library(path)
    wrong = _try_out(made, environment)
    return made if wrong is None else Library(None, wrong)


def _recipe() -> Recipe:
    files = {path.name: path.read_text() for path in (*_SOURCES.glob("*.c"), _SOURCES / "tap.h")}
    return Recipe(
        name="counters",
        title="the library that counts",
        files={**files, "layout.h": c_header()},
        flags=_FLAGS,
        libraries=("-ldl",),
    )


def _try_out(made: Library, environment: Mapping[str, str]) -> str | None:
    """Known calls of a small program must be counted exactly; None, or what is wrong."""
    with temporary_directory("mawl-probe-") as folder:
        files, counters = folder / "files", folder / "counters" / "probe"
        files.mkdir()
        counters.parent.mkdir()
        create(counters, {"data": [], "work": [files], "util": []})
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _PROBE, str(files / "probe")],
            env={**made.environment(environment), COUNTERS_VARIABLE: str(counters)},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=_PATIENCE_SECONDS,
        )
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
            return f"a program does not start with the library that counts: {last}"
        if (refusal := _REFUSAL.search(done.stderr)) is not None:
            return (
                f"the loader refuses the library that counts: {refusal[1]}; set XDG_CACHE_HOME to a "
                "directory whose file system may hold programs (not mounted with noexec)"
            )
        found = CounterFile(counters).by_role()["work"]
    expected = RoleIo(
        reads=1,
        read_bytes=100,
        writes=3,
        written_bytes=12288,
        sequential_written_bytes=8192,
        syncs=1,
        opens=1,
    )
    counts = [name for name in RoleIo.__struct_fields__ if isinstance(getattr(expected, name), int)]
    wrong = {name: getattr(found, name) for name in counts if getattr(found, name) != getattr(expected, name)}
    return f"the library that counts failed its trial: {wrong}" if wrong else None
