"""The disclosure of an answer: every rule with its bound, every decision and run, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mawl.model.qualification import Qualification, QualificationAnswer, QualifyRun
from mawl.reporters.markup import code, escaped, table
from mawl.reporters.qualification import markdown
from mawl.reporters.qualification.rules import MET, decision_rows, rules_rows, rules_sentence
from mawl.units import format_percent, format_seconds


def render(record: Qualification) -> str:
    """A page of Markdown; text of the record is escaped, and what is not known is ``-``."""
    answer = record.answer
    parts = [[f"# Disclosure of {escaped(record.name)}"], [markdown.render(record)]]
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
    """Why a run does not count, where it does not; else how it ended."""
    aside = run.state in ("disturbed", "left out")
    return (run.reason if aside else run.outcome or run.reason) or "-"


def _rules(answer: QualificationAnswer) -> list[str]:
    """Every rule, the failed ones first and in bold."""
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
