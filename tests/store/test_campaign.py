"""Which runs a word means: a run, a campaign's, or those of a directory."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from mawl.errors import UnreadableRunError, UsageError
from mawl.model.campaign import Campaign
from mawl.store.campaign import FoundRuns, places_of, runs_and_campaigns, write_campaign
from tests.fakes.campaign_runs import ARMS, campaign
from tests.fakes.stored_run import facts, write_run


def stored(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    write_run(folder).finish(facts(run_id=folder.name))


def one_arm() -> Campaign:
    """A warm-up, two runs that are finished and one that is not."""
    record = campaign(arms=ARMS[:1], kind="repeat", outcome="completed")
    first = record.slots[0]
    slots = [
        replace(first, position=place, arm="a", state=state, folder=f"run-{place}")
        for place, state in ((1, "finished"), (2, "refused"), (3, "finished"))
    ]
    warm_up = replace(first, position=0, arm="a", state="finished", folder="warm-up")
    return replace(record, slots=slots, warm_up=warm_up)


def test_the_runs_of_a_directory_are_those_in_it_and_of_its_campaigns_where_they_count(
    tmp_path: Path,
) -> None:
    stored(tmp_path / "single")
    made = tmp_path / "five"
    for name in ("warm-up", "run-1", "run-2", "run-3"):
        stored(made / name)
    write_campaign(made, one_arm())
    single, runs = str(tmp_path / "single"), [str(made / "run-1"), str(made / "run-3")]
    assert places_of(str(tmp_path), tmp_path) == [single]
    assert runs_and_campaigns(str(tmp_path), tmp_path) == FoundRuns(searched=[single, *runs])
    assert runs_and_campaigns("five", tmp_path) == FoundRuns(named=runs)
    assert places_of("five", tmp_path) == runs
    assert places_of(single, tmp_path) == [single] and places_of("an-id", tmp_path) == ["an-id"]


def test_a_campaign_of_two_arms_in_a_directory_is_refused_as_by_its_name(tmp_path: Path) -> None:
    record = campaign()
    slots = [replace(slot, state="finished", folder=f"run-{slot.position}") for slot in record.slots]
    made = tmp_path / "ab"
    made.mkdir()
    write_campaign(made, replace(record, slots=slots))
    for word in ("ab", str(tmp_path)):
        with pytest.raises(UsageError, match="2 arms"):
            runs_and_campaigns(word, tmp_path)


def test_a_campaign_without_a_finished_run_is_passed_over_in_a_directory(tmp_path: Path) -> None:
    stored(tmp_path / "single")
    made = tmp_path / "ab"
    made.mkdir()
    write_campaign(made, campaign())
    assert runs_and_campaigns(str(tmp_path), tmp_path).searched == [str(tmp_path / "single")]


def test_a_damaged_campaign_in_a_directory_is_named_and_its_neighbours_count(tmp_path: Path) -> None:
    stored(tmp_path / "single")
    (tmp_path / "five").mkdir()
    (tmp_path / "five" / "campaign.json").write_text('{"name": ')
    found = runs_and_campaigns(str(tmp_path), tmp_path)
    assert found.searched == [str(tmp_path / "single")]
    assert "is no record of a campaign" in str(found.damaged[0])
    with pytest.raises(UnreadableRunError):
        runs_and_campaigns("five", tmp_path)
