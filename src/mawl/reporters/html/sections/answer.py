"""Why the answer is what it is, and what limits the run: sentences, headroom, evidence."""

from __future__ import annotations

import msgspec
from markupsafe import Markup

from mawl.model.summary.judgement import Limit
from mawl.reporters.html.figures import Cell, ShownFigures, paragraph, part, table
from mawl.reporters.html.templating import fill
from mawl.reporters.judgement import ROOM, idle_mark
from mawl.units import format_percent


def answer(figures: ShownFigures) -> Markup:
    """The reasons of the answer, then what limits with its shares, headroom and evidence."""
    summary = figures.summary
    parts = [fill("bullets.html", texts=summary.capacity.reasons)]
    limit = summary.limit
    if limit is None:
        parts.append(paragraph(f"What limits is not known: {figures.reason(('limit',))}."))
    else:
        parts.append(_resources(figures, limit))
        if limit.second:
            parts.append(paragraph(f"After it, {limit.second} cost the jobs most."))
        if limit.evidence:
            evidence = [(line.kind, line.sentence) for line in limit.evidence]
            caption = "What limits: evidence, and what only supports it"
            parts.append(table(caption, ("kind", "figures"), evidence, words=(1,)))
    return part("answer", "Why: the answer, and what limits", *parts)


def _resources(figures: ShownFigures, limit: Limit) -> Markup:
    """Of each resource: how much of the time it limited, what it cost, and what was left of it."""
    rows: list[tuple[Cell, ...]] = []
    for name in msgspec.structs.asdict(limit.losses):
        left: Cell = figures.show(format_percent, "limit", "headroom", f"{name}_ratio")
        if name in ROOM and (mark := idle_mark(limit, name)):
            left += Markup("{}").format(mark)
        rows.append(
            (
                name,
                figures.show(format_percent, "limit", "shares", name),
                figures.show(format_percent, "limit", "losses", name),
                left,
            )
        )
    head = (
        "resource",
        figures.term("limited, of the active time", "limit.shares.cpu"),
        figures.term("cost, of the jobs' time", "limit.losses.cpu"),
        figures.term("headroom", "limit.headroom.cpu_ratio"),
    )
    return table("Resources", head, rows, narrow=True)
