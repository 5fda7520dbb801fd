"""``qualify.json``: whole or not at all, and refused in a sentence.

``settings.json`` comes back as it was written, and says what is wrong with it otherwise.

Which runs a word means: a run, a campaign's, or those of a directory.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from mawl.base.errors import UnreadableRunError, UsageError
from mawl.records.model.campaign import Campaign, ChangedSetting, CheckReading, SettingCommand, SettingRecord
from mawl.records.model.qualification import (
    AnswerLimit,
    AnswerPart,
    Fits,
    QualificationAnswer,
    QualificationFigures,
)
from mawl.records.model.run import Reference
from mawl.records.model.summary.judgement import Cause
from mawl.records.spec.campaign import ArmSetting
from mawl.records.store.campaign import (
    QUALIFICATION_LOCK,
    SETTINGS,
    FoundRuns,
    locate_qualification,
    places_of,
    read_qualification,
    read_settings,
    runs_and_campaigns,
    write_campaign,
    write_qualification,
    write_settings,
)
from mawl.records.store.facts import read_facts
from mawl.records.store.files import QUALIFICATION, try_lock
from tests.fakes.campaign_runs import ARMS, campaign
from tests.fakes.qualifications import qualification
from tests.fakes.stored_run import facts, write_run

RECORD = SettingRecord(
    campaign="c",
    machine="bench1",
    directory="/",
    mark="m",
    holder="h",
    changed=ChangedSetting(
        arm="b",
        setting=ArmSetting(name="mode", check="cat mode", before="b", after="a", expect="4"),
        original=CheckReading(exit_status=0, printed="8"),
    ),
    commands=[
        SettingCommand(
            number=1,
            role="original",
            arm="b",
            command="cat mode",
            output="settings/001-original.log",
            started_at=1.5,
            seconds=0.5,
            exit_status=0,
            printed="8",
        )
    ],
)


def test_the_record_comes_back(tmp_path: Path) -> None:
    assert read_settings(tmp_path) is None
    write_settings(tmp_path, RECORD)
    assert read_settings(tmp_path) == RECORD


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "truncated"),
        (b"[]", "Expected `object`"),
        (b"[" * 10_000, "64 deep"),
        (
            b'{"campaign": "c", "machine": null, "directory": "/", "mark": "m", "changed": {}}',
            "missing required field",
        ),
        (
            b'{"campaign": "c", "machine": null, "directory": "/", "mark": "m", "format_version": "2.0"}',
            "newer than",
        ),
        (
            b'{"campaign": "c", "machine": null, "directory": "/", "mark": "m", "changed": {"arm": "b", '
            b'"original": '
            b'{"exit_status": 0, "printed": ""}, "setting": {"name": "m", "check": "a", "before": "b"}}}',
            "after required, because before is there",
        ),
    ],
)
def test_what_is_wrong_is_said(content: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / SETTINGS).write_bytes(content)
    with pytest.raises(UnreadableRunError) as error:
        read_settings(tmp_path)
    assert reason in str(error.value) and "undo by hand" in str(error.value)


def test_a_record_cut_anywhere_is_refused(tmp_path: Path) -> None:
    write_settings(tmp_path, RECORD)
    whole = (tmp_path / SETTINGS).read_bytes().rstrip()
    for length in range(0, len(whole), 7):
        (tmp_path / SETTINGS).write_bytes(whole[:length])
        with pytest.raises(UnreadableRunError):
            read_settings(tmp_path)


def test_neither_a_link_nor_a_pipe_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    write_settings(tmp_path, RECORD)
    (folder / SETTINGS).symlink_to(tmp_path / SETTINGS)
    with pytest.raises(UnreadableRunError):
        read_settings(folder)
    (folder / SETTINGS).unlink()
    os.mkfifo(folder / SETTINGS)
    with pytest.raises(UnreadableRunError):
        read_settings(folder)


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


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    answer = QualificationAnswer(
        sentence="YES",
        carried=AnswerPart(answer="carried", sentence="all"),
        limit=AnswerLimit(verdict="cpu", named=True, costs=[Cause(resource="cpu", share_ratio=0.4)]),
        reference=Reference(version=1),
        preliminary=True,
        sessions=8,
        next_step="nothing",
        figures=QualificationFigures(answer_bound=2.0, guideline_bytes_per_second_per_core=1e8),
        fits=Fits(sessions=None, reason="no run was beyond the number that fits"),
    )
    record = qualification(answer=answer)
    write_qualification(tmp_path, record)
    assert read_qualification(tmp_path) == record


def test_every_point_in_time_is_iso_in_the_file(tmp_path: Path) -> None:
    write_qualification(tmp_path, qualification())
    plain = json.loads((tmp_path / QUALIFICATION).read_text())
    assert plain["created_at"].endswith("Z")
    assert all(phase["began_at"].endswith("Z") for phase in plain["phases"])


def test_a_record_whose_process_ended_reads_as_interrupted_and_one_at_work_as_running(tmp_path: Path) -> None:
    write_qualification(tmp_path, qualification(outcome="running"))
    assert read_qualification(tmp_path).outcome == "interrupted"
    descriptor = os.open(tmp_path / QUALIFICATION_LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        assert try_lock(descriptor)
        assert read_qualification(tmp_path).outcome == "running"
    finally:
        os.close(descriptor)


def _damaged(plain: dict[str, Any], damage: str) -> object:
    if damage == "phase":
        plain["phases"].pop()
    elif damage == "folder":
        plain["runs"][0]["folder"] = "runs/../../etc"
    elif damage == "version":
        plain["format_version"] = "4.0"
    elif damage == "old":
        plain["format_version"] = "1.3"
    elif damage == "time":
        plain["phases"][0]["began_at"] = "yesterday"
    else:
        return [plain]
    return plain


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("phase", "expected the phases doctor"),
        ("folder", "no folder below runs"),
        ("version", "this mawl knows 3.0"),
        ("old", "format 1.3: its answer is of an older definition"),
        ("time", "expected a time"),
        ("list", "expected `object`"),
    ],
)
def test_a_damaged_record_is_refused_by_what_is_wrong(tmp_path: Path, damage: str, said: str) -> None:
    write_qualification(tmp_path, qualification())
    plain = json.loads((tmp_path / QUALIFICATION).read_text())
    (tmp_path / QUALIFICATION).write_bytes(msgspec.json.encode(_damaged(plain, damage)))
    with pytest.raises(UnreadableRunError, match=said):
        read_qualification(tmp_path)


def test_a_qualification_is_found_by_path_and_by_name_and_by_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "qualify-a"
    folder.mkdir(parents=True)
    write_qualification(folder, qualification())
    assert locate_qualification(str(folder), tmp_path) == folder
    assert locate_qualification("qualify-a", tmp_path / "runs") == folder
    for name in ("", "latest", "qualify-b"):
        with pytest.raises(UsageError, match="is no qualification"):
            locate_qualification(name, tmp_path / "runs")


def test_a_verb_that_takes_a_run_names_the_runs_of_a_qualification(tmp_path: Path) -> None:
    write_qualification(tmp_path, qualification())
    with pytest.raises(
        UnreadableRunError, match="is the folder of a qualification, not of a run; name one of"
    ):
        read_facts(tmp_path)


def test_the_measured_runs_of_qualifications_count_where_they_are_named_or_alone(tmp_path: Path) -> None:
    made = tmp_path / "q"
    made.mkdir()
    write_qualification(made, qualification())
    runs = [str(made / "runs" / f"measured-{number}") for number in (1, 2, 3)]
    assert runs_and_campaigns("q", tmp_path) == FoundRuns(named=runs)
    assert runs_and_campaigns(str(tmp_path), tmp_path) == FoundRuns(searched=runs)
    stored(tmp_path / "single")
    assert runs_and_campaigns(str(tmp_path), tmp_path) == FoundRuns(searched=[str(tmp_path / "single")])
