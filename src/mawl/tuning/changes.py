"""Settings of a run or of this machine, and what changed between two of them or could not be checked."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec

from mawl.advice.bounds import AnswerBounds
from mawl.advice.judge import judged
from mawl.base.errors import UsageError
from mawl.figures.view import StoredView
from mawl.importers.formats.settings.collection import reader_of, words_of
from mawl.importers.formats.settings.output import NodeSettings, Output
from mawl.measure.devices import volume_facts
from mawl.measure.machine import read_machine
from mawl.measure.settings.inventory import inventory_of
from mawl.records.definitions import Metric, block, count, listing, text
from mawl.records.model.fields import metrics_of
from mawl.records.model.node import Inventory
from mawl.records.model.run import RunFacts
from mawl.records.model.series_metrics import MACHINE
from mawl.records.model.summary.judgement import Losses
from mawl.records.spec.program_options import Role
from mawl.records.spec.sources import Settings, spec_of
from mawl.records.store import open_run
from mawl.tuning.check import (
    CurrentSettings,
    check,
    machine_settings,
    same_value,
    volumes_of_roles,
    with_roles,
)
from mawl.tuning.records import (
    PAGE,
    CheckedSetting,
    Platform,
    Profile,
    Rule,
    SettingSource,
    State,
    Unit,
    Value,
)

BEFORE_AFTER = f"{PAGE}, Before and after"

Outcome = Literal["changed", "left", "not checked"]
OUTCOMES: tuple[Outcome, ...] = ("changed", "left", "not checked")

WORKED_OUT = ("storage", "partition", "layout", "used_ratio")
"""Figures that are no settings: what outputs say together, and what fills up."""


class SettingChange(msgspec.Struct, frozen=True, kw_only=True):
    """A setting of both sides: ``settings.*`` of `mawl tune compare --json`.

    ``profile`` and what follows is null for a setting that no compared profile names.
    """

    node: Annotated[str, text("Node.", BEFORE_AFTER)]
    subject: Annotated[str, text("Device, mount, interface; empty for the machine.", BEFORE_AFTER)]
    name: Annotated[str, text("Name, as the profile has it; else family and figure.", BEFORE_AFTER)]
    outcome: Annotated[Outcome, text("changed, left, or not checked.", BEFORE_AFTER)]
    before: Annotated[Value | None, block("Older value; null if not known.", BEFORE_AFTER)]
    after: Annotated[Value | None, block("Newer value; null if not known.", BEFORE_AFTER)]
    reason: Annotated[str | None, text("Why a value is null, for each side.", BEFORE_AFTER)]
    state: Annotated[State | None, text("tune.settings.*.state of the newer value.", BEFORE_AFTER)] = None
    unit: Annotated[Unit, text("As tune.settings.*.unit.", BEFORE_AFTER)] = "text"
    default: Annotated[Value | None, block("As tune.settings.*.default.", BEFORE_AFTER)] = None
    recommended: Annotated[
        Value | list[Value] | None, block("As tune.settings.*.recommended.", BEFORE_AFTER)
    ] = None
    rule: Annotated[Rule | None, text("As tune.settings.*.rule.", BEFORE_AFTER)] = None
    printed: Annotated[str | None, text("As tune.settings.*.printed.", BEFORE_AFTER)] = None
    why: Annotated[str | None, text("As tune.settings.*.why.", BEFORE_AFTER)] = None
    profile: Annotated[str | None, text("As tune.settings.*.profile.", BEFORE_AFTER)] = None
    tier: Annotated[str | None, text("As tune.settings.*.tier.", BEFORE_AFTER)] = None
    source: Annotated[SettingSource | None, block("As tune.settings.*.source.", BEFORE_AFTER)] = None


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """Both sides by name, the profiles that were asked, and every setting."""

    before: Annotated[str, text("The older settings: a run, or files.", BEFORE_AFTER)]
    after: Annotated[str, text("The newer settings: a run, or files.", BEFORE_AFTER)]
    nodes: Annotated[list[str], listing("Names of the nodes of both sides.", BEFORE_AFTER)]
    profiles: Annotated[list[str], listing("Names of the profiles that were compared.", BEFORE_AFTER)]
    counts: dict[str, Annotated[int, count("Rows with this outcome.", BEFORE_AFTER)]]
    settings: list[SettingChange]


CHANGE_METRICS: tuple[Metric, ...] = metrics_of(Changes, ("changes",))


def changes(
    before: CurrentSettings,
    after: CurrentSettings,
    names: tuple[str, str],
    wanted: Sequence[Profile] | None,
    shipped: Mapping[str, Profile],
) -> Changes:
    """Every setting of the profiles, then changed settings that no profile names.

    A node of one side is the node of that name of the other; where both sides have one, they are the same.
    ``UsageError`` where no node is on both sides.
    """
    after = _renamed(before, after)
    common = [node for node in before.inventories if node in after.inventories]
    if not common:
        raise UsageError(
            f"{names[0]} and {names[1]} have no node in common",
            why=f"{', '.join(before.inventories)}; {', '.join(after.inventories)}",
        )
    olds, news = (check(side, wanted, shipped) for side in (before, after))
    old_rows, new_rows = ({_key(row): row for row in one.settings} for one in (olds, news))
    rows = [
        _row(old_rows.get(key), new_rows.get(key))
        for key in {**new_rows, **old_rows}
        if key.node in common and not key.advice
    ]
    rows = _once(rows)
    named = {(row.node, row.subject, row.figure) for row in news.settings if row.current is not None}
    for node in common:
        rows += _others(node, before.inventories[node], after.inventories[node], named)
    rows.sort(key=lambda row: OUTCOMES.index(row.outcome))
    return Changes(
        before=names[0],
        after=names[1],
        nodes=common,
        profiles=news.profiles,
        counts={
            outcome.replace(" ", "_"): sum(row.outcome == outcome for row in rows) for outcome in OUTCOMES
        },
        settings=rows,
    )


def _renamed(before: CurrentSettings, after: CurrentSettings) -> CurrentSettings:
    if len(before.inventories) != 1 or len(after.inventories) != 1:
        return after
    (node,), (inventory,) = before.inventories, after.inventories.values()
    return msgspec.structs.replace(after, inventories={node: inventory})


def _once(rows: list[SettingChange]) -> list[SettingChange]:
    """Without tiers of a setting for you to judge where another tier of it is known to hold."""

    def key(row: SettingChange) -> tuple[str | None, ...]:
        return (row.node, row.subject, row.profile, row.name)

    held = {key(row) for row in rows if row.state in ("differs", "as recommended")}
    return [row for row in rows if row.state != "for you to judge" or key(row) not in held]


class _Key(NamedTuple):
    node: str
    subject: str
    profile: str
    group: str
    tier: str
    name: str
    advice: bool


def _key(row: CheckedSetting) -> _Key:
    return _Key(row.node, row.subject, row.profile, row.group, row.tier, row.name, row.rule == "advice")


def _row(old: CheckedSetting | None, new: CheckedSetting | None) -> SettingChange:
    before, after = old.current if old else None, new.current if new else None
    if before is None or after is None:
        outcome: Outcome = "not checked"
        sides = [("before", before, old), ("after", after, new)]
        reason = "; ".join(
            f"{side}: {row.reason if row else 'not there'}" for side, value, row in sides if value is None
        )
    else:
        outcome, reason = ("left" if same_value(before, after) else "changed"), None
    new = new or old
    assert new is not None
    return SettingChange(
        node=new.node,
        subject=new.subject,
        name=new.name,
        outcome=outcome,
        before=before,
        after=after,
        reason=reason,
        state=new.state if after is not None else None,
        unit=new.unit,
        default=new.default,
        recommended=new.recommended,
        rule=new.rule,
        printed=new.printed,
        why=new.why,
        profile=new.profile,
        tier=new.tier,
        source=new.source,
    )


def _others(
    node: str, before: Inventory, after: Inventory, named: set[tuple[str, str, str]]
) -> Iterator[SettingChange]:
    for family, subjects in after.families.items():
        for subject, figures in subjects.items():
            shown = "" if subject == MACHINE else subject
            olds = before.families.get(family, {}).get(subject, {})
            for figure, value in figures.items():
                old = olds.get(figure)
                if figure in WORKED_OUT or (node, shown, figure) in named or None in (old, value):
                    continue
                assert old is not None and value is not None
                if not same_value(old, value):
                    yield SettingChange(
                        node=node,
                        subject=shown,
                        name=f"{family}.{figure}",
                        outcome="changed",
                        before=old,
                        after=value,
                        reason=None,
                    )


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
        release=facts.software.get("sas"),
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
    for name, output_text in facts.settings.items():
        node = next((node.name for node in facts.nodes if name.startswith(f"{node.name}.")), None)
        match = _COMMAND.fullmatch(name.removeprefix(f"{node}.")) if node else None
        if node is None or match is None or not isinstance(output_text, str):
            continue
        command, lines = words_of(match["command"]), tuple(output_text.splitlines())
        reader = reader_of(command, lines)
        if reader is not None:
            output = Output(command=command, lines=lines, whole=False, file=name)
            reader(output, found.setdefault(node, NodeSettings()))
    return {node: settings.inventory() for node, settings in found.items() if settings.families}
