"""What `mawl tune check` compares: a stored run's inventory, or this machine's now."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import msgspec

from mawl.advice.capacity.bounds import CapacityBounds
from mawl.advice.judge import judged
from mawl.analysis.view import StoredView
from mawl.errors import UsageError
from mawl.formats.settings.aix import attributes, limits, tunables
from mawl.measure.block_devices import volume_facts
from mawl.measure.machine import read_machine
from mawl.measure.settings.inventory import inventory_of
from mawl.model.inventory import Figures, Inventory
from mawl.model.inventory_metrics import MACHINE
from mawl.model.run import RunFacts
from mawl.model.summary.judgement import Losses
from mawl.spec.program_options import Role
from mawl.spec.settings import Settings
from mawl.spec.sources import spec_of
from mawl.store import open_run
from mawl.tuning.check import CurrentSettings
from mawl.tuning.roles import volumes_of_roles, with_roles


def live_inventory(arguments: argparse.Namespace, chosen: Settings) -> CurrentSettings:
    """This machine, with the devices and file systems that hold the roles (or would hold them)."""
    given: dict[Role, list[str] | None] = {
        "data": arguments.data,
        "work": arguments.work,
        "util": arguments.util,
    }
    places = {role: [_existing(Path(path)) for path in paths] for role, paths in chosen.roles(given).items()}
    machine = read_machine()
    node = machine.name or "localhost"
    volumes = volume_facts(places, node)
    inventory = inventory_of(machine, volumes, spec_of(chosen.layer()).options)
    return CurrentSettings(run_id=None, platform="linux", inventories={node: inventory})


def _existing(path: Path) -> Path:
    """The path, or what is there of it: roles are made by the first run."""
    whole = path.absolute()
    return next(one for one in (whole, *whole.parents) if one.exists())


def run_reading(name: str, runs: Path, bounds: CapacityBounds) -> CurrentSettings:
    """A stored run's settings, and what limited it.

    :class:`~mawl.errors.UsageError` where it holds none: it was recorded before they were, or imported
    from files that do not tell.
    """
    stored = open_run(name, runs)
    facts = stored.facts
    recorded = recorded_inventories(facts)
    inventories = dict(facts.inventories) or recorded
    if not inventories:
        raise UsageError(
            f"run {facts.run_id} holds no settings",
            why="it was made before runs recorded them (format 1.2), or imported from files without settings",
            cure="use --live for this machine, or run again",
        )
    limit = judged(StoredView(stored), bounds).limit
    roles = volumes_of_roles(facts.volumes, limit)
    inventories = {node: with_roles(one, roles.get(node, {})) for node, one in inventories.items()}
    return CurrentSettings(
        run_id=facts.run_id,
        platform="linux" if facts.inventories else "aix",
        inventories=inventories,
        verdict=limit.verdict if limit else None,
        losses=_known(limit.losses) if limit else None,
    )


def _known(losses: Losses) -> dict[str, float] | None:
    """What waiting for each resource cost; None where one of them is not known."""
    every: dict[str, float | None] = msgspec.structs.asdict(losses)
    known = {name: share for name, share in every.items() if share is not None}
    return known if len(known) == len(every) else None


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
