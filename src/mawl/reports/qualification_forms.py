"""The answer of a qualification for a terminal, as Markdown, as a page, and as a disclosure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from textwrap import wrap

import msgspec

from mawl.base.printable import printable
from mawl.base.units import format_percent, format_seconds
from mawl.records.model.fields import DRAFT
from mawl.records.model.qualification import (
    QUALIFICATION_FORMAT_VERSION,
    Qualification,
    QualificationAnswer,
    QualifyRun,
)
from mawl.reports.layout import code, escaped, table
from mawl.reports.qualification_content import (
    MET,
    STORAGE_HEAD,
    content_of,
    decision_rows,
    rules_rows,
    rules_sentence,
)

WIDTH = 80
INDENT = 11


def render_text(record: Qualification) -> str:
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


def render_markdown(record: Qualification) -> str:
    """The sentence in bold, figures, what follows from them; no newline at the end."""
    content = content_of(record)
    parts = [[f"**{escaped(content.sentence)}**"]]
    figures = [(escaped(one.name), escaped(one.value), escaped(one.beside)) for one in content.figures]
    parts.append(table(("figure", "value", "compare with"), figures, words=True))
    parts.append(
        table(("", "answer"), [(escaped(name), escaped(text)) for name, text in content.rows], words=True)
    )
    changes = [tuple(escaped(cell) for cell in change) for change in content.changes]
    parts.append(table(("what would change it", "would fit", "range"), changes, words=True))
    storage = [tuple(escaped(cell) for cell in row) for row in content.storage]
    parts.append(table(STORAGE_HEAD, storage, words=True))
    parts += [[f"Caution: {escaped(caution)}"] for caution in content.cautions]
    parts.append(["; ".join(f"{name}: {escaped(text)}" for name, text in content.basis)])
    parts.append([f"- **{name}**: {text}" for name, text in content.words])
    return "\n\n".join("\n".join(part) for part in parts if part)


def render_disclosure(record: Qualification) -> str:
    """A page of Markdown; text of the record is escaped, and what is not known is ``-``."""
    answer = record.answer
    parts = [[f"# Disclosure of {escaped(record.name)}"], [render_markdown(record)]]
    if answer is not None:
        parts.append(_rules(answer))
    parts.append(_section("Decisions", ("what", "value", "why"), decision_rows(record.choice)))
    parts.append(
        _section(
            "Phases",
            ("phase", "state", "took", "forecast", "what it found"),
            [
                (
                    phase.name,
                    phase.state,
                    format_seconds(phase.seconds),
                    "-" if phase.forecast_seconds is None else format_seconds(phase.forecast_seconds),
                    phase.detail,
                )
                for phase in record.phases
            ],
        )
    )
    runs = [(run.folder, run.purpose, str(run.sessions), run.state, _outcome(run)) for run in record.runs]
    parts.append(_section("Runs", ("folder", "purpose", "sessions", "state", "outcome"), runs))
    parts.append(_section("Forecast", ("figure", "forecast"), [*_forecast(record)]))
    if answer is not None:
        missing = [(path, why) for path, why in answer.missing.items()]
        parts.append(_section("What is not known, and why", ("figure", "reason"), missing))
    return "\n\n".join("\n".join(part) for part in parts if part)


def _outcome(run: QualifyRun) -> str:
    aside = run.state in ("disturbed", "left out")
    return (run.reason if aside else run.outcome or run.reason) or "-"


def _rules(answer: QualificationAnswer) -> list[str]:
    head, *rows = _section("Rules", ("rule", "found", "required", "met"), rules_rows(answer))
    failed = f"| {MET[False]} |"
    bold = [row.replace(failed, f"| **{MET[False]}** |") for row in rows]
    return [head, "", rules_sentence(answer), *bold]


def _forecast(record: Qualification) -> Iterator[tuple[str, str]]:
    choice = record.choice
    if choice is None:
        return
    yield "time of all phases", format_seconds(choice.total_seconds)
    yield "active time of one run", format_seconds(choice.active_seconds)
    for name, ratio in (("reads", choice.read_reach_ratio), ("writes", choice.write_reach_ratio)):
        yield f"{name} that reach a device", "-" if ratio is None else format_percent(ratio)


def _section(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    cells = [[code(row[0]), *(escaped(cell) for cell in row[1:])] for row in rows]
    return [f"## {title}", "", *table(head, cells, words=True)] if cells else []


def render_page(record: Qualification) -> str:
    """The page, which prints on one sheet: no script, and nothing from a network; every text is escaped."""
    # Only a page loads the template engine.
    from markupsafe import Markup

    from mawl.reports.html.colours import style
    from mawl.reports.html.page import asset, fill, policy

    content = content_of(record)
    rules = [] if record.answer is None else rules_rows(record.answer)
    word, colon, rest = content.sentence.partition(": ")
    return fill(
        "answer.html",
        policy=policy([]),
        style=Markup(style() + asset("answer.css")),
        title=printable(f"{word}: {record.asked.workload} on {_place(record)}"),
        word=word if colon else "",
        sentence=rest if colon else content.sentence,
        content=content,
        rules=[row for row in rules if row[3] != MET[True]],
        met=[row[:2] for row in rules if row[3] == MET[True]],
        rules_sentence="" if record.answer is None else rules_sentence(record.answer),
        storage_head=STORAGE_HEAD,
        record=printable(record.name),
    )


def _place(record: Qualification) -> str:
    if record.nodes:
        return f"{len(record.nodes)} nodes"
    return record.machine.name or "this machine"


INSTANTS = {"Phase": "began_at", "Qualification": "created_at"}
"""Points in time are seconds in memory and ISO 8601 (UTC) in the file."""


def render_schema() -> str:
    """The schema (draft 2020-12) as text, with a newline at the end."""
    found = json.loads(json.dumps(msgspec.json.schema(Qualification)))  # defaults as JSON has them
    for struct, name in INSTANTS.items():
        known = found["$defs"][struct]["properties"][name]
        kinds = [{"type": "string", "format": "date-time"}]
        found["$defs"][struct]["properties"][name] = (
            {"anyOf": [*kinds, {"type": "null"}], "default": None} if "anyOf" in known else kinds[0]
        )
    head = {"$schema": DRAFT, "title": f"qualify.json, format {QUALIFICATION_FORMAT_VERSION}"}
    return json.dumps({**head, **found}, indent=2) + "\n"
