"""The answer on a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from mawl.model.qualification import Qualification
from mawl.reporters.qualification.content import content_of

WIDTH = 80
INDENT = 11


def render(record: Qualification) -> str:
    """The sentence, the figures, what limits, fits and would change it, what to do; no newline at the end."""
    content = content_of(record)
    parts = [wrap(content.sentence, WIDTH)]
    if content.figures:
        wide = max(len(figure.value) for figure in content.figures)
        named = max(len(figure.name) for figure in content.figures)
        figures = [(f"{one.value:>{wide}} {one.name:<{named}}  ", one.beside) for one in content.figures]
        parts.append([line for head, text in figures for line in hanging(head, text)])
    rows = [row for row in content.rows if row[0] != "next"]
    rows += [("change" if not place else "", _change(change)) for place, change in enumerate(content.changes)]
    rows += [("", content.change_note)] if content.change_note else []
    rows += [("caution", caution) for caution in content.cautions]
    rows += [row for row in content.rows if row[0] == "next"]
    parts.append(_labelled(rows))
    parts.append(_labelled(content.basis))
    return "\n\n".join("\n".join(part) for part in parts if part)


def _change(change: tuple[str, str, str]) -> str:
    text, number, range_ = change
    return f"{text}: {number} ({range_})"


def _labelled(rows: Sequence[tuple[str, str]]) -> list[str]:
    return [line for name, text in rows for line in hanging(f"{name:<{INDENT}}", text)]


def hanging(head: str, text: str) -> list[str]:
    """Text behind a head, its further lines below its beginning where there is room."""
    indent = len(head) if len(head) < WIDTH // 2 else INDENT
    return wrap(text, WIDTH, initial_indent=head, subsequent_indent=" " * indent) or [head.rstrip()]
