"""Rows of the volumes of roles that have more than one, for every report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from textwrap import wrap

import msgspec

from mawl.formats.lines import one_line
from mawl.model.summary.summary import Summary
from mawl.model.summary.volumes import VolumeFigures
from mawl.reporters.columns import LINE_WIDTH, aligned
from mawl.reporters.figure import Form, figure, figures
from mawl.units import format_bytes, format_memory, format_percent, format_ratio

Column = tuple[str, str, Form]
COLUMNS: tuple[Column, ...] = (
    ("size", "size_bytes", format_memory),
    ("used before", "used_before_bytes", format_memory),
    ("after", "used_after_bytes", format_memory),
    ("free", "free_after_bytes", format_memory),
    ("read", "read_bytes", format_bytes),
    ("written", "written_bytes", format_bytes),
    ("share", "share_ratio", format_percent),
    ("device read", "device_read_bytes", format_bytes),
    ("written", "device_written_bytes", format_bytes),
    ("peak", "peak_used_bytes", format_memory),
)


def shown_volumes(summary: Summary) -> list[VolumeFigures]:
    """The volumes of the roles with several of them: one alone is its role's row."""
    several = {role for role, block in msgspec.structs.asdict(summary.roles).items() if block.volumes > 1}
    return [volume for volume in summary.volumes if volume.role in several]


def shown_columns(summary: Summary) -> list[Column]:
    """All columns; of an import those that its files tell of any volume."""
    shown = shown_volumes(summary)
    every = summary.kind != "imported"
    return [
        column
        for column in COLUMNS
        if every or any(getattr(volume, column[1]) is not None for volume in shown)
    ]


def cells(volume: VolumeFigures, columns: Sequence[Column]) -> list[str]:
    """One volume's figures."""
    return figures(*((getattr(volume, field), form) for _, field, form in columns))


def spread_text(summary: Summary) -> str:
    """How evenly the bytes of each role with several volumes lay on them; empty where files cannot tell."""
    several = [block for block in msgspec.structs.asdict(summary.roles).values() if block.volumes > 1]
    if summary.kind == "imported" and all(block.spread_ratio is None for block in several):
        return ""
    parts = [
        f"{role} {figure(block.spread_ratio, format_ratio)} over {block.volumes}"
        for role, block in msgspec.structs.asdict(summary.roles).items()
        if block.volumes > 1
    ]
    order = f" (order: {summary.volume_order})" if summary.volume_order else ""
    return f"spread of the bytes, largest less smallest over the mean: {', '.join(parts)}{order}"


def volume_names(volumes: Sequence[VolumeFigures]) -> list[str]:
    """``work 1``, ``work 2``, ``util 1``: numbered from 1 within each role of a node."""
    count: Counter[tuple[object, object]] = Counter()
    names = []
    for volume in volumes:
        of = (volume.node, volume.role)
        count[of] += 1
        names.append(f"{volume.role} {count[of]}")
    return names


def volumes(summary: Summary) -> list[str]:
    """A row per volume of roles with several, and their spread; nothing where no role has."""
    shown = shown_volumes(summary)
    if not shown:
        return []
    columns = shown_columns(summary)
    rows: list[Sequence[str]] = [("volume", *(label for label, _, _ in columns))]
    names = volume_names(shown)
    rows += [(name, *cells(volume, columns)) for name, volume in zip(names, shown, strict=True)]
    where = [one_line(f"{name}: {volume.directory}") for name, volume in zip(names, shown, strict=True)]
    return [
        *aligned(rows),
        *wrap("; ".join(where), LINE_WIDTH, subsequent_indent="  "),
        *wrap(spread_text(summary), LINE_WIDTH, subsequent_indent="  "),
    ]
