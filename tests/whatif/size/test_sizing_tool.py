"""The tool that compares picks of ``mawl size`` with runs of lab campaigns, over arms that the model made."""

from __future__ import annotations

from pathlib import Path

from tests.simulation.test_lab_forecasts import campaign
from tools.sizing import outcomes


def test_of_arms_that_run_as_forecast_the_pick_is_nearly_always_theirs(tmp_path: Path) -> None:
    arms = {"slow": 20.0, "middle": 40.0, "fast": 80.0}
    folders = [campaign(tmp_path / "one", "here", arms), campaign(tmp_path / "two", "there", {"only": 30.0})]
    found = outcomes(folders, 30, 0.5)
    assert sum(found.values()) == 30
    assert found["right"] >= 24 and found["too slow"] <= 3


def test_a_safer_pick_is_never_an_arm_that_is_too_slow(tmp_path: Path) -> None:
    folder = campaign(tmp_path / "one", "here", {"slow": 20.0, "middle": 40.0, "fast": 80.0})
    found = outcomes([folder], 20, 0.97)
    assert found["too slow"] == 0 and found["dearer"] > 0
