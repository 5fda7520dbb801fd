"""The version of mawl and the digest of its code, below all packages: every record and report states them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

__version__ = "0.2.0"

SOURCES = frozenset({".py", ".toml", ".html", ".js", ".css", ".c"})
"""Suffixes of what mawl's code is written in."""


@cache
def source_sha256() -> str:
    """SHA-256 of the installed code of mawl: of the names and contents of its sources (``SOURCES``).

    The same for a wheel and for a checkout of the same commit; another for a changed line.
    """
    return digest_of(Path(__file__).parent)


def digest_of(folder: Path) -> str:
    """SHA-256 over the sources below a folder, in the order of their names."""
    import hashlib  # takes OpenSSL, which the launcher does without

    whole = hashlib.sha256()
    for path in sorted(_sources(folder), key=lambda path: path.relative_to(folder).as_posix()):
        content = path.read_bytes()
        whole.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
        whole.update(content)
    return whole.hexdigest()


def _sources(folder: Path) -> Iterable[Path]:
    return (path for path in folder.rglob("*") if path.suffix in SOURCES and path.is_file())
