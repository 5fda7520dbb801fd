"""How folders of an older major version are read: one step per version, applied in order.

A step turns what version N wrote into what version N + 1 would have written: the facts (run.json
as plain data), one journal line, or a whole table.  To change the format, raise
``FORMAT_VERSION``, add a line to its history and a step here.

Format 1 called what the kernel charges to a process when a page becomes dirty ``device_written_bytes``.
It recorded no dirty pages at the gate or at the end, so its folders do not say how many bytes of a run's
writes reached the devices.  Format 2 names the four kinds of bytes (docs/design/figures.md, Bytes).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from mawl.base.errors import UnreadableRunError
from mawl.records.store.files import FORMAT_VERSION, major

Plain = dict[str, Any]

RENAMED = {"device_read_bytes": "own_read_bytes", "device_written_bytes": "charged_written_bytes"}
"""Figures of jobs and steps, and series of the samples."""

PREFIXES = ("", "startup_", "verify_", "total_")

WHY = "format {version} does not record {what} (mawl before format 2.0)"

STILL_DIRTY = "what was still in memory when the last job ended"

NOT_RECORDED: dict[str, str] = {
    "io.dirtied.still_dirty_bytes": STILL_DIRTY,
    "io.dirtied.at_gate_bytes": "what memory held of earlier writes at the gate",
    "io.dirtied.removed_bytes": "which dirty pages mawl dropped with files that it removed",
    "io.dirtied.sync_seconds": "whether the file systems were synced before the gate",
    "io.own.written_bytes": STILL_DIRTY,
    "io.foreign": STILL_DIRTY,
    "io.reach.write_ratio": STILL_DIRTY,
}
"""Paths of a summary that a measured run of format 1 leaves null, and what its folder lacks for them."""


def _facts_from_1(plain: Plain) -> Plain:
    """The facts with a reason for each figure that the format cannot tell."""
    if plain.get("kind") != "measured":
        return plain
    version = plain.get("format_version", "1")
    reasons = {path: WHY.format(version=version, what=what) for path, what in NOT_RECORDED.items()}
    sentence = (
        f"the folder has format {version}, which does not contain {', '.join(sorted(NOT_RECORDED))}; "
        "the run has to be made again for these"
    )
    known = plain.get("missing")
    remarks = plain.get("remarks")
    return {
        **plain,
        "missing": {**reasons, **(known if isinstance(known, dict) else {})},
        "remarks": [*(remarks if isinstance(remarks, list) else []), sentence],
    }


def _line_from_1(table: str, plain: Plain) -> Plain:
    """A line of the journal: its usages under the new names."""
    if table not in ("jobs", "steps"):
        return plain
    return {
        name: {RENAMED.get(key, key): one for key, one in value.items()}
        if name in ("usage", "startup", "verify", "total") and isinstance(value, dict)
        else value
        for name, value in plain.items()
    }


def _table_from_1(name: str, found: pa.Table) -> pa.Table:
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


def _same_facts(facts: Plain) -> Plain:
    return facts


def _same_line(table: str, line: Plain) -> Plain:  # noqa: ARG001
    return line


def _same_table(name: str, table: pa.Table) -> pa.Table:  # noqa: ARG001
    return table


class Upgrade(msgspec.Struct, frozen=True, kw_only=True):
    """From one major version to the next; what did not change stays as it is."""

    facts: Callable[[Plain], Plain] = _same_facts
    line: Callable[[str, Plain], Plain] = _same_line
    table: Callable[[str, pa.Table], pa.Table] = _same_table


UPGRADES: dict[int, Upgrade] = {1: Upgrade(facts=_facts_from_1, line=_line_from_1, table=_table_from_1)}
"""Major version to the step that leads to the next one."""


def with_queue_depth(facts: Plain) -> Plain:
    """Facts before format 2.1: random_access had one request under way, and no option said so."""
    workload = facts.get("workload")
    options = workload.get("options") if isinstance(workload, dict) else None
    if isinstance(options, dict):
        options.setdefault("queue_depth", 1)
    return facts


def steps_from(version: object, where: str) -> list[Upgrade]:
    """The steps from a folder's version to this one; empty when they are the same.

    Raises ``UnreadableRunError`` for a newer major version, for one that is too
    old, and for what is no version.
    """
    try:
        found = major(version) if isinstance(version, str) else None
    except ValueError:
        found = None
    if found is None:
        raise UnreadableRunError(
            "has no format version",
            where=where,
            why=f"expected format_version such as {FORMAT_VERSION!r}, found {str(version)[:40]!r}",
            cure="name the folder of a run that mawl wrote",
        )
    current = major(FORMAT_VERSION)
    if found > current:
        raise UnreadableRunError(
            f"was written in format {str(version)[:40]}, and this mawl knows up to {FORMAT_VERSION}",
            where=where,
            cure="read it with the mawl that wrote it, or upgrade this one",
        )
    if any(step not in UPGRADES for step in range(found, current)):
        raise UnreadableRunError(
            f"was written in format {version}, which this mawl can no longer read",
            where=where,
            cure="read it with an older mawl",
        )
    return [UPGRADES[step] for step in range(found, current)]
