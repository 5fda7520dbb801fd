"""Spaces: what they mean, and what is refused with file, key and reason."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from mawl.base.errors import UsageError
from mawl.records.spec.program_options import Role
from mawl.records.spec.run_spec import RunSpec
from mawl.tuning.search.space import checked_space, load_space, setup_of, space_of


def test_ranges_double_and_lists_are_as_written(tmp_path: Path) -> None:
    file = tmp_path / "space.toml"
    file.write_text(
        'sortsize = {low = "16MiB", high = "100MiB"}\ncpucount = [1, 3]\nwork = [["/a", "/b"], ["/c"]]\n'
    )
    space = load_space(file)
    assert space.dimensions == {
        "sortsize": ["16MiB", "32MiB", "64MiB"],
        "cpucount": [1, 3],
        "work": ["/a:/b", "/c"],
    }
    assert space.size() == len(list(space.points())) == 12
    given = space_of(["sortsize=16MiB..100MiB", "cpucount=1,3", "work=/a:/b,/c"])
    assert given.dimensions == space.dimensions


def test_a_point_becomes_options_and_directories() -> None:
    base: dict[Role, list[str]] = {"data": ["/d"], "work": ["/w1", "/w2", "/w3"], "util": ["/u"]}
    setup = setup_of({"sortsize": "1GiB", "work_volumes": 2, "util": "/x:/y", "sessions": 8}, base)
    assert setup.options == {"sortsize": "1GiB"}
    assert setup.sessions == 8
    assert setup.directories == {"work": ["/w1", "/w2"], "util": ["/x", "/y"]}
    with pytest.raises(UsageError, match="work_volumes: cannot take 4 of 3 directories; name more"):
        setup_of({"work_volumes": 4}, base)


@pytest.mark.parametrize(("baseline", "values"), [(None, "2,4"), (8, "4"), (3, "4,5")])
def test_sessions_of_two_mixes_are_not_searched(baseline: int | None, values: str) -> None:
    asked = argparse.Namespace(space=None, dimension=[f"sessions={values}"])
    with pytest.raises(UsageError, match=r"two mixes.*the mix changes at 5 sessions"):
        checked_space(asked, RunSpec(sessions=baseline), "sustained")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no dimension in it"),
        ("sortsize = [", "is not valid TOML"),
        ("blocksize = [1]", "key blocksize: unknown, expected one of memsize"),
        ("compress = [true]", "key compress: unknown"),
        ("sortsize = []", "key sortsize: expected at least one value, found none"),
        ('sortsize = ["much"]', "key sortsize: sortsize: expected a size such as"),
        ('sortsize = ["1KiB"]', "key sortsize: sortsize: expected at least 4 KiB"),
        ('sortsize = ["1MiB", "1024KiB"]', "key sortsize: holds 1024KiB twice"),
        ('sortsize = {low = "1GiB", high = "1MiB"}', "key sortsize: low 1GiB is above high 1MiB"),
        ('sortsize = {low = "1GiB"}', "key sortsize.high: required, but missing"),
        ('sortsize = {low = "x", high = "1MiB"}', "key sortsize.low: expected a size"),
        ("cpucount = [0]", "key cpucount: expected a whole number from 1 to 4096, found 0"),
        ("cpucount = [1.5]", "key cpucount"),
        ("sessions = [1000]", "key sessions: expected a whole number from"),
        ('volume_order = ["random"]', "key volume_order"),
        ("work = [[]]", "key work: expected at least one directory"),
        ('work = [["/a", "/a"]]', "key work names /a twice"),
        ('work = [["/a:b"]]', "key work: a directory may not have : in its name"),
        ('work = [["/a"]]\nwork_volumes = [1]', "key work_volumes: does not go with work"),
        (
            'sortsize = {low = "4KiB", high = "4TiB"}\nmemsize = {low = "4KiB", high = "4TiB"}\n'
            'bufsize = {low = "4KiB", high = "4TiB"}\ncpucount = {low = 1, high = 4096}',
            "at most 100000",
        ),
    ],
)
def test_what_is_wrong_is_refused_with_file_key_and_reason(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "space.toml"
    file.write_text(text)
    with pytest.raises(UsageError) as error:
        load_space(file)
    assert str(error.value).startswith(str(file))
    assert reason in str(error.value)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["sortsize"], "expected NAME=VALUE"),
        (["speed=1"], "--dimension speed: unknown, expected one of"),
        (["cpucount=one"], "--dimension cpucount: expected a whole number, found 'one'"),
        (["cpucount=1", "cpucount=2"], "--dimension cpucount: given twice"),
        (["sortsize=1KiB..1GiB"], "sortsize.low: sortsize: expected at least 4 KiB"),
    ],
)
def test_dimensions_of_the_command_line_are_checked_too(words: list[str], reason: str) -> None:
    with pytest.raises(UsageError) as error:
        space_of(words)
    assert reason in str(error.value).replace("--dimension: sortsize", "sortsize")
