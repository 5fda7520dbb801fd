"""The inventory of a node: the settings that matter, as they were when it was read.

Names, units and meanings stand in :mod:`mawl.model.inventory_metrics`.  A value that could not be read is
None, and ``missing`` says why under ``FAMILY.SUBJECT.NAME``, or under ``FAMILY`` where it has no subject.
"""

from __future__ import annotations

import msgspec

Value = str | int | float | bool | None
Figures = dict[str, Value]

INVENTORY_VERSION = "1.0"
"""Of the names; a minor number adds some, a major one changes what they mean."""


class Inventory(msgspec.Struct, frozen=True, kw_only=True):
    """Family to subject to figure.  ``cpu_seconds`` is what reading it cost this process."""

    version: str = INVENTORY_VERSION
    families: dict[str, dict[str, Figures]] = {}
    missing: dict[str, str] = {}
    cpu_seconds: float | None = None
