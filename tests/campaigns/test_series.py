"""A campaign that is killed anywhere goes on, and ends with the same statement."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.advice.bounds import AnswerBounds
from mawl.base.errors import UnreadableRunError, UnsuitableMachineError, UsageError
from mawl.campaigns import series as module
from mawl.campaigns.series import Series, begin, conduct, held, resume
from mawl.commands.reporting import render_campaign, stored_campaign
from mawl.records.model.campaign import CAMPAIGN_FORMAT_VERSION, Arm, Campaign, CampaignPart, Slot
from mawl.records.store import open_run
from mawl.records.store.campaign import CAMPAIGN, read_campaign, write_campaign
from tests.fakes.campaign_runs import ARMS, FakeRuns, Killed, campaign, set_outcome

WRITES = 11
"""Of the record of four runs: when it is made, begun, twice for each run, and when it is over."""


def carried_out(folder: Path, execute: FakeRuns, following: Any = None) -> Campaign:
    """Begin or go on, whichever fits."""
    folder.mkdir(exist_ok=True)
    with held(folder, patience=0.0) as lock:
        there = (folder / CAMPAIGN).exists()
        series = resume(folder, execute, lock) if there else begin(folder, campaign(), execute, lock)
        return conduct(series, following)


def statement(folder: Path) -> Any:
    """What a report says, without what names attempts."""
    said = json.loads(render_campaign(stored_campaign(folder, AnswerBounds()).figures, "json"))
    return said["comparison"]["statement"], said["comparison"]["programs"], said["outcome"]


def test_runs_are_made_in_turns_and_know_their_place(tmp_path: Path) -> None:
    runs = FakeRuns()
    record = carried_out(tmp_path / "c", runs)
    assert runs.made == ["001-a", "002-b", "003-b", "004-a"]
    assert record.outcome == "completed" and record.ended_at is not None
    for slot in record.slots:
        facts = open_run(tmp_path / "c" / str(slot.folder)).facts
        part = CampaignPart(name=record.name, kind="ab", arm=slot.arm, position=slot.position)
        assert facts.campaign == part
        assert facts.repeats == 2
    assert read_campaign(tmp_path / "c").slots == record.slots


def test_a_campaign_killed_in_any_run_ends_with_the_same_statement(tmp_path: Path) -> None:
    carried_out(tmp_path / "whole", FakeRuns())
    for cut in ((1,), (4,), (2, 3)):
        folder, runs = tmp_path / f"cut-{len(cut)}-{cut[0]}", FakeRuns(cut)
        for _ in cut:
            with pytest.raises(Killed):
                carried_out(folder, runs)
            assert read_campaign(folder).outcome == "interrupted"
        record = carried_out(folder, runs)
        assert statement(folder) == statement(tmp_path / "whole")
        assert [slot.arm for slot in record.slots] == ["a", "b", "b", "a"]
        kept = [name for slot in record.slots for name in slot.interrupted]
        assert len(kept) == len(cut)
        for name in kept:
            facts = open_run(folder / name).facts
            assert facts.outcome == "interrupted"
            assert facts.campaign is not None and facts.campaign.name == record.name
            assert facts.repeats == 1
        assert len(runs.made) == 4 + len(cut), "a finished run is made once"


def test_a_campaign_killed_between_any_two_writes_ends_with_the_same_statement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGKILL before each write of the record: what was done since the last one is not in it."""
    carried_out(tmp_path / "whole", FakeRuns())
    expected = statement(tmp_path / "whole")
    for number in range(2, WRITES + 1):
        folder, runs = tmp_path / f"at-{number}", FakeRuns()
        with monkeypatch.context() as patched:
            patched.setattr(module, "write_campaign", _dying(number))
            with pytest.raises(Killed):
                carried_out(folder, runs)
        carried_out(folder, runs)
        assert statement(folder) == expected, number
        assert runs.made == ["001-a", "002-b", "003-b", "004-a"], number


def _dying(number: int) -> Callable[[Path, Campaign], None]:
    calls = []

    def write(folder: Path, record: Campaign) -> None:
        calls.append(record)
        if len(calls) == number:
            raise Killed
        write_campaign(folder, record)

    return write


def test_a_warm_up_run_comes_first_is_kept_and_counts_in_no_figure(tmp_path: Path) -> None:
    folder, runs = tmp_path / "c", FakeRuns(cut=(1,))
    record = campaign(warm_up=Slot(position=0, arm="a"))
    folder.mkdir()
    with held(folder, patience=0.0) as lock:
        with pytest.raises(Killed):
            conduct(begin(folder, record, runs, lock))
        record = conduct(resume(folder, runs, lock))
    assert runs.made == ["000-warm-up", "000-warm-up-2", "001-a", "002-b", "003-b", "004-a"]
    assert record.warm_up is not None
    assert (record.warm_up.folder, record.warm_up.interrupted) == ("000-warm-up-2", ["000-warm-up"])
    facts = open_run(folder / "000-warm-up-2").facts
    assert (facts.campaign, facts.repeats) == (
        CampaignPart(name=record.name, kind="ab", arm="a", position=0),
        1,
    )
    found = stored_campaign(folder, AnswerBounds()).figures
    assert [arm.runs for arm in found.arms] == [2, 2]
    assert all(facts.run_id not in arm.run_ids for arm in found.arms)
    carried_out(tmp_path / "without", FakeRuns())
    assert statement(folder) == statement(tmp_path / "without")
    text = render_campaign(found, "text")
    assert "4 of 4 runs made" in text and "warm-up, in no figure" in text


def test_a_run_that_ended_before_its_campaign_noted_it_is_kept(tmp_path: Path) -> None:
    folder, runs = tmp_path / "c", FakeRuns(cut=(2,))
    with pytest.raises(Killed):
        carried_out(folder, runs)
    open_run(folder / "002-b")  # compacts it
    set_outcome(folder / "002-b", "completed")
    record = carried_out(folder, runs)
    assert runs.made == ["001-a", "002-b", "003-b", "004-a"]
    assert all(slot.interrupted == [] for slot in record.slots)


def test_a_run_that_the_machine_refuses_stops_a_campaign_that_can_go_on(tmp_path: Path) -> None:
    class Refusing(FakeRuns):
        refuse = True

        def __call__(self, arm: Arm, folder: Path, lock: int) -> None:
            if arm.name == "b" and self.refuse:
                raise UnsuitableMachineError("too little memory")
            super().__call__(arm, folder, lock)

    folder, runs = tmp_path / "c", Refusing()
    with pytest.raises(UnsuitableMachineError, match="too little memory"):
        carried_out(folder, runs)
    stopped = read_campaign(folder)
    assert (stopped.outcome, stopped.reason) == ("failed", "too little memory")
    runs.refuse = False
    assert carried_out(folder, runs).outcome == "completed"
    assert runs.made == ["001-a", "002-b", "003-b", "004-a"]


def test_a_failed_run_is_a_result_and_no_repeat(tmp_path: Path) -> None:
    class Failing(FakeRuns):
        def __call__(self, arm: Arm, folder: Path, lock: int) -> None:
            super().__call__(arm, folder, lock)
            if len(self.made) == 2:
                set_outcome(folder, "failed")

    record = carried_out(tmp_path / "c", Failing())
    assert (record.outcome, record.reason) == ("failed", "1 of 4 runs did not complete")
    counts = [open_run(tmp_path / "c" / str(slot.folder)).facts.repeats for slot in record.slots]
    assert counts == [2, 1, 1, 2]


def test_arms_may_be_added_as_they_are_found(tmp_path: Path) -> None:
    wanted = [Arm(name="c", workload="tiny"), ARMS[0], None]
    folder, runs = tmp_path / "c", FakeRuns()
    record = carried_out(folder, runs, lambda own: wanted[len(own.record.slots) - 4])
    assert runs.made[4:] == ["005-c", "006-a"]
    assert [arm.name for arm in record.arms] == ["a", "b", "c"]


def test_one_process_at_a_time_conducts_a_campaign(tmp_path: Path) -> None:
    with held(tmp_path) as lock:
        begin(tmp_path, campaign(), FakeRuns(), lock)
        assert read_campaign(tmp_path).outcome == "running"
        with pytest.raises(UsageError, match="by another process"), held(tmp_path, patience=0.0):
            pass
    assert read_campaign(tmp_path).outcome == "interrupted"


DAMAGE: dict[str, Callable[[dict[str, Any]], None]] = {
    "no arm is called": lambda plain: plain["slots"][0].update(arm="z"),
    "expected position 1": lambda plain: plain["slots"][0].update(position=7),
    "no folder inside": lambda plain: plain["slots"][0].update(folder="../../etc"),
    "Invalid enum value": lambda plain: plain.update(kind="holiday"),
    "two arms have one name": lambda plain: plain["arms"][1].update(name="a"),
    "missing required field `arms`": lambda plain: plain.pop("arms"),
    "format 7.0": lambda plain: plain.update(format_version="7.0"),
    "a finished run without a folder": lambda plain: plain["slots"][0].update(state="finished"),
}


@pytest.mark.parametrize("reason", DAMAGE)
def test_a_record_that_is_none_is_refused_with_its_reason(reason: str, tmp_path: Path) -> None:
    write_campaign(tmp_path, campaign())
    plain = json.loads((tmp_path / CAMPAIGN).read_text())
    DAMAGE[reason](plain)
    (tmp_path / CAMPAIGN).write_text(json.dumps(plain))
    with pytest.raises(UnreadableRunError, match=reason):
        read_campaign(tmp_path)


def test_a_truncated_record_is_refused(tmp_path: Path) -> None:
    write_campaign(tmp_path, campaign())
    whole = (tmp_path / CAMPAIGN).read_bytes()
    for length in (0, 1, len(whole) // 2, len(whole) - 3):
        (tmp_path / CAMPAIGN).write_bytes(whole[:length])
        with pytest.raises(UnreadableRunError, match="is no record of a campaign"):
            read_campaign(tmp_path)


def test_unknown_fields_of_a_newer_minor_version_are_ignored(tmp_path: Path) -> None:
    record = msgspec.structs.replace(campaign(), outcome="completed")
    write_campaign(tmp_path, record)
    plain = json.loads((tmp_path / CAMPAIGN).read_text()) | {"format_version": "2.9", "mood": "good"}
    (tmp_path / CAMPAIGN).write_text(json.dumps(plain))
    assert msgspec.structs.replace(read_campaign(tmp_path), format_version=CAMPAIGN_FORMAT_VERSION) == record


def test_a_record_of_format_1_is_read_without_the_specs_that_it_lacks(tmp_path: Path) -> None:
    write_campaign(tmp_path, msgspec.structs.replace(campaign(), outcome="completed"))
    plain = json.loads((tmp_path / CAMPAIGN).read_text())
    del plain["spec"]
    for arm in plain["arms"]:
        del arm["spec"]
        arm["words"] = ["--sessions=8"]
    plain |= {"format_version": "1.0", "words": ["--scale=quick"], "environment": {"MAWL_SEED": "3"}}
    (tmp_path / CAMPAIGN).write_text(json.dumps(plain))
    record = read_campaign(tmp_path)
    assert (record.outcome, record.spec, record.arms[0].spec) == ("completed", None, None)


def test_a_series_gives_back_what_was_made(tmp_path: Path) -> None:
    with held(tmp_path) as lock:
        series: Series = begin(tmp_path, campaign(), FakeRuns(), lock)
        slot = series.run(1)
        assert series.run(1) == slot == series.runs_of("a")[0]
        assert series.path(slot) == tmp_path / "001-a"
