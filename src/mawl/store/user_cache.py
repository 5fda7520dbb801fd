"""The user's cache directory: what mawl can make again at any time."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path


def cache_place(environment: Mapping[str, str]) -> Path:
    """Its path (XDG base directories), also if it does not exist; RuntimeError if the home is unknown."""
    base = environment.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().absolute() / "mawl"


def make_cache(environment: Mapping[str, str]) -> Path:
    """Make it, writable by its user alone; raises OSError, and what :func:`cache_place` raises."""
    place = cache_place(environment)
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = place.stat()
    if status.st_uid == os.geteuid() and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        place.chmod(0o700)
    return place
