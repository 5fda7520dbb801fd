"""What the terminal that a report goes to can show."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TextIO

from mawl.reporters.sparkline import BLOCKS
from mawl.reporters.style import Style

COLOUR_CHOICES = ("auto", "always", "never")


def style_of(stream: TextIO, choice: str = "auto", environment: Mapping[str, str] | None = None) -> Style:
    """Colours as chosen; by themselves only on a terminal, and not where NO_COLOR is set or TERM is dumb."""
    variables = os.environ if environment is None else environment
    plain = bool(variables.get("NO_COLOR")) or variables.get("TERM") == "dumb"
    colour = choice == "always" or (choice == "auto" and stream.isatty() and not plain)
    return Style(colour=colour, blocks=shows_blocks(stream))


def shows_blocks(stream: TextIO) -> bool:
    """Whether the stream's encoding has block characters."""
    try:
        BLOCKS.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
