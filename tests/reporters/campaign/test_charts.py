"""What the charts of a campaign's page hold."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from bokeh.models import ColumnDataSource
from bokeh.models.annotations import BoxAnnotation, Span
from bokeh.models.renderers import GlyphRenderer

from mawl.analysis.campaign.knee import knee_of
from mawl.analysis.comparison.compare import compare
from mawl.reporters.campaign import html, markdown, text
from mawl.reporters.campaign import json as campaign_json
from mawl.reporters.campaign.finding import finding
from mawl.reporters.campaign.html import lead
from mawl.reporters.comparison.dots import runs_chart
from mawl.reporters.comparison.finding import UNFIT
from mawl.reporters.html.colours import light
from mawl.reporters.markup import escaped
from mawl.units import format_rate, format_seconds
from tests.fakes.compared_runs import pair
from tests.fakes.found_campaigns import EVERY, SEARCH, comparison, repeats, scaling, search_for_sessions


def data(plot: Any, name: str) -> dict[str, list[Any]]:
    """The columns of a chart's source."""
    source = plot.select_one({"type": ColumnDataSource, "name": name})
    return {column: list(values) for column, values in source.data.items()}


def drawn_of(plot: Any, kind: type) -> list[Any]:
    """What of a kind lies on a chart."""
    return list(plot.select({"type": kind}))


def test_a_campaign_that_may_not_be_published_says_so_as_its_next_step() -> None:
    for said in (search_for_sessions(), scaling()):
        assert finding(said).next_step == UNFIT
        fit = [msgspec.structs.replace(arm, validity=[("publishable", arm.runs)]) for arm in said.arms]
        assert finding(msgspec.structs.replace(said, arms=fit)).next_step is None
    too_many = [
        msgspec.structs.replace(arm, validity=[("publishable" if arm.size == 3 else "invalid", arm.runs)])
        for arm in search_for_sessions().arms
    ]
    assert {arm.size for arm in too_many} > {3, 4}
    assert finding(msgspec.structs.replace(search_for_sessions(), arms=too_many)).next_step is None


def test_every_run_of_a_search_for_sessions_stands_beside_the_bound_and_the_knee() -> None:
    said = search_for_sessions()
    assert said.knee is not None
    chart = lead(said)
    assert chart is not None
    drawn = data(chart.figure, "slowdown")
    assert drawn["sessions"] == [1, 2, 4, 3, 4, 4, 3, 3]
    assert drawn["slowdown"] == [1.0, 1.2, 2.6, 1.9, 2.6, 2.6, 1.9, 1.9]
    assert [colour == light("bad") for colour in drawn["color"]] == [n == 4 for n in drawn["sessions"]]
    assert said.knee.low is not None and said.knee.high is not None
    assert chart.figure is not None
    (interval,) = drawn_of(chart.figure, BoxAnnotation)
    assert (interval.left, interval.right) == (said.knee.low - 0.5, said.knee.high + 0.5)
    (mark,) = drawn_of(chart.figure, Span)
    assert mark.location == 3
    assert "bound of the slowdown, 2" in [key.name for key in chart.keys]


def test_throughput_of_nodes_stands_beside_so_many_times_the_fewest() -> None:
    said = scaling()
    chart = lead(said)
    assert chart is not None
    drawn = data(chart.figure, "scaling")
    assert drawn["nodes"] == [1, 2, 4]
    assert drawn["rate"] == [row.bytes_per_second for row in said.scaling]
    assert drawn["ideal"] == [drawn["rate"][0] * nodes for nodes in (1, 2, 4)]
    assert drawn["rate_said"] == [format_rate(rate) for rate in drawn["rate"]]
    assert drawn["ideal_said"] == [format_rate(rate) for rate in drawn["ideal"]]


def test_a_against_b_has_a_dot_for_each_run_around_the_mean_of_the_reference() -> None:
    said = comparison()
    assert said.comparison is not None and said.comparison.statement is not None
    chart = lead(said)
    assert chart is not None and chart.name == "runs"
    drawn = data(chart.figure, "runs")
    assert drawn["side"] == ["reference"] * 5 + ["candidate"] * 5
    assert drawn["change"] == pytest.approx([0.0] * 5 + [1.0] * 5)
    assert drawn["said"][0] == format_seconds(said.comparison.statement.reference_run_seconds[0])
    assert data(chart.figure, "interval")["low"] == [said.comparison.statement.low_ratio]


def test_arms_without_a_job_in_common_lead_with_the_bars_of_the_papers_and_lose_none() -> None:
    said = comparison()
    assert said.comparison is not None and said.comparison.statement is not None
    statement = msgspec.structs.replace(said.comparison.statement, change_ratio=None)
    said = msgspec.structs.replace(
        said, comparison=msgspec.structs.replace(said.comparison, statement=statement)
    )
    chart = lead(said)
    assert chart is not None and chart.name == "pair_times"
    assert [
        html.render(said).count(f'data-chart="{name}"') for name in ("pair_times", "pair_throughput")
    ] == [1, 1]


def test_no_change_draws_its_margin_and_its_own_interval() -> None:
    steady = [1.0, 1.01, 0.99, 1.0, 1.005]
    found = compare(*pair(steady, steady[::-1]))
    chart = runs_chart(found)
    assert chart is not None and found.statement is not None
    (band,) = drawn_of(chart.figure, BoxAnnotation)
    assert (band.left, band.right) == (-0.05, 0.05)
    assert data(chart.figure, "interval")["high"] == [found.statement.narrow_high_ratio]


def test_repeats_are_a_strip_with_a_row_for_each_figure() -> None:
    chart = lead(repeats())
    assert chart is not None and chart.name == "strip"
    drawn = data(chart.figure, "strip")
    assert drawn["side"][:10] == ["elapsed"] * 5 + ["real time"] * 5
    assert drawn["run"][:5] == [1, 2, 3, 4, 5]
    assert drawn["change"][:5] == pytest.approx([0.0] * 5)
    assert len(data(chart.figure, "interval")["low"]) == len(set(drawn["side"]))


def test_every_run_of_a_scaling_is_a_dot() -> None:
    said = scaling()
    assert [len(row.run_bytes_per_second) for row in said.scaling] == [2, 2, 2]
    chart = lead(said)
    assert chart is not None
    columns = [one.data_source.data for one in drawn_of(chart.figure, GlyphRenderer)]
    assert [1, 1, 2, 2, 4, 4] in [list(column.get("x", [])) for column in columns]


@pytest.mark.parametrize("make", EVERY.values())
def test_title_sign_and_chart_stand_before_the_folded_parts(make: Any) -> None:
    said, page = make(), html.render(make())
    found, chart = finding(said), lead(said)
    assert chart is not None
    first = page[page.index("<body>") : page.index('<details class="part"')]
    assert f"<h1>{found.sentence}</h1>" in first
    assert f">{found.sign}</span>" in first
    assert 'class="card' in first and f'data-chart="{chart.name}"' in first
    assert json.loads(campaign_json.render(said))["finding"]["sentence"] == found.sentence
    assert markdown.render(said).startswith(f"# {escaped(found.sentence)}\n")
    assert f"finding {found.sentence} outcome" in " ".join(text.render(said).split())


def test_a_campaign_that_was_stopped_says_so_first_and_how_to_go_on() -> None:
    said = msgspec.structs.replace(repeats(), outcome="interrupted")
    assert finding(said).sentence.startswith("Interrupted after 5 of 5 runs: measured: elapsed ")
    assert finding(said).next_step == "go on with it: mawl run --continue FOLDER"


def test_a_search_that_was_stopped_does_not_say_that_it_reached_its_bound() -> None:
    whole = search_for_sessions()
    few = [run for run in whole.session_runs if run.sessions < 3]
    said = msgspec.structs.replace(whole, session_runs=few, knee=knee_of(few, SEARCH), outcome="interrupted")
    assert said.knee is not None and said.knee.beyond == "at least"
    for form in (html.render(said), text.render(said), markdown.render(said)):
        assert "at least 2 sessions are carried" in " ".join(form.split())
        assert "to go no further" not in form


def test_nothing_is_drawn_where_no_run_is_finished() -> None:
    bare = msgspec.structs.replace(search_for_sessions(), session_runs=[], knee=None)
    assert lead(bare) is None
    assert "Undecided: no run is finished" in html.render(bare)
