"""Text for a terminal: tuning profiles, settings compared with them, and settings before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from mawl.base.units import format_bits, format_latency, format_plain, format_request
from mawl.figures.comparison.comparability import CitedSetting, CitedSettings
from mawl.importers.formats.settings.aix import number
from mawl.importers.formats.text import one_line
from mawl.reports.layout import ABSENT, LINE_WIDTH, aligned, wrapped
from mawl.tuning.changes import Changes, Outcome, SettingChange
from mawl.tuning.records import Checked, CheckedSetting, Profile, TuningSetting, Unit, Value

LEGEND = "mawl tune show PROFILE lists one; --all all of them; * is checked without being named."
WEIGHT = "at stake"
MOST_UNREAD = 10


def listing(profiles: Sequence[Profile]) -> str:
    """A row per profile."""
    rows: list[Sequence[str]] = [("profile", "settings", "for", "what")]
    rows += [
        (f"{one.name}{' *' if one.checked else ''}", str(len(one.settings)), one.platform, one.title)
        for one in profiles
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = [
        f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:<{widths[2]}}  {row[3]}".rstrip()
        for row in rows
    ]
    return "\n".join([*lines, "", LEGEND])


def page(profile: Profile) -> str:
    """Every setting of a profile, group by group, with its reason, commands and source."""
    lines = wrap_indented(f"{profile.name}: {profile.title}", "")
    if profile.condition:
        lines += wrap_indented(profile.condition, "  ")
    for group, held in groupby(profile.settings, key=lambda one: (one.group, one.subject)):
        settings = list(held)
        lines += ["", _title(*group)]
        rows: list[Sequence[str]] = [("setting", "default", "recommended", "")]
        rows += [
            (one.name, _default(one), _recommended(one), "" if one.kind == "changed" else one.kind)
            for one in settings
        ]
        lines += [f"  {line}" for line in aligned(rows)]
        lines += _reasons(settings)
    return "\n".join(one_line_each(lines))


def render(found: Checked, *, whole: bool, width: int = LINE_WIDTH) -> str:
    """What differs, the weightiest first, with commands; with ``whole`` also everything else.

    Lines are of ``width``, but a command stays on one line.
    """
    lines = _head(found, width)
    shown = [row for row in found.settings if whole or row.state == "differs"]
    for state, rows in groupby(shown, key=lambda row: row.state):
        lines += ["", f"{state}:"]
        for row in rows:
            lines += _finding(row, width, several=len(found.nodes) > 1)
    hidden = len(found.settings) - len(shown)
    if hidden:
        others = "as recommended, not known, not collected or for you to judge"
        lines += ["", *wrap_indented(f"{hidden} more are {others} (--all shows them).", "", width)]
    lines += _unread(found, width, whole=whole)
    lines += ["", "Nothing was changed. Change one thing at a time, and measure before and after."]
    return "\n".join(one_line_each(lines))


def _unread(found: Checked, width: int, *, whole: bool) -> Iterator[str]:
    """Files of a collection from which nothing was read: all with ``whole``, else the first few."""
    if found.unread:
        yield from ("", "not read:")
    shown = found.unread if whole else found.unread[:MOST_UNREAD]
    for one in shown:
        yield from wrap_indented(f"{one.file}: {one.reason}", "  ", width)
    if len(shown) < len(found.unread):
        yield f"  and {len(found.unread) - len(shown)} more (--all shows them)"


def one_line_each(lines: Sequence[str]) -> list[str]:
    """Each line without what could end it or steer a terminal, its indentation kept."""
    return [line[: len(line) - len(line.lstrip(" "))] + _clean(line) for line in lines]


def _clean(line: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in line.strip())


def _head(found: Checked, width: int) -> list[str]:
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
        *wrap_indented(f"{what} ({', '.join(found.nodes)}){limit}: {counts}", "", width),
        *wrap_indented(profiles, "  ", width),
    ]


def compared(row: CheckedSetting, *, several: bool, aside: str = "") -> str:
    """What a row is of, with its node where there are ``several``: current value and recommended one."""
    about = " of ".join(part for part in (row.name, row.subject) if part)
    node = f" on {row.node}" if several else ""
    current = ABSENT if row.current is None else format_value(row.current, row.unit)
    return f"{about}{node}: {current}{aside}, recommended {_rule(row)}{_recommended(row)}"


def _finding(row: CheckedSetting, width: int, *, several: bool) -> Iterator[str]:
    default = "" if row.default is None else f", default {_default(row)}"
    same = " (the default)" if row.is_default else ""
    weight = "" if row.weight_ratio is None else f"; {WEIGHT}: {row.weight_ratio:.1%} of the jobs' time"
    yield from wrap_indented(f"{compared(row, several=several, aside=same)}{default}{weight}", "  ", width)
    note = " ".join(part for part in (row.why, row.condition and f"({row.condition})") if part)
    for label, text in (("", row.reason), ("", note)):
        yield from wrap_indented(f"{label}{text}", "    ", width) if text else ()
    if row.state == "differs":
        for label, text in (("now", row.change), ("to last", row.persist)):
            yield from [f"    {label}: {text}"] if text else ()
        source, place = row.source, f"{row.profile}: {row.group}"
        yield from wrap_indented(f"from {source.key}, {source.section} ({place})", "    ", width)


def _rule(row: CheckedSetting) -> str:
    return f"{row.rule} " if row.rule in ("at least", "at most") else ""


def _reasons(settings: Sequence[TuningSetting]) -> Iterator[str]:
    """Reasons setting by setting, then what the group shares."""
    for one in settings:
        note = " ".join(part for part in (one.why, one.condition and f"({one.condition})") if part)
        if note and one.kind != "left at default":
            yield from wrap_indented(f"{one.name}: {note}", "    ")
    for label in ("read", "change", "persist"):
        for text in dict.fromkeys(getattr(one, label) for one in settings if getattr(one, label)):
            yield f"    {label}: {text}"
    for source in dict.fromkeys((one.source.key, one.source.section) for one in settings):
        yield from wrap_indented(f"from {source[0]}, {source[1]}", "    ")


def _title(group: str, subject: str) -> str:
    return f"{group}{f' [{subject}]' if subject else ''}"


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


def wrap_indented(text: str, indent: str, width: int = LINE_WIDTH) -> list[str]:
    """Lines of a text, its later ones indented further."""
    return wrapped(indent + one_line(text), width, f"{indent}  ")


TITLES: dict[Outcome, str] = {
    "changed": "changed:",
    "left": "left as they were:",
    "not checked": "not checked (unknown on one side):",
}


def render_changes(found: Changes, *, whole: bool) -> str:
    """A table of what changed, with the reasons; the others with ``whole``, else their number."""
    counts = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in found.counts.items())
    lines = [*wrap_indented(f"{found.before} and {found.after} ({', '.join(found.nodes)}): {counts}", "")]
    lines += wrap_indented(", ".join(found.profiles) or "no profile for this platform", "  ")
    for outcome, title in TITLES.items():
        rows = [row for row in found.settings if row.outcome == outcome]
        shown = rows if whole or outcome == "changed" else rows[:0]
        if shown:
            lines += ["", title, *_table(shown, several=len(found.nodes) > 1)]
            lines += _notes(shown, outcome)
    hidden = found.counts["left"] + found.counts["not_checked"]
    if hidden and not whole:
        lines += ["", f"{hidden} more were left as they were or not checked (--all shows them)."]
    return "\n".join(one_line_each(lines))


def cited(found: Changes) -> CitedSettings:
    """The changes for a comparison of runs."""
    return CitedSettings(
        before=found.before,
        after=found.after,
        nodes=found.nodes,
        changed=[_cited(row) for row in found.settings if row.outcome == "changed"],
        left=found.counts["left"],
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


def _table(rows: Sequence[SettingChange], *, several: bool) -> Iterator[str]:
    cells: list[Sequence[str]] = [("setting", "before", "after", "default", "recommended")]
    for row in rows:
        about = " of ".join(part for part in (row.name, row.subject) if part)
        cells.append(
            (
                f"{about} on {row.node}" if several else about,
                *(format_printed_value(value, row.unit) or ABSENT for value in (row.before, row.after)),
                format_printed_value(row.default, row.unit) or ABSENT,
                _recommendation(row) or ABSENT,
            )
        )
    return (f"  {line}" for line in aligned(cells))


def _notes(rows: Sequence[SettingChange], outcome: Outcome) -> Iterator[str]:
    """Why a changed setting matters and whether it is now as recommended; why one could not be checked."""
    for row in rows:
        about = " of ".join(part for part in (row.name, row.subject) if part)
        if outcome == "changed" and row.profile and row.source:
            why = f"{row.why}; " if row.why else ""
            yield from wrap_indented(
                f"{about}: {why}now {row.state} ({row.source.key}, {row.source.section})", "  "
            )
        elif outcome == "not checked":
            yield from wrap_indented(f"{about}: {row.reason}", "  ")
