"""The summary as JSON: the names of docs/reference/metrics.md, keys sorted, missing figures null."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from mawl.formats.lines import encodable
from mawl.printable import printable_json


def render(what: object) -> str:
    """A summary, or any record or mapping, as indented JSON."""
    plain = msgspec.to_builtins(what)
    try:
        content = msgspec.json.encode(plain, order="sorted")
    except UnicodeEncodeError:  # rare, and looking at every text takes longer than all else
        content = msgspec.json.encode(_encodable(plain), order="sorted")
    return printable_json(msgspec.json.format(content, indent=2))


def _encodable(value: Any) -> Any:
    """The value with names of files that are not UTF-8 escaped."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, Mapping):
        return {_encodable(key): _encodable(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(part) for part in value]
    return value
