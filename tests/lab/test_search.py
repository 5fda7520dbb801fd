"""A search of real runs finds a planted bad setting."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from mawl.store import open_run
from tests.lab.quiet import quiet_machine
from tests.lab.standing import standing

pytestmark = [pytest.mark.lab, pytest.mark.campaign, pytest.mark.measured(reruns=1)]

CAP = 40_000_000
SCALE = "0.00015"
VOLUMES = ("one", "two", "three", "four")
BED = """
name = "few"
title = "Volumes with a cap each"
question = "Does a search find that one volume is too few?"
workload = "nano"
""" + "".join(
    f"""
[[volumes]]
name = "{name}"
size = "512MiB"
dirty = "4MiB"
[volumes.cap]
bytes_per_second = {CAP}
[[arms]]
name = "{name}"
data = ["{name}"]
work = ["{name}"]
util = ["{name}"]
"""
    for name in VOLUMES
)
SORTS = """
name = "sorts"
[[sessions]]
name = "analyst-1"
stages = [["wide_sort"]]
[[sessions]]
name = "analyst-2"
stages = [["wide_sort"]]
"""


def directory_of(words: list[str], role: str) -> str:
    """The one directory of a role, from the words of ``mawl run``."""
    return words[words.index(f"--{role}") + 1]


def test_one_volume_where_four_would_do_is_found_with_its_gain(tmp_path: Path) -> None:
    quiet_machine()
    with standing(tmp_path, "few", BED) as bed:
        arms = bed.up("few")
        works = [directory_of(arms[name], "work") for name in VOLUMES]
        utils = [directory_of(arms[name], "util") for name in VOLUMES]
        (tmp_path / "sorts.toml").write_text(SORTS)
        done = bed(
            *("tune", "search", "sorts.toml", "--scale", SCALE, "--budget", "5min", "--json"),
            *("--data", str(tmp_path / "data"), "--work", works[0], "--util", utils[0]),
            *("--dimension", f"work={works[0]},{os.pathsep.join(works)}"),
            *("--dimension", f"util={utils[0]},{os.pathsep.join(utils)}"),
        )
        sys.stdout.write(done.stdout + done.stderr)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["outcome"] == "gain"
        chosen = found["setting"]
        assert os.pathsep.join(utils) == chosen["util"] or os.pathsep.join(works) == chosen["work"]
        assert found["low_ratio"] <= found["change_ratio"] <= found["high_ratio"] < 0.0
        assert found["programs"]["faster"] == 1
        ran = bed("run", "sorts.toml", "--scale", SCALE, "--profile", found["profile"], "--output", "after")
        assert ran.returncode == 0, ran.stderr
        roles = open_run(tmp_path / "after").facts.roles
        assert max(len(roles["work"]), len(roles["util"])) == len(VOLUMES)
