"""Records as plain data and back: points in time (``at``, ``..._at``) are ISO 8601 text in files."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from mawl.base.foreign import json_tree
from mawl.base.units import format_instant, parse_instant
from mawl.records.model.run import RunFacts
from mawl.records.spec.program_options import Options
from mawl.records.store.files import LARGEST_NUMBER

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
