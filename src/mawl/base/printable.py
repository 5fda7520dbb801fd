"""Foreign text made safe for a terminal: nothing in it moves the cursor, colours or ends a line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff]")
"""Controls of ASCII and Latin-1 (escape sequences begin with one), of the direction of text, ends of lines,
and bytes of names that are no UTF-8."""


def printable(text: str, keep: str = "") -> str:
    """The text with each control character as its escape (``\\x1b``), those in ``keep`` left alone."""
    return _CONTROLS.sub(lambda found: found[0] if found[0] in keep else _escape(found[0]), text)


def printable_json(content: bytes) -> str:
    """JSON in which those control characters that may stand as they are in its strings are escapes, too."""
    return _CONTROLS.sub(
        lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", content.decode()
    )


def encodable(text: str) -> str:
    """The text with escapes (``\\xff``) for what UTF-8 cannot encode, such as bytes of a file name."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def encodable_parts(value: Any) -> Any:
    """Plain data with every text ``encodable``."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, Mapping):
        return {encodable_parts(key): encodable_parts(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [encodable_parts(part) for part in value]
    return value


def _escape(letter: str) -> str:
    return ascii(letter)[1:-1]
