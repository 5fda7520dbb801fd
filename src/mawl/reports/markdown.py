"""A run as Markdown for a pull request: what it means, its figures, programs and findings behind a fold."""

from __future__ import annotations

from mawl.figures.view import RunView
from mawl.records.model.probe import Probe
from mawl.records.model.summary.summary import Summary
from mawl.reports import probe
from mawl.reports.compressibility import notes_in_a_run, table_in_a_run
from mawl.reports.judgement import headlines
from mawl.reports.layout import code, escaped, table
from mawl.reports.paragraphs import adjusted_cpu, busy_cores, modes, times
from mawl.reports.run_lines import node_text, outcome_text, workload_text
from mawl.reports.run_tables import RUN_TABLES
from mawl.reports.tables import RunColumn, RunTable, notes_of, shown


def render(view: RunView, summary: Summary) -> str:
    """A run and its summary of ``judged``, and the tests of its probe.

    A missing figure is ``-``, text is escaped.
    """
    nodes = [escaped(node_text(node)) for node in summary.nodes]
    judged = [[f"**{name}**", escaped(text)] for name, text in headlines(summary)]
    parts = [
        [f"### mawl: {escaped(workload_text(view, summary))}"],
        ["; ".join([f"Run {code(summary.run_id)}, {escaped(outcome_text(summary))}", *nodes])],
        [line for name, text in judged for line in (f"- {name}: {text}",)],
        table(("time", "value"), _times(summary)),
        *_tables(view, summary, folded=False),
        *_tests(view.probe),
        _compressibility(summary),
        *_tables(view, summary, folded=True),
        _folded("Findings", _findings(summary)),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _times(summary: Summary) -> list[tuple[str, str]]:
    words = (
        ("CPU adjusted for AIX's scaled accounting", adjusted_cpu(summary)),
        ("busy cores", busy_cores(summary)),
        *(("hardware threads", text) for text in modes(summary)),
    )
    return [*times(summary), *((name, escaped(text)) for name, text in words if text)]


def _tests(probed: Probe | str | None) -> list[list[str]]:
    """What the probe of the storage, or an imported file of fio, measured: a table for each directory."""
    if not isinstance(probed, Probe):
        return []
    parts = []
    for target in probed.targets:
        parts.append([f"{escaped(probed.tool)} in {escaped(probe.title_of(target))}:"])
        parts.append(table(probe.HEAD, [tuple(map(escaped, row)) for row in probe.rows_of(target)]))
        parts.append([f"- {escaped(sentence)}" for sentence in probe.sentences_of(target)])
    return parts


def _compressibility(summary: Summary) -> list[str]:
    rows = [[escaped(cell) for cell in row] for row in table_in_a_run(summary)]
    notes = [escaped(note) for note in notes_in_a_run(summary)]
    return [*table(rows[0], rows[1:]), "", *notes] if rows else []


def _tables(view: RunView, summary: Summary, *, folded: bool) -> list[list[str]]:
    """The tables that Markdown folds, or those that it shows at once."""
    return [
        markdown_table(table, view, summary) for table in RUN_TABLES if ("markdown" in table.folded) is folded
    ]


def markdown_table(of: RunTable, view: RunView, summary: Summary) -> list[str]:
    """A table of a run with its notes, a list item each; empty without rows and notes."""
    found = shown(of, view, summary, "markdown")
    rows = [
        [
            *([code(row.name) if of.code else escaped(row.name)] if "markdown" in of.named else []),
            *(_cell(column, column.text(summary, row)) for column in found.columns),
        ]
        for row in found.rows
    ]
    head = [*([of.first] if "markdown" in of.named else []), *(column.label for column in found.columns)]
    above, below = (
        [f"- {escaped(note.text)}" for note in notes]
        for notes in notes_of(of, found, view, summary, "markdown")
    )
    parts = [part for part in (above, table(head, rows), below) if part]
    lines = "\n\n".join("\n".join(part) for part in parts).split("\n") if parts else []
    return _folded(of.fold.format(rows=len(rows)), lines) if "markdown" in of.folded else lines


def _cell(column: RunColumn, text: str) -> str:
    return text if column.holds == "figures" else code(text) if column.holds == "code" else escaped(text)


def _findings(summary: Summary) -> list[str]:
    """Those of validity, then what the rule of the next SMT mode found."""
    found = [
        *(summary.validity.findings if summary.validity else []),
        *(summary.smt.findings if summary.smt else []),
    ]
    lines = []
    for one in found:
        rule, sentence, cure = (escaped(getattr(one, name)) for name in ("rule", "sentence", "cure"))
        lines.append(f"- **{rule}** ({one.severity}): {sentence}; {cure}")
    return lines


def _folded(title: str, lines: list[str]) -> list[str]:
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>"] if lines else []
