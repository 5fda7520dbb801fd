"""Text for a terminal: tuning profiles, settings compared with them, and settings before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from mawl.base.units import format_bits, format_latency, format_percent, format_plain, format_request
from mawl.figures.comparison.comparability import CitedSetting, CitedSettings
from mawl.figures.comparison.sides import Side
from mawl.importers.formats.settings.aix import number
from mawl.reports.document import Block, Commands, Part, Sentences, Table, each
from mawl.reports.layout import ABSENT
from mawl.tuning.changes import Changes, Outcome, SettingChange, changes, recorded_settings
from mawl.tuning.profile_files import profiles
from mawl.tuning.records import CheckedSetting, Profile, SettingsCheck, TuningSetting, Unit, Value

LEGEND = "mawl tune show PROFILE lists one; --all all of them; * is checked without being named."
WEIGHT = "at stake"
MOST_UNREAD = 10


def listing(profiles: Sequence[Profile]) -> str:
    """A row per profile."""
    rows: list[Sequence[str]] = [("profile", "settings", "for", "what")]
    rows += [
        (
            f"{profile.name}{' *' if profile.checked else ''}",
            str(len(profile.settings)),
            profile.platform,
            profile.title,
        )
        for profile in profiles
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = [
        f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:<{widths[2]}}  {row[3]}".rstrip()
        for row in rows
    ]
    return "\n".join([*lines, "", LEGEND])


def profile_parts(profile: Profile) -> list[Part]:
    """Every setting of a profile, group by group, with its reason, commands and source."""
    condition = [profile.condition] if profile.condition else []
    head = Part([Sentences([f"{profile.name}: {profile.title}"]), Sentences(condition, indent="  ")])
    parts = [head]
    for (group, subject), held in groupby(profile.settings, key=lambda one: (one.group, one.subject)):
        settings = list(held)
        rows = [
            (
                setting.name,
                _default(setting),
                _recommended(setting),
                "" if setting.kind == "changed" else setting.kind,
            )
            for setting in settings
        ]
        table = Table(head=("setting", "default", "recommended", ""), rows=rows, indent="  ")
        title = f"{group}{f' [{subject}]' if subject else ''}"
        parts.append(Part([Sentences([title]), table, *_reasons(settings)]))
    return parts


def parts(found: SettingsCheck, *, whole: bool) -> list[Part]:
    """What differs, the weightiest first, with commands; with ``whole`` also everything else."""
    shown = [row for row in found.settings if whole or row.state == "differs"]
    every = [Part(_head(found))]
    for state, rows in groupby(shown, key=lambda row: row.state):
        states = [block for row in rows for block in _setting(row, several=len(found.nodes) > 1)]
        every.append(Part([Sentences([f"{state}:"]), *states]))
    hidden = len(found.settings) - len(shown)
    if hidden:
        others = "as recommended, not known, not collected or for you to judge"
        every += each(Sentences([f"{hidden} more are {others} (--all shows them)."]))
    unread = found.unread if whole else found.unread[:MOST_UNREAD]
    files = [f"{one.file}: {one.reason}" for one in unread]
    if len(unread) < len(found.unread):
        files.append(f"and {len(found.unread) - len(unread)} more (--all shows them)")
    every += each(Sentences(files, "not read:", "  "))
    return [
        *every,
        *each(Sentences(["Nothing was changed. Change one thing at a time, and measure before and after."])),
    ]


def _head(found: SettingsCheck) -> list[Block]:
    what = (
        f"run {found.run_id}"
        if found.run_id
        else "collected files"
        if found.collected
        else "this machine now"
    )
    limit = f"; limit {found.verdict}" if found.verdict else ""
    counts = ", ".join(f"{number} {state.replace('_', ' ')}" for state, number in found.counts.items())
    profiles = ", ".join(found.profiles) or "no profile for this platform"
    return [
        Sentences([f"{what} ({', '.join(found.nodes)}){limit}: {counts}"]),
        Sentences([profiles, *_release(found)], indent="  "),
    ]


def _release(found: SettingsCheck) -> list[str]:
    """Which advice for SAS was taken, and why."""
    if found.release is not None:
        return [f"the logs are of SAS {found.release}"]
    if "sas-options" not in found.profiles:
        return []
    return ["SAS release not known: advice for SAS 9.4 is assumed; --profile sas-viya-2026 has that for Viya"]


def compared(row: CheckedSetting, *, several: bool, aside: str = "") -> str:
    """What a row is of, with its node where there are ``several``: current value and recommended one."""
    node = f" on {row.node}" if several else ""
    current = ABSENT if row.current is None else format_value(row.current, row.unit)
    return f"{_about(row)}{node}: {current}{aside}, recommended {_rule(row)}{_recommended(row)}"


def _setting(row: CheckedSetting, *, several: bool) -> Iterator[Block]:
    default = "" if row.default is None else f", default {_default(row)}"
    same = " (the default)" if row.is_default else ""
    weight = (
        ""
        if row.weight_ratio is None
        else f"; {WEIGHT}: {format_percent(row.weight_ratio)} of the jobs' time"
    )
    yield Sentences([f"{compared(row, several=several, aside=same)}{default}{weight}"], indent="  ")
    yield Sentences([text for text in (row.reason, _note(row)) if text], indent="    ")
    if row.state == "differs":
        ways = (("now", row.change), ("to last", row.persist))
        yield Commands([f"{label}: {text}" for label, text in ways if text], indent="    ")
        source, place = row.source, f"{row.profile}: {row.group}"
        yield Sentences([f"from {source.key}, {source.section} ({place})"], indent="    ")


def _note(one: TuningSetting | CheckedSetting) -> str:
    return " ".join(part for part in (one.why, one.condition and f"({one.condition})") if part)


def _rule(row: CheckedSetting) -> str:
    return f"{row.rule} " if row.rule in ("at least", "at most") else ""


def _reasons(settings: Sequence[TuningSetting]) -> list[Block]:
    """Reasons setting by setting, then what the group shares."""
    known = [(setting.name, _note(setting)) for setting in settings if setting.kind != "left at default"]
    commands = dict.fromkeys(
        f"{label}: {text}"
        for label in ("read", "change", "persist")
        for setting in settings
        if (text := getattr(setting, label))
    )
    sources = dict.fromkeys(f"from {setting.source.key}, {setting.source.section}" for setting in settings)
    return [
        Sentences([f"{name}: {note}" for name, note in known if note], indent="    "),
        Commands([*commands], indent="    "),
        Sentences([*sources], indent="    "),
    ]


def _default(one: TuningSetting | CheckedSetting) -> str:
    if one.default is None:
        return ABSENT
    printed = f" ({one.default_printed})" if one.default_printed else ""
    return format_value(one.default, one.unit) + printed


def _recommended(one: TuningSetting | CheckedSetting) -> str:
    return recommended(one.recommended, one.printed, one.unit)


def recommended(wanted: object, as_printed: str | None, unit: str) -> str:
    """A recommended value, or several, with what the source prints."""
    if wanted is None:
        return ABSENT
    several = wanted if isinstance(wanted, list) else [wanted]
    printed = f" ({as_printed})" if as_printed and len(several) == 1 else ""
    return " or ".join(format_value(value, unit) for value in several) + printed


def format_value(value: object, unit: str) -> str:
    """A value with its unit, as people write it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str):
        return value or ABSENT
    if not isinstance(value, int | float):
        return ABSENT
    if unit == "bytes":
        return format_request(int(value)) if value else "0"
    if unit == "bits per second":
        return format_bits(value)
    if unit == "seconds":
        return format_latency(value)
    text = str(value) if isinstance(value, int) else format_plain(value)
    return f"{text} %" if unit == "percent" else f"{text} pages" if unit == "pages" else text


TITLES: dict[Outcome, str] = {
    "changed": "changed:",
    "left": "left as they were:",
    "not checked": "not checked (unknown on one side):",
}


def change_parts(found: Changes, *, whole: bool) -> list[Part]:
    """A table of what changed, with the reasons; the others with ``whole``, else their number."""
    counts = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in found.counts.items())
    profiles = ", ".join(found.profiles) or "no profile for this platform"
    head = f"{found.before} and {found.after} ({', '.join(found.nodes)}): {counts}"
    every = [Part([Sentences([head]), Sentences([profiles], indent="  ")])]
    for outcome, title in TITLES.items():
        rows = [row for row in found.settings if row.outcome == outcome]
        if rows and (whole or outcome == "changed"):
            notes = Sentences([*_notes(rows, outcome)], indent="  ")
            every.append(Part([Sentences([title]), _table(rows, several=len(found.nodes) > 1), notes]))
    hidden = found.counts["left"] + found.counts["not_checked"]
    if hidden and not whole:
        every += each(Sentences([f"{hidden} more were left as they were or not checked (--all shows them)."]))
    return every


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


def cited(found: Changes) -> CitedSettings:
    """The changes for a comparison of runs; what prints the same on both sides did not change."""
    changed = [_cited(row) for row in found.settings if row.outcome == "changed"]
    shown = [row for row in changed if row.reference != row.candidate]
    return CitedSettings(
        before=found.before,
        after=found.after,
        nodes=found.nodes,
        changed=shown,
        left=found.counts["left"] + len(changed) - len(shown),
        not_checked=found.counts["not_checked"],
    )


def _cited(row: SettingChange) -> CitedSetting:
    return CitedSetting(
        name=row.name,
        subject=row.subject,
        node=row.node,
        reference=format_printed_value(row.before, row.unit) or ABSENT,
        candidate=format_printed_value(row.after, row.unit) or ABSENT,
        default=format_printed_value(row.default, row.unit),
        recommended=_recommendation(row),
        state=row.state if row.profile else None,
        why=row.why,
        profile=row.profile,
        source=f"{row.source.key}, {row.source.section}" if row.source else None,
    )


def _recommendation(row: SettingChange) -> str | None:
    """``at most 30 %``, or the value alone where only that one is recommended."""
    if row.recommended is None:
        return None
    bound = f"{row.rule} " if row.rule in ("at least", "at most") else ""
    return bound + recommended(row.recommended, row.printed, row.unit)


def format_printed_value(value: Value | None, unit: Unit) -> str | None:
    """A value with its unit; of a size in digits, as AIX and Spectrum Scale print it, the size."""
    if value is None:
        return None
    size = number(value) if isinstance(value, str) and unit == "bytes" else None
    return format_value(value if size is None else size, unit)


def _table(rows: Sequence[SettingChange], *, several: bool) -> Table:
    cells = [
        (
            f"{_about(row)} on {row.node}" if several else _about(row),
            *(format_printed_value(value, row.unit) or ABSENT for value in (row.before, row.after)),
            format_printed_value(row.default, row.unit) or ABSENT,
            _recommendation(row) or ABSENT,
        )
        for row in rows
    ]
    return Table(head=("setting", "before", "after", "default", "recommended"), rows=cells, indent="  ")


def _about(row: SettingChange | CheckedSetting) -> str:
    return " of ".join(part for part in (row.name, row.subject) if part)


def _notes(rows: Sequence[SettingChange], outcome: Outcome) -> Iterator[str]:
    """Why a changed setting matters and whether it is now as recommended; why one could not be checked."""
    for row in rows:
        if outcome == "changed" and row.profile and row.source:
            why = f"{row.why}; " if row.why else ""
            yield f"{_about(row)}: {why}now {row.state} ({row.source.key}, {row.source.section})"
        elif outcome == "not checked":
            yield f"{_about(row)}: {row.reason}"
