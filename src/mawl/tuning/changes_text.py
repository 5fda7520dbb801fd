"""Settings before and after as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mawl.analysis.comparison.settings import CitedSetting, CitedSettings
from mawl.formats.settings.aix import number
from mawl.reporters.columns import aligned
from mawl.reporters.figure import ABSENT
from mawl.tuning.changes import Changes, Outcome, SettingChange
from mawl.tuning.records import Unit, Value
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


def cited(found: Changes) -> CitedSettings:
    """The changes for a comparison of runs."""
    return CitedSettings(
        before=found.before,
        after=found.after,
        nodes=found.nodes,
        changed=[_cited(row) for row in found.settings if row.outcome == "changed"],
        left=found.counts["left"],
        not_checked=found.counts["not_checked"],
    )


def _cited(row: SettingChange) -> CitedSetting:
    return CitedSetting(
        name=row.name,
        subject=row.subject,
        node=row.node,
        reference=held(row.before, row.unit) or ABSENT,
        candidate=held(row.after, row.unit) or ABSENT,
        default=held(row.default, row.unit),
        recommended=_recommended(row),
        state=row.state if row.profile else None,
        why=row.why,
        profile=row.profile,
        source=f"{row.source.key}, {row.source.section}" if row.source else None,
    )


def _recommended(row: SettingChange) -> str | None:
    """``at most 30 %``, or the value alone where only that one is recommended."""
    if row.recommended is None:
        return None
    bound = f"{row.rule} " if row.rule in ("at least", "at most") else ""
    return bound + recommended(row.recommended, row.printed, row.unit)


def held(value: Value | None, unit: Unit) -> str | None:
    """A value with its unit; of a size in digits, as AIX and Spectrum Scale print it, the size."""
    if value is None:
        return None
    size = number(value) if isinstance(value, str) and unit == "bytes" else None
    return form(value if size is None else size, unit)


def _table(rows: Sequence[SettingChange], *, several: bool) -> Iterator[str]:
    cells: list[Sequence[str]] = [("setting", "before", "after", "default", "recommended")]
    for row in rows:
        about = " of ".join(part for part in (row.name, row.subject) if part)
        cells.append(
            (
                f"{about} on {row.node}" if several else about,
                *(held(value, row.unit) or ABSENT for value in (row.before, row.after)),
                held(row.default, row.unit) or ABSENT,
                _recommended(row) or ABSENT,
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
