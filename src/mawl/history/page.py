"""A history as one page: a chart of the nights, and the changes.  It loads nothing and runs no script."""

from __future__ import annotations

from html import escape
from math import exp

from mawl.history.changes import History
from mawl.history.text import NIGHT_HEAD, details, head, night_rows, title
from mawl.units import format_instant, format_seconds

WIDTH, HEIGHT, EDGE = 960, 260, 40
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
svg { width: 100%; height: auto; } table { border-collapse: collapse; }
td, th { padding: .2rem .8rem .2rem 0; text-align: left; vertical-align: top; }
:root { color-scheme: light dark; }
"""


def render(history: History) -> str:
    """The page."""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(history.workload)}: history</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(head(history)[0])}</h1>",
        *(f"<p>{escape(line)}</p>" for line in head(history)[1:]),
        _chart(history),
    ]
    for change in history.changes:
        parts.append(f"<h2>{escape(title(change))}</h2><table>")
        parts += [
            f"<tr><th>{escape(name)}</th><td>{escape(sentence)}</td></tr>"
            for name, sentence in details(change)
        ]
        parts.append("</table>")
    head_row = "".join(f"<th>{escape(cell)}</th>" for cell in NIGHT_HEAD)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in night_rows(history)
    )
    parts.append(f"<h2>Nights</h2><table><tr>{head_row}</tr>{rows}</table></body></html>")
    return "\n".join(parts) + "\n"


def _chart(history: History) -> str:
    """The nights as dots, by time; changes as lines."""
    known = [
        (night.started_at, night.log_seconds) for night in history.nights if night.log_seconds is not None
    ]
    if len(known) < 2:
        return ""
    times, values = [at for at, _ in known], [value for _, value in known]
    span, room = (times[-1] - times[0]) or 1.0, (max(values) - min(values)) or 1.0

    def across(at: float) -> float:
        return EDGE + (at - times[0]) / span * (WIDTH - 2 * EDGE)

    def down(value: float) -> float:
        return HEIGHT - EDGE - (value - min(values)) / room * (HEIGHT - 2 * EDGE)

    marks = "".join(
        f'<line x1="{across(one.started_at):.1f}" x2="{across(one.started_at):.1f}" y1="{EDGE}" '
        f'y2="{HEIGHT - EDGE}" stroke="crimson"><title>{escape(title(one))}</title></line>'
        for one in history.changes
    )
    dots = "".join(
        f'<circle cx="{across(at):.1f}" cy="{down(value):.1f}" r="3" fill="steelblue">'
        f"<title>{format_instant(at)}: {format_seconds(exp(value))}</title></circle>"
        for at, value in known
    )
    labels = "".join(
        f'<text x="4" y="{down(value):.1f}" font-size="12" fill="currentColor">'
        f"{format_seconds(exp(value))}</text>"
        for value in (min(values), max(values))
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="geometric mean of a job\'s real time by '
        f'night">{labels}{marks}{dots}</svg>'
    )
