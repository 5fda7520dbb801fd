"""Tables and docstrings as Markdown, for the printed pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A Markdown table; a pipe within a cell is escaped."""
    lines = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in (head, *rows)]
    lines.insert(1, ["---"] * len(head))
    return [*("| " + " | ".join(line) + " |" for line in lines), ""]


def plain(docstring: str | None) -> str:
    """A docstring for Markdown: code marks instead of reStructuredText's."""
    text = re.sub(r":\w+:`~?([\w.]+)`", r"`\1`", docstring or "")
    return re.sub(r"``(.+?)``", r"`\1`", "\n".join(line.strip() for line in text.strip().splitlines()))
