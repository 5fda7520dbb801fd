"""Settings before and after as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mawl.reporters.columns import aligned
from mawl.reporters.figure import ABSENT
from mawl.tuning.changes import Changes, Outcome, SettingChange
from mawl.tuning.text import form, one_line_each, recommended, wrapped

TITLES: dict[Outcome, str] = {
    "changed": "changed:",
    "left": "left as they were:",
    "not checked": "not checked (unknown on one side):",
}


def render(found: Changes, *, whole: bool) -> str:
    """A table of what changed, with the reasons; the others with ``whole``, else their number."""
    counts = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in found.counts.items())
    lines = [*wrapped(f"{found.before} and {found.after} ({', '.join(found.nodes)}): {counts}", "")]
    lines += wrapped(", ".join(found.profiles) or "no profile for this platform", "  ")
    for outcome, title in TITLES.items():
        rows = [row for row in found.settings if row.outcome == outcome]
        shown = rows if whole or outcome == "changed" else rows[:0]
        if shown:
            lines += ["", title, *_table(shown, several=len(found.nodes) > 1)]
            lines += _notes(shown, outcome)
    hidden = found.counts["left"] + found.counts["not_checked"]
    if hidden and not whole:
        lines += ["", f"{hidden} more were left as they were or not checked (--all shows them)."]
    return "\n".join(one_line_each(lines))


def _table(rows: Sequence[SettingChange], *, several: bool) -> Iterator[str]:
    cells: list[Sequence[str]] = [("setting", "before", "after", "default", "recommended")]
    for row in rows:
        about = " of ".join(part for part in (row.name, row.subject) if part)
        cells.append(
            (
                f"{about} on {row.node}" if several else about,
                *(ABSENT if value is None else form(value, row.unit) for value in (row.before, row.after)),
                ABSENT if row.default is None else form(row.default, row.unit),
                recommended(row.recommended, row.printed, row.unit),
            )
        )
    return (f"  {line}" for line in aligned(cells))


def _notes(rows: Sequence[SettingChange], outcome: Outcome) -> Iterator[str]:
    """Why a changed setting matters and whether it is now as recommended; why one could not be checked."""
    for row in rows:
        about = " of ".join(part for part in (row.name, row.subject) if part)
        if outcome == "changed" and row.profile and row.source:
            why = f"{row.why}; " if row.why else ""
            yield from wrapped(
                f"{about}: {why}now {row.state} ({row.source.key}, {row.source.section})", "  "
            )
        elif outcome == "not checked":
            yield from wrapped(f"{about}: {row.reason}", "  ")
