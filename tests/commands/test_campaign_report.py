"""The report of an A/B campaign has the table of changed settings that a comparison of its arms has."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import msgspec
import pytest

from mawl.advice.bounds import AnswerBounds
from mawl.campaigns.series import begin, conduct, held
from mawl.commands.arguments import settings
from mawl.commands.reporting import render_campaign, stored_campaign
from mawl.records.model.node import Inventory
from mawl.records.store import open_run
from mawl.records.store.campaign import locate_campaign, read_campaign, write_campaign
from mawl.records.store.facts import read_facts, write_facts
from tests.fakes.campaign_runs import FakeRuns, campaign
from tests.fakes.command_line import call


def carried_out(folder: Path, swappiness: dict[str, float]) -> None:
    """Four runs that recorded the swappiness of their arm, or none if the arm is not named."""
    folder.mkdir()
    with held(folder, patience=0.0) as lock:
        record = conduct(begin(folder, campaign(), FakeRuns(), lock))
    for slot in record.slots:
        if slot.arm in swappiness:
            place = folder / str(slot.folder)
            found = read_facts(place)
            memory = Inventory(families={"memory": {"machine": {"swappiness": swappiness[slot.arm]}}})
            inventories = {found.nodes[0].name: memory}
            write_facts(place, msgspec.structs.replace(found, inventories=inventories))


def test_settings_that_the_arms_runs_recorded_are_cited(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    carried_out(folder, {"a": 60, "b": 10})
    found = stored_campaign(folder, AnswerBounds()).figures
    assert found.comparison is not None and found.comparison.settings is not None
    cited = found.comparison.settings
    assert (cited.before, cited.after) == ("before", "after")
    (row,) = cited.changed
    assert (row.name, row.reference, row.candidate, row.recommended) == (
        *("swappiness", "60 %", "10 %"),
        "at most 30 %",
    )
    said = json.loads(render_campaign(found, "json"))["comparison"]["settings"]["changed"]
    assert [one["name"] for one in said] == ["swappiness"]
    text = " ".join(render_campaign(found, "text").split())
    assert "settings that changed reference candidate default recommended swappiness 60 % 10 %" in text
    assert "| swappiness | 60 % | 10 % | 60 % | at most 30 % |" in render_campaign(found, "markdown")
    assert 'id="settings"' in render_campaign(found, "html")


def test_a_setting_that_prints_the_same_did_not_change(tmp_path: Path) -> None:
    carried_out(tmp_path / "c", {"a": 60.0, "b": 60.00004})
    found = stored_campaign(tmp_path / "c", AnswerBounds()).figures
    assert found.comparison is not None and found.comparison.settings is not None
    settings = found.comparison.settings
    assert (settings.changed, settings.left) == ([], 1)


@pytest.mark.parametrize(
    ("place", "named"), [("runs/c", "c/"), ("else where/c", "else where/c/"), (".", "c/")]
)
def test_commands_name_runs_so_that_they_are_found_from_here(
    place: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / ("runs/c" if place == "." else place)
    folder.parent.mkdir()
    carried_out(folder, {})
    if place == ".":
        monkeypatch.setenv("MAWL_RUNS", str(tmp_path / "runs"))
        monkeypatch.chdir(folder)
    for outcome in ("completed", "interrupted"):
        write_campaign(folder, msgspec.structs.replace(read_campaign(folder), outcome=outcome))
        assert call("report", place, "--format", "json", "--output", str(tmp_path / "out")) == 0
        said = json.loads((tmp_path / "out").read_text())
        for arm in said["arms"]:
            for name, run_id in zip(arm["names"], arm["run_ids"], strict=True):
                assert open_run(name, settings().runs(None)).facts.run_id == run_id
        for side in ("reference", "candidate"):
            assert said["comparison"][side]["names"][0].startswith(named)
    assert said["finding"]["next_step"] == f"go on with it: mawl run --continue {shlex.quote(said['called'])}"
    assert locate_campaign(said["called"], settings().runs(None)) == folder.resolve()


def test_arms_without_recorded_settings_have_no_table(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    carried_out(folder, {"a": 60})
    found = stored_campaign(folder, AnswerBounds()).figures
    assert found.comparison is not None and found.comparison.settings is None
    assert 'id="settings"' not in render_campaign(found, "html")
