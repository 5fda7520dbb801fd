"""A comparison of a run with the logs of its jobs as text, Markdown and JSON; it loads no chart library."""

from __future__ import annotations

from mawl.derive.replay.records import Replay
from mawl.derive.replay.tables import SHORT_NOTE, lines, short_tables, tables
from mawl.reports.comparison import text as laid
from mawl.reports.comparison.sentences import capital
from mawl.reports.comparison.tables import ComparisonTable
from mawl.reports.comparison.text import section
from mawl.reports.json import indented
from mawl.reports.layout import LINE_WIDTH, escaped, fitting, stacked

SCREEN_ROWS = 8
MARKDOWN_STEPS = 100


def render_text(replay: Replay, *, every: bool = False, width: int = LINE_WIDTH) -> str:
    """One screen: the sentence, both nights, the steps and programs that changed most; or ``every`` thing."""
    parts = [laid.lines(lines(replay), width)]
    if every:
        parts += [laid.laid_out(table, width) for table in tables(replay, len(replay.steps))]
    else:
        parts += [_fitted(table, width) for table in short_tables(replay, SCREEN_ROWS)]
        parts.append(laid.sentence_lines(SHORT_NOTE, width))
    return "\n\n".join("\n".join(part) for part in parts)


def _fitted(table: ComparisonTable, width: int) -> list[str]:
    """The columns that a window has room for: ratios before differences."""
    rows = fitting([table.head, *table.rows], width, ("change", "logs", "run"))
    return [*stacked(rows, width), *([table.note] if table.note else [])]


def render_markdown(replay: Replay) -> str:
    """The sentence as the title, the other lines as a list, the tables."""
    (_, said), *others = lines(replay)
    listed = "\n".join(f"- **{name}**: {escaped(sentence)}" for name, sentence in others)
    return "\n\n".join((f"# {escaped(capital(said))}", listed, *map(section, tables(replay, MARKDOWN_STEPS))))


def render_json(replay: Replay) -> str:
    """Every figure of every step."""
    return indented(replay)
