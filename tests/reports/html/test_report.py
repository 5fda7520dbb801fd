"""The report of a run: its figures are the summary's, its names are inert, what is missing has a reason."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mawl.figures.series import MOST_POINTS
from mawl.figures.view import StoredView
from mawl.records.store import Run, open_run
from mawl.reports.html.embed import bokeh_script
from mawl.reports.html.report import CONTENTS, render
from tests.fakes.hostile_run import ATTACKS, JOBS, write_hostile_run
from tests.fakes.stored_run import facts, jobs, samples, write_run
from tests.fakes.synthetic_run import write_synthetic_run
from tests.fakes.views import judged, typed
from tests.reports.html.page_reader import Reading, value_at

Made = tuple[Run, dict[str, Any], str]


def made(run: Run) -> Made:
    summary = judged(StoredView(run))
    return run, summary, render(StoredView(run), typed(summary))


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = write_synthetic_run(tmp_path_factory.mktemp("full") / "run", jobs=40, nodes=2, seconds=120)
    return made(open_run(folder))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return made(open_run(write_hostile_run(tmp_path_factory.mktemp("hostile") / "run")))


def without_bokeh(html: str) -> str:
    assert html.count(bokeh_script()) == 1
    return html.replace(bokeh_script(), "")


def test_every_figure_of_the_page_is_the_summarys(full: Made) -> None:
    _, summary, html = full
    figures = Reading(html).figures
    assert len(figures) > 500
    wrong = [(path, value) for path, value, _ in figures if value_at(summary, path) != value]
    assert wrong == []
    assert all((text == "-") == (value is None) for _, value, text in figures)


def test_programs_roles_and_windows_are_there_in_full(full: Made) -> None:
    _, summary, html = full
    shown = {json.dumps(path) for path, _, _ in Reading(html).figures}
    for name in summary["programs"]:
        assert json.dumps(["programs", name, "real_time_seconds", "median"]) in shown
    for role in ("data", "work", "util"):
        assert json.dumps(["io", "by_role", role, "read_latency_seconds", "p99"]) in shown
    for number in range(len(summary["windows"])):
        assert json.dumps(["windows", number, "device_read_bytes_per_second"]) in shown
    assert json.dumps(["io", "device", "sustained", "total_bytes_per_second"]) in shown


def test_all_sections_are_there_and_every_link_and_definition_leads_somewhere(full: Made) -> None:
    page = Reading(full[2])
    assert set(CONTENTS) - page.anchors == {"nights", "storage", "compressibility"}
    assert len([link for link in page.links if link.startswith("def-")]) > 100
    assert sorted(set(page.links) - page.anchors) == []
    words = " ".join(" ".join(page.words).split())
    assert "checks passed" in words and "A check is passed if its figures are known and" in words


def test_the_file_names_no_address_outside_itself(full: Made) -> None:
    html = without_bokeh(full[2])
    assert Reading(html).addresses == ["data:,"]
    assert re.findall(r"url\(|@import|//[a-z0-9-]+\.[a-z]", html) == []


@pytest.mark.parametrize(
    ("jobs", "nodes", "seconds", "most_bytes"),
    # One look a second: as many as a chart has at most, and more.
    [(71, 1, MOST_POINTS, 2_000_000), (71, 1, 1200, 2_000_000), (404, 4, 1200, 3_000_000)],
)
def test_a_page_is_small_enough_to_be_mailed(
    tmp_path: Path, jobs: int, nodes: int, seconds: int, most_bytes: int
) -> None:
    folder = write_synthetic_run(tmp_path / "run", jobs=jobs, nodes=nodes, seconds=seconds)
    assert len(made(open_run(folder))[2].encode()) <= most_bytes


def test_a_page_is_small(full: Made) -> None:
    assert len(without_bokeh(full[2])) < 700_000
    assert len(full[2]) < 3_000_000


def test_what_is_missing_has_its_reason(full: Made) -> None:
    reasons = Reading(full[2]).reasons
    assert "no interface or port reports its speed" in reasons
    assert all(reasons)


def test_each_reason_of_missing_figures_is_written_once(full: Made) -> None:
    table = re.search(r"Why figures are missing.*?</table>", full[2], re.DOTALL)
    assert table is not None
    whys = re.findall(r'<th scope="row"[^>]*>([^<]+)</th>', table[0])
    assert len(whys) > 3 and len(set(whys)) == len(whys)
    assert len(re.findall(r"host\.<wbr>", table[0])) > 3


def test_names_are_text_wherever_they_stand(hostile: Made) -> None:
    _, summary, html = hostile
    page = Reading(html)
    assert page.scripts == ["application/json", None, None, None]
    assert page.handlers == [] and page.addresses == ["data:,"]
    text = " ".join(page.words)
    for attack in ATTACKS:
        assert attack in text
    assert set(JOBS[1::2]) <= {failure["job"] for failure in summary["failures"]}
    assert "{{ 7*7 }}" in text and "49" not in re.findall(r"\d+", "".join(page.words[:200]))


def test_names_in_charts_are_plain_text(hostile: Made) -> None:
    block = re.search(r'id="charts-data">(.*?)</script>', hostile[2], re.DOTALL)
    assert block is not None and "<" not in block[1]
    labels = re.findall(r'"major_label_overrides".*?\]\]', block[1])
    assert any("PlainText" in label for label in labels)
    drawn = json.dumps(json.loads(block[1]))
    assert '"name": "TeX"' not in drawn and '"name": "MathML"' not in drawn


def test_a_run_that_goes_on_says_so_and_draws_the_jobs_that_run(tmp_path: Path) -> None:
    writer = write_run(tmp_path / "run", seconds=30)
    _, summary, html = made(open_run(tmp_path / "run"))
    assert summary["outcome"] == "running" and "The run goes on" in html
    assert 'id="chart-sessions"' in html
    writer.close()


def undrawn(html: str, reason: str) -> int:
    """Charts that are not drawn for a reason that the page gives once, with their titles."""
    before, _ = html.split(f"Why: {reason}")
    return len(before.rpartition("Not drawn: ")[2].split(";"))


def test_what_a_run_that_goes_on_has_not_got_comes_later(tmp_path: Path) -> None:
    writer = write_run(tmp_path / "run", seconds=0)
    writer.samples(samples(0))
    html = made(open_run(tmp_path / "run"))[2]
    assert html.count("Not yet: the timeline begins with the second look at the jobs") == 7
    assert "the run was over" not in html
    writer.close()
    html = made(open_run(tmp_path / "run"))[2]
    assert undrawn(html, "the run was over within two looks a second apart") == 7


def test_a_killed_run_and_one_without_samples_draw_what_they_have_and_say_why(tmp_path: Path) -> None:
    write_run(tmp_path / "killed").close()
    _, summary, html = made(open_run(tmp_path / "killed"))
    assert summary["outcome"] == "interrupted" and 'id="chart-sessions"' in html
    write_run(tmp_path / "blind", seconds=0).finish(facts())
    _, _, html = made(open_run(tmp_path / "blind"))
    assert undrawn(html, "the run holds no samples.") == 7
    assert 'id="chart-sessions"' in html and 'id="chart-latency_distribution"' in html


def test_a_run_without_any_job_is_a_page_of_reasons(tmp_path: Path) -> None:
    writer = write_run(tmp_path / "run")
    writer.close()
    for table in ("jobs", "steps"):
        (tmp_path / "run" / "journal" / f"{table}.jsonl").write_text("")
    events = tmp_path / "run" / "journal" / "events.jsonl"
    events.write_text("")
    run = open_run(tmp_path / "run")
    assert {job.outcome for job in run.job_records()} <= {"lost", "not_started"} and len(jobs()) == 6
    html = made(run)[2]
    assert "Not drawn: no job of the run has a known start." in html
    assert 'id="slowest"' not in html


def test_the_steps_of_the_slowest_jobs_come_first(full: Made) -> None:
    run, _, html = full
    slowest = max(run.job_records(), key=lambda job: job.usage.real_time_seconds or 0.0)
    first = re.search(r'id="slowest".*?<details>\n<summary>(.*?)</summary>', html, re.DOTALL)
    assert first is not None and first[1].startswith(f"{slowest.job}: {slowest.program}")


def test_the_figures_of_the_synthetic_run_agree(full: Made) -> None:
    """Jobs and samples tell of the same bytes and time, so no other program is seen."""
    _, summary, html = full
    io, wait = summary["io"], summary["wait"]
    assert io["foreign"]["ratio"] < 0.01
    assert io["reach"]["read_ratio"] == pytest.approx(0.9, abs=0.01)
    moved = sum(
        window["application_read_bytes_per_second"] * window["length_seconds"]
        for window in summary["windows"]
    )
    assert io["application"]["read_bytes"] == pytest.approx(moved, rel=0.02)
    spent = wait["on_cpu_seconds"] + wait["run_queue_seconds"] + sum(wait["blocked_seconds"].values())
    assert spent == pytest.approx(summary["time"]["real_time_seconds"], rel=0.01)
    blocked = sum(wait["blocked_seconds"].values()) / spent
    assert summary["limit"]["verdict"] == "memory"
    assert 0.2 < summary["limit"]["losses"]["memory"] < blocked
    assert "The waits include waiting for memory (" in html
    answer = summary["answer"]
    assert (answer["slowdown"], answer["answer"]) == (pytest.approx(1.25), "carried")
    assert sum(answer["parts"].values()) == pytest.approx(1.25)


@pytest.mark.parametrize(
    ("answer", "outcome", "tag"),
    [
        ("carried", "completed", 'class="tag good"'),
        ("not known", "completed", 'class="tag "'),
        ("not carried", "completed", 'class="tag "'),
        ("carried", "failed", 'class="tag bad"'),
    ],
)
def test_the_outcome_is_green_only_where_the_load_is_carried(
    full: Made, answer: str, outcome: str, tag: str
) -> None:
    run, summary, _ = full
    changed = {**summary, "outcome": outcome, "answer": {**summary["answer"], "answer": answer}}
    html = render(StoredView(run), typed(changed))
    assert f"<span {tag}>{outcome}</span>" in re.sub(r"\s+", " ", html)
