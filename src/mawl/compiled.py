"""C sources of mawl as shared libraries: compiled at first use and kept in the user's cache.

A library is named by a hash of its source, flags and machine, so that a changed one is compiled anew.  Its
last 32 bytes are the SHA-256 of those before, which the loader passes over: to load a library that was cut
would end the process (SIGBUS).
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from mawl.foreign import open_regular
from mawl.store.user_cache import make_cache

NO_COMPILER = "no C compiler"
_PATIENCE_SECONDS = 120
_DIGEST_BYTES = hashlib.sha256().digest_size


def find_compiler(environment: Mapping[str, str]) -> str | None:
    """``CC``, cc or gcc on the user's PATH."""
    for name in (environment.get("CC"), "cc", "gcc"):
        found = shutil.which(name, path=environment.get("PATH", os.defpath)) if name else None
        if found:
            return found
    return None


def shared_library(
    source: Path, name: str, flags: Sequence[str], environment: Mapping[str, str]
) -> tuple[Path | None, str]:
    """The library of one source file, compiled if it is not there or not whole; or None and the reason.

    ``flags`` go before the source; ``name`` begins the library's.  Raises OSError where the cache cannot be
    written, and subprocess.SubprocessError where the compiler does not end.
    """
    content = source.read_bytes() + " ".join([*flags, platform.machine(), *platform.libc_ver()]).encode()
    path = make_cache(environment) / f"{name}-{hashlib.sha256(content).hexdigest()[:16]}.so"
    if path.exists():
        if path.stat().st_uid != os.geteuid():
            return None, f"{path} belongs to another user"
        if _is_whole(path):
            return path, ""
    compiler = find_compiler(environment)
    if compiler is None:
        return None, NO_COMPILER
    with tempfile.TemporaryDirectory(prefix=".new-", dir=path.parent) as folder:
        made = Path(folder, path.name)
        done = subprocess.run(
            [compiler, *flags, str(source), "-o", str(made), "-lm"],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=_PATIENCE_SECONDS,
        )
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if "error" in line]
            return None, (errors or done.stderr.splitlines() or [f"exit status {done.returncode}"])[0]
        with made.open("r+b") as file:
            file.write(hashlib.sha256(file.read()).digest())
        made.rename(path)
    return path, ""


def _is_whole(path: Path) -> bool:
    """Whether a library ends with the digest of the rest of it."""
    try:
        with open_regular(path) as file:
            content = file.read()
    except OSError:
        return False
    return hashlib.sha256(content[:-_DIGEST_BYTES]).digest() == content[-_DIGEST_BYTES:]
