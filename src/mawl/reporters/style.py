"""How text for a terminal may look: colours or none, blocks or plain characters."""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.reporters.columns import LINE_WIDTH

Paint = Literal["strong", "good", "warning", "bad", "quiet"]

CODES: dict[Paint, str] = {"strong": "1", "good": "32", "warning": "33", "bad": "31", "quiet": "2"}
"""Select Graphic Rendition of ECMA-48: bold, green, yellow, red, faint."""


class Style(msgspec.Struct, frozen=True, kw_only=True):
    """``colour``: whether colours may be used; ``blocks``: whether block characters can be shown.

    ``width`` is that of the longest line, in characters.
    """

    colour: bool = False
    blocks: bool = True
    width: int = LINE_WIDTH

    def paint(self, text: str, paint: Paint | None) -> str:
        """The text in a colour, or as it is."""
        return f"\x1b[{CODES[paint]}m{text}\x1b[0m" if self.colour and paint and text else text


PLAIN = Style()
"""No colours: files, pipes and tests."""
