"""C sources of mawl as shared libraries: compiled at first use and kept in the user's cache.

A library is named by a hash of its source, flags and machine, so that a changed one is compiled anew.
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

from mawl.store.user_cache import make_cache

NO_COMPILER = "no C compiler"
_PATIENCE_SECONDS = 120


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
    """The library of one source file, compiled where it is not there yet; or None and the reason.

    ``flags`` go before the source; ``name`` begins the library's.  Raises OSError where the cache cannot be
    written, and subprocess.SubprocessError where the compiler does not end.
    """
    content = source.read_bytes() + " ".join([*flags, platform.machine(), *platform.libc_ver()]).encode()
    path = make_cache(environment) / f"{name}-{hashlib.sha256(content).hexdigest()[:16]}.so"
    if path.exists():
        return (path, "") if path.stat().st_uid == os.geteuid() else (None, f"{path} belongs to another user")
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
        made.rename(path)
    return path, ""
