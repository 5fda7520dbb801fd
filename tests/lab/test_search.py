"""Searches of real runs find planted bad settings: a volume too few, no compression, a tiny sortsize."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mawl.records.store import open_run
from tests.lab.standing import Bed, bed_text, standing

pytestmark = [pytest.mark.lab, pytest.mark.long(minutes=6), pytest.mark.measured(reruns=1)]

CAP = 40_000_000
VOLUMES = ("one", "two", "three", "four")
PACKED = """
file_system = "btrfs"
mount_options = ["noatime", "compress-force=zstd:1"]
"""
BED = bed_text(
    "few",
    {
        name: f"""
size = "512MiB"
dirty = "4MiB"
{PACKED if name == "packed" else ""}
[volumes.cap]
bytes_per_second = {CAP}
"""
        for name in (*VOLUMES, "packed")
    },
    {name: f"{name} {name} {name}" for name in (*VOLUMES, "packed")},
)
SORT = """
name = "sort"
[[sessions]]
name = "analyst-1"
stages = [["wide_sort"]]
"""
SORTS = f"""{SORT}
[[sessions]]
name = "analyst-2"
stages = [["wide_sort"]]
"""
TINY = "64KiB"


def directory_of(words: list[str], role: str) -> str:
    """The one directory of a role, from the words of ``mawl run``."""
    return words[words.index(f"--{role}") + 1]


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    with standing(tmp_path_factory.mktemp("few"), "few", BED) as made:
        yield made


@pytest.fixture(scope="module")
def arms(bed: Bed) -> dict[str, list[str]]:
    return bed.up("few")


def gain_of(mawl: Bed, workload: str, scale: str, *words: str) -> dict[str, Any]:
    """A search of the workload, which must establish a gain."""
    (mawl.directory / "workload.toml").write_text(workload)
    done = mawl("tune", "search", "workload.toml", "--scale", scale, "--budget", "4min", "--json", *words)
    sys.stdout.write(done.stdout + done.stderr)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["outcome"] == "gain", found["statement"]
    assert found["low_ratio"] <= found["change_ratio"] <= found["high_ratio"] < 0.0
    assert found["programs"] == {"faster": 1, "slower": 0, "not_told_apart": 0}
    assert found["spent_seconds"] <= found["budget_seconds"] == 240.0
    return found


def run_with(mawl: Bed, scale: str, profile: str, output: str) -> Path:
    """A run to which the profile of a gain was applied."""
    done = mawl("run", "workload.toml", "--scale", scale, "--profile", profile, "--output", output)
    assert done.returncode == 0, done.stderr
    return mawl.directory / output


def checked_sortsize(mawl: Bed, run: Path) -> tuple[str, int]:
    """What ``tune check`` says of it: state and current value."""
    done = mawl("tune", "check", str(run), "--all", "--json")
    assert done.returncode == 0, done.stderr
    (row,) = (row for row in json.loads(done.stdout)["settings"] if row["name"] == "sortsize")
    return row["state"], row["current"]


def test_one_volume_where_four_would_do_is_found_with_its_gain(bed: Bed, arms: dict[str, list[str]]) -> None:
    works = [directory_of(arms[name], "work") for name in VOLUMES]
    utils = [directory_of(arms[name], "util") for name in VOLUMES]
    found = gain_of(
        *(bed, SORTS, "0.0002", "--work", works[0], "--util", utils[0]),
        *("--dimension", f"work={works[0]},{os.pathsep.join(works)}"),
        *("--dimension", f"util={utils[0]},{os.pathsep.join(utils)}"),
    )
    chosen = found["setting"]
    assert os.pathsep.join(utils) == chosen["util"] or os.pathsep.join(works) == chosen["work"]
    roles = open_run(run_with(bed, "0.0002", found["profile"], "spread")).facts.roles
    assert max(len(roles["work"]), len(roles["util"])) == len(VOLUMES)


def test_that_a_compressed_volume_is_better_is_found_with_its_gain(
    bed: Bed, arms: dict[str, list[str]]
) -> None:
    """Compression is a dimension by where a role lies: the volumes differ in it, not in their cap."""
    plain, packed = (directory_of(arms[name], "util") for name in ("one", "packed"))
    found = gain_of(bed, SORT, "0.0002", "--util", plain, "--dimension", f"util={plain},{packed}")
    assert found["setting"] == {"util": packed}
    assert open_run(run_with(bed, "0.0002", found["profile"], "packed")).facts.roles["util"] == [packed]


def test_a_sortsize_far_too_small_is_found_by_check_and_bettered_by_search(tmp_path: Path) -> None:
    """What is recommended shrinks with the scale, down to 4 MiB; what is asked below that is not raised."""
    mawl = Bed(tmp_path, tmp_path)
    found = gain_of(
        *(mawl, SORT, "0.0001", "--option", f"sortsize={TINY}"),
        *("--dimension", f"sortsize={TINY},128KiB,256MiB"),
    )
    baseline = next((tmp_path / "runs" / found["campaign"]).glob("001-*"))
    assert checked_sortsize(mawl, baseline) == ("differs", 2**16)
    assert found["setting"] == {"sortsize": "256MiB"}
    assert "sortsize" not in {row["name"] for row in found["proposed"]}, "a run option is none of the machine"
    assert checked_sortsize(mawl, run_with(mawl, "0.0001", found["profile"], "after")) == (
        "as recommended",
        2**28,
    )
