"""A file of options of ``mawl run``: one side of ``--ab``, or a profile that ``mawl tune search`` wrote."""

from __future__ import annotations

from pathlib import Path

from mawl.config import toml
from mawl.config.run_profile import RunProfile, check_profile
from mawl.model.options import CacheMode, OnFailure, StartMode


class RunOptions(RunProfile, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a profile sets, and more options of ``mawl run``; what is not set stays as the command line says.

    ``title``, ``format_version`` and ``origin`` set nothing.
    """

    workload: str | None = None
    scale: str | float | None = None
    seed: int | None = None
    saving: float | None = None
    start: StartMode | None = None
    on_failure: OnFailure | None = None
    timeout: float | None = None
    cores: int | str | None = None
    memory_limit: int | str | None = None
    cache: CacheMode | None = None
    drop_caches: bool = False
    compressibility: str | None = None


NO_WORDS = ("title", "format_version", "origin", "workload", "options")


def load_run_options(path: Path) -> RunOptions:
    """The file, checked; :class:`~mawl.errors.InvalidFileError` names the key that is wrong."""
    options = toml.load(path, RunOptions)
    check_profile(options, str(path))
    return options


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
