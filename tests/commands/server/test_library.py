"""The library: what is listed, found, sorted and ticked, and what cannot be read among it."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import msgspec
import pytest
from starlette.testclient import TestClient

from mawl.base.units import format_seconds
from mawl.commands.server.application import create_app
from mawl.commands.server.library import (
    MOST_POINTS,
    Overview,
    Query,
    overview_of,
    query_of,
    run_address,
    select_entries,
)
from mawl.commands.server.run_folders import Folders, LibraryEntry
from mawl.figures.view import StoredView
from mawl.records.model.run import WorkloadFacts
from mawl.records.store import open_run
from mawl.records.store.facts import read_facts
from tests.fakes.served_runs import Made, finished
from tests.fakes.stored_run import START, facts, write_run
from tests.fakes.synthetic_run import write_synthetic_run
from tests.fakes.views import judged, plain, typed


def listed(client: TestClient, address: str = "/") -> list[str]:
    """Names of the runs in the order of the page."""
    return re.findall(r'<a href="/runs/[^"]*">([^<]*)</a>', client.get(address).text)


def test_runs_are_listed_newest_first_with_their_facts(runs: Path, client: TestClient) -> None:
    finished(runs, "old", started_at=START - 1000.0, ended_at=START - 900.0)
    finished(runs, "new")
    page = client.get("/")
    assert page.status_code == 200
    assert listed(client) == ["new", "old"]
    for text in ("tiny", "smoke", "measured", "failed", "2026-01-01 07:59 UTC", "60.5 s", "2 of 2 runs"):
        assert text in page.text


def test_an_empty_and_an_absent_directory_say_how_a_run_is_made(tmp_path: Path, runs: Path) -> None:
    for place in (runs, tmp_path / "nowhere"):
        with TestClient(
            create_app(place, Made().renderers(), failed=print), base_url="http://localhost"
        ) as visitor:
            page = visitor.get("/")
        assert page.status_code == 200
        assert "no runs here yet" in page.text


def test_search_takes_every_word_and_sort_either_order(runs: Path, client: TestClient) -> None:
    for name, workload in (("one", "mixed20"), ("two", "mixed30"), ("three", "Mixed20")):
        spec = WorkloadFacts(name=workload, title="", sessions=4, jobs=6)
        finished(runs, name, workload=spec, started_at=START + len(name))
    assert sorted(listed(client, "/?q=mixed20")) == ["one", "three"]
    assert listed(client, "/?q=mixed20+bench1+thr") == ["three"]
    assert listed(client, "/?q=nothing") == []
    assert listed(client, "/?sort=run") == ["one", "three", "two"]
    assert listed(client, "/?sort=run&order=descending") == ["two", "three", "one"]
    assert listed(client, "/?sort=nonsense&order=sideways&page=0") == listed(client, "/?order=ascending")


def test_ticked_runs_stay_in_the_list_and_ticked(runs: Path, client: TestClient) -> None:
    for name in ("one", "two"):
        finished(runs, name)
    page = client.get("/?q=two&reference=one").text
    assert re.findall(r'value="\w+" aria-label="(\w+ \w+)" checked', page) == ["reference one"]
    assert sorted(listed(client, "/?q=two&candidate=one")) == ["one", "two"]
    assert "reference=one" in re.findall(r'<th [^>]*aria-sort[^>]*><a href="([^"]*)"', page)[0]


def test_elapsed_is_the_figure_of_the_report(runs: Path, client: TestClient) -> None:
    """The first start of a job to the last end: not the time of the runner, which is longer."""
    phases = msgspec.structs.replace(facts().phases, run_seconds=61.1)
    folder = finished(runs, "one", phases=phases)
    run = open_run(folder)
    elapsed = plain(StoredView(run).summary)["time"]["elapsed_seconds"]
    assert run.facts.phases.run_seconds != elapsed
    assert Folders(runs).listing()[0].elapsed_seconds == pytest.approx(elapsed)
    assert format_seconds(elapsed) in client.get("/").text and "61.1 s" not in client.get("/").text
    (folder / "jobs.parquet").write_bytes(b"no table")
    (folder / "run.json").touch()
    assert Folders(runs).listing()[0].elapsed_seconds is None


def test_what_has_no_figure_comes_last_in_both_orders() -> None:
    entries = [
        LibraryEntry(name="a", elapsed_seconds=2.0),
        LibraryEntry(name="b"),
        LibraryEntry(name="c", elapsed_seconds=1.0),
    ]
    for descending, order in ((False, "cab"), (True, "acb")):
        query = Query(sort="elapsed", descending=descending)
        assert "".join(entry.name for entry in select_entries(entries, query)) == order


def test_a_query_that_makes_no_sense_is_the_default() -> None:
    pairs = [
        ("sort", "x"),
        ("page", "-1"),
        ("page", "9" * 99),
        ("candidate", "a"),
        ("candidate", "a"),
        ("what", "?"),
    ]
    assert query_of(pairs) == Query(candidate=("a",))
    assert query_of([("page", "٣")]).page == 1


def test_bad_folders_are_shown_as_such_and_the_others_are_read(runs: Path, client: TestClient) -> None:
    finished(runs, "good")
    (runs / "empty").mkdir()
    for name, content in (("text", b"{"), ("list", b"[]"), ("newer", b'{"format_version": "99.0"}')):
        (runs / name).mkdir()
        (runs / name / "run.json").write_bytes(content)
    (runs / "pipe").mkdir()
    os.mkfifo(runs / "pipe" / "run.json")
    folder = finished(runs, "journal-pipe")
    (folder / "journal").mkdir()
    os.mkfifo(folder / "journal" / "events.jsonl")
    (runs / "solo").mkdir()
    (runs / "file").write_text("")
    page = client.get("/").text
    assert page.count("not readable") == 6
    for sentence in ("has no run.json", "is not JSON", "not a regular file", "up to"):
        assert sentence in page
    assert sorted(listed(client)) == ["empty", "good", "journal-pipe", "list", "newer", "pipe", "text"]
    for name in ("empty", "list", "newer", "pipe", "text", "journal-pipe"):
        answer = client.get(f"/runs/{name}")
        assert answer.status_code == 422
        assert "This run cannot be read" in answer.text


@pytest.mark.parametrize("name", ["solo", "memory"])
def test_caches_of_mawl_are_no_runs_but_a_run_of_that_name_is(
    runs: Path, client: TestClient, name: str
) -> None:
    (runs / name).mkdir()
    (runs / name / "wide_sort-0123.json").write_text("{}")
    assert "not readable" not in client.get("/").text
    shutil.rmtree(runs / name)
    finished(runs, name)
    assert f'href="/runs/{name}"' in client.get("/").text


def test_runs_of_programs_alone_are_listed_where_they_are_asked_for(runs: Path, client: TestClient) -> None:
    finished(runs, "whole")
    workload = msgspec.structs.replace(facts().workload, name="tiny-alone")
    finished(runs, "whole-alone-1", workload=workload)
    page = client.get("/").text
    assert 'href="/runs/whole-alone-1"' not in page and "1 of 1 runs" in page
    assert "1 run of programs alone is not listed" in page
    assert 'href="/runs/whole-alone-1"' in client.get("/?q=alone").text
    assert client.get("/runs/whole-alone-1").status_code == 200


def test_a_link_out_of_the_directory_is_not_followed(runs: Path, tmp_path: Path, client: TestClient) -> None:
    finished(runs, "inside")
    outside = tmp_path / "outside"
    outside.mkdir()
    finished(outside, "secret")
    (runs / "link").symlink_to(outside / "secret")
    (runs / "again").symlink_to("inside")
    facts_outside = finished(runs, "leaning") / "run.json"
    facts_outside.unlink()
    facts_outside.symlink_to(outside / "secret" / "run.json")
    page = client.get("/").text
    assert "link that leads out" in page
    assert "secret" not in page
    assert client.get("/runs/link").status_code == 422
    assert client.get("/runs/leaning").status_code == 422
    assert sorted(listed(client)) == ["inside", "leaning", "link"]


@pytest.mark.parametrize(
    "name",
    ["<script>alert(1)<", "a b", "q?x=1#y", "ünï\u202ecode", "new\nline", "'\"&amp;", "latest2"],
)
def test_a_hostile_name_is_inert_and_still_has_its_page(
    runs: Path, client: TestClient, made: Made, name: str
) -> None:
    finished(runs, name)
    page = client.get("/").text
    assert "<script>alert" not in page
    address = run_address(name)
    assert address is not None and f'href="{address}"' in page
    answer = client.get(address)
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    assert made.asked == [f"judged {name}", f"report {name}"]


def test_a_name_that_is_not_utf8_is_shown_and_breaks_nothing(runs: Path, client: TestClient) -> None:
    finished(runs, "good")
    finished(runs, "odd").rename(runs / os.fsdecode(b"odd\xff<b>"))
    page = client.get("/").text
    assert r"odd\xff&lt;b&gt;" in page
    assert listed(client) == ["good"]


def test_a_tiny_scale_is_a_plain_decimal(runs: Path, client: TestClient) -> None:
    tiny = WorkloadFacts(name="mix", title="", sessions=1, jobs=1, scale=0.00005, scale_name="5e-05")
    finished(runs, "one", workload=tiny)
    page = client.get("/").text
    assert "0.00005" in page
    assert "5e-05" not in page


def test_hostile_facts_are_inert(runs: Path, client: TestClient) -> None:
    evil = "</td><script>alert(1)</script>"
    spec = WorkloadFacts(name=evil, title=evil, sessions=1, jobs=1, scale_name=evil)
    finished(runs, "one", workload=spec)
    page = client.get("/").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_a_growing_run_is_running_and_a_killed_one_interrupted(runs: Path) -> None:
    writer = write_run(runs / "one")
    folders = Folders(runs)
    assert [entry.outcome for entry in folders.listing()] == ["running"]
    writer.close()
    assert [entry.outcome for entry in folders.listing()] == ["interrupted"]
    assert (runs / "one" / "journal").is_dir()


def test_facts_are_read_again_only_when_they_changed(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(folder: Path) -> object:
        read.append(folder.name)
        return read_facts(folder)

    monkeypatch.setattr("mawl.commands.server.run_folders.read_facts", counted)
    for name in ("one", "two"):
        finished(runs, name)
    folders = Folders(runs)
    folders.listing()
    folders.listing()
    assert sorted(read) == ["one", "two"]
    (runs / "one" / "run.json").unlink()
    assert [entry.name for entry in folders.listing() if entry.trouble] == ["one"]
    write_run(runs / "three").finish(facts(outcome="completed"))
    assert {entry.name: entry.outcome for entry in folders.listing()} == {
        "one": None,
        "two": "failed",
        "three": "completed",
    }
    assert sorted(read) == ["one", "three", "two"]


def test_current_is_what_grows_else_what_started_last(runs: Path) -> None:
    assert Folders(runs).current() == []
    finished(runs, "old", started_at=START - 9.0)
    finished(runs, "new", started_at=START + 9.0)
    assert Folders(runs).current() == [runs / "new"]
    writer = write_run(runs / "growing")
    assert Folders(runs).current() == [runs / "growing"]
    writer.close()


def test_a_long_list_has_pages(client: TestClient, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mawl.commands.server.library.ROWS_A_PAGE", 2)
    for name in ("a", "b", "c"):
        finished(runs, name)
    assert listed(client, "/?sort=run") == ["a", "b"]
    assert listed(client, "/?sort=run&page=2") == ["c"]
    assert listed(client, "/?sort=run&page=99") == ["c"]
    assert 'aria-current="page">2<' in client.get("/?sort=run&page=2").text


def spec(name: str) -> WorkloadFacts:
    return WorkloadFacts(name=name, title="", sessions=4, jobs=6)


def test_filters_narrow_the_list_and_say_how_many_runs_each_has(runs: Path, client: TestClient) -> None:
    finished(runs, "one", workload=spec("mixed20"), outcome="completed")
    finished(runs, "two", workload=spec("mixed20"))
    finished(runs, "three", workload=spec("mixed30"), outcome="completed")
    assert sorted(listed(client, "/?workload=mixed20")) == ["one", "two"]
    assert listed(client, "/?workload=mixed20&outcome=completed") == ["one"]
    assert sorted(listed(client, "/?workload=mixed20&reference=three")) == ["one", "three", "two"]
    page = client.get("/?workload=mixed20").text
    assert '<option value="mixed20" selected>mixed20 (2)</option>' in page
    assert '<option value="mixed30">mixed30 (1)</option>' in page
    # A filter holds while the list is sorted, and one that nothing passes can be taken back.
    assert all("workload=mixed20" in link for link in re.findall(r'href="(/\?[^"]*sort=[^"]*)"', page))
    nothing = client.get("/?kind=<b>").text
    assert '<option value="&lt;b&gt;" selected>' in nothing and "None of 3 runs" in nothing


def test_a_run_can_be_found_by_its_answer_once_it_was_read(runs: Path, client: TestClient) -> None:
    for name in ("one", "two"):
        finished(runs, name)
    assert sorted(listed(client, "/?answer=not+read+yet")) == ["one", "two"]
    row = client.get("/runs/one/overview").text
    answer = re.findall(r'<span class="tag \w+">([^<]*)</span>', row)[0]
    assert answer in ("carried", "not carried", "not known")
    assert listed(client, f"/?answer={answer}") == ["one"]
    assert listed(client, "/?answer=not+read+yet") == ["two"]


def test_the_row_of_a_run_is_judged_once_for_as_long_as_its_files_are_the_same(
    runs: Path, client: TestClient, made: Made
) -> None:
    finished(runs, "one")
    for _ in range(3):
        assert "5 of 6" in client.get("/runs/one/overview").text
    assert made.asked == ["judged one"]
    assert 'data-overview="/' not in client.get("/").text
    (runs / "one" / "jobs.parquet").touch()
    assert 'data-overview="/runs/one/overview"' in client.get("/").text
    client.get("/runs/one/overview")
    assert made.asked == ["judged one"] * 2


def test_a_row_that_cannot_be_judged_is_a_sentence_and_a_run_that_is_not_there_none(
    runs: Path, client: TestClient
) -> None:
    (finished(runs, "one") / "jobs.parquet").write_bytes(b"no table")
    row = client.get("/runs/one/overview")
    assert row.status_code == 200 and "not readable" in row.text and "jobs.parquet" in row.text
    assert client.get("/runs/two/overview").status_code == 404
    assert 'data-overview="/runs/one/overview"' in client.get("/").text


def test_nothing_is_read_for_the_list_while_a_run_is_under_way(runs: Path, client: TestClient) -> None:
    finished(runs, "one")
    assert 'id="library" data-reading' in client.get("/").text
    writer = write_run(runs / "growing")
    page = client.get("/").text
    writer.close()
    assert 'id="library" data-reading' not in page and page.count('data-overview="/') == 1


def test_the_selection_is_named_and_compares_from_two_runs_on(runs: Path, client: TestClient) -> None:
    for name in ("one", "two"):
        finished(runs, name)
    assert "To compare runs, tick a reference and a candidate." in client.get("/").text
    one = client.get("/?reference=one").text
    assert "Tick one more run to compare." in one and re.search(r"<button[^>]* disabled>Compare", one)
    both = client.get("/?reference=one&candidate=two&q=o").text
    assert re.search(r"Reference:</b> one</span>\s*<span><b[^>]*>Candidate:</b> two", both)
    assert re.search(r'<button[^>]*formaction="/compare">Compare', both)
    [cleared] = re.findall(r'<a href="([^"]*)">Clear the selection', both)
    assert "one" not in cleared and "q=o" in cleared


def test_an_overview_has_the_figures_of_the_summary(tmp_path: Path) -> None:
    view = StoredView(open_run(write_synthetic_run(tmp_path / "run", jobs=20, nodes=1, seconds=400)))
    summary = typed(judged(view))
    found = overview_of(summary)
    assert (found.answer, found.validity) == (summary.answer.answer, summary.validity.status)
    assert found.slowdown == summary.answer.slowdown
    assert found.side == "device"
    assert found.sustained_bytes_per_second == summary.io.device.sustained.total_bytes_per_second
    [points] = re.findall(r'points="([^"]*)"', found.line)
    assert len(points.split()) <= MOST_POINTS < len(summary.windows)


def test_runs_sort_by_answer_and_limit_and_those_not_read_yet_come_last() -> None:
    def seen(answer: str, limit: str | None, *, preliminary: bool = False) -> Overview:
        return Overview(
            answer=answer,
            preliminary=preliminary,
            limit=limit,
            validity="invalid",
            finished=1,
            jobs=1,
            slowdown=None,
            side=None,
            sustained_bytes_per_second=None,
            line="",
        )

    overviews = {
        "a": seen("not known", "storage (work on sda)"),
        "b": seen("carried", "cpu", preliminary=True),
        "c": seen("not carried", None),
        "d": seen("carried", "none"),
    }
    entries = [LibraryEntry(name=name) for name in "xabcd"]

    def order(query: Query) -> str:
        return "".join(entry.name for entry in select_entries(entries, query, overviews))

    assert order(Query(sort="answer", descending=False)) == "dbcax"
    assert order(Query(sort="answer", descending=True)) == "acbdx"
    assert order(Query(sort="limit", descending=False)) == "bdacx"
    assert order(Query(sort="limit", descending=True)) == "adbcx"


def test_the_headings_of_answer_and_limit_are_links_that_keep_their_definition(
    runs: Path, client: TestClient
) -> None:
    finished(runs, "one")
    page = client.get("/?sort=answer").text
    assert re.search(
        r'<th scope="col" title="whether [^"]*" aria-sort="ascending"><a href="[^"]*sort=answer', page
    )
    assert re.search(r'<th scope="col" title="what limits the run"><a href="[^"]*sort=limit', page)
    assert listed(client, "/?sort=limit") == ["one"]
