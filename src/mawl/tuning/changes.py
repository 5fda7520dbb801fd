"""Settings before and after: what changed, what was left as it was, and what could not be checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

import msgspec

from mawl.base.errors import UsageError
from mawl.records.definitions import Metric, block, count, listing, text
from mawl.records.model.fields import metrics_of
from mawl.records.model.node import Inventory
from mawl.records.model.series_metrics import MACHINE
from mawl.tuning.check import CurrentSettings, check, same_value
from mawl.tuning.records import PAGE, CheckedSetting, Profile, Rule, SettingSource, State, Unit, Value

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
        counts={one.replace(" ", "_"): sum(row.outcome == one for row in rows) for one in OUTCOMES},
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
