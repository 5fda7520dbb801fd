"""The report of an A/B campaign has the table of changed settings that a comparison of its arms has."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from mawl.advice.capacity.bounds import CapacityBounds
from mawl.campaigns.series import begin, conduct, held
from mawl.commands.campaign_report import campaign_found, rendered
from mawl.model.inventory import Inventory
from mawl.store.facts import read_facts, write_facts
from tests.fakes.campaign_runs import FakeRuns, campaign


def carried_out(folder: Path, swappiness: dict[str, int]) -> None:
    """Four runs that recorded the swappiness of their arm, or none if the arm is not named."""
    folder.mkdir()
    with held(folder, patience=0.0) as lock:
        record = conduct(begin(folder, campaign(), FakeRuns(), lock))
    for slot in record.slots:
        if slot.arm in swappiness:
            place = folder / str(slot.folder)
            found, _ = read_facts(place)
            memory = Inventory(families={"memory": {"machine": {"swappiness": swappiness[slot.arm]}}})
            inventories = {found.nodes[0].name: memory}
            write_facts(place, msgspec.structs.replace(found, inventories=inventories))


def test_settings_that_the_arms_runs_recorded_are_cited(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    carried_out(folder, {"a": 60, "b": 10})
    found = campaign_found(folder, CapacityBounds())
    assert found.comparison is not None and found.comparison.settings is not None
    cited = found.comparison.settings
    assert (cited.before, cited.after) == ("before", "after")
    (row,) = cited.changed
    assert (row.name, row.reference, row.candidate, row.recommended) == (
        *("swappiness", "60 %", "10 %"),
        "at most 30 %",
    )
    said = json.loads(rendered(found, "json"))["comparison"]["settings"]["changed"]
    assert [one["name"] for one in said] == ["swappiness"]
    text = " ".join(rendered(found, "text").split())
    assert "settings that changed reference candidate default recommended swappiness 60 % 10 %" in text
    assert "| swappiness | 60 % | 10 % | 60 % | at most 30 % |" in rendered(found, "markdown")
    assert 'id="settings"' in rendered(found, "html")


def test_arms_without_recorded_settings_have_no_table(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    carried_out(folder, {"a": 60})
    found = campaign_found(folder, CapacityBounds())
    assert found.comparison is not None and found.comparison.settings is None
    assert 'id="settings"' not in rendered(found, "html")
