"""Maps of an array's columns: a user's file over a shipped preset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mawl.errors import InvalidFileError
from mawl.formats.array_map import ArrayMap, checked
from mawl.spec import toml

PRESETS = Path(__file__).parent / "presets"


def presets() -> list[str]:
    """Names of the shipped presets."""
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def load_map(path: Path) -> ArrayMap:
    """A user's map with what its preset says; :class:`~mawl.errors.InvalidFileError` names the key."""
    own = toml.load(path, dict[str, Any])
    name = own.get("preset")
    if name is None:
        return checked(toml.converted(own, ArrayMap, where=str(path)), str(path))
    if name not in presets():
        raise InvalidFileError(f"key preset: {name!r} is not one of {', '.join(presets())}", where=str(path))
    shipped = toml.load(PRESETS / f"{name}.toml", dict[str, Any])
    for table in ("figures", "roles"):
        if isinstance(own.get(table, {}), dict):
            own[table] = {**shipped.get(table, {}), **own.get(table, {})}
    return checked(toml.converted({**shipped, **own}, ArrayMap, where=str(path)), str(path))
