"""Markdown: text that stays text, and tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mawl.formats.lines import one_line

SPECIAL = re.compile(r"([\\`*_\[\]|~])")
"""Characters that Markdown (CommonMark, with GitHub's tables) may take for markup inside a line; a text is
never put at the beginning of one, where others would count."""

ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"}
"""HTML, and the sign that would notify somebody."""


def escaped(text: object) -> str:
    """A text as one line that no renderer takes for markup, HTML or a mention; links stay words."""
    plain = "".join(ENTITIES.get(letter, letter) for letter in one_line(str(text)))
    return SPECIAL.sub(r"\\\1", plain).replace("://", ":&#47;&#47;").replace("www.", "www&#46;")


def code(text: object) -> str:
    """A name in code; the fence is longer than any in the name."""
    plain = one_line(str(text)).replace("|", "&#124;")
    fence = "`" * (max((len(run) for run in re.findall("`+", plain)), default=0) + 1)
    edge = " " if "`" in plain else ""
    return f"{fence}{edge}{plain}{edge}{fence}" if plain else ""


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, words: bool = False) -> list[str]:
    """A table of cells that are Markdown already; figures stand to the right, all is left with ``words``."""
    if not rows:
        return []
    marks = [":--", *[":--" if words else "--:"] * (len(head) - 1)]
    return [f"| {' | '.join(cells)} |" for cells in (head, marks, *rows)]
