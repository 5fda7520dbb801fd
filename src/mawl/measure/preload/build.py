"""The library is compiled at first use, kept in the user's cache, and tried before it is used.

Its file is named by a hash of the sources, the layout and the machine, so that a changed one is
compiled anew and an old one never met.  Without a compiler there is a reason, and no I/O by role.
Where mawl is installed for machines without a compiler (a container image), ``install()`` compiles it
next to its sources.  Every user may trust that file: a user who can write there can change mawl itself.
"""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from mawl.compiled import NO_COMPILER, find_compiler
from mawl.errors import UnsuitableMachineError
from mawl.measure.preload.counters import COUNTERS_VARIABLE, CounterFile, create
from mawl.measure.preload.layout import c_header
from mawl.model.role_io import RoleIo
from mawl.store.user_cache import cache_place, make_cache

PRELOAD_VARIABLE = "LD_PRELOAD"

_SOURCES = Path(__file__).parent
_INSTALLED = _SOURCES / "built"
_FLAGS = ("-O2", "-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-plt", "-pthread")
_LIBRARIES = ("-ldl",)
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

    Raises :class:`~mawl.errors.UnsuitableMachineError` where it cannot be compiled or fails its trial.
    """
    compiler = find_compiler(environment)
    path = (place or _INSTALLED) / _name()
    path.parent.mkdir(exist_ok=True)
    complaint = NO_COMPILER if compiler is None else _compile(compiler, path)
    complaint = complaint or _try_out(Library(path), environment)
    if complaint is not None:
        path.unlink(missing_ok=True)
        raise UnsuitableMachineError(
            "the library that counts cannot be installed",
            why=complaint,
            cure="install a C compiler and its headers, for example with apt-get install gcc libc6-dev",
        )
    return path


def is_ready(environment: Mapping[str, str]) -> bool:
    """Whether the library is there already, so that no compiler is needed; nothing is made or tried."""
    return any((place / _name()).exists() for place in (_INSTALLED, cache_place(environment)))


def _library(environment: Mapping[str, str]) -> Library:
    path = _INSTALLED / _name()
    if path.exists():
        return _tried(path, environment)
    path = make_cache(environment) / _name()
    if not path.exists():
        compiler = find_compiler(environment)
        if compiler is None:
            return Library(None, NO_COMPILER)
        complaint = _compile(compiler, path)
        if complaint is not None:
            return Library(None, f"{compiler} cannot compile the library that counts: {complaint}")
    elif path.stat().st_uid != os.geteuid():
        return Library(None, f"{path} belongs to another user")
    return _tried(path, environment)


def _tried(path: Path, environment: Mapping[str, str]) -> Library:
    made = Library(path)
    wrong = _try_out(made, environment)
    return made if wrong is None else Library(None, wrong)


def _name() -> str:
    return f"counters-{_hash()}.so"


def _sources() -> list[Path]:
    return sorted(_SOURCES.glob("*.c"))


def _hash() -> str:
    content = [c_header().encode(), *(path.read_bytes() for path in (*_sources(), _SOURCES / "tap.h"))]
    content.append(" ".join([*_FLAGS, *_LIBRARIES, platform.machine(), *platform.libc_ver()]).encode())
    return hashlib.sha256(b"\0".join(content)).hexdigest()[:16]


def _compile(compiler: str, path: Path) -> str | None:
    """Make the file whole or not at all; the compiler's first complaint, or None."""
    with tempfile.TemporaryDirectory(prefix=".new-", dir=path.parent) as folder:
        made = Path(folder, path.name)
        Path(folder, "layout.h").write_text(c_header())
        # As one unit, so that calls between the sources are none in the library.
        whole = Path(folder, "library.c")
        whole.write_text("".join(f'#include "{source}"\n' for source in _sources()))
        command = [compiler, *_FLAGS, f"-I{folder}", str(whole), "-o", str(made), *_LIBRARIES]
        done = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=_PATIENCE_SECONDS
        )
        if done.returncode != 0:
            errors = [
                line for line in done.stderr.splitlines() if "error" in line
            ] or done.stderr.splitlines()
            return (errors or [f"exit status {done.returncode}"])[0]
        made.rename(path)
    return None


def _try_out(made: Library, environment: Mapping[str, str]) -> str | None:
    """Known calls of a small program must be counted exactly; None, or what is wrong."""
    with tempfile.TemporaryDirectory(prefix="mawl-probe-") as folder:
        files, counters = Path(folder, "files"), Path(folder, "counters", "probe")
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
