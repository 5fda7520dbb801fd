"""Directories and preferences: command line first, then environment, then ``mawl.toml``, then default."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.base.errors import UsageError
from mawl.records.spec import toml
from mawl.records.spec.program_options import ROLES, Role, refuse_overlaps, role_place
from mawl.records.spec.sources import Layer, keys_of, layer_of, layer_of_environment

FILE_NAME = "mawl.toml"


class SettingBounds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of ``mawl.toml`` that decide no run, but what is said of it."""

    answer_bound: float | None = None
    most_slowdown: object = None
    """Before reference times; refused (``commands.arguments.bounds_of``)."""
    guideline_warn: int | str | None = None
    guideline_good: int | str | None = None
    options: dict[str, int | str | bool] = {}


FileSettings = msgspec.defstruct(
    "FileSettings",
    keys_of("settings"),
    bases=(SettingBounds,),
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    module=__name__,
)
"""The keys of ``mawl.toml``."""


class Settings:
    """Looks a setting up in order: command-line value, ``MAWL_NAME``, ``mawl.toml``, default."""

    def __init__(self, environment: Mapping[str, str], directory: Path) -> None:
        self.environment = environment
        named = environment.get("MAWL_CONFIG")
        path = Path(named) if named else directory / FILE_NAME
        self.file = toml.load(path, FileSettings) if named or os.path.lexists(path) else FileSettings()

    def text(self, name: str, given: object, default: str) -> str:
        return self.optional_text(name, given) or default

    def optional_text(self, name: str, given: object) -> str | None:
        for value in (given, self.environment.get(f"MAWL_{name.upper()}"), getattr(self.file, name)):
            if value is not None and value != "":
                return str(value)
        return None

    def number(self, name: str, given: float | None, default: float) -> float:
        text = self.text(name, given, str(default))
        try:
            return float(text)
        except ValueError:
            raise UsageError(f"{name}: expected a number, found {text!r}") from None

    def roles(self, given: Mapping[Role, Sequence[str] | None]) -> dict[Role, list[Path]]:
        """The directories of each role; an environment variable separates several with ``:``."""
        places: dict[Role, list[Path]] = {}
        for role in ROLES:
            paths: Sequence[str] | str | None = given.get(role)
            if not paths:
                variable = self.environment.get(f"MAWL_{role.upper()}")
                paths = variable.split(os.pathsep) if variable else getattr(self.file, role)
            if isinstance(paths, str):
                paths = [paths]
            places[role] = [role_place(role, path) for path in paths or [f"mawl-{role}"]]
        refuse_overlaps(places)
        return places

    def runs(self, given: str | None) -> Path:
        return Path(self.text("runs", given, "runs"))

    def layer(self) -> Layer:
        of_file = layer_of(self.file, "settings", FILE_NAME)
        return of_file.under(layer_of_environment(self.environment))
