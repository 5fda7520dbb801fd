"""C sources of mawl as shared libraries: compiled at first use and kept in the user's cache.

The name of a library contains a hash of its sources, flags and machine, so mawl compiles a changed one anew.
The last 32 bytes of the file are the SHA-256 of the bytes before them.  The loader ignores these 32 bytes;
mawl checks them first, because a process that loads a library that was cut ends with SIGBUS.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import msgspec

from mawl.base.errors import UnsuitableMachineError, shortened
from mawl.base.foreign import open_regular
from mawl.base.printable import printable
from mawl.base.removal import temporary_directory
from mawl.records.store.files import make_cache

NO_COMPILER = "no C compiler"
_PATIENCE_SECONDS = 120
_DIGEST_BYTES = hashlib.sha256().digest_size


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """What a library is compiled from.

    ``files`` are the texts of sources (``.c``) and headers by file name.  ``flags`` go before the sources and
    ``libraries`` (``-lm``) after them.  The name of the library's file begins with ``name``; messages call
    the library ``title``.
    """

    name: str
    title: str
    files: Mapping[str, str]
    flags: tuple[str, ...]
    libraries: tuple[str, ...] = ()

    @property
    def file_name(self) -> str:
        machine = [platform.machine(), *platform.libc_ver()]
        content = msgspec.json.encode([sorted(self.files.items()), self.flags, self.libraries, machine])
        return f"{self.name}-{hashlib.sha256(content).hexdigest()[:16]}.so"


def find_compiler(environment: Mapping[str, str]) -> str | None:
    """``CC``, cc or gcc on the user's PATH."""
    for name in (environment.get("CC"), "cc", "gcc"):
        found = shutil.which(name, path=environment.get("PATH", os.defpath)) if name else None
        if found:
            return found
    return None


def shared_library(recipe: Recipe, environment: Mapping[str, str]) -> tuple[Path | None, str]:
    """The library in the user's cache, compiled if it is not there or not whole; or None and the reason.

    Never raises.  Processes that compile at the same time each put a whole file in place.
    """
    try:
        path = make_cache(environment) / recipe.file_name
        if path.exists() and path.stat().st_uid != os.geteuid():
            return None, f"{path} belongs to another user"
        complaint = None if is_whole(path) else compile_library(recipe, path, environment)
    except (OSError, UnsuitableMachineError, subprocess.SubprocessError) as error:
        return None, f"{recipe.title} cannot be made: {error}"
    return (path, "") if complaint is None else (None, complaint)


def compile_library(recipe: Recipe, path: Path, environment: Mapping[str, str]) -> str | None:
    """Compile a library, so that the file is whole or not there; None, or why it cannot be compiled.

    Raises OSError if the folder of ``path`` cannot be written or the compiler makes no file, and
    subprocess.SubprocessError if the compiler does not end.
    """
    compiler = find_compiler(environment)
    if compiler is None:
        return NO_COMPILER
    with temporary_directory(".new-", path.parent) as folder:
        for name, text in recipe.files.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        # One unit of all sources: the compiler can then inline calls from one source to another.
        unit, made = Path(folder, "unit.c"), Path(folder, path.name)
        sources = sorted(name for name in recipe.files if name.endswith(".c"))
        unit.write_text("".join(f'#include "{source}"\n' for source in sources))
        done = subprocess.run(
            [compiler, *recipe.flags, str(unit), "-o", str(made), *recipe.libraries],
            env={**os.environ, "LC_ALL": "C"},
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_PATIENCE_SECONDS,
        )
        if done.returncode != 0:
            lines = done.stderr.splitlines()
            errors = [line for line in lines if "error" in line]
            complaint = (errors or lines or [f"exit status {done.returncode}"])[0]
            return f"{compiler} cannot compile {recipe.title}: {printable(shortened(complaint))}"
        with made.open("r+b") as file:
            file.write(hashlib.sha256(file.read()).digest())
        made.rename(path)
    return None


def is_whole(path: Path) -> bool:
    """Whether a library ends with the digest of the rest of it; False if there is no such file."""
    try:
        with open_regular(path) as file:
            content = file.read()
    except OSError:
        return False
    return hashlib.sha256(content[:-_DIGEST_BYTES]).digest() == content[-_DIGEST_BYTES:]
