"""The shell script that collects a platform's settings: what `mawl tune collector PLATFORM` prints."""

from __future__ import annotations

from pathlib import Path

SCRIPTS = Path(__file__).parent / "scripts"


def collector(platform: str) -> str:
    """The script, in plain sh; ``platform`` is one of ``formats.settings.collected.PLATFORMS``."""
    parts = ((SCRIPTS / f"{name}.sh").read_text() for name in ("head", platform, "foot"))
    return "".join(parts).replace("PLATFORM", platform)
