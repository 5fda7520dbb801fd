"""The output of a command and the settings found in it: each has a value, or is absent with the reason."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

import msgspec

from mawl.records.model.node import Figures, Inventory, Value
from mawl.records.model.series_metrics import MACHINE

_WORDS = re.compile(r"[\x20-\x7e]{1,400}")
_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,200}")


IGNORED = "\N{REPLACEMENT CHARACTER}"
"""Replaces a line that mawl ignores, because it has control characters or is too long."""


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of a command's output.

    ``whole`` says that the file marks the end of the output.  Without the mark, a line in the file is used,
    but a sum over lines is not.
    """

    command: tuple[str, ...]
    lines: tuple[str, ...]
    whole: bool
    file: str

    @property
    def printed(self) -> str:
        return " ".join(self.command)

    def matches(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Lines that a pattern fits from end to end."""
        return filter(None, map(pattern.fullmatch, self.lines))

    def doubt(self, *, strange: bool) -> str | None:
        """Why a sum over the lines is not known; ``strange``: mawl does not know the form of one of them."""
        return NOT_WHOLE if not self.whole else STRANGE_LINE if strange else None


class NodeSettings:
    """Settings of one node, in the families of the inventory."""

    def __init__(self) -> None:
        self.families: dict[str, dict[str, Figures]] = {}
        self.missing: dict[str, str] = {}

    def put(self, family: str, subject: str, figure: str, value: Value) -> None:
        """Note a value; after a second, different one the value is unknown, since either may be right."""
        if _NAME.fullmatch(subject) is None or _NAME.fullmatch(figure) is None:
            return None
        if isinstance(value, str) and not _WORDS.fullmatch(value):
            return self.lack(
                family, subject, figure, "printed with characters that no value of a setting has"
            )
        held = self.families.setdefault(family, {}).setdefault(subject, {})
        path = f"{family}.{subject}.{figure}"
        if path in self.missing:
            if self.missing[path].startswith(CONTRADICTED):
                return None
            del self.missing[path]
        if held.get(figure, value) not in (value, None):
            return self.lack(family, subject, figure, f"{CONTRADICTED}: {held[figure]} and {value}")
        held[figure] = value
        return None

    def lack(self, family: str, subject: str, figure: str, reason: str) -> None:
        """Note that a value is not known, and why; a contradiction stays, other reasons yield to a value."""
        held = self.families.setdefault(family, {}).setdefault(subject, {})
        if held.get(figure) is None or reason.startswith(CONTRADICTED):
            held[figure] = None
            self.missing.setdefault(f"{family}.{subject}.{figure}", reason)

    def machine(self, family: str, figure: str, value: Value) -> None:
        self.put(family, MACHINE, figure, value)

    def name(self, family: str, subject: str) -> None:
        """Note that there is such a subject, also if nothing more is known of it."""
        if _NAME.fullmatch(subject):
            self.families.setdefault(family, {}).setdefault(subject, {})

    def subjects(self, family: str) -> dict[str, Figures]:
        """Subject to figures of a family; empty if no output has the family."""
        return self.families.get(family, {})

    def inventory(self) -> Inventory:
        return Inventory(families=self.families, missing=self.missing)


CONTRADICTED = "printed with two values"
NOT_WHOLE = (
    "this value counts lines, and the file may be cut; collect it with the script of mawl tune collector"
)
"""Why a sum over the lines of a file that may be cut is not known."""
STRANGE_LINE = "this value counts lines, and mawl does not know the form of one of them"
"""Why a sum over lines is not known where one of them was not understood."""


_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_ROW = re.compile(rb"(?P<sum>[0-9]{1,10}) +(?P<size>[0-9]{1,12}) +(?P<name>[^/\x00-\x1f]{1,255})")


def check_sum(content: bytes) -> int:
    """The first number that cksum(1) prints: CRC-32 of a file's bytes and then of their number (POSIX.1).

    zlib counts the bits of a byte the other way round.
    """
    size = len(content)
    length = size.to_bytes((size.bit_length() + 7) // 8, "little")
    other_way = zlib.crc32((content + length).translate(_REVERSED), 0xFFFFFFFF)
    return int(f"{other_way:032b}"[::-1], 2)


def check_sum_rows(content: bytes) -> Iterator[tuple[str, int, int]]:
    """File, sum and size of each line of cksum's output; what is no such line is left out."""
    for line in content.replace(b"\r\n", b"\n").split(b"\n"):
        if match := _ROW.fullmatch(line):
            yield match["name"].decode(errors="surrogateescape"), int(match["sum"]), int(match["size"])
