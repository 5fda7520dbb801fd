"""A comparison as text, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log1p

import msgspec

from mawl.base.units import counted_noun
from mawl.figures.comparison.compare import ComparedPair, Comparison, Matrix, MatrixRow
from mawl.figures.comparison.programs import ProgramChange
from mawl.importers.formats.text import one_line
from mawl.reports.comparison.sentences import Headline, Line, against, finding, head, unlike
from mawl.reports.comparison.tables import OWN_INTERVALS, WHY, ComparisonTable, matrix_tables, tables
from mawl.reports.json import indented
from mawl.reports.layout import LINE_WIDTH, escaped, stacked, table, wrapped

SCREEN_LINES = 45
FEWEST_PROGRAMS, MOST_PROGRAMS = 6, 10
"""Programs on a screen: what the other lines leave room for, within these bounds."""

MOST_FACTS = 3
MOST_SETTINGS = 4
SCREEN_FIGURES = (
    "time.elapsed_seconds",
    "time.real_time_seconds",
    "time.user_cpu_seconds",
    "time.system_cpu_seconds",
    "cpu_real_ratio.of_sums",
    "io.application.run_mean.total_bytes_per_second",
    "io.device.run_mean.total_bytes_per_second",
    "io.device.sustained_bytes_per_second_per_core",
)
"""The rows of the papers' table that stand on a screen."""

INDENT = 11


def render_text(comparison: Comparison, *, every: bool = False, width: int = LINE_WIDTH) -> str:
    """One screen: the sentences, the main figures, the programs that changed most; or ``every`` thing,
    also where that fits a screen.  ``width`` is that of the window, in characters."""
    whole = _joined(_whole(comparison, width))
    return whole if every or whole.count("\n") < SCREEN_LINES else _joined(_screen(comparison, width))


def _joined(parts: Iterable[Iterable[str]]) -> str:
    return "\n\n".join("\n".join(part) for part in parts)


def _whole(comparison: Comparison, width: int) -> list[list[str]]:
    parts = [lines(head(comparison), width), *(laid_out(table, width) for table in tables(comparison))]
    facts = unlike(comparison)
    if facts:
        parts.append(_facts(facts, width))
    return parts


def _screen(comparison: Comparison, width: int) -> list[list[str]]:
    """The main things, and as many programs as they leave room for; a last line says what lacks."""
    by_name = {table.name: table for table in tables(comparison)}
    said = [line for line in head(comparison) if line[0] != "publish"]
    before, after, more = [lines(said, width)], [], []
    if (figures := by_name.get("figures")) is not None:
        named = zip(figures.rows, figures.row_figures, strict=True)
        shown = [row for row, name in named if name in SCREEN_FIGURES]
        judged = any(row.verdict != "not judged" for row in comparison.figures)
        note = sentence_lines(OWN_INTERVALS, width) if judged else []
        before.append([*stacked([figures.head, *shown], width), *note])
        more += [f"all {len(figures.rows)} figures"] if len(shown) < len(figures.rows) else []
    if (places := by_name.get("places")) is not None:
        after.append(stacked([places.head, *places.rows], width))
    if (shape := by_name.get("shape")) is not None:
        after.append(laid_out(shape, width))
    if (changed := by_name.get("settings")) is not None:
        rows = [row[:-1] for row in (changed.head, *changed.rows[:MOST_SETTINGS])]
        after.append(stacked(rows, width))
        more += [f"{counted_noun(len(changed.rows), 'changed setting')} with the reasons"]
    more += ["latencies by role"] if "roles" in by_name else []
    if facts := unlike(comparison):
        after.append(_facts(facts[:MOST_FACTS], width))
        more += [f"{len(comparison.differences)} facts that differ"] if len(facts) > MOST_FACTS else []
    if comparison.programs is not None and comparison.programs.changes:
        taken = sum(len(part) + 1 for part in (*before, *after))
        room = SCREEN_LINES - taken - len(("head", "left out", "blank", "more"))
        most = min(max(room, FEWEST_PROGRAMS), MOST_PROGRAMS)
        changes = comparison.programs.changes
        before.append(_programs(by_name["programs"], changes, most, width))
        more[:0] = [f"all {len(changes)} programs"] if len(changes) > most else []
    return [
        *before,
        *after,
        sentence_lines(f"--all lists {', '.join([*more, 'what the columns mean'])}", width),
    ]


def _facts(facts: Sequence[str], width: int) -> list[str]:
    return [
        "other facts that differ:",
        *(line for fact in facts for line in sentence_lines(fact, width, "  ")),
    ]


def _programs(table: ComparisonTable, changes: Sequence[ProgramChange], most: int, width: int) -> list[str]:
    """The programs that changed most, either way; those between are counted in a line of their own."""
    first, last = most_changed(changes, most)
    found = stacked([table.head, *table.rows[:first], *table.rows[last:]], width)
    if last > first:
        found.insert(1 + first, f"... {counted_noun(last - first, 'program')} that changed less")
    return found


def most_changed(changes: Sequence[ProgramChange], most: int) -> tuple[int, int]:
    """Where the ``most`` largest changes end and begin again in a list sorted by change: those from the
    first place returned to before the second are smaller, a doubling as large as a halving."""
    first, last = 0, len(changes)
    sizes = [abs(log1p(change.change_ratio)) for change in changes]
    for _ in range(min(most, len(changes))):
        if sizes[first] >= sizes[last - 1]:
            first += 1
        else:
            last -= 1
    return first, last


def render_matrix_text(matrix: Matrix, width: int = LINE_WIDTH) -> str:
    """The table of all sides, and a line for each candidate against the first."""
    made = [laid_out(table, width) for table in matrix_tables(matrix)]
    listed = [f"against {one_line(matrix.reference)}:"]
    against_first = (f"{pair.candidate}: {against(pair)}" for pair in matrix.pairs)
    listed += [line for text in against_first for line in sentence_lines(text, width, "  ")]
    return _joined([*made, listed])


def lines(some: Sequence[Line], width: int = LINE_WIDTH) -> list[str]:
    """Names in a column, their sentences beside them."""
    return [
        line
        for name, text in some
        for line in wrapped(f"{name:<{INDENT}}{one_line(text)}", width, " " * INDENT)
    ]


def laid_out(table: ComparisonTable, width: int = LINE_WIDTH) -> list[str]:
    """A table in columns, and its note."""
    rows, reasons = [table.head, *table.rows], list[str]()
    if table.head[-1] == WHY:
        reasons = [f"{row[0]}: {row[-1]}" for row in table.rows if row[-1]]
        rows = [row[:-1] for row in rows]
    found = [*stacked(rows, width), *(line for text in reasons for line in sentence_lines(text, width, "  "))]
    return [*found, *sentence_lines(table.note, width)] if table.note else found


def sentence_lines(text: str, width: int, indent: str = "") -> list[str]:
    """A sentence within the width of a screen."""
    return wrapped(indent + one_line(text), width, indent or "  ")


def render_markdown(comparison: Comparison) -> str:
    """The finding, the other lines as a list, the tables."""
    others = [line for line in head(comparison) if line[0] != "finding"]
    listed = [f"- **{name}**: {escaped(sentence)}" for name, sentence in others]
    title = escaped(finding(comparison).sentence)
    parts = [f"# {title}", "\n".join(listed), *map(section, tables(comparison))]
    facts = unlike(comparison)
    if facts:
        parts.append("\n".join(["## Other facts that differ", "", *(f"- {escaped(fact)}" for fact in facts)]))
    return "\n\n".join(parts)


def render_matrix_markdown(matrix: Matrix) -> str:
    """The table of all sides, and each candidate against the first."""
    lines = [f"## Against {escaped(matrix.reference)}", ""]
    lines += [f"- **{escaped(pair.candidate)}**: {escaped(against(pair))}" for pair in matrix.pairs]
    return "\n\n".join(("# Comparison", *map(section, matrix_tables(matrix)), "\n".join(lines)))


def section(shown: ComparisonTable) -> str:
    """A table under its title."""
    title = shown.title[0].upper() + shown.title[1:]
    rows = [tuple(map(escaped, row)) for row in shown.rows]
    lines = [f"## {escaped(title)}", "", *table(tuple(map(escaped, shown.head)), rows)]
    if shown.note:
        lines += ["", escaped(shown.note)]
    return "\n".join(lines)


class PrintedComparison(Comparison, frozen=True, kw_only=True):
    """A comparison with its headline."""

    finding: Headline


class PrintedPair(ComparedPair, frozen=True, kw_only=True):
    """One candidate of many; the comparison has its headline."""

    comparison: PrintedComparison | None


class PrintedMatrix(msgspec.Struct, frozen=True, kw_only=True):
    """Many sides: a row each, and each candidate against the first with its headline."""

    reference: str
    rows: list[MatrixRow]
    pairs: list[PrintedPair]


def render_json(found: Comparison | Matrix) -> str:
    """The comparison of two sides, or the matrix with a comparison for each pair, indented."""
    return indented(_compared(found) if isinstance(found, Comparison) else _matrix(found))


def _compared(comparison: Comparison) -> PrintedComparison:
    return PrintedComparison(finding=finding(comparison), **msgspec.structs.asdict(comparison))


def _matrix(matrix: Matrix) -> PrintedMatrix:
    pairs = [
        PrintedPair(
            candidate=pair.candidate,
            comparison=None if pair.comparison is None else _compared(pair.comparison),
            reason=pair.reason,
        )
        for pair in matrix.pairs
    ]
    return PrintedMatrix(reference=matrix.reference, rows=matrix.rows, pairs=pairs)
