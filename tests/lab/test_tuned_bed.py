"""As found against profile on this machine (root): five runs an arm, and what the check says of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.lab.test_experiments import campaign
from tests.lab.test_further_beds import check_gone, images

__all__ = ["images"]

pytestmark = [pytest.mark.lab, pytest.mark.long(minutes=8), pytest.mark.measured(reruns=1)]

PLANTED = {"read_ahead", "sortsize", "bufsize", "devices"}
"""What the arm as found has otherwise than the profiles."""


def differing(found: dict[str, Any], arm: str, directory: Path) -> set[str]:
    """Names of the settings in which a run of the arm differs, by `mawl tune check`."""
    run = next(one for one in found["arms"] if one["arm"] == arm and not one["repeated"])
    folder = directory / "runs" / Path(run["folder"]).name
    told = subprocess.run(
        [sys.executable, "-m", "mawl", "tune", "check", str(folder), "--json"],
        cwd=directory,
        capture_output=True,
        text=True,
        check=True,
    )
    return {row["name"] for row in json.loads(told.stdout)["settings"] if row["state"] == "differs"}


def test_more_programs_gain_from_the_profile_than_lose(tmp_path: Path, images: Path) -> None:
    found = campaign("tuned", tmp_path)
    (programs,) = found["programs"]
    assert (programs["judged"], programs["runs"]) == (True, [5, 5])
    assert programs["verdict"] == "faster"
    assert programs["change_ratio"] < -0.2
    assert programs["faster"] > programs["slower"]
    assert programs["faster"] >= 2
    assert [one["agrees"] for one in found["findings"]] == [True]
    assert differing(found, "as-found", tmp_path) >= PLANTED
    assert not differing(found, "profile", tmp_path) & PLANTED
    check_gone("tuned", tmp_path, images)
