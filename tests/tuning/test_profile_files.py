"""Every shipped setting of the papers against a second reading of them; and what is refused."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from mawl.base.errors import InvalidFileError, UsageError
from mawl.records.model.published import papers as published_papers
from mawl.tuning.profile_files import load_profile, profile, profiles
from mawl.tuning.records import TuningSetting, Value
from tests.files import text_of

PRINTED = tomllib.loads((Path(__file__).parent / "printed_settings.toml").read_text())
COMMANDS = {"Virtual Memory Manager": "vmo", "I/O": "ioo", "Network": "no"}
FLASH_DISK = "logical disk, client LPAR, hybrid, FlashSystem"
SUBJECTS = {
    "alone": {
        "Spectrum Scale tunable": "XIV alone",
        "Virtual adapters at the client LPAR": "virtual adapter, client LPAR, XIV alone",
        "Physical adapters at the VIOS": "physical adapter, VIOS, XIV alone",
        "Logical disks on the client LPAR": "logical disk, client LPAR, XIV alone",
        "Root disk": "root disk, client LPAR and VIOS",
    },
    "hybrid": {
        "Spectrum Scale (formerly GPFS) tunable": "XIV and FlashSystem",
        "Virtual adapters at the client LPAR for XIV": "virtual adapter, client LPAR, hybrid, XIV",
        "Virtual adapters at the client LPAR for Flash": "virtual adapter, client LPAR, hybrid, FlashSystem",
        "Physical adapters at the VIOS for XIV": "physical adapter, VIOS, hybrid, XIV",
        "Physical adapters at the VIOS for Flash": "physical adapter, VIOS, hybrid, FlashSystem",
        "Also change": "fscsi, VIOS and client LPAR, hybrid, FlashSystem",
        "Logical disk (volume / hdisk) on client LPAR from F": FLASH_DISK,
        "Logical disk (volume / hdisk) on client LPAR from XIV": "logical disk, client LPAR, hybrid, XIV",
        "Root disk": "root disk, client LPAR and VIOS",
    },
}
UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}
ENTRIES = [(key, *entry) for key in ("alone", "hybrid") for entry in PRINTED[key]]


def settings(name: str) -> list[TuningSetting]:
    return profile(name).settings


def printed_number(text: str) -> Value | None:
    """``8G``, ``1MB``, ``0x200000``, ``256`` as the papers mean them; a word stays one, nothing is None."""
    if text.startswith("0x"):
        return int(text, 16)
    digits, unit = text.rstrip("KMGB"), text[len(text.rstrip("KMGB")) :]
    if digits.isdigit():
        return int(digits) * (UNITS[unit[0]] if unit else 1)
    return text or None


@pytest.mark.parametrize(("key", "heading", "name", "value", "default"), ENTRIES)
def test_every_changed_setting_is_as_printed(
    key: str, heading: str, name: str, value: str, default: str
) -> None:
    command = next((word for start, word in COMMANDS.items() if heading.startswith(start)), None)
    subject = next((words for start, words in SUBJECTS[key].items() if heading.startswith(start)), None)
    where = "aix-power8" if command else "spectrum-scale" if "Scale" in heading else "aix-fibre-channel"
    if heading.startswith("Spectrum Scale tunable"):
        subject = "XIV alone"
    (found,) = [
        one
        for one in settings(where)
        if one.name.lower() == name.lower() and (one.family == command if command else one.subject == subject)
    ]
    assert found.recommended == printed_number(value)
    assert found.default == printed_number(default)
    assert found.printed in (None, value) and found.default_printed in (None, default)
    assert found.source.key == "power-s822-2015"


def test_what_was_left_at_default_is_all_there_in_order_with_its_value() -> None:
    for title, family, count in (
        ("Virtual memory", "vmo", 41),
        ("I/O", "ioo", 25),
        ("Scheduler", "schedo", 18),
    ):
        kept = [
            one for one in settings("aix-power8") if one.family == family and one.group.endswith("default")
        ]
        assert [[one.name, str(one.default)] for one in kept] == PRINTED["kept"][title]
        assert len(kept) == count
        assert {one.kind for one in kept} <= {"left at default", "observed"}
        assert all(one.recommended == (None if one.kind == "observed" else one.default) for one in kept)


def test_what_only_observes_is_marked() -> None:
    observed = {one.name for one in settings("aix-power8") if one.kind == "observed"}
    assert observed == {
        "maxperm", "maxpin", "memory_frames", "minperm", "numpsblks", "pinnable_frames", "aio_active",
        "posix_aio_active",
    }  # fmt: skip
    assert all(one.change is None for one in settings("aix-power8") if one.name in observed)


def test_the_rest_of_the_papers_is_as_read_a_second_time() -> None:
    wrong = []
    for where, subject, name, value, default in PRINTED["other"]:
        found = [one for one in settings(where) if (one.subject, one.name) == (subject, name)]
        several = found[0].recommended if found and isinstance(found[0].recommended, list) else None
        told = " ".join(map(str, several)) if several else str(found[0].recommended) if found else "absent"
        given = "" if not found or found[0].default is None else str(found[0].default)
        if (told, given) != (value, default):
            wrong.append((where, subject, name, told, given))
    assert wrong == []


def test_both_rates_of_spectrum_scale_stand_with_their_condition() -> None:
    rates = {one.recommended: one.condition for one in settings("spectrum-scale") if one.name == "maxMBpS"}
    assert set(rates) == {8000, 12000}
    assert "all on XIV" in str(rates[8000]) and "FlashSystem 840" in str(rates[12000])


def test_every_setting_says_where_it_is_read_and_stands() -> None:
    for one in profiles().values():
        for setting in one.settings:
            assert setting.read and setting.source.section, setting.name
            assert setting.change or setting.kind == "observed", setting.name
            assert setting.persist or setting.kind == "observed", setting.name


GOOD = text_of(__file__, "profile.toml")


def test_a_file_of_ones_own_is_a_profile(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(GOOD)
    (setting,) = profile(str(path)).settings
    assert (setting.profile, setting.name, setting.recommended, setting.default) == (
        "mine",
        "swappiness",
        10,
        60,
    )


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "recommended = 10",
            "recommended = 300",
            r"groups\[0\].settings\[0\] .*300: outside 0 to 200 percent",
        ),
        ("default = 60", "default = -1", r"settings\[0\] \(swappiness\): default -1: outside 0 to 200"),
        ("default = 60", "default = 60, range = [0, 50]", "default 60: outside 0 to 50 percent"),
        ("recommended = 10", 'recommended = "ten"', "expected a number of percent, found text"),
        ("recommended = 10", "recommended = true", "expected a number of percent, found true or false"),
        ("recommended = 10, ", "", "recommended is required, but missing"),
        ("recommended = 10", "recommended = [10, 20]", "a list exactly where rule is 'one of'"),
        ("recommended = 10", "recomended = 10", "recomended: unknown, expected one of name, recommended"),
        ('"swappiness"', '"swapiness"', "the inventory has no figure memory.swapiness"),
        ('family = "memory"', 'family = "memori"', "family memori is not in the inventory"),
        ('source = "me"', 'source = "you"', "source you is neither a published paper nor in sources"),
        ("{value}", "{valeu}", r"change holds \{valeu\}, expected one of"),
        ('unit = "percent"', 'unit = "per cent"', "key groups.*unit: "),
        ('platform = "linux"', 'platform = "windows"', "key platform: "),
        ('title = "mine"\n', "", "key title: required, but missing"),
        ("60 }]", "60 }, { name = 'swappiness', recommended = 1 }]", r"swappiness is already in groups\[0\]"),
        ("settings = [{ name =", "settings = []\nkept = []\n#", "key groups"),
        ("[[groups]]", "[[groups", "is not valid TOML"),
    ],
)
def test_a_wrong_entry_is_refused_with_file_key_and_reason(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    path = tmp_path / "mine.toml"
    assert old in GOOD
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(InvalidFileError, match=reason) as caught:
        load_profile(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_strange_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="nothing is no tuning profile; choose from: aix-fibre-channel, "):
        profile("nothing")


def test_no_entry_of_the_papers_stands_without_a_second_reading() -> None:
    papers = {paper.source.key for paper in published_papers()}
    read = {(where, subject, name) for where, subject, name, _, _ in PRINTED["other"]}
    read |= {("aix-power8", "", name) for rows in PRINTED["kept"].values() for name, _ in rows}
    for key, heading, name, _, _ in ENTRIES:
        command = any(heading.startswith(start) for start in COMMANDS)
        scale = heading.startswith("Spectrum Scale")
        subject = next((words for start, words in SUBJECTS[key].items() if heading.startswith(start)), "")
        where = "aix-power8" if command else "spectrum-scale" if scale else "aix-fibre-channel"
        read.add((where, "" if command else subject, name.lower() if name == "Algorithm" else name))
    held = {
        (one.profile, one.subject, one.name)
        for profile_held in profiles().values()
        for one in profile_held.settings
        if one.source.key in papers
    }
    assert held - read == set()
    assert read - held == set()
