"""The summary as JSON: the names of docs/reference/metrics.md, keys sorted, missing figures null."""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.base.printable import encodable_parts, printable_json


def render(what: object) -> str:
    """A summary, or any record or mapping, as indented JSON with sorted keys."""
    return indented(msgspec.to_builtins(what), "sorted")


def indented(what: object, order: Literal["sorted"] | None = None) -> str:
    """A record or plain data as indented JSON; controls and names of files that are not UTF-8 are escaped."""
    try:
        content = msgspec.json.encode(what, order=order)
    except UnicodeEncodeError:  # rare, and looking at every text takes longer than all else
        content = msgspec.json.encode(encodable_parts(msgspec.to_builtins(what)), order=order)
    return printable_json(msgspec.json.format(content, indent=2))
