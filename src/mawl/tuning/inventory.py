"""Reads the settings that `mawl tune check` compares: of a stored run, or of this machine now."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import msgspec

from mawl.advice.bounds import AnswerBounds
from mawl.advice.judge import judged
from mawl.base.errors import UsageError
from mawl.figures.comparison.comparability import CitedSettings
from mawl.figures.comparison.sides import Side
from mawl.figures.view import StoredView
from mawl.importers.formats.settings.collection import reader_of, words_of
from mawl.importers.formats.settings.output import NodeSettings, Output
from mawl.measure.devices import volume_facts
from mawl.measure.machine import read_machine
from mawl.measure.settings.inventory import inventory_of
from mawl.records.model.node import Inventory
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.judgement import Losses
from mawl.records.spec.program_options import Role
from mawl.records.spec.settings import Settings
from mawl.records.spec.sources import spec_of
from mawl.records.store import open_run
from mawl.tuning.changes import changes
from mawl.tuning.check import CurrentSettings, machine_settings, volumes_of_roles, with_roles
from mawl.tuning.profile_files import profiles
from mawl.tuning.records import Platform
from mawl.tuning.text import cited


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


def run_reading(name: str, runs: Path, bounds: AnswerBounds) -> CurrentSettings:
    """A stored run's settings, and what limited it.

    ``UsageError`` where it holds none: it was recorded before they were, or imported
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


def recorded_settings(facts: RunFacts) -> CurrentSettings | None:
    """What a run recorded of its machines, without what the run itself was given; None if nothing."""
    inventories = dict(facts.inventories) or recorded_inventories(facts)
    if not inventories:
        return None
    platform: Platform = "linux" if facts.inventories else "aix"
    return machine_settings(CurrentSettings(run_id=facts.run_id, platform=platform, inventories=inventories))


def _known(losses: Losses) -> dict[str, float] | None:
    every: dict[str, float | None] = msgspec.structs.asdict(losses)
    known = {name: share for name, share in every.items() if share is not None}
    return known if len(known) == len(every) else None


_COMMAND = re.compile(r"BBBP[A-Z]?\.(?P<command>.+)", re.DOTALL)


def recorded_inventories(facts: RunFacts) -> dict[str, Inventory]:
    """Node to what its recording says; nodes of which no command is known are left out.

    The readers are those of a collection (``tuning.collection``).
    """
    found: dict[str, NodeSettings] = {}
    for name, text in facts.settings.items():
        node = next((one.name for one in facts.nodes if name.startswith(f"{one.name}.")), None)
        match = _COMMAND.fullmatch(name.removeprefix(f"{node}.")) if node else None
        if node is None or match is None or not isinstance(text, str):
            continue
        command, lines = words_of(match["command"]), tuple(text.splitlines())
        reader = reader_of(command, lines)
        if reader is not None:
            output = Output(command=command, lines=lines, whole=False, file=name)
            reader(output, found.setdefault(node, NodeSettings()))
    return {node: settings.inventory() for node, settings in found.items() if settings.families}


def settings_between(reference: Side, candidate: Side) -> CitedSettings | None:
    """What changed, with what profiles say of it.

    None where a side recorded no settings, or where the sides have no node of the same name.
    """
    read = [recorded_settings(side.runs[0].facts) for side in (reference, candidate) if side.runs]
    known = [one for one in read if one is not None]
    if len(known) < 2:
        return None
    nodes = [set(one.inventories) for one in known]
    if max(map(len, nodes)) > 1 and not nodes[0] & nodes[1]:
        return None
    return cited(changes(known[0], known[1], (reference.label, candidate.label), None, profiles()))
