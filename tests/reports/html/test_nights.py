"""The report of an import of many nights: finding, chart, what changed, definitions, hostile names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from mawl.advice.judge import RULES
from mawl.figures.nights import logged_nights
from mawl.figures.trends import trends_of
from mawl.figures.view import StoredView
from mawl.importers.clock import Clocks
from mawl.records.store import Run
from mawl.reports.html.charts.nights import laid_over, night_lines, trend_line
from mawl.reports.html.report import render
from tests.fakes.nightly_logs import nightly
from tests.fakes.views import judged, typed
from tests.importers.test_import import imported
from tests.reports.html.page_reader import Reading

BERLIN = ZoneInfo("Europe/Berlin")
FIRST = datetime(2026, 10, 5, 20)
PROGRAMS = {"load_sales": 20.0, "sort_sales": 30.0, "join_sales": 40.0, "score": 15.0}


def made(folder: Path, nights: int, **more: Any) -> tuple[Run, str]:
    logs = nightly(folder / "logs", FIRST, nights, zone=BERLIN, **{"programs": PROGRAMS, **more})
    _, run = imported(folder, logs, clocks=Clocks({"": BERLIN}))
    return run, page_of(run)


def page_of(run: Run) -> str:
    view = StoredView(run)
    return render(view, typed(judged(view)))


def table(html: str, caption: str) -> list[list[str]]:
    """The cells of the rows of a table, as texts."""
    found = next(one for one in re.findall(r"<table.*?</table>", html, re.S) if f"<caption>{caption}" in one)
    body = found[found.index("<tbody>") :]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.S)
    cells = (re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in rows)
    return [[re.sub(r"<[^>]*>", "", cell).strip() for cell in row] for row in cells]


def title(html: str) -> str:
    [found] = re.findall(r"<h1>(.*?)</h1>", html)
    return str(found)


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, str]:
    """Thirty nights, one without logs, one with a clock change; two programs change, one night is slow."""
    steps: Mapping[str, tuple[int, float]] = {"join_sales": (20, 1.5), "sort_sales": (15, 0.6)}
    folder = tmp_path_factory.mktemp("month")
    return made(folder, 30, steps=steps, without={12}, slow={10: 2.0})


def test_the_finding_is_the_title_and_names_what_changed(month: tuple[Run, str]) -> None:
    _, html = month
    assert title(html) == "29 nights: 1 of 4 programs became slower, 1 faster"
    assert "No job started in 1 night between them: 2026-10-17." in html
    assert "longest night, 2026-10-15" in html


def cards(html: str) -> list[str]:
    """The words of each card."""
    found = re.findall(r'<div class="card[^>]*>(.*?)</div>', html, re.S)
    return [" ".join(re.sub(r"<[^>]*>", " ", one).split()) for one in found]


def figures_in_order(html: str) -> list[str]:
    return re.findall(r'<figure id="figure-(\w+)"', html)


def test_the_first_card_says_what_changed_and_its_chart_comes_before_the_nights(
    month: tuple[Run, str],
) -> None:
    run, html = month
    first, answers, trust = cards(html)
    assert re.match(
        r"What changed\? join_sales became slower \+[45]\d % since 2026-10-25 "
        r"\(95 % interval: \+\d\d % to \+\d\d %\) A job takes [\dhmins ]+, before \d+ min \d+ s; "
        r"its jobs of a night take \d+ min \d+ s more\. Also changed: sort_sales \(-\d\d %\)\.",
        first,
    ), first
    assert answers.startswith("Is the load carried, and what limits it? Not known 116 of 116 jobs finished")
    assert "run mawl import on the logs of one with a recording of its host" in answers
    assert re.match(rf"Can this run be trusted\? Preliminary \d+ of {len(RULES)} checks not passed", trust)
    assert figures_in_order(html)[:2] == ["trend", "nights"]
    nights = logged_nights(StoredView(run).jobs, StoredView(run).facts.sources)
    assert nights is not None
    trend = next(one for one in trends_of(nights.nights).programs if one.name == "join_sales")
    chart = trend_line(nights, trend)
    assert chart.figure is not None
    drawn: dict[str, Any] = {str(one.name): one for one in chart.figure.renderers}
    dots, levels = (drawn[f"trend_{name}"].data_source.data for name in ("nights", "levels"))
    assert len(dots["took"]) == 29 and dots["night"][0] == "2026-10-05"
    # In minutes: the join takes 40 of them, and 1.5 times as long from the 21st night on.
    assert levels["level"] == pytest.approx([40.0, 60.0], rel=0.1)
    assert [60 * one for one in levels["level"]] == pytest.approx([trend.first_seconds, trend.last_seconds])
    assert levels["right"][0] == levels["left"][1], "a level ends where the next begins"


def test_the_line_under_the_title_has_each_fact_once(month: tuple[Run, str]) -> None:
    _, html = month
    [facts] = re.findall(r'<p class="quiet facts">(.*?)</p>', html)
    words = re.sub(r"<[^>]*>", "", facts).split(" · ")
    assert words == ["completed imported", "3 sessions, 116 jobs", "2026-10-05 17:59 UTC", "run"]


def test_without_a_change_the_card_has_the_smallest_that_would_have_shown(tmp_path: Path) -> None:
    _, html = made(tmp_path, 20)
    first, *_ = cards(html)
    assert re.match(
        r"What changed\? No lasting change of a program \d+ % or more would have been found within 3 nights, "
        r"in 80 % of cases, for every program",
        first,
    ), first
    shown = int(re.findall(r"(\d+) % or more", first)[0])
    smallest = [int(row[5].split()[0]) for row in table(html, "Programs without a change")]
    assert shown == max(smallest)
    assert figures_in_order(html)[:1] == ["nights"]


def test_a_night_begins_where_least_runs_and_a_tap_shows_an_hour(month: tuple[Run, str]) -> None:
    _, html = month
    assert "A new night begins at 09:00, the quietest time of the day." in html
    assert "Tap or point at an hour to see its figures" in html


def test_programs_that_changed_have_size_seconds_and_date(month: tuple[Run, str]) -> None:
    _, html = month
    rows = {row[0]: row for row in table(html, "Programs whose real time changed")}
    assert list(rows) == ["join_sales", "sort_sales"]
    slower, faster = rows["join_sales"], rows["sort_sales"]
    assert 40 <= int(slower[2].split()[0]) <= 60 and slower[7] == "2026-10-25"
    assert -50 <= int(faster[2].split()[0]) <= -30 and faster[7].startswith("2026-10-20")
    assert slower[6].startswith("+") and faster[6].startswith("-")
    assert html.count('class="spark"') == len(PROGRAMS)


def test_every_night_has_a_row_and_the_hours_of_the_logs_clock(month: tuple[Run, str]) -> None:
    _, html = month
    rows = table(html, "Every night; a new one begins at 09:00 (Europe/Berlin)")
    assert [len(rows), {row[3] for row in rows}] == [29, {"4"}]
    # Half-second ends are written as whole seconds in a log, so a start may seem a second early.
    assert {row[1] for row in rows} <= {"19:59", "20:00"}
    assert sum("(longest)" in row[0] for row in rows) == 1


def test_figures_have_definitions_and_links_lead_somewhere(month: tuple[Run, str]) -> None:
    _, html = month
    page = Reading(html)
    assert set(page.links) <= page.anchors
    for name in ("trend.change_ratio", "trend.added_seconds", "night.length_seconds", "trend.smallest_ratio"):
        assert f"def-{name}" in page.anchors and f"def-{name}" in page.links
    assert page.addresses == ["data:,"]


def test_the_chart_draws_a_line_for_each_night_over_the_busy_hours_alone(month: tuple[Run, str]) -> None:
    run, _ = month
    view = StoredView(run)
    nights = logged_nights(view.jobs, view.facts.sources)
    assert nights is not None and nights.zone == "Europe/Berlin"
    chart = night_lines(nights, view)
    assert chart.figure is not None
    data = laid_over(nights, view)
    drawn: dict[str, Any] = {str(one.name): one for one in chart.figure.renderers}
    assert len(drawn["every_night"].data_source.data["jobs"]) == 29
    # The batch lasts from 20:00 for less than three hours, and a quarter on both sides is shown.
    assert data.last - data.first < 16
    assert drawn["middle"].data_source.data["middle"].max() == pytest.approx(
        np.nanmedian(data.hours, axis=0).max(), abs=1e-6
    )
    assert {key.series for key in chart.keys} == {"every_night", "longest", "middle", "band"}


def test_two_nights_have_lines_and_neither_band_nor_trend(tmp_path: Path) -> None:
    _, html = made(tmp_path, 2)
    assert title(html) == "2 nights: too few to say which programs became slower"
    assert cards(html)[0].startswith(
        "What changed? Not known 10 nights are required; these logs have 2 nights."
    )
    assert "2 nights laid over each other" in html and "10th to 90th percentile" not in html.split("def-")[0]
    assert "Too few nights to say whether the load became slower: 10 nights are required." in html


def test_one_night_has_the_page_of_one_run(tmp_path: Path) -> None:
    _, html = made(tmp_path, 1)
    assert title(html) == "4 imported jobs"
    assert "laid over each other" not in html and 'id="nights"' not in html


def test_names_of_programs_are_inert(tmp_path: Path) -> None:
    programs = {"<img src=x onerror=alert(1)>": 20.0, "\u202ereversed": 10.0, "x" * 200: 5.0}
    _, html = made(tmp_path, 12, programs=programs)
    page = Reading(html)
    assert "onerror=alert(1)" in html and "<img" not in html and page.handlers == []


def test_a_year_of_nights_is_a_page_of_bounded_size(tmp_path: Path) -> None:
    _, short = made(tmp_path / "short", 12, programs={"load": 20.0})
    _, long = made(tmp_path / "long", 366, programs={"load": 20.0})
    assert title(long).startswith("366 nights: ")
    assert len(long) - len(short) < 700_000
