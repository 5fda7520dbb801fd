"""The comparison of a run with logs as text, Markdown, JSON and HTML."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from mawl.derive.derive import DeriveRequest, derive
from mawl.derive.replay.compare import replay
from mawl.derive.replay.document import document
from mawl.derive.replay.records import Replay
from mawl.derive.replay.tables import NOT_A_FINDING
from mawl.reports.comparison.over_time import jobs_at_once_chart
from mawl.reports.document import rendered
from mawl.reports.json import indented
from tests.derive.replay.test_compare import HASHED
from tests.derive.shop import WORDS, log, logs
from tests.derive.test_derive import run_of
from tests.fakes.replayed import replayed_run

EVIL = "<script>alert(1)</script>|*_\x1b[31m"
HELD = "the night was held with 32 min 00 s to spare"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Replay:
    place = tmp_path_factory.mktemp("forms")
    run = run_of(place, logs(WORDS))
    return replay(run, replayed_run(place / "again", derive(run, HASHED).workload))


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("width", [80, 110])
def test_the_screen_says_the_answer_first_and_that_it_is_no_finding(found: Replay, width: int) -> None:
    text = rendered(document(found), "text", width)
    lines = text.splitlines()
    assert lines[0].startswith("measured   9 steps of 3 jobs took 27 min 00 s in ")
    assert HELD in words(text) and words(NOT_A_FINDING) in words(text)
    assert max(map(len, lines)) <= width and len(lines) <= 60
    columns = r"^step +logs +run +times +CPU +memory +bytes$"
    assert re.search(columns if width == 80 else columns.replace("times", "change +times"), text, re.M)
    assert "and 1 more step (--all)" in text, "of nine steps the screen has eight"


def test_the_whole_text_has_every_step_and_every_figure(found: Replay) -> None:
    text = words(rendered(document(found, every=True), "text"))
    assert text.count("120.0 s -> 3 min 00 s (1.50)") + text.count("2 min 00 s -> 3 min 00 s (1.50)") == 9
    assert "50.0 MiB -> 75.0 MiB (1.50)" in text and "more step" not in text


def test_the_line_on_jobs_at_a_time_has_both_areas_and_what_they_are_part_of(found: Replay) -> None:
    at_once = found.jobs_at_once
    assert at_once is not None
    text = words(rendered(document(found), "text"))
    assert "differ by 50 % of that of the logs (more than 10 %)" in text
    assert "(1620 and 1080 job seconds)" in text or "(1620 and 1080 job seconds)" in text.replace(",", "")


def test_markdown_is_the_same_under_a_title(found: Replay) -> None:
    text = rendered(document(found), "markdown")
    assert text.startswith("# 9 steps of 3 jobs took 27 min 00 s in ")
    assert "- **no finding**: " in text and "## Programs, those first that changed most" in text
    assert text.count("(1.50)") >= 9


def test_json_has_every_step_and_both_curves(found: Replay) -> None:
    told = json.loads(indented(found))
    assert told["sentence"] == found.sentence
    assert len(told["steps"]) == 9
    assert told["steps"][0]["figures"]["real_seconds"] == {"logs": 120.0, "run": 180.0, "ratio": 1.5}
    curve = told["jobs_at_once"]["run"]
    assert curve["seconds"] == [600.0, 840.0, 1140.0, 1380.0, 1680.0]
    assert curve["jobs"] == [1, 2, 2, 1, 0]


def test_the_page_has_title_cards_both_curves_and_the_tables(found: Replay) -> None:
    text = rendered(document(found), "html")
    assert "<h1>9 steps of 3 jobs took 27 min 00 s in " in text
    cards = [
        words(re.sub(r"<[^>]*>", " ", one))
        for one in re.findall(r'<div class="card[^>]*>(.*?)</div>', text, re.S)
    ]
    assert cards[0].startswith(
        "Was the night held? Yes Held with 32 min 00 s to spare. In the logs it was held"
    )
    assert cards[1].startswith(f"What changed the night most? {WORDS['program']} +6 min 00 s real time")
    assert cards[2].startswith("How near are single steps to the logs? 1.50 times more or less")
    assert "<span>20260101-080000-tiny</span> <span>OTHER-RUN</span>" in text
    assert 'id="chart-jobs_at_once"' in text
    assert text.count("(1.50)") >= 9


def test_the_axis_of_jobs_at_a_time_has_whole_jobs(found: Replay) -> None:
    at_once = found.jobs_at_once
    assert at_once is not None
    plot: Any = jobs_at_once_chart(at_once.logs, at_once.run, ("logs", "run")).figure
    assert plot.yaxis[0].ticker.min_interval == 1


def test_a_figure_that_is_0_in_the_run_is_said_and_no_other_is_called_the_worst(found: Replay) -> None:
    near = [
        replace(one, median=None, high=None) if one.figure == "memory_bytes" else one
        for one in found.closeness
    ]
    text = words(re.sub(r"<[^>]*>", " ", rendered(document(replace(found, closeness=near)), "html")))
    assert "How near are single steps to the logs? Not known" in text
    assert "Memory: the run has 0 in at least half of 9 steps." in text
    assert "this is the worst of" not in text


def test_names_of_logs_are_text_on_the_page_and_in_markdown(tmp_path: Path) -> None:
    run = run_of(tmp_path, {f"{EVIL.replace('/', '')}.log": log(WORDS, 5)})
    found = replay(run, replayed_run(tmp_path / "again", derive(run, DeriveRequest()).workload))
    assert "<script>alert" not in rendered(document(found), "html")
    assert "<script>alert" not in rendered(document(found), "markdown")
    for text in (
        rendered(document(found), "text"),
        rendered(document(found, every=True), "text"),
        rendered(document(found), "markdown"),
        indented(found),
    ):
        assert "\x1b" not in text
    assert "\x1b" not in rendered(document(found), "html")
