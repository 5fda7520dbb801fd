"""Loads tuning profiles: the TOML files in ``profiles`` that come with mawl, or a user's own file.

The whole file is checked.  Unknown keys, values out of range, duplicate settings, invalid sources and figures
that the inventory does not have are refused with file, key and reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from mawl.base.errors import InvalidFileError, UsageError
from mawl.records.model.published import papers
from mawl.records.model.series_metrics import FIGURES, TEXT_FAMILIES
from mawl.records.spec import toml
from mawl.tuning.records import (
    UNIT_RANGES,
    Kind,
    Profile,
    ProfileFile,
    SettingEntry,
    SettingGroup,
    SettingSource,
    TuningSetting,
    Unit,
    Value,
)

SHIPPED = Path(__file__).parent / "profiles"

WORDS = ("name", "value", "subject")
"""What may stand in braces in ``read``, ``change`` and ``persist``."""


@cache
def profiles() -> dict[str, Profile]:
    """Every shipped profile by its name, in the order of the names."""
    return {path.stem: load_profile(path) for path in sorted(SHIPPED.glob("*.toml"))}


def profile(name: str) -> Profile:
    """The profile of that name, or of that file where the name ends in ``.toml``."""
    if name.endswith(".toml"):
        return load_profile(Path(name))
    known = profiles()
    if name not in known:
        raise UsageError(
            f"{name} is no tuning profile", cure=f"choose from: {', '.join(known)}, or name a TOML file"
        )
    return known[name]


def load_profile(path: Path) -> Profile:
    """A file as a profile; ``InvalidFileError`` names the key that is wrong."""
    held = toml.load(path, ProfileFile)
    cited = {source.key for source in held.sources} | {paper.source.key for paper in papers()}
    seen: dict[tuple[str, str], str] = {}
    settings = []
    for place, setting in _settings(held, path):
        _check(place, setting, cited)
        key = (setting.name, setting.subject)
        if key in seen:
            raise InvalidFileError(
                f"key {place[1]}: {setting.name} is already in {seen[key]}", where=place[0]
            )
        seen[key] = place[1]
        settings.append(setting)
    if not settings:
        raise InvalidFileError("key groups: no setting in them", where=str(path))
    return Profile(
        name=path.stem,
        title=held.title,
        platform=held.platform,
        checked=held.checked,
        network_storage=held.network_storage,
        release=held.release,
        condition=held.condition,
        sources=held.sources,
        settings=settings,
    )


Place = tuple[str, str]
"""File and key."""


def _settings(held: ProfileFile, path: Path) -> Iterator[tuple[Place, TuningSetting]]:
    for number, group in enumerate(held.groups):
        where = f"groups[{number}]"
        for index, entry in enumerate(group.settings):
            yield (str(path), f"{where}.settings[{index}]"), _changed(group, entry, path.stem)
        strangers = sorted({*group.observed, *group.kept_units} - {*group.kept})
        if strangers:
            raise InvalidFileError(f"key {where}: {strangers[0]} is not among its kept", where=str(path))
        for name, value in group.kept.items():
            yield (str(path), f"{where}.kept.{name}"), _setting(group, name, value, path.stem)


def _changed(group: SettingGroup, entry: SettingEntry, profile: str) -> TuningSetting:
    rule = entry.rule or group.rule
    return TuningSetting(
        name=entry.name,
        profile=profile,
        group=group.name,
        subject=group.subject,
        kind="advice" if rule == "advice" else _kind(entry),
        unit=entry.unit or group.unit,
        default=entry.default,
        recommended=entry.recommended,
        printed=entry.printed,
        default_printed=entry.default_printed,
        rule=rule,
        range=entry.range,
        condition=entry.condition or group.condition,
        when=group.when if entry.when is None else entry.when,
        unless=group.unless,
        why=entry.why or group.why,
        read=entry.read or group.read,
        change=entry.change or group.change,
        persist=entry.persist or group.persist,
        relieves=group.relieves if entry.relieves is None else entry.relieves,
        family=group.family,
        figure=entry.figure or entry.name,
        bounded_by=entry.bounded_by,
        subjects=group.subjects,
        source=SettingSource(key=entry.source or group.source, section=entry.section or group.section),
    )


def _kind(entry: SettingEntry) -> Kind:
    return "left at default" if entry.recommended == entry.default else "changed"


def _setting(group: SettingGroup, name: str, value: Value, profile: str) -> TuningSetting:
    observed = name in group.observed
    return TuningSetting(
        name=name,
        profile=profile,
        group=group.name,
        subject=group.subject,
        kind="observed" if observed else "left at default",
        unit=group.kept_units.get(name, "text" if isinstance(value, str) else group.unit),
        default=value,
        recommended=None if observed else value,
        printed=None,
        default_printed=None,
        rule="equal",
        range=None,
        condition=group.condition,
        when=group.when,
        unless=group.unless,
        why=group.why,
        read=group.read,
        change=None if observed else group.change,
        persist=None if observed else group.persist,
        relieves=group.relieves,
        family=group.family,
        figure=name,
        bounded_by=None,
        subjects=group.subjects,
        source=SettingSource(key=group.source, section=group.section),
    )


def _check(place: Place, setting: TuningSetting, cited: set[str]) -> None:
    problem = next(_problems(setting, cited), None)
    if problem is not None:
        raise InvalidFileError(f"key {place[1]} ({setting.name}): {problem}", where=place[0])


def _problems(setting: TuningSetting, cited: set[str]) -> Iterator[str]:
    if setting.source.key not in cited:
        yield f"source {setting.source.key} is neither a published paper nor in sources"
    if setting.recommended is None and setting.kind != "observed":
        yield "recommended is required, but missing"
    if (setting.rule == "one of") != isinstance(setting.recommended, list):
        yield "recommended is a list exactly where rule is 'one of'"
    several = setting.recommended if isinstance(setting.recommended, list) else [setting.recommended]
    for field, value in [("default", setting.default), *(("recommended", one) for one in several)]:
        problem = _out_of_range(value, setting.unit, setting.range, advice=setting.rule == "advice")
        if problem:
            yield f"{field} {value!r}: {problem}"
    if setting.rule in ("at least", "at most") and not isinstance(setting.recommended, int | float):
        yield f"rule {setting.rule!r} needs a number as recommended"
    for field in ("read", "change", "persist"):
        words = re.findall(r"\{([^{}]*)\}", getattr(setting, field) or "")
        unknown = [word for word in words if word not in WORDS]
        if unknown:
            yield f"{field} holds {{{unknown[0]}}}, expected one of {', '.join(f'{{{w}}}' for w in WORDS)}"
    yield from _strange_figures(setting)


def _strange_figures(setting: TuningSetting) -> Iterator[str]:
    if setting.family is None or setting.family in TEXT_FAMILIES:
        return
    figures = FIGURES.get(setting.family)
    if figures is None:
        yield f"family {setting.family} is not in the inventory: {', '.join((*FIGURES, *TEXT_FAMILIES))}"
        return
    for name in (setting.figure, setting.bounded_by, *setting.when, *setting.unless):
        if name is not None and name not in figures:
            yield f"the inventory has no figure {setting.family}.{name}"


def _out_of_range(
    value: Value | None, unit: Unit, narrowed: tuple[float, float] | None, *, advice: bool
) -> str | None:
    """Why a value cannot be; None where it can.  Text has no range, and advice may be text of any unit."""
    if value is None or (isinstance(value, str) and (unit == "text" or advice)):
        return None
    if isinstance(value, bool):
        return None if unit == "text" else f"expected a number of {unit}, found true or false"
    if isinstance(value, str):
        return f"expected a number of {unit}, found text"
    if unit == "text":
        return "expected text, found a number"
    low, high = narrowed or UNIT_RANGES[unit]
    if not low <= float(value) <= high:
        return f"outside {low:g} to {high:g} {unit}"
    return None
