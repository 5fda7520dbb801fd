"""What AIX commands print of settings: vmo, ioo, no and schedo (``-a`` and ``-L``), lsattr, ulimit.

Sources: IBM, vmo, ioo, no and schedo commands (output of ``-a``, ``-x`` and ``-L``); lsattr command.
"""

from __future__ import annotations

import re

_ASSIGNED = re.compile(r"\s*(?P<name>[A-Za-z_][\w.%]{0,63})\s*=\s*(?P<value>\S{1,60})\s*")
_LISTED = re.compile(
    r"(?P<name>[A-Za-z_][\w.%]{0,63})\s+(?P<value>\S{1,20})(?:\s+\S{1,20}){1,6}?(?:\s+[SDBRCMId])?\s*"
)
_COMMA = re.compile(r"(?P<name>[A-Za-z_][\w.%]{0,63}),(?P<value>[^,\s]{1,60}),.*")
_ATTRIBUTE = re.compile(r"(?P<name>[A-Za-z_][\w.]{0,63})\s+(?P<value>\S{1,60})(?:\s+.*)?")
_LIMIT = re.compile(r"(?P<name>[a-z][a-z ]{1,30}?)\s*\([^)]*\)\s+(?P<value>\S{1,20})\s*")

_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]{1,15}|[0-9]{1,18})([KMGT]?)")
_POWERS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def tunables(text: str) -> dict[str, str]:
    """Name to current value of what a tunables command printed; heads and rules are no settings.

    ``NAME = VALUE`` of ``-a``, ``NAME,CURRENT,...`` of ``-x``, and the columns NAME CUR DEF ... of ``-L``.
    """
    found = {}
    for line in text.splitlines():
        match = _ASSIGNED.fullmatch(line) or _COMMA.fullmatch(line) or _LISTED.fullmatch(line)
        if match and match["name"] != "NAME":
            found[match["name"]] = match["value"]
    return found


def attributes(text: str) -> dict[str, str]:
    """Attribute to value of ``lsattr -El DEVICE``."""
    matches = (_ATTRIBUTE.fullmatch(line.strip()) for line in text.splitlines())
    return {match["name"]: match["value"] for match in matches if match}


def limits(text: str) -> dict[str, str]:
    """Limit to value of ``ulimit -a``."""
    matches = (_LIMIT.fullmatch(line.strip()) for line in text.splitlines())
    return {match["name"]: match["value"] for match in matches if match}


def number(text: str) -> int | None:
    """``0x200000``, ``73728``, ``72K`` (1024-based, as the tunables commands print); None for a word."""
    match = _NUMBER.fullmatch(text)
    return (
        None
        if match is None
        else int(match[1], 0 if match[1][:2] in ("0x", "0X") else 10) * _POWERS[match[2]]
    )
