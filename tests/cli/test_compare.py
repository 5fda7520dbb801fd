"""``mawl compare``."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from html import unescape
from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import UsageError
from mawl.commands.arguments import settings
from mawl.records.model.campaign import Arm, Campaign, CampaignKind, CampaignMachine, Slot
from mawl.records.store.campaign import write_campaign
from mawl.records.store.folder import RunWriter
from mawl.records.store.reading import locate
from tests.fakes.command_line import call
from tests.fakes.compared_runs import COMPLETED, jobs
from tests.fakes.stored_run import START, facts


def write(folder: Path, number: int, factor: float = 1.0) -> None:
    """A stored run whose jobs took ``factor`` times as long."""
    some = facts(**{**COMPLETED, "run_id": folder.name, "started_at": START + 100.0 * number})
    writer = RunWriter(folder, some)
    for record in jobs({"wide_sort": factor, "census_load": factor}):
        writer.job(record)
    writer.finish(some)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two folders of five runs that took turns, the second slower by a fifth."""
    place = tmp_path_factory.mktemp("sides")
    for number, noise in enumerate([0.98, 1.01, 1.0, 1.02, 0.99]):
        write(place / "before" / f"b{number}", 2 * number, noise)
        write(place / "after" / f"a{number}", 2 * number + 1, 1.2 * noise)
    return place


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert call("compare", *words) == 0
    return capsys.readouterr().out


def test_two_folders_of_runs(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, str(runs / "before"), str(runs / "after"))
    assert out.startswith("slowdown   1.54 (1.51 to 1.57) -> 1.85 (1.81 to 1.89): higher (+20 %, ")
    assert '\nfinding    Worse: "after" against "before", real time per job +20 % (95 % interval' in out
    assert "after (5 runs, measured" in out


def test_sides_by_option_by_commas_and_by_id(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = [str(runs / "before" / f"b{number}") for number in range(5)]
    after = [str(runs / "after" / f"a{number}") for number in range(5)]
    whole = ("--format", "json")
    by_option = json.loads(said(capsys, "--reference", *before, "--candidate", *after, *whole))
    by_comma = json.loads(said(capsys, ",".join(before), ",".join(after), *whole))
    assert by_option["statement"] == by_comma["statement"]
    assert by_option["reference"]["run_ids"] == [f"b{number}" for number in range(5)]
    assert by_comma["candidate"]["label"] == "a0 and 4 more"
    single = json.loads(said(capsys, "b0", "b1", "--runs", str(runs / "before"), *whole))
    assert single["statement"]["verdict"] == "not judged"
    assert single["statement"]["more_runs_needed"] == 8


def test_sides_of_one_name_go_by_their_paths(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (runs / "old").mkdir(exist_ok=True)
    write(runs / "old" / "before" / "b9", 9)
    paths = [str(runs / "before"), str(runs / "old" / "before")]
    found = json.loads(said(capsys, *paths, "--format", "json"))
    assert [found[side]["label"] for side in ("reference", "candidate")] == paths


def test_three_sides_are_a_table(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, str(runs / "before"), str(runs / "after"), "s822-xiv-20")
    assert "against before:" in out
    assert "  after: worse: real time per job +20 % (95 % interval" in out


def test_published_results(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "dl980-spinning-30", "dl980-flash-30")
    assert "real time, sum of all jobs" in out and "-63 %" in out
    out = said(capsys, "s822-xiv-20", str(runs / "before"))
    assert "jobs : sessions" in out and "real time, sum of all jobs" not in out


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_into_a_file(runs: Path, tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "comparison"
    target.write_text("stale\n" * 1_000_000)
    words = (str(runs / "before"), str(runs / "after"), "--format", form, "--output", str(target))
    assert said(capsys, *words) == ""
    assert "stale" not in target.read_text()
    assert 'Worse: "after" against "before", real time per job +20 %' in unescape(target.read_text()).replace(
        "\\", ""
    )


def test_a_bad_side_leaves_no_file(runs: Path, tmp_path: Path) -> None:
    target = tmp_path / "comparison"
    with pytest.raises(UsageError, match="no such run"):
        call("compare", "none", str(runs / "after"), "--output", str(target))
    assert not target.exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("before",), "a comparison takes two sides, found 1"),
        (("--reference", "before"), "--reference and --candidate go together"),
        (("before", "--reference", "a", "--candidate", "b"), "go together, and without other sides"),
        (("before,s822-xiv-20", "after"), "s822-xiv-20: is a published result, which has no repeats"),
        (("before/b0,before", "after"), "b0: is given twice on one side"),
        ((".", "after"), "is neither a run nor a folder of runs"),
    ],
)
def test_wrong_use_is_a_sentence(
    runs: Path, words: tuple[str, ...], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs)
    with pytest.raises(UsageError, match=sentence):
        call("compare", *words)


def test_a_run_against_itself_wants_to_be_asked_for(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(runs / "before" / "b0")
    with pytest.raises(UsageError, match=r"on both sides: it is compared with itself; .*--anyway"):
        call("compare", run, run)
    assert "real time per job 0.0 %" in said(capsys, run, run, "--anyway")


@pytest.fixture
def own_runs(runs: Path, tmp_path: Path) -> Path:
    """The folders of runs, for one test alone."""
    return shutil.copytree(runs, tmp_path / "sides")


def as_campaign(folder: Path, kind: CampaignKind, arms: Sequence[str], slots: Sequence[Slot]) -> None:
    """Make a folder of runs that of a campaign."""
    record = Campaign(
        name=folder.name, kind=kind, created_at=0.0, outcome="completed", mawl_version="0.1.0",
        machine=CampaignMachine(), directory=str(folder),
        arms=[Arm(name=name, workload="nano") for name in arms], slots=list(slots),
    )  # fmt: skip
    write_campaign(folder, record)


def test_a_campaign_of_one_arm_is_a_side_without_its_interrupted_attempts(
    own_runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (str(own_runs / "before"), str(own_runs / "after"), "--format", "json")
    slots = [
        Slot(position=number, arm="as-found", state="finished", folder=f"b{number}") for number in range(1, 5)
    ]
    slots[0] = msgspec.structs.replace(slots[0], interrupted=["b0"])
    as_campaign(own_runs / "before", "repeat", ["as-found"], slots)
    found = json.loads(said(capsys, *words))
    assert found["reference"]["run_ids"] == ["b1", "b2", "b3", "b4"]
    assert found["candidate"]["run_ids"] == [f"a{number}" for number in range(5)]


@pytest.mark.parametrize("inside", [True, False])
def test_the_command_that_reports_a_run_finds_it_from_here(
    inside: bool, runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if inside:
        monkeypatch.setenv("MAWL_RUNS", str(runs / "after"))
    monkeypatch.chdir(runs.parent)
    found = json.loads(said(capsys, str(runs / "before"), str(runs / "after"), "--format", "json"))
    assert found["candidate"]["run_ids"] == [f"a{number}" for number in range(5)]
    _, _, name = found["finding"]["next_step"].partition("became slower: mawl report ")
    assert locate(name, settings().runs(None)).parent == runs / "after"
    assert inside == ("/" not in name)


def test_a_campaign_of_several_arms_is_no_side(own_runs: Path) -> None:
    slot = Slot(position=1, arm="a", state="finished", folder="b0")
    as_campaign(own_runs / "before", "ab", ["a", "b"], [slot])
    with pytest.raises(UsageError, match="before: holds runs of 2 arms, which are not one side"):
        call("compare", str(own_runs / "before"), str(own_runs / "after"))


def test_a_campaign_without_a_finished_run_is_no_side(own_runs: Path) -> None:
    as_campaign(own_runs / "before", "repeat", ["a"], [Slot(position=1, arm="a")])
    with pytest.raises(UsageError, match=r"has no finished run yet; mawl report \S*/before says"):
        call("compare", str(own_runs / "before"), str(own_runs / "after"))
