"""Whether a run can be trusted: findings with their fixes, thresholds, failures, remarks."""

from __future__ import annotations

from markupsafe import Markup

from mawl.model.summary.summary import Judged
from mawl.reporters.html.figures import Cell, ShownFigures, breakable, paragraph, part, table
from mawl.reporters.html.templating import fill
from mawl.reporters.thresholds import HEAD, rows_of

MOST_FAILURES = 200
CHECKS = "A check is passed if its figures are known and it finds nothing worse than a remark."
TAGS = {"invalid": "bad", "preliminary": "warn", "remark": ""}


def findings(figures: ShownFigures) -> Markup:
    """What speaks against the run."""
    summary = figures.summary
    parts = [paragraph(CHECKS, "quiet")] if summary.kind == "measured" else []
    found = summary.validity.findings
    rows: list[tuple[Cell, ...]] = [
        (
            one.rule,
            fill("tag.html", text=one.severity, kind=TAGS[one.severity]),
            one.sentence,
            one.cure,
        )
        for one in found
    ]
    rows += [
        (
            one.rule,
            fill("tag.html", text="not measured", kind=TAGS[one.severity]),
            one.reason,
            "",
        )
        for one in summary.validity.unmeasured
    ]
    if rows:
        head = ("rule", "severity", "finding", "fix")
        caption = "Whether the run can be trusted: findings and fixes"
        parts.append(table(caption, head, rows, words=(2, 3), texts=(1,)))
    else:
        parts.append(paragraph("No rule found anything against this run."))
    if deciding := rows_of(summary):
        rows = [(breakable(name), *rest) for name, *rest in deciding]
        parts.append(table("Thresholds that decided", HEAD, rows, words=(2,)))
    return part("findings", "Trust: findings and fixes", *parts, *_failures(summary), *_remarks(summary))


def _failures(summary: Judged) -> list[Markup]:
    failed = summary.failures
    if not failed:
        return []
    rows = [
        (
            one.job,
            one.program,
            one.outcome.replace("_", " "),
            one.reason or "no reason was recorded",
        )
        for one in failed[:MOST_FAILURES]
    ]
    more = len(failed) - len(rows)
    caption = "Jobs that did not finish" + (f": the first {len(rows)} of {len(failed)}" if more else "")
    return [table(caption, ("job", "program", "outcome", "why"), rows, words=(3,), texts=(1, 2))]


def _remarks(summary: Judged) -> list[Markup]:
    return [paragraph(f"Remark: {remark}") for remark in summary.remarks]
