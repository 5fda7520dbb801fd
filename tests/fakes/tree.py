"""A folder that stands in for /proc, /sys or a whole machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def plant(root: Path, files: Mapping[str, str]) -> None:
    """Write files by their path below ``root``, with the directories on the way."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
