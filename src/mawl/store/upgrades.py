"""How folders of an older major version are read: one step per version, applied in order.

A step turns what version N wrote into what version N + 1 would have written: the facts (run.json
as plain data), one journal line, or a whole table.  To change the format, raise
:data:`mawl.store.layout.FORMAT_VERSION`, add a line to its history and a step here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pyarrow as pa

from mawl.errors import UnreadableRunError
from mawl.store import version_2
from mawl.store.layout import FORMAT_VERSION, major

Plain = dict[str, Any]


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


UPGRADES: dict[int, Upgrade] = {1: Upgrade(facts=version_2.facts, line=version_2.line, table=version_2.table)}
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

    Raises :class:`~mawl.errors.UnreadableRunError` for a newer major version, for one that is too
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
