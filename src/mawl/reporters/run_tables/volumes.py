"""A row per volume of the roles that have several, and how evenly their bytes lay on them."""

from __future__ import annotations

from collections import Counter

import msgspec

from mawl.analysis.view import RunView
from mawl.model.summary.summary import Summary
from mawl.model.summary.volumes import RoleVolumes
from mawl.reporters.figure import figure
from mawl.reporters.table import CSV, EVERY, HTML, MARKDOWN, TEXT, Note, Row, RunColumn, RunTable
from mawl.units import format_bytes, format_memory, format_percent, format_ratio


def _several(summary: Summary) -> dict[str, RoleVolumes]:
    """The roles with several volumes: one alone is its role's row."""
    return {role: block for role, block in msgspec.structs.asdict(summary.roles).items() if block.volumes > 1}


def _rows(_: RunView, summary: Summary) -> list[Row]:
    """``work 1``, ``work 2``, ``util 1``: numbered within each role of a node, which several nodes name.

    CSV has those of roles with one volume, too.
    """
    several, count = _several(summary), Counter[tuple[str, str]]()
    nodes = {volume.node for volume in summary.volumes}
    rows = []
    for place, volume in enumerate(summary.volumes):
        count[volume.node, volume.role] += 1
        name = f"{volume.role} {count[volume.node, volume.role]}"
        name = f"{volume.node} {name}" if len(nodes) > 1 else name
        rows.append(Row(name, ("volumes", place), EVERY if volume.role in several else CSV))
    return rows


def _notes(view: RunView, summary: Summary) -> list[Note]:
    """Where the volumes are, and the spread of their bytes where files tell it."""
    several = _several(summary)
    places = [
        f"{row.name}: {summary.volumes[int(row.path[1])].directory}"
        for row in _rows(view, summary)
        if row.formats > CSV
    ]
    notes = [Note("; ".join(places), TEXT)]
    if summary.kind == "imported" and all(block.spread_ratio is None for block in several.values()):
        return notes
    parts = [
        f"{role} {figure(block.spread_ratio, format_ratio)} over {block.volumes}"
        for role, block in several.items()
    ]
    order = f" (order: {summary.volume_order})" if summary.volume_order else ""
    spread = f"spread of the bytes, largest less smallest over the mean: {', '.join(parts)}{order}"
    return [*notes, Note(spread)]


VOLUMES = RunTable(
    name="volumes",
    caption="Volumes of the roles that have several",
    section="roles",
    first="volume",
    block=("volumes", "*"),
    rows=_rows,
    columns=(
        RunColumn(label="directory", path=("directory",), form=str, holds="code", formats=MARKDOWN | HTML),
        RunColumn(label="size", path=("size_bytes",), form=format_memory),
        RunColumn(label="used before", path=("used_before_bytes",), form=format_memory),
        RunColumn(label="after", title="used after", path=("used_after_bytes",), form=format_memory),
        RunColumn(label="free", title="free after", path=("free_after_bytes",), form=format_memory),
        RunColumn(label="read", path=("read_bytes",), form=format_bytes),
        RunColumn(label="written", path=("written_bytes",), form=format_bytes),
        RunColumn(label="share", path=("share_ratio",), form=format_percent),
        RunColumn(label="device read", path=("device_read_bytes",), form=format_bytes),
        RunColumn(label="written", title="device written", path=("device_written_bytes",), form=format_bytes),
        RunColumn(
            label="peak", title="peak of the run's files", path=("peak_used_bytes",), form=format_memory
        ),
    ),
    formats=EVERY,
    fold="Volumes",
    folded=MARKDOWN,
    notes=_notes,
)
