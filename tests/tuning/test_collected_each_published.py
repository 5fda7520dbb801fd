"""Each of the 146 published settings, alone: as the paper has it, at another value, and not in the files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest

from mawl.importers.formats.settings.aix import number
from mawl.importers.formats.settings.collection import TUNABLES
from mawl.tuning.changes import SettingChange, changes
from mawl.tuning.check import CurrentSettings, check
from mawl.tuning.collection import read_collections
from mawl.tuning.profile_files import profiles
from mawl.tuning.records import CheckedSetting, TuningSetting
from tests.fakes import collected_hosts as hosts
from tests.tuning.test_collected_published import PAPERS, PUBLISHED, STORAGES

Key = tuple[str, str, str, str]
Files = dict[str, dict[str, str]]
"""Node to command to output."""

Bases = dict[bool, tuple[Files, CurrentSettings, list[CheckedSetting]]]
"""By layout (XIV alone, hybrid): the files, what is read from them, and the rows of the check."""

FLAGS = {"block size": "-B", "block allocation type": "-j", "sub-block size": "-f"}
NODES = {"lpar1": "aix", "vios1": "vios"}


def files_of(hybrid: bool) -> Files:
    """Outputs of the partition, with Spectrum Scale, and of its virtual I/O server, as recommended."""
    client = [*hosts.client_files("recommended", hybrid), *hosts.scale_files("recommended", hybrid)]
    return {"lpar1": dict(client), "vios1": dict(hosts.server_files("recommended", hybrid=hybrid))}


def read(folder: Path, files: Files) -> CurrentSettings:
    """The collections of both nodes, written and read."""
    places = [hosts.write(folder / node, node, NODES[node], held.items()) for node, held in files.items()]
    reading = read_collections(places, STORAGES)
    assert reading.unread == []
    return reading


def rows_of(reading: CurrentSettings) -> list[CheckedSetting]:
    return [one for one in check(reading, None, profiles()).settings if one.profile in PAPERS]


def key_of(row: CheckedSetting) -> Key:
    return (row.profile, row.tier, row.group, row.name)


@cache
def settings() -> Mapping[Key, TuningSetting]:
    every = (one for name in PAPERS for one in profiles()[name].settings)
    return {(one.profile, one.subject, one.group, one.name): one for one in every}


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Bases:
    found = {}
    for hybrid in (False, True):
        files = files_of(hybrid)
        reading = read(tmp_path_factory.mktemp("base"), files)
        found[hybrid] = (files, reading, rows_of(reading))
    return found


def another(setting: TuningSetting, current: str) -> str:
    """A value that is not as recommended, in the form that its command prints."""
    if setting.rule == "at least":
        return "1"
    words = {"yes": "no", "no": "yes", "cluster": "scatter", "scatter": "cluster", "unlimited": "2000"}
    value = number(current)
    if value is None:
        return words.get(current, "another_word")
    return hex(2 * value + 16) if current.startswith("0x") else str(2 * value + 3)


def altered(files: Files, row: CheckedSetting, setting: TuningSetting, *, gone: bool) -> Files:
    """The files with another value of one setting, or without its line."""
    command, pattern = line_of(row, setting)
    outputs = files[row.node]
    if gone and setting.family in ("ulimit", "smtctl"):
        return {**files, row.node: {name: text for name, text in outputs.items() if name != command}}
    text = outputs[command]
    start = text.index(f"/dev/{row.subject}:") if setting.family == "mmlsfs" else 0
    match = re.compile(pattern, re.MULTILINE).search(text, start)
    assert match is not None, (row.subject, row.name)
    value = match["value"]
    first, last = match.span() if gone else match.span("value")
    new = "" if gone else another(setting, value).ljust(len(value))
    if text[last : last + 2] == "  ":
        last += len(new) - len(value) if not gone else 0
    return {**files, row.node: {**outputs, command: text[:first] + new + text[last:]}}


def line_of(row: CheckedSetting, setting: TuningSetting) -> tuple[str, str]:
    """The command that prints a setting, and its line there."""
    name, family = re.escape(setting.figure), str(setting.family)
    if family in TUNABLES:
        return f"{family} -a", rf"^ *{name} = (?P<value>\S+)\n?"
    if family in ("hdisk", "fcs", "fscsi", "sys0"):
        return f"lsattr -El {row.subject}", rf"^{name} +(?P<value>\S+) .*\n?"
    if family == "mmlsfs":
        return "mmlsfs all", rf"^ {FLAGS[setting.name]} +(?P<value>\S+) .*\n?"
    command, pattern = {
        "ulimit": ("ulimit -a", r"^nofiles\(descriptors\) (?P<value>\S+)$"),
        "smtctl": ("smtctl", r"^proc0 has (?P<value>\d+) SMT threads\.$"),
        "mmlsconfig": ("mmlsconfig", rf"^{name} (?P<value>\S+)\n?"),
    }[family]
    return command, pattern


def same(rows: Iterable[CheckedSetting], row: CheckedSetting) -> CheckedSetting:
    (found,) = (
        one
        for one in rows
        if key_of(one) == key_of(row) and (one.node, one.subject) == (row.node, row.subject)
    )
    return found


def outcome(before: CurrentSettings, after: CurrentSettings, row: CheckedSetting) -> SettingChange:
    found = changes(before, after, ("before", "after"), [profiles()[row.profile]], profiles()).settings
    wanted = (row.node, row.subject, row.profile, row.tier, row.name)
    (change,) = (one for one in found if (one.node, one.subject, one.profile, one.tier, one.name) == wanted)
    return change


@pytest.mark.parametrize("key", sorted(PUBLISHED), ids=" ".join)
def test_a_published_setting_is_kept_changed_or_not_collected(key: Key, bases: Bases, tmp_path: Path) -> None:
    setting = settings()[key]
    files, base, rows = next(one for one in bases.values() if any(known(row, key) for row in one[2]))
    row = next(row for row in rows if known(row, key))
    judged = setting.kind == "observed"
    assert row.state == ("for you to judge" if judged else "as recommended")
    assert outcome(base, base, row).outcome == "left"

    other = read(tmp_path / "other", altered(files, row, setting, gone=False))
    found = rows_of(other)
    wrong = same(found, row)
    assert wrong.current not in (None, row.current)
    assert wrong.state == ("for you to judge" if judged else "differs")
    change = outcome(base, other, row)
    assert (change.outcome, change.before, change.after) == ("changed", row.current, wrong.current)
    assert (change.default, change.recommended) == (setting.default, setting.recommended)
    assert elsewhere(found, row) == elsewhere(rows, row)

    without = read(tmp_path / "without", altered(files, row, setting, gone=True))
    found = rows_of(without)
    lacking = [one for one in found if key_of(one) == key and one.node == row.node]
    assert {
        (one.state, one.current, one.is_default) for one in lacking if one.subject in ("", row.subject)
    } == {("not collected", None, None)}
    assert elsewhere(found, row) == elsewhere(rows, row)


def known(row: CheckedSetting, key: Key) -> bool:
    return key_of(row) == key and row.current is not None


def elsewhere(rows: Iterable[CheckedSetting], row: CheckedSetting) -> set[tuple[str, ...]]:
    """What is said of everything but this setting of this subject."""
    return {
        (one.node, one.subject, *key_of(one), one.state, str(one.current))
        for one in rows
        if (one.node, one.figure) != (row.node, row.figure) or one.subject not in ("", row.subject)
    }
