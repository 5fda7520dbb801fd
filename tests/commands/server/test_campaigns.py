"""Campaigns in the library: found below the directory, shown without a change, and nothing outside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from markupsafe import escape
from starlette.testclient import TestClient

from mawl.advice.bounds import AnswerBounds
from mawl.commands.serve import _renderers
from mawl.commands.server import run_folders
from mawl.commands.server.application import create_app
from mawl.commands.server.library import QUALIFIED
from mawl.commands.server.run_folders import MOST_FOLDERS, CampaignRecords, campaigns_below
from mawl.records.model.campaign import Campaign, Slot
from mawl.records.store.campaign import CAMPAIGN, read_campaign, write_campaign, write_qualification
from mawl.reports.campaign_document import QUESTIONS
from tests.fakes.answered import every_record
from tests.fakes.campaign_runs import campaign
from tests.fakes.served_runs import Made, finished


@pytest.fixture
def visitor(runs: Path) -> Iterator[TestClient]:
    failures: list[Exception] = []
    app = create_app(runs, _renderers(AnswerBounds()), failed=failures.append)
    with TestClient(app, base_url="http://127.0.0.1:6295") as found:
        yield found
    assert failures == []


def conducted(folder: Path, runs: int = 2) -> Path:
    """A finished campaign of A against B."""
    folder.mkdir(parents=True)
    record = campaign(outcome="completed", name=folder.name)
    slots = []
    for slot in record.slots[:runs]:
        name = f"run-{slot.position}"
        finished(folder, name, outcome="completed")
        slots.append(Slot(position=slot.position, arm=slot.arm, state="finished", folder=name))
    write_campaign(folder, campaign(outcome="completed", name=folder.name, slots=slots))
    return folder


def test_campaigns_are_found_wherever_they_lie_below(runs: Path, visitor: TestClient) -> None:
    finished(runs, "one")
    for place in ("ab-1", "october/ab-2", "a/b/c/ab-3", "a/b/c/d/too-deep"):
        conducted(runs / place)
    assert list(campaigns_below(runs).folders) == ["a/b/c/ab-3", "ab-1", "october/ab-2"]
    page = visitor.get("/").text
    assert "Campaigns and qualifications (3)" in page and "not readable" not in page and "1 of 1 runs" in page
    assert page.count(QUESTIONS["ab"]) == 3 and page.count("2 of 2") == 3
    for name in campaigns_below(runs).folders:
        assert f'href="/campaigns/{name}"' in page
        shown = visitor.get(f"/campaigns/{name}")
        assert shown.status_code == 200 and "All runs" in shown.text
    assert "Campaigns and qualifications (1)" in visitor.get("/?q=ab-2").text


def test_a_qualification_is_listed_with_its_answer_and_has_its_page(runs: Path, visitor: TestClient) -> None:
    record = every_record()["yes"]
    folder = runs / "qualify-1"
    finished(folder, "measured-1", outcome="completed")
    write_qualification(folder, record)
    assert record.answer is not None
    page = visitor.get("/").text
    assert "not readable" not in page and "0 runs" not in page
    assert escape(record.answer.sentence) in page and QUALIFIED in page
    assert "Campaigns and qualifications (0)" not in visitor.get("/?q=nothing").text
    shown = visitor.get("/campaigns/qualify-1")
    assert shown.status_code == 200 and "All runs" in shown.text
    assert escape(record.answer.sentence) in shown.text
    (folder / "qualify.json").write_text("{}")
    assert "not readable" in visitor.get("/").text
    assert visitor.get("/campaigns/qualify-1").status_code == 422


def test_the_page_says_where_it_did_not_look_into_every_folder(runs: Path, visitor: TestClient) -> None:
    conducted(runs / "ab")
    assert "looked for campaigns" not in visitor.get("/").text
    for number in range(MOST_FOLDERS):
        (runs / "other" / str(number)).mkdir(parents=True)
    page = visitor.get("/").text
    assert (
        "looked for campaigns in 2,000 folders, and there are more" in page and "qualifications (1)" in page
    )


def test_showing_a_campaign_writes_nothing_and_a_damaged_run_is_a_remark(
    runs: Path, visitor: TestClient
) -> None:
    folder = conducted(runs / "ab")
    (folder / "run-2" / "jobs.parquet").write_bytes(b"no table")
    before = {path: path.stat().st_mtime_ns for path in runs.rglob("*")}
    page = visitor.get("/campaigns/ab").text
    assert "run 2 is left out" in page
    assert {path: path.stat().st_mtime_ns for path in runs.rglob("*")} == before


@pytest.mark.parametrize("name", ["%2e%2e", "nothing", "ab/run-1", "%2e%2e/secret", "ab%00"])
def test_what_is_no_campaign_here_is_not_there(runs: Path, visitor: TestClient, name: str) -> None:
    conducted(runs / "ab")
    conducted(runs.parent / "secret")
    assert visitor.get(f"/campaigns/{name}").status_code == 404


def test_links_out_of_the_directory_are_not_followed(runs: Path, visitor: TestClient) -> None:
    outside = conducted(runs.parent / "outside")
    runs.joinpath("link").symlink_to(outside)
    inside = conducted(runs / "inside")
    (inside / "run-1").rename(runs.parent / "moved")
    (inside / "run-1").symlink_to(runs.parent / "moved")
    assert list(campaigns_below(runs).folders) == ["inside"]
    assert "run 1 is left out" in visitor.get("/campaigns/inside").text
    (inside / CAMPAIGN).unlink()
    (inside / CAMPAIGN).symlink_to(outside / CAMPAIGN)
    assert "not readable" in visitor.get("/").text
    assert visitor.get("/campaigns/inside").status_code == 422


def test_a_damaged_record_and_a_hostile_name_are_inert(runs: Path, visitor: TestClient) -> None:
    conducted(runs / "<b onclick=alert(1)>")
    damaged = conducted(runs / "damaged")
    (damaged / CAMPAIGN).write_text('{"name": "<script>alert(1)</script>"}')
    page = visitor.get("/").text
    assert "<b onclick" not in page and "<script>alert" not in page
    assert "is no record of a campaign" in page
    [address] = re.findall(r'href="(/campaigns/[^"]*)"', page)
    assert visitor.get(address).status_code == 200


def test_a_mawl_that_cannot_show_campaigns_says_so(runs: Path, client: TestClient, made: Made) -> None:
    conducted(runs / "ab")
    answer = client.get("/campaigns/ab")
    assert answer.status_code == 501 and "mawl report CAMPAIGN" in answer.text
    assert made.asked == []


def test_a_record_is_read_again_only_when_its_file_changed(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        conducted(runs / name)
    read: list[str] = []

    def counted(folder: Path) -> Campaign:
        read.append(folder.name)
        return read_campaign(folder)

    monkeypatch.setattr(run_folders, "read_campaign", counted)
    records = CampaignRecords()
    first = records.entries(campaigns_below(runs).folders)
    assert (sorted(read), [entry.name for entry in first]) == (["one", "two"], ["one", "two"])
    assert records.entries(campaigns_below(runs).folders) == first
    assert len(read) == 2
    write_campaign(runs / "two", campaign(outcome="interrupted", name="two"))
    again = records.entries(campaigns_below(runs).folders)
    assert (read[2:], again[1].outcome, again[0]) == (["two"], "interrupted", first[0])


def test_a_record_that_cannot_be_read_is_tried_again_and_one_that_is_gone_is_forgotten(runs: Path) -> None:
    folder = conducted(runs / "one")
    records = CampaignRecords()
    whole = (folder / CAMPAIGN).read_bytes()
    (good,) = records.entries({"one": folder})
    (folder / CAMPAIGN).write_bytes(b"{")
    (bad,) = records.entries({"one": folder})
    assert good.trouble is None and bad.trouble is not None
    (folder / CAMPAIGN).write_bytes(whole)
    assert records.entries({"one": folder}) == [good]
    (folder / CAMPAIGN).unlink()
    assert records.entries({}) == []
    (gone,) = records.entries({"one": folder})
    assert gone.trouble is not None
