"""A profile of run options: what ``mawl tune search`` found and ``mawl run --profile FILE`` applies.

What a file says is checked whole: unknown keys, options that cannot be, directories twice, are refused with
file, key and reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from mawl.config import toml
from mawl.config.settings import parse_options
from mawl.errors import InvalidFileError, UsageError
from mawl.model.options import Role, VolumeOrder

RUN_PROFILE_VERSION = "1.0"

OptionValue = int | str | bool


class Origin(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a profile came from; nothing of it is applied."""

    campaign: str
    """The campaign's id."""
    created_at: str
    workload: str
    objective: str
    statement: str
    change_ratio: float
    """Of the objective's figure: candidate over baseline less 1, with its interval."""
    low_ratio: float
    high_ratio: float
    confidence: float
    pairs: int
    """Pairs of a run with the profile and one without that this rests on."""


class RunProfile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of a run; what is not set stays as it is."""

    format_version: str = RUN_PROFILE_VERSION
    title: str = ""
    sessions: Annotated[int, Meta(ge=1)] | None = None
    volume_order: VolumeOrder | None = None
    options: dict[str, OptionValue] = {}
    """Under their SAS names: ``sortsize = "64MiB"``."""
    data: list[str] | None = None
    work: list[str] | None = None
    util: list[str] | None = None
    origin: Origin | None = None

    def directories(self, role: Role) -> list[str] | None:
        """The directories of a role; None where the profile leaves them as they are."""
        places: list[str] | None = getattr(self, role)
        return places


def load_run_profile(path: Path) -> RunProfile:
    """A file as a profile; :class:`~mawl.errors.InvalidFileError` names the key that is wrong."""
    profile = toml.load(path, RunProfile)
    where = str(path)
    check_profile(profile, where)
    if not any((profile.options, profile.sessions, profile.volume_order, profile.data, profile.work)) and (
        profile.util is None
    ):
        raise InvalidFileError("sets nothing", where=where, cure="give it options, sessions or directories")
    return profile


def check_profile(profile: RunProfile, where: str) -> None:
    """Refuse what its schema cannot: another version, options that cannot be, directories twice."""
    if profile.format_version.partition(".")[0] != RUN_PROFILE_VERSION.partition(".")[0]:
        raise InvalidFileError(
            f"key format_version: this mawl reads {RUN_PROFILE_VERSION}, found {profile.format_version!r}",
            where=where,
        )
    check_options(profile.options, where=f"{where}: key options")
    for role in ("data", "work", "util"):
        check_directories(getattr(profile, role), f"{where}: key {role}")


def check_options(options: Mapping[str, OptionValue], *, where: str) -> None:
    """Refuse what is no option, or out of its range, with file and key."""
    try:
        parse_options(options, where=where)
    except UsageError as error:
        raise InvalidFileError(str(error)) from None


def check_directories(places: Sequence[str] | None, where: str) -> None:
    """Refuse a list of directories that is empty or names one twice."""
    if places is None:
        return
    if not places or not all(places):
        raise InvalidFileError("expected at least one directory, each with a name", where=where)
    twice = [place for place in places if places.count(place) > 1]
    if twice:
        raise InvalidFileError(f"names {twice[0]} twice", where=where)
