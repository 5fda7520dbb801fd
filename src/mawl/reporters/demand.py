"""Demand against capability by role: rows that text, Markdown and HTML share."""

from __future__ import annotations

from textwrap import wrap

from mawl.formats.lines import one_line
from mawl.model.summary.summary import Summary
from mawl.reporters.columns import LINE_WIDTH, aligned
from mawl.reporters.figure import Form, figures
from mawl.spec.program_options import ROLES
from mawl.units import format_memory, format_percent, format_rate

COLUMNS: tuple[tuple[str, str, Form], ...] = (
    ("median request", "request_bytes", format_memory),
    ("peak", "peak_bytes_per_second", format_rate),
    ("sustained", "sustained_bytes_per_second", format_rate),
    ("can do", "capability_bytes_per_second", format_rate),
    ("peak used", "peak_used_ratio", format_percent),
    ("sustained used", "sustained_used_ratio", format_percent),
)
HEAD = ("role, at its devices", *(label for label, _, _ in COLUMNS))
DIRECTIONS = ("read", "write")


def shown(summary: Summary) -> list[tuple[str, str]]:
    """The roles and directions to show: all; of an import those of which its files tell something."""
    storage = summary.storage
    if storage is None:
        return []
    every = summary.kind != "imported"
    return [
        (role, direction)
        for role in ROLES
        for direction in DIRECTIONS
        if every
        or any(getattr(getattr(storage.by_role[role], direction), name) is not None for _, name, _ in COLUMNS)
    ]


def rows(summary: Summary) -> list[tuple[str, ...]]:
    """A row per role and direction."""
    storage = summary.storage
    if storage is None:
        return []
    return [
        (
            f"{role}, {direction}",
            *figures(
                *(
                    (getattr(getattr(storage.by_role[role], direction), name), form)
                    for _, name, form in COLUMNS
                )
            ),
        )
        for role, direction in shown(summary)
    ]


def notes(summary: Summary) -> list[str]:
    """Which test each capability is of, who shares a demand, and why a capability is missing."""
    storage, missing = summary.storage, summary.missing
    found: dict[str, list[str]] = {}
    if storage is None:
        return []
    for role in ROLES:
        block = storage.by_role[role]
        if block.shared_with:
            found.setdefault(f"its figures are also of {' and '.join(block.shared_with)}", []).append(role)
        for direction in DIRECTIONS:
            test = getattr(block, direction).test
            why = missing.get(f"storage.by_role.{role}.{direction}.test", "")
            found.setdefault(f"can do: {test}" if test else why, []).append(f"{role} {direction}")
    return [f"{', '.join(names)}: {one_line(sentence)}" for sentence, names in found.items() if sentence]


def demand(summary: Summary) -> list[str]:
    """The lines of the long report; nothing without a probe."""
    storage = summary.storage
    found = rows(summary)
    if not found or storage is None:
        return []
    lines = aligned([HEAD, *found])
    lines[0] += f"  (probe of {storage.probed_at[:10]})"
    return [
        *lines,
        *(line for note in notes(summary) for line in wrap(note, LINE_WIDTH, subsequent_indent="  ")),
    ]
