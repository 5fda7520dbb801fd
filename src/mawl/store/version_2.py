"""From format 1 to format 2: the four kinds of bytes have a name each (docs/design/figures.md, Bytes).

Format 1 called what the kernel charges to a process when a page becomes dirty ``device_written_bytes``.
It noted neither what was dirty at the gate nor what still was at the end, so what of a run's writes
reached its devices cannot be told from its folders.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

Plain = dict[str, Any]

RENAMED = {"device_read_bytes": "own_read_bytes", "device_written_bytes": "charged_written_bytes"}
"""Figures of jobs and steps, and series of the samples."""

PREFIXES = ("", "startup_", "verify_", "total_")

WHY = "format {version} does not record {what} (mawl before format 2.0)"

STILL_DIRTY = "what was still in memory when the last job ended"

CANNOT_TELL: dict[str, str] = {
    "io.dirtied.still_dirty_bytes": STILL_DIRTY,
    "io.dirtied.at_gate_bytes": "what memory held of earlier writes at the gate",
    "io.dirtied.removed_bytes": "which dirty pages mawl dropped with files that it removed",
    "io.dirtied.sync_seconds": "whether the file systems were synced before the gate",
    "io.own.written_bytes": STILL_DIRTY,
    "io.foreign": STILL_DIRTY,
    "io.reach.write_ratio": STILL_DIRTY,
}
"""Paths of a summary that a measured run of format 1 leaves null, and what its folder lacks for them."""


def facts(plain: Plain) -> Plain:
    """The facts with a reason for each figure that the format cannot tell."""
    if plain.get("kind") != "measured":
        return plain
    version = plain.get("format_version", "1")
    reasons = {path: WHY.format(version=version, what=what) for path, what in CANNOT_TELL.items()}
    sentence = (
        f"the folder has format {version}, which does not contain {', '.join(sorted(CANNOT_TELL))}; "
        "the run has to be made again for these"
    )
    known = plain.get("missing")
    remarks = plain.get("remarks")
    return {
        **plain,
        "missing": {**reasons, **(known if isinstance(known, dict) else {})},
        "remarks": [*(remarks if isinstance(remarks, list) else []), sentence],
    }


def line(table: str, plain: Plain) -> Plain:
    """A line of the journal: its usages under the new names."""
    if table not in ("jobs", "steps"):
        return plain
    return {
        name: {RENAMED.get(key, key): one for key, one in value.items()}
        if name in ("usage", "startup", "verify", "total") and isinstance(value, dict)
        else value
        for name, value in plain.items()
    }


def table(name: str, found: pa.Table) -> pa.Table:
    """A table with the columns, or the series, under the new names."""
    if name in ("jobs", "steps"):
        columns = {prefix + old: prefix + new for old, new in RENAMED.items() for prefix in PREFIXES}
        return found.rename_columns([columns.get(column, column) for column in found.schema.names])
    if name != "samples" or "series" not in found.schema.names:
        return found
    series = found["series"].cast(pa.string())
    for old, new in RENAMED.items():
        series = pc.if_else(pc.equal(series, old), new, series)
    return found.set_column(found.schema.get_field_index("series"), "series", series)
