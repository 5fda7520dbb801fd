"""Where a setting comes from, and options by their SAS names."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.errors import InvalidFileError, UsageError
from mawl.records.spec.program_options import Options, parse_options
from mawl.records.spec.sources import Settings, layer_of_command, spec_of


def test_option_beats_environment_beats_file_beats_default(tmp_path: Path) -> None:
    (tmp_path / "mawl.toml").write_text('scale = "quick"\nwork = ["/a", "/b"]\n')
    environment = {"MAWL_SCALE": "standard"}
    command = layer_of_command({"scale": "full"})
    over_all = spec_of(Settings(environment, tmp_path).layer().under(command))
    assert (over_all.scale, over_all.usual_scale) == ("full", "standard")
    assert over_all.work == ("/a", "/b")
    assert spec_of(Settings(environment, tmp_path).layer()).usual_scale == "standard"
    assert spec_of(Settings({}, tmp_path).layer()).usual_scale == "quick"
    assert spec_of(Settings({}, tmp_path / "elsewhere").layer()).usual_scale == "smoke"


def test_roles_may_be_several_directories(tmp_path: Path) -> None:
    (tmp_path / "mawl.toml").write_text('work = ["/a", "/b"]\nutil = "/u"\n')
    found = Settings({"MAWL_DATA": "/x:/y"}, tmp_path).roles({"data": None, "work": None, "util": ["/v"]})
    assert found == {
        "data": [Path("/x"), Path("/y")],
        "work": [Path("/a"), Path("/b")],
        "util": [Path("/v")],
    }
    assert Settings({}, tmp_path / "none").roles({})["data"] == [Path("mawl-data")]


def test_the_same_directory_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--work names the same directory twice: /a; give"):
        Settings({}, tmp_path).roles({"work": ["/a", "/a"]})
    with pytest.raises(UsageError, match="--work and --util name the same directory twice"):
        Settings({}, tmp_path).roles({"work": ["/a"], "util": ["/b", "/a"]})


def test_two_names_of_one_directory_are_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(UsageError, match=r"one directory by two names: .*/real and .*/link"):
        Settings({}, tmp_path).roles({"work": [str(tmp_path / "real"), str(tmp_path / "link")]})


@pytest.mark.parametrize("given", [["/a", "/a/b"], ["/a/b", "/a"]])
def test_a_volume_inside_another_of_its_role_is_refused(given: list[str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--util names /a/b, which lies inside /a"):
        Settings({}, tmp_path).roles({"util": given})
    found = Settings({}, tmp_path).roles({"data": ["/a"], "util": ["/a/b"]})
    assert found["util"] == [Path("/a/b")], "a role inside another role's directory is its own"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("scal = 1\n", "key scal: unknown"),
        ("seed = 'one'\n", "key seed: expected a whole number"),
        ("start = 'fork'\n", "key start"),
        ("[[[\n", "is not valid TOML"),
        (f"seed = {'1' * 5000}\n", "line 1: expected a number of at most 400 digits"),
        ("\n" + "a." * 40_000 + "a = 1\n", "line 2: expected a key of at most 16 parts, found more"),
        (f"[{'a . ' * 16}a]\n", "line 1: expected a key of at most 16 parts"),
        (f"{'a.' * 15}a = 1\n", "key a: unknown"),
        (f"runs = '{'a.' * 40}a'\nscal = 1\n", "key scal: unknown"),
    ],
)
def test_a_bad_mawl_toml_says_file_and_key(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "mawl.toml").write_text(text)
    with pytest.raises(InvalidFileError) as caught:
        Settings({}, tmp_path)
    assert said in str(caught.value)
    assert "mawl.toml" in str(caught.value)


def test_a_config_named_in_the_environment_must_exist(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match="no such file"):
        Settings({"MAWL_CONFIG": str(tmp_path / "none.toml")}, tmp_path)


def test_options_by_their_sas_names(tmp_path: Path) -> None:
    (tmp_path / "mawl.toml").write_text('options = { sortsize = "64M", cpucount = 4 }\n')
    command = layer_of_command({"option": ["cpucount=2", "fullstimer=off"]})
    found = spec_of(Settings({}, tmp_path).layer().under(command))
    assert found.options == Options(sortsize_bytes=64 * 2**20, cpucount=2, fullstimer=False)


@pytest.mark.parametrize(
    "given",
    [
        {"sortsize": "1 KiB"},
        {"cpucount": 0},
        {"cpucount": True},
        {"compress": True},
        {"compress": "maybe"},
        {"memsze": 1},
    ],
)
def test_a_bad_option_is_refused(given: dict[str, int | str | bool]) -> None:
    with pytest.raises(UsageError, match=next(iter(given))):
        parse_options(given, where="here")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("", "--work is empty.*leave --work out"),
        ("/", "a directory of the system.*such as /mawl-work"),
        ("/usr/../etc", "a directory of the system.*on the storage that you measure"),
        ("/proc/self", "a directory of the system"),
        ("/mnt/\udcff", "not UTF-8.*give it.*another name"),
    ],
)
def test_what_is_no_place_for_a_role_is_refused_with_the_fix(tmp_path: Path, place: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Settings({}, tmp_path).roles({"work": [place]})
    with pytest.raises(UsageError, match=said):
        Settings({}, tmp_path).roles({"work": ["here", place]})


def test_a_mount_point_and_a_directory_below_a_system_directory_may_be_roles(tmp_path: Path) -> None:
    for place in ("/tmp", "/mnt", "/var/tmp", "/srv/work", "/dev/shm"):
        assert Settings({}, tmp_path).roles({"work": [place]})["work"] == [Path(place)]
