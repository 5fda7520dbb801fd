"""Compares the settings of a run or a machine with the profiles: as recommended, different, or not known."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

import msgspec

from mawl.importers.formats.settings.aix import number
from mawl.records.model.node import Figures, Inventory
from mawl.records.model.run import VolumeFacts
from mawl.records.model.series_metrics import MACHINE
from mawl.records.model.summary.judgement import Limit
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import ROLES
from mawl.tuning.records import (
    CheckedSetting,
    FileUnread,
    Platform,
    Profile,
    SettingsCheck,
    State,
    TuningSetting,
    Value,
)

FAMILY = "roles"


def volumes_of_roles(volumes: Sequence[VolumeFacts], limit: Limit | None) -> dict[str, dict[str, Figures]]:
    """Node to role to its figures; ``limit`` is that of the run's summary.

    Roles without a device that is known (tmpfs, a network file system) are left out.
    """
    storage = limit is not None and limit.is_of("storage")
    blamed = limit.role if limit is not None else None
    found: dict[str, dict[str, Figures]] = {}
    for role in ROLES:
        for node in dict.fromkeys(volume.node for volume in volumes):
            own = [volume for volume in volumes if (volume.role, volume.node) == (role, node)]
            devices = {device for volume in own for device in volume.disks or volume.devices}
            if devices:
                found.setdefault(node, {})[role] = {
                    "directories": len(own),
                    "devices": len(devices),
                    "limited": storage and blamed in (None, role),
                }
    return found


def with_roles(inventory: Inventory, roles: Mapping[str, Figures]) -> Inventory:
    """The inventory with the family beside those that the run recorded."""
    return msgspec.structs.replace(inventory, families={**inventory.families, FAMILY: dict(roles)})


STATES: tuple[State, ...] = ("differs", "not known", "not collected", "as recommended", "for you to judge")
"""In the order of the list; the last is advice, and what mawl cannot read."""

OF_RUNS = ("options", FAMILY)
"""Families of what a run is given."""

CLOSE_RATIO = value_of("tuning.close_ratio")
"""Numbers that differ by less than this share are the same: seconds are floating-point."""


class CurrentSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What is set, of a run, of this machine now, or in files of what commands printed (``collected``).

    ``also`` are further platforms of such files, ``unread`` the files from which nothing was read.
    ``losses`` are ``limit.losses`` of the run: the mean share of the jobs' time that waiting for each
    resource cost; None where nothing was run or the run does not tell.
    """

    run_id: str | None
    platform: Platform
    inventories: Mapping[str, Inventory]
    verdict: str | None = None
    losses: Mapping[str, float] | None = None
    collected: bool = False
    also: tuple[Platform, ...] = ()
    release: str | None = None
    """SAS release that the logs of the run name."""
    unread: Sequence[FileUnread] = ()


def machine_settings(reading: CurrentSettings) -> CurrentSettings:
    """What is set of machine and kernel: without what a run is given, its options and its roles."""
    return msgspec.structs.replace(
        reading,
        inventories={
            node: msgspec.structs.replace(
                one, families={name: held for name, held in one.families.items() if name not in OF_RUNS}
            )
            for node, one in reading.inventories.items()
        },
    )


def check(
    reading: CurrentSettings, wanted: Sequence[Profile] | None, shipped: Mapping[str, Profile]
) -> SettingsCheck:
    """The comparison.

    ``wanted`` are the profiles that a user named; without them those that are checked anyway, for the
    platform of what was read.
    """
    chosen = [one for one in shipped.values() if _fits(one, reading)] if wanted is None else wanted
    rows = [
        row
        for node, inventory in reading.inventories.items()
        for one in chosen
        for setting in one.settings
        for row in _rows(node, inventory, setting, reading, named=wanted is not None)
    ]
    rows.sort(key=lambda row: (STATES.index(row.state), -(row.weight_ratio or 0.0)))
    return SettingsCheck(
        run_id=reading.run_id,
        collected=reading.collected,
        platform=reading.platform,
        verdict=reading.verdict,
        nodes=list(reading.inventories),
        profiles=[one.name for one in chosen],
        release=reading.release,
        counts={state.replace(" ", "_"): sum(row.state == state for row in rows) for state in STATES},
        unread=list(reading.unread),
        settings=rows,
    )


def _fits(profile: Profile, reading: CurrentSettings) -> bool:
    if profile.release is not None and reading.release is not None:
        return re.search(profile.release, reading.release) is not None
    if not profile.checked or profile.platform not in (reading.platform, *reading.also, "any"):
        return False
    return not profile.network_storage or any(map(_by_network, reading.inventories.values()))


def _by_network(inventory: Inventory) -> bool:
    mounts = inventory.families.get("file_system", {}).values()
    return "lustre" in inventory.families or any(mount.get("network") is True for mount in mounts)


def _rows(
    node: str, inventory: Inventory, setting: TuningSetting, reading: CurrentSettings, *, named: bool
) -> Iterator[CheckedSetting]:
    """A row for each subject that the setting is of; none where there is no such subject.

    Of a profile that was ``named``, what nobody read is a row, too.
    """
    if setting.family is None or setting.rule == "advice":
        yield _row(node, "", setting, reading, None, "for you to judge", _why_not(setting))
        return
    if reading.collected:
        yield from _collected_rows(node, inventory, setting, reading)
        return
    if named and setting.family not in inventory.families:
        why = inventory.missing.get(setting.family, f"{setting.family}: not read by mawl")
        reason = f"{why}; to read it: {fill_command(setting.read, setting, '')}"
        yield _row(node, "", setting, reading, None, "for you to judge", reason)
        return
    for subject, figures in inventory.families.get(setting.family, {}).items():
        if setting.figure in figures and _is_meant(setting, subject, figures):
            current = figures[setting.figure]
            if current is None:
                path = f"{setting.family}.{subject}.{setting.figure}"
                reason = inventory.missing.get(path, "the recording does not say")
                yield _row(node, subject, setting, reading, None, "not known", reason)
            else:
                yield _row(node, subject, setting, reading, current, _state(setting, current, figures), None)


def _why_not(setting: TuningSetting) -> str:
    return (
        "advice"
        if setting.rule == "advice"
        else f"not read by mawl: {fill_command(setting.read, setting, '')}"
    )


def _collected_rows(
    node: str, inventory: Inventory, setting: TuningSetting, reading: CurrentSettings
) -> Iterator[CheckedSetting]:
    """As ``_rows``, for files: a setting that they lack is a row, and never taken for its default."""
    assert setting.family is not None
    state: State
    reason: str | None
    if setting.family in OF_RUNS:
        return
    held = inventory.families.get(setting.family, {})
    subjects = {name: figures for name, figures in held.items() if _names_subject(setting, name)}
    if not subjects:
        reason = f"to collect it: {fill_command(setting.read, setting, '')}"
        yield _row(node, "", setting, reading, None, "not collected", reason)
    for subject, figures in subjects.items():
        path = f"{setting.family}.{subject}.{setting.figure}"
        unknown = [name for name in setting.when if figures.get(name) is None]
        current = figures.get(setting.figure)
        if not _is_meant(setting, subject, figures, unknown):
            continue
        if setting.figure not in figures:
            reason = f"to collect it: {fill_command(setting.read, setting, subject)}"
            yield _row(node, subject, setting, reading, None, "not collected", reason)
        elif current is None:
            reason = inventory.missing.get(path, "the files do not say")
            yield _row(node, subject, setting, reading, None, "not known", reason)
        elif unknown:
            wanted = ", ".join(f"{name} {_either(setting.when[name])}" for name in unknown)
            reason = f"only for {wanted}, and the files do not show which it is"
            yield _row(node, subject, setting, reading, current, "for you to judge", reason)
        else:
            state, reason = _state(setting, current, figures), None
            barred = [name for name in setting.unless if figures.get(name) is None]
            if state == "differs" and barred:
                others = ", ".join(f"{name} {_either(setting.unless[name])}" for name in barred)
                state, reason = "for you to judge", f"not for {others}, and the files do not show which it is"
            yield _row(node, subject, setting, reading, current, state, reason)


def _either(allowed: Value | list[Value]) -> str:
    return " or ".join(map(str, _listed(allowed)))


def _listed(allowed: Value | list[Value]) -> list[Value]:
    return allowed if isinstance(allowed, list) else [allowed]


def _names_subject(setting: TuningSetting, subject: str) -> bool:
    return not setting.subjects or any(fnmatchcase(subject, part) for part in setting.subjects.split("|"))


def _is_meant(setting: TuningSetting, subject: str, figures: Figures, unknown: Sequence[str] = ()) -> bool:
    if not _names_subject(setting, subject):
        return False
    if any(figures.get(name) in _listed(barred) for name, barred in setting.unless.items()):
        return False
    return all(
        figures.get(name) in _listed(allowed) for name, allowed in setting.when.items() if name not in unknown
    )


def _state(setting: TuningSetting, current: Value, figures: Figures) -> State:
    if setting.kind == "observed":
        return "for you to judge"
    wanted = setting.recommended
    if isinstance(wanted, list):
        met = any(same_value(current, one) for one in wanted)
    elif setting.rule in ("at least", "at most") and wanted is not None:
        bound = _as_number(figures.get(setting.bounded_by)) if setting.bounded_by else None
        met = _within(setting, current, wanted, bound)
    else:
        met = wanted is not None and same_value(current, wanted)
    return "as recommended" if met else "differs"


def _within(setting: TuningSetting, current: Value, wanted: Value, bound: float | None) -> bool:
    """A current value that is no number (``unlimited``) is beyond every bound."""
    have, want = _as_number(current), _as_number(wanted)
    if want is None:
        return False
    if have is None:
        return setting.rule == "at least" and current == "unlimited"
    if setting.rule == "at most":
        return have <= want * (1 + CLOSE_RATIO)
    return have >= want or (bound is not None and have >= bound)


def same_value(current: Value, wanted: Value) -> bool:
    """Whether two values are one: ``72K`` and 73728, ``0x40`` and 64, and what differs by rounding alone."""
    have, want = _as_number(current), _as_number(wanted)
    if have is None or want is None:
        return str(current) == str(wanted)
    return abs(have - want) <= CLOSE_RATIO * abs(want)


def _as_number(value: Value | None) -> float | None:
    if isinstance(value, str):
        return number(value)
    return None if value is None else float(value)


def _row(
    node: str,
    subject: str,
    setting: TuningSetting,
    reading: CurrentSettings,
    current: Value | None,
    state: State,
    reason: str | None,
) -> CheckedSetting:
    weights = [reading.losses.get(name, 0.0) for name in setting.relieves] if reading.losses else []
    return CheckedSetting(
        node=node,
        subject="" if subject == MACHINE else subject,
        state=state,
        current=current,
        is_default=None
        if current is None or setting.default is None
        else same_value(current, setting.default),
        weight_ratio=max(weights) if weights else None,
        reason=reason,
        name=setting.name,
        profile=setting.profile,
        group=setting.group,
        kind=setting.kind,
        unit=setting.unit,
        default=setting.default,
        default_printed=setting.default_printed,
        recommended=setting.recommended,
        printed=setting.printed,
        rule=setting.rule,
        condition=setting.condition,
        why=setting.why,
        relieves=setting.relieves,
        source=setting.source,
        tier=setting.subject,
        figure=setting.figure,
        read=fill_command(setting.read, setting, subject),
        change=fill_command(setting.change, setting, subject),
        persist=fill_command(setting.persist, setting, subject),
    )


def fill_command(text: str | None, setting: TuningSetting, subject: str) -> str | None:
    """A command with its words in place; ``subject`` may come from an imported file, so it is quoted."""
    if text is None:
        return None
    wanted = setting.recommended[0] if isinstance(setting.recommended, list) else setting.recommended
    value = (setting.printed or str(wanted)) if wanted is not None else ""
    of_one = subject not in ("", MACHINE)
    if of_one:
        for stem in ("hdisk", "fcs", "fscsi"):
            if setting.family == stem:
                text = text.replace(f"{stem}N", "{subject}")
    text = text.replace("{subject}", shlex.quote(subject) if of_one else "NAME")
    return text.replace("{name}", setting.name).replace("{value}", value)
