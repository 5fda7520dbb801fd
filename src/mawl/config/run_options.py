"""A file of options of ``mawl run``: one side of ``--ab``, or a profile that ``mawl tune search`` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from mawl.config import toml
from mawl.model.options import CacheMode, OnFailure, StartMode, VolumeOrder


class RunOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of the file, each an option of ``mawl run``; what is not set stays as the command line says.

    ``title``, ``format_version`` and ``origin`` set nothing: a profile has them.
    """

    title: str = ""
    format_version: str | None = None
    origin: dict[str, Any] = {}
    workload: str | None = None
    sessions: int | None = None
    scale: str | float | None = None
    seed: int | None = None
    saving: float | None = None
    data: list[str] | None = None
    work: list[str] | None = None
    util: list[str] | None = None
    volume_order: VolumeOrder | None = None
    start: StartMode | None = None
    on_failure: OnFailure | None = None
    timeout: float | None = None
    cores: int | str | None = None
    memory_limit: int | str | None = None
    cache: CacheMode | None = None
    drop_caches: bool = False
    compressibility: str | None = None
    options: dict[str, int | str | bool] = {}


NO_WORDS = ("title", "format_version", "origin", "workload", "options")


def load_run_options(path: Path) -> RunOptions:
    """The file, checked; :class:`~mawl.errors.InvalidFileError` names the key that is wrong."""
    return toml.load(path, RunOptions)


def words_of(options: RunOptions) -> list[str]:
    """The options as arguments of ``mawl run``."""
    words: list[str] = []
    for name in RunOptions.__struct_fields__:
        value = getattr(options, name)
        if name in NO_WORDS or value is None or value is False:
            continue
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif isinstance(value, list):
            words += [option, *value]
        else:
            words.append(f"{option}={value}")
    return words + [f"--option={name}={_text(value)}" for name, value in options.options.items()]


def _text(value: int | str | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
