"""A history as text, as Markdown for a ticket, and as an HTML page with a chart of the nights.

The page loads nothing and runs no script.
"""

from __future__ import annotations

from html import escape
from math import exp

from mawl.archive.history.changes import History, HistoryChange, SeriesChange
from mawl.base.printable import printable
from mawl.base.units import counted_noun, format_change, format_instant, format_seconds
from mawl.reports.layout import ABSENT, LINE_WIDTH, escaped, table, wrapped

MOST_CAUSES = 12
MOST_LEFT_OUT = 5
NIGHT_HEAD = ("night", "started", "runs", "a job took (geometric mean)")
Line = tuple[str, str]
"""A short name and a sentence."""


def render_text(history: History, width: int = LINE_WIDTH) -> str:
    """The whole history as lines of text, of ``width`` characters."""
    lines = [line for text in head(history) for line in wrapped(printable(text), width, "  ")]
    for change in history.changes:
        lines += ["", *wrapped(printable(title(change)), width, "  ")]
        for name, sentence in details(change):
            lines += wrapped(f"  {name:<8} {printable(sentence)}", width, " " * 11)
    return "\n".join(lines).rstrip("\n") + "\n"


def render_markdown(history: History) -> str:
    """The same for a ticket, changes as headings, with a table of the nights behind a fold."""
    lines = ["### mawl history", "", *(f"- {escaped(line)}" for line in head(history)), ""]
    for change in history.changes:
        lines += [f"#### {escaped(title(change))}", ""]
        lines += [f"- **{name}**: {escaped(sentence)}" for name, sentence in details(change)]
        lines.append("")
    rows = [tuple(map(escaped, row)) for row in night_rows(history)]
    lines += [f"<details><summary>{counted_noun(len(rows), 'night')}</summary>", ""]
    lines += table(NIGHT_HEAD, rows)
    return "\n".join([*lines, "", "</details>"]) + "\n"


def head(history: History) -> list[str]:
    """What was followed, and what was found."""
    first, last = history.nights[0], history.nights[-1]
    span = f"{format_instant(first.started_at)[:10]} to {format_instant(last.started_at)[:10]}"
    lines = [f"{history.workload}: {counted_noun(len(history.nights), 'night')}, {span}"]
    if len(history.nights) < history.fewest_nights:
        lines.append(f"too few nights to tell: {history.fewest_nights} required")
    elif not history.changes:
        lines.append(f"no change found in {history.followed} series (programs, places, figures)")
    else:
        lines.append(f"{counted_noun(len(history.changes), 'change')} found")
    if history.left_out:
        lines.append(
            f"left out, since they did not complete: {', '.join(history.left_out[:MOST_LEFT_OUT])}"
            + (f" and {len(history.left_out) - MOST_LEFT_OUT} more" * (len(history.left_out) > MOST_LEFT_OUT))
        )
    lines += [f"skipped: {sentence}" for sentence in history.unreadable[:MOST_LEFT_OUT]]
    if len(history.unreadable) > MOST_LEFT_OUT:
        lines.append(f"skipped: {len(history.unreadable) - MOST_LEFT_OUT} more damaged folders")
    if history.smallest_ratio is not None:
        lines.append(
            f"a change of {100 * history.smallest_ratio:.1f} % of the whole load would be noticed within 3 "
            "nights in 80 % of cases"
        )
    return lines


def title(change: HistoryChange) -> str:
    """When, and how much of what."""
    first = change.series[0]
    return f"{format_instant(change.started_at)[:10]} {change.night}: {amount(first)}"


def amount(one: SeriesChange) -> str:
    """``wide_sort +5.1 % (3.0 % to 7.2 %)``."""
    if one.change_ratio is not None:
        span = f"{format_change(one.low)} to {format_change(one.high)}"
        what = f"{one.name} took" if one.kind in ("whole", "program") else one.name
        return f"{what} {format_change(one.change_ratio)} ({span})"
    seconds = one.change_seconds or 0.0
    return f"{one.name} {seconds:+.2f} s ({one.low:+.2f} s to {one.high:+.2f} s)"


def details(change: HistoryChange) -> list[Line]:
    """What is known of a change."""
    lines = [("noticed", f"at {change.series[0].noticed}")]
    if change.place is not None:
        lines.append(("where", change.place))
    lines.append(("limit", " -> ".join(change.limits)))
    if change.causes:
        shown = [f"{one.name}: {one.reference} -> {one.candidate}" for one in change.causes[:MOST_CAUSES]]
        more = len(change.causes) - len(shown)
        lines.append(("changed", "; ".join([*shown, *([f"and {more} more"] if more else [])])))
    else:
        lines.append(
            ("changed", "nothing that mawl recorded: settings, software, hardware and data are alike")
        )
    if len(change.series) > 1:
        lines.append(("also", "; ".join(amount(one) for one in change.series[1:])))
    if change.programs:
        lines.append(("programs", "; ".join(amount(one) for one in change.programs)))
    return lines


def night_rows(history: History) -> list[tuple[str, ...]]:
    """A row of each night, with cells as ``NIGHT_HEAD`` names them."""
    return [
        (
            night.night,
            format_instant(night.started_at),
            str(night.runs),
            ABSENT if night.log_seconds is None else format_seconds(exp(night.log_seconds)),
        )
        for night in history.nights
    ]


CHART_WIDTH, CHART_HEIGHT, CHART_EDGE = 960, 260, 40
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
svg { width: 100%; height: auto; } table { border-collapse: collapse; }
td, th { padding: .2rem .8rem .2rem 0; text-align: left; vertical-align: top; }
:root { color-scheme: light dark; }
"""


def render_html(history: History) -> str:
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
        return CHART_EDGE + (at - times[0]) / span * (CHART_WIDTH - 2 * CHART_EDGE)

    def down(value: float) -> float:
        return CHART_HEIGHT - CHART_EDGE - (value - min(values)) / room * (CHART_HEIGHT - 2 * CHART_EDGE)

    marks = "".join(
        f'<line x1="{across(one.started_at):.1f}" x2="{across(one.started_at):.1f}" y1="{CHART_EDGE}" '
        f'y2="{CHART_HEIGHT - CHART_EDGE}" stroke="crimson"><title>{escape(title(one))}</title></line>'
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
        f'<svg viewBox="0 0 {CHART_WIDTH} {CHART_HEIGHT}" role="img" '
        f'aria-label="geometric mean of a job\'s real time by night">{labels}{marks}{dots}</svg>'
    )
