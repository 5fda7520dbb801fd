"""Profiles of run options: what is refused, with file, key and reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.errors import InvalidFileError
from mawl.records.spec.sources import load_profile, load_side


def test_a_profile_is_read(tmp_path: Path) -> None:
    file = tmp_path / "fast.toml"
    file.write_text('work = ["/a", "/b"]\n[options]\nsortsize = "64MiB"\n')
    profile = load_profile(file)
    assert profile.options == ((f"{file}: key options", {"sortsize": "64MiB"}),)
    assert profile.values == {"work": ("/a", "/b")}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "sets nothing"),
        ("options = 3", "key options: expected a table"),
        ("[options]\nsortsize = 1", "key options: sortsize: expected at least 4 KiB"),
        ('[options]\nspeed = "fast"', "key options: unknown option 'speed'"),
        ("[options]\ncpucount = 0", "key options: cpucount: cannot be 0"),
        ("[options]\ncompress = true", "key options: compress: this version stores every table uncompressed"),
        ("sessions = 0", "key sessions: expected"),
        ('volume_order = "random"', "key volume_order: expected one of"),
        ("work = []", "key work: expected at least one directory"),
        ('work = ["/a", ""]', "key work: expected at least one directory, each with a name"),
        ('util = ["/a", "/a"]', "key util names /a twice"),
        ("swappiness = 1", "key swappiness: unknown, expected one of format_version"),
        ('format_version = "2.0"\nsessions = 8', "key format_version: this mawl reads 1.0"),
        ("sessions = 8\n[origin]\ncampaign = 3", "key origin.campaign: expected text"),
    ],
)
def test_what_is_wrong_is_refused_with_file_key_and_reason(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "profile.toml"
    file.write_text(text)
    with pytest.raises(InvalidFileError) as error:
        load_profile(file)
    assert str(error.value).startswith(str(file))
    assert reason in str(error.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('format_version = "9.0"', "key format_version: this mawl reads 1.0, found '9.0'"),
        ('work = ["/a", "/a"]', "key work names /a twice"),
        ("[origin]\ncampain = 3", "key origin.campain: unknown, expected one of campaign"),
        ("sessions = 0", "key sessions: expected"),
        ("[options]\nsortsize = 1", "key options: sortsize: expected at least 4 KiB"),
        ("speed = 3", "key speed: unknown, expected one of format_version"),
        ("[setting]", "key setting.name: required, but missing"),
        ('[setting]\nname = "m"', "key setting.check: required, but missing"),
        ('[setting]\nname = "m"\ncheck = " "', "key setting.check: is empty"),
        ('[setting]\nname = "m\\u001b[2J"\ncheck = "a"', "key setting.name: holds a control character"),
        ('[setting]\nname = "m"\ncheck = "a"\nexpect = "4\\n"', "key setting.expect: holds a control"),
        ('[setting]\nname = "m"\ncheck = "a\\u0000"', "key setting.check: holds a control character"),
        ('[setting]\nname = "m"\ncheck = "a"\nbefore = "b"', "key setting.after: required, because before"),
        ('[setting]\nname = "m"\ncheck = "a"\nafter = "b"', "key setting.before: required, because after"),
        ('[setting]\nname = "m"\ncheck = "a"\nseconds = 0', "key setting.seconds: expected more than 0"),
        ('[setting]\nname = "m"\ncheck = "a"\nseconds = nan', "key setting.seconds: expected more than 0"),
        ('[setting]\nname = "m"\ncheck = ["a"]', "key setting.check: expected text"),
        ('[setting]\nname = "m"\ncheck = "a"\nunto = "b"', "key setting.unto: unknown, expected one of name"),
        (
            f'[setting]\nname = "{"m" * 81}"\ncheck = "a"',
            "key setting.name: has 81 characters, and mawl takes",
        ),
    ],
)
def test_a_side_of_two_is_checked_like_a_profile(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "side.toml"
    file.write_text(text)
    with pytest.raises(InvalidFileError) as error:
        load_side(file)
    assert str(error.value).startswith(str(file))
    assert reason in str(error.value)


def test_a_side_of_two_may_set_nothing_or_more_than_a_profile(tmp_path: Path) -> None:
    file = tmp_path / "side.toml"
    file.write_text("")
    layer, title, _ = load_side(file)
    assert (layer.values, layer.options, title) == ({}, (), "")
    file.write_text('scale = "quick"\ndata = ["/a"]\n')
    layer, _, setting = load_side(file)
    assert layer.values == {"scale": "quick", "data": ("/a",)} and setting is None
    file.write_text('[setting]\nname = "mode"\ncheck = "cat mode"\nseconds = 5\n')
    setting = load_side(file).setting
    assert setting is not None
    assert (setting.name, setting.check, setting.before, setting.seconds) == ("mode", "cat mode", None, 5.0)
