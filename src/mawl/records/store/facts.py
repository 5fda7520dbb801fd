"""``run.json``: written whole or not at all, checked when read; points in time are ISO 8601 text in it."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from mawl.base.errors import UnreadableRunError
from mawl.base.foreign import json_tree
from mawl.base.units import format_instant, parse_instant
from mawl.records.model.run import RunFacts
from mawl.records.spec.program_options import Options
from mawl.records.store.files import (
    FACTS,
    FORMAT_VERSION,
    LARGEST_NUMBER,
    OLDEST,
    QUALIFICATION,
    major,
    read_bounded,
    replace_file,
    version_numbers,
)

Record = TypeVar("Record")
Plain = dict[str, Any]


EARLIEST_AT, LATEST_AT = (
    datetime(year, month, day, tzinfo=UTC).timestamp() for year, month, day in ((1, 1, 2), (9999, 12, 30))
)
"""The first and the last time that every time zone can write as a date."""


def decoded(content: bytes) -> Any:
    """Plain data out of JSON whose numbers can be added up; ValueError for anything else."""
    plain = json_tree(content)
    waiting = [plain]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, int | float) and not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
            raise ValueError(f"a number lies beyond {LARGEST_NUMBER:g}, which no figure has")
    return plain


def in_calendar(at: float) -> bool:
    """Whether a point in time can be written as a date."""
    return EARLIEST_AT <= at <= LATEST_AT


def is_instant(name: str) -> bool:
    """Whether a field is a point in time."""
    return name.endswith("_at")


def to_plain(record: msgspec.Struct) -> Plain:
    """A record's fields, ready for JSON."""
    plain: Plain = msgspec.to_builtins(record)
    for name, value in plain.items():
        if is_instant(name) and value is not None:
            plain[name] = format_instant(value)
    return plain


def line_of(record: msgspec.Struct) -> bytes:
    """The JSON of ``to_plain``, without making plain data of what is inside."""
    plain: Plain = {"type": record.__struct_config__.tag}
    for name in record.__struct_fields__:
        value = getattr(record, name)
        plain[name] = format_instant(value) if value is not None and is_instant(name) else value
    return msgspec.json.encode(plain)


def from_plain(plain: object, kind: type[Record]) -> Record:
    """A record from plain data; unknown fields are ignored.

    Raises ValueError (``msgspec.ValidationError`` is one) that says which key is wrong, and how.
    """
    if not isinstance(plain, dict):
        raise ValueError(f"expected `object`, got `{type(plain).__name__}`")
    values = dict(plain)
    for name, value in plain.items():
        if isinstance(name, str) and is_instant(name) and value is not None:
            values[name] = instant_of(name, value)
    if kind is RunFacts:
        _drop_unknown_options(values)
    return msgspec.convert(values, kind, str_keys=True)


def instant_of(name: str, value: object) -> float:
    """Seconds since the epoch from ISO 8601 text; ValueError names the field otherwise."""
    if isinstance(value, str):
        try:
            at = parse_instant(value)
        except (ValueError, OverflowError):
            at = math.inf
        if in_calendar(at):
            return at
    raise ValueError(f"expected a time such as 2026-01-31T08:00:00Z, got {str(value)[:40]!r} - at `$.{name}`")


def _drop_unknown_options(facts: Plain) -> None:
    """Options refuse unknown names in a user's file; in a run they are a newer writer's."""
    for part in ("workload", "spec"):
        held = facts.get(part)
        if isinstance(held, dict) and isinstance(held.get("options"), dict):
            known = {
                name: value for name, value in held["options"].items() if name in Options.__struct_fields__
            }
            facts[part] = {**held, "options": known}


def write_facts(folder: Path, facts: RunFacts) -> None:
    """Write ``run.json`` atomically, in the current format."""
    plain = to_plain(msgspec.structs.replace(facts, format_version=FORMAT_VERSION))
    replace_file(folder / FACTS, msgspec.json.format(msgspec.json.encode(plain), indent=2) + b"\n")


def read_facts(folder: Path) -> RunFacts:
    """The facts of a run.  Raises ``UnreadableRunError`` naming the file, and the key that is wrong."""
    path = folder / FACTS
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        if (folder / QUALIFICATION).exists():
            raise UnreadableRunError(
                "is the folder of a qualification, not of a run",
                where=str(folder),
                cure=f"name one of its runs, which are in {folder / 'runs'}",
            ) from None
        raise UnreadableRunError(
            f"is not a run folder, or its run was killed before it began: it has no {FACTS}",
            where=str(folder),
            cure="name the folder of a run, its id, or latest; mawl clean removes what a killed run left",
        ) from None
    except OSError:
        pass  # of a folder that may not be searched the reader below says why
    cure = "check its permissions, or copy the run to where you may read it"
    return _decode(path, read_bounded(path, cure, inside=folder))


def _decode(path: Path, content: bytes) -> RunFacts:
    try:
        plain = decoded(content)
    except ValueError as error:
        raise UnreadableRunError(
            "is not JSON",
            where=str(path),
            why=str(error),
            cure="copy the run again from where it was made; without this file it cannot be read",
        ) from None
    version = plain.get("format_version") if isinstance(plain, dict) else None
    _check_version(version, str(path))
    try:
        return from_plain(plain, RunFacts)
    except ValueError as error:
        what, _, key = str(error).partition(" - at `$")
        where = f"{path}: {key.strip('`.')}" if key else str(path)
        raise UnreadableRunError(
            "holds something else than a run's facts", where=where, why=what[:1].lower() + what[1:]
        ) from None


def _check_version(version: object, where: str) -> None:
    """Raises ``UnreadableRunError`` for a newer major version, for an old one, and for what is no version."""
    try:
        numbers = version_numbers(version) if isinstance(version, str) else None
    except ValueError:
        numbers = None
    if numbers is None:
        raise UnreadableRunError(
            "has no format version",
            where=where,
            why=f"expected format_version such as {FORMAT_VERSION!r}, found {str(version)[:40]!r}",
            cure="name the folder of a run that mawl wrote",
        )
    if numbers[0] > major(FORMAT_VERSION):
        raise UnreadableRunError(
            f"was written in format {str(version)[:40]}, and this mawl knows up to {FORMAT_VERSION}",
            where=where,
            cure="read it with the mawl that wrote it, or upgrade this one",
        )
    if numbers < OLDEST:
        raise UnreadableRunError(
            f"was written in format {version}, which this mawl can no longer read",
            where=where,
            cure="read it with an older mawl",
        )
