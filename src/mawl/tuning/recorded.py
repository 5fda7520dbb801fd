"""The settings that a recording of an AIX host keeps as text (BBBP of nmon), as an inventory."""

from __future__ import annotations

import re

from mawl.formats.aix import attributes, limits, tunables
from mawl.model.inventory import Figures, Inventory
from mawl.model.inventory_metrics import MACHINE
from mawl.model.run import RunFacts

_COMMAND = re.compile(r"BBBP[A-Z]?\.(?P<command>.+)", re.DOTALL)
_DEVICE = re.compile(r"lsattr\b.*?\s(?:-\w*l\s*)?(?P<device>(?P<family>sys|hdisk|fcs|fscsi)[0-9]+)\b.*")


def recorded_inventories(facts: RunFacts) -> dict[str, Inventory]:
    """Node to what its recording says; nodes of which no command is known are left out."""
    found: dict[str, dict[str, dict[str, Figures]]] = {}
    for name, text in facts.settings.items():
        node = next((one.name for one in facts.nodes if name.startswith(f"{one.name}.")), None)
        match = _COMMAND.fullmatch(name.removeprefix(f"{node}.")) if node else None
        if node is None or match is None or not isinstance(text, str):
            continue
        family, subject, figures = _told(match["command"], text)
        if family and figures:
            found.setdefault(node, {}).setdefault(family, {}).setdefault(subject, {}).update(figures)
    return {node: Inventory(families=families) for node, families in found.items()}


def _told(command: str, text: str) -> tuple[str | None, str, Figures]:
    """Family, subject and figures of a command's output."""
    words = command.split()
    first = words[0].rpartition("/")[2] if words else ""
    if first in ("vmo", "ioo", "no", "schedo"):
        return first, MACHINE, dict(tunables(text))
    if first == "ulimit":
        return "ulimit", MACHINE, dict(limits(text))
    device = _DEVICE.fullmatch(command)
    if device is not None:
        family = "sys0" if device["family"] == "sys" else device["family"]
        return family, device["device"], dict(attributes(text))
    return None, MACHINE, {}
