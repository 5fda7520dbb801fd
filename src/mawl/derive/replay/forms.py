"""A comparison of a run with the logs as text, Markdown and JSON."""

from __future__ import annotations

from mawl.derive.replay.records import Replay
from mawl.derive.replay.sentences import lines
from mawl.derive.replay.tables import SHORT_NOTE, short_tables, tables
from mawl.reporters.columns import LINE_WIDTH, fitting, stacked
from mawl.reporters.comparison import text as laid
from mawl.reporters.comparison.finding import capital
from mawl.reporters.comparison.markdown import section
from mawl.reporters.comparison.tables import ComparisonTable
from mawl.reporters.json import indented
from mawl.reporters.markup import escaped

SCREEN_ROWS = 8
MARKDOWN_STEPS = 100


def text(replay: Replay, *, every: bool = False, width: int = LINE_WIDTH) -> str:
    """One screen: the sentence, both nights, the steps and programs that changed most; or ``every`` thing."""
    parts = [laid.lines(lines(replay), width)]
    if every:
        parts += [laid.laid_out(table, width) for table in tables(replay, len(replay.steps))]
    else:
        parts += [_fitted(table, width) for table in short_tables(replay, SCREEN_ROWS)]
        parts.append(laid.wrapped(SHORT_NOTE, width))
    return "\n\n".join("\n".join(part) for part in parts)


def _fitted(table: ComparisonTable, width: int) -> list[str]:
    """The columns that a window has room for: ratios before differences."""
    rows = fitting([table.head, *table.rows], width, ("change", "logs", "run"))
    return [*stacked(rows, width), *([table.note] if table.note else [])]


def markdown(replay: Replay) -> str:
    """The sentence as the title, the other lines as a list, the tables."""
    (_, said), *others = lines(replay)
    listed = "\n".join(f"- **{name}**: {escaped(sentence)}" for name, sentence in others)
    return "\n\n".join((f"# {escaped(capital(said))}", listed, *map(section, tables(replay, MARKDOWN_STEPS))))


def json(replay: Replay) -> str:
    """Every figure of every step."""
    return indented(replay)
