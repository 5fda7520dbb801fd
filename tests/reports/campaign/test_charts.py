"""What the charts of a campaign's page hold."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest
from bokeh.models import ColumnDataSource
from bokeh.models.annotations import BoxAnnotation, Span, Whisker
from markupsafe import escape

from mawl.base.units import format_rate, format_seconds
from mawl.figures.campaign import ELAPSED, spread
from mawl.figures.comparison.compare import compare
from mawl.figures.knee import knee_of
from mawl.reports.campaign_document import document, lead, render_json
from mawl.reports.campaign_finding import finding, shared_machines
from mawl.reports.comparison.charts import runs_chart
from mawl.reports.document import rendered
from mawl.reports.html.colours import light
from mawl.reports.layout import escaped, with_command
from tests.fakes.compared_runs import pair
from tests.fakes.found_campaigns import EVERY, SEARCH, comparison, repeats, scaling, search_for_sessions


def data(plot: Any, name: str) -> dict[str, list[Any]]:
    """The columns of a chart's source."""
    source = plot.select_one({"type": ColumnDataSource, "name": name})
    return {column: list(values) for column, values in source.data.items()}


def drawn_of(plot: Any, kind: type) -> list[Any]:
    """What of a kind lies on a chart."""
    return list(plot.select({"type": kind}))


def test_a_campaign_that_may_not_be_published_names_the_check_that_failed_most() -> None:
    for said in (search_for_sessions(), scaling(), repeats()):
        check = finding(said).to_publish
        assert check is not None
        assert re.match(
            r"check \w+ failed in \d+ of \d+ runs( with 3 sessions)? \(\d+ other checks? failed\); fix: ",
            check,
        ), check
        assert str(escape(check)) in " ".join(rendered(document(said), "html").split()), (
            "the page has the same words"
        )
        fit = [msgspec.structs.replace(arm, validity=[("publishable", arm.runs)]) for arm in said.arms]
        assert finding(msgspec.structs.replace(said, arms=fit)).to_publish is None
    too_many = [
        msgspec.structs.replace(arm, validity=[("publishable" if arm.size == 3 else "invalid", arm.runs)])
        for arm in search_for_sessions().arms
    ]
    assert {arm.size for arm in too_many} > {3, 4}
    assert finding(msgspec.structs.replace(search_for_sessions(), arms=too_many)).to_publish is None


NEXT = {
    "find-sessions": "plan for 3 sessions: the slowdown there, 1.90, is 5.0 % below the bound of "
    "2.00; for more, see what limits a run with 4: mawl report 20260101-080000-ab-tiny/003",
    "scaling": "more nodes gave no more throughput; see what limits a run on 4, first the storage and "
    "network they share: mawl report 20260101-080000-ab-tiny/003",
    "repeat": "change one thing and compare (mawl run --ab): 5 runs a side that scatter like these would "
    "show any change",
    "ab": 'do not adopt "after"; see why census_load (+100 %) and wide_sort (+100 %) became slower: '
    "mawl report 20260101-080000-ab-tiny/",
    "smt": 'adopt "SMT-2": real time per job is shorter by more than chance',
}


@pytest.mark.parametrize("kind", EVERY)
def test_the_next_step_follows_from_the_result_and_names_a_run(kind: str) -> None:
    said = EVERY[kind]()
    step = finding(said).next_step
    assert step is not None and step.startswith(NEXT[kind]), step
    listed = " ".join(rendered(document(said), "text").split())
    assert f"next {step}" in listed
    assert f"- **next**: {with_command(step)}" in rendered(document(said), "markdown")
    assert json.loads(render_json(said))["finding"]["next_step"] == step
    for form in (listed, rendered(document(said), "html")):
        assert not re.search(r"\bRUN (says|lists)", form), "a run that is meant has its name"


def test_a_lower_end_without_an_upper_one_is_no_number_to_plan_for() -> None:
    said = search_for_sessions()
    assert said.knee is not None
    lower = msgspec.structs.replace(said.knee, low=1, high=None)
    step = finding(msgspec.structs.replace(said, knee=lower)).next_step
    assert step is not None and step.startswith("plan for 3 sessions: the slowdown")


def test_repeats_that_scatter_say_what_change_they_would_show() -> None:
    said = repeats()
    (arm,) = said.arms
    scattered = spread("elapsed", ELAPSED, "seconds", [60.0, 61.0, 59.0, 60.5, 59.5])
    said = msgspec.structs.replace(said, arms=[msgspec.structs.replace(arm, figures=[scattered])])
    found = finding(said)
    assert found.sentence == "Measured: elapsed 60.0 s, median of 5 runs (range 59.0 s to 61.0 s)"
    # By hand: a pooled spread of 1.32 % and 8 degrees of freedom, (2.306 + 0.889) * 0.0132 * sqrt(2 / 5).
    assert found.next_step is not None and "would show a change of 2.7 %, in four of five" in found.next_step
    assert ">3.3 %</p>" in rendered(document(said), "html"), "the range as a share of the median"


def test_a_load_that_grows_with_the_nodes_gains_or_not() -> None:
    said = scaling()
    assert finding(said).sentence == (
        "Measured: 4 nodes give 1.00 times the throughput of 1, efficiency 25 %, elapsed time unchanged"
    )
    page = rendered(document(said), "html")
    assert '<div class="card bad">' in page and ">No gain</p>" in page
    assert "so the load grows with the nodes" in page
    rows = [*said.scaling[:-1], msgspec.structs.replace(said.scaling[-1], speedup=3.2, efficiency_ratio=0.8)]
    grown = msgspec.structs.replace(said, scaling=rows)
    assert ">3.20 times</p>" in rendered(document(grown), "html")
    step = finding(grown).next_step
    assert step is not None and step.startswith("each of 4 nodes moves less than each of 1 does; see what")
    whole = [*said.scaling[:-1], msgspec.structs.replace(said.scaling[-1], speedup=4.0, efficiency_ratio=1.0)]
    assert finding(msgspec.structs.replace(said, scaling=whole)).next_step is None


@pytest.mark.parametrize(
    ("machines", "words"),
    [
        (1, "4 nodes on one machine: they share its processors and disks"),
        (2, "4 nodes on 2 machines: those of one machine share its processors and disks"),
        (4, None),
        (None, None),
    ],
)
def test_nodes_of_one_machine_are_said_to_share_it(machines: int | None, words: str | None) -> None:
    said = scaling()
    last = msgspec.structs.replace(said.scaling[-1], machines=machines)
    shared = msgspec.structs.replace(said, scaling=[*said.scaling[:-1], last])
    assert shared_machines(last) == words
    said_too = [
        rendered(document(shared), "text", 200),
        rendered(document(shared), "html"),
        json.loads(render_json(shared))["finding"]["sentence"],
    ]
    assert all((words or " machine: they share ") in form for form in said_too) == (words is not None)
    step = finding(shared).next_step
    assert step is not None and ("processors and disks they share" in step) == (words is not None)


def test_preliminary_leads_to_its_definition_and_names_the_failed_check() -> None:
    for make in EVERY.values():
        page = rendered(document(make()), "html")
        assert '<a class="figure-link" href="#def-validity.status">Preliminary</a>' in page
        assert 'id="def-validity.status"' in page and "not fit to publish" in page
        assert "runs failed the check " in page
        assert "<h3>Checks that failed</h3>" in page


def test_no_interval_is_printed_without_width() -> None:
    for make in EVERY.values():
        said = make()
        for form in (
            rendered(document(said), "text"),
            rendered(document(said), "markdown"),
            rendered(document(said), "html"),
        ):
            assert not re.search(r"([\d.]+ ?(?:%|s|MB/s)?) to \+?\1\b(?! \S+ to)", finding(said).sentence)
            assert finding(said).sentence in " ".join(form.replace("\\", "").replace("&#34;", '"').split())
    assert finding(search_for_sessions()).sentence == (
        "Measured: 3 sessions fit this machine (the 95 % interval holds no other number)"
    )
    assert "(5 against 5 runs, those of each side alike)" in finding(comparison()).sentence
    assert "(all 5 runs alike)" in finding(repeats()).sentence
    assert ">All 5 runs alike.<" in rendered(document(repeats()), "html")


def test_the_setting_that_an_arm_changed_is_in_sight() -> None:
    said = comparison()
    assert 'setting readahead of "after": 128 -&gt; 4096' in rendered(document(said), "html").replace(
        "&#34;", '"'
    )
    assert 'setting readahead of "after": 128 -> 4096' in " ".join(rendered(document(said), "text").split())


def test_every_run_of_a_search_for_sessions_stands_beside_the_bound_and_the_largest_that_fits() -> None:
    said = search_for_sessions()
    assert said.knee is not None
    chart = lead(said)
    assert chart is not None
    drawn = data(chart.figure, "slowdown")
    assert drawn["sessions"] == [1, 2, 4, 3, 4, 4, 3, 3]
    assert len(set(drawn["at"])) == len(drawn["at"]), "no run covers another"
    assert [round(at) for at in drawn["at"]] == drawn["sessions"]
    assert drawn["slowdown"] == [1.0, 1.2, 2.6, 1.9, 2.6, 2.6, 1.9, 1.9]
    assert [colour == light("bad") for colour in drawn["color"]] == [n == 4 for n in drawn["sessions"]]
    assert [shape == "inverted_triangle" for shape in drawn["shape"]] == [n == 4 for n in drawn["sessions"]]
    assert chart.figure is not None
    assert said.knee.low == said.knee.high == 3
    assert drawn_of(chart.figure, BoxAnnotation) == [], "an interval of one number has no width"
    (mark,) = drawn_of(chart.figure, Span)
    assert mark.location == 3
    assert "bound of the slowdown, 2" in [key.name for key in chart.keys]
    wide = msgspec.structs.replace(said, knee=msgspec.structs.replace(said.knee, low=2, high=4))
    chart = lead(wide)
    assert chart is not None
    (interval,) = drawn_of(chart.figure, BoxAnnotation)
    assert (interval.left, interval.right) == (2, 4)
    assert "95 % interval, 2 to 4" in [key.name for key in chart.keys]
    assert "95 % interval 2 to 4." in rendered(document(wide), "html")


def test_the_card_of_what_speaks_against_more_has_the_slowdown_and_whose_bound_it_is() -> None:
    page = rendered(document(search_for_sessions()), "html")
    assert ">Slowdown 2.60</p>" in page
    assert 'href="#def-answer.bound">is the bound of the slowdown</a>' in page
    said = search_for_sessions()
    refused = [
        msgspec.structs.replace(one, refused=not one.carried, answer_slowdown=None) for one in said.sessions
    ]
    assert ">Refused</p>" in rendered(document(msgspec.structs.replace(said, sessions=refused)), "html")
    failed = [msgspec.structs.replace(one, answer_slowdown=1.5) for one in said.sessions]
    assert ">Failed jobs</p>" in rendered(document(msgspec.structs.replace(said, sessions=failed)), "html")


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
    assert chart.figure is not None and chart.title == "Every run"
    assert not drawn_of(chart.figure, Whisker), "runs that are alike have no interval"
    assert "mean of the candidate" in [key.name for key in chart.keys if key.swatch == "diamond"]


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
        rendered(document(said), "html").count(f'data-chart="{name}"')
        for name in ("pair_times", "pair_throughput")
    ] == [1, 1]


def test_no_change_draws_its_margin_and_its_own_interval() -> None:
    steady = [1.0, 1.01, 0.99, 1.0, 1.005]
    found = compare(*pair(steady, steady[::-1]))
    chart = runs_chart(found)
    assert chart is not None and found.statement is not None
    (band,) = drawn_of(chart.figure, BoxAnnotation)
    assert (band.left, band.right) == (-0.05, 0.05)
    drawn = data(chart.figure, "interval")
    assert (drawn["low"], drawn["high"]) == (
        [found.statement.narrow_low_ratio],
        [found.statement.narrow_high_ratio],
    )


def test_a_change_draws_its_interval_and_no_margin() -> None:
    steady = [1.0, 1.01, 0.99, 1.0, 1.005]
    found = compare(*pair(steady, [1.2 * factor for factor in steady]))
    chart = runs_chart(found)
    assert chart is not None and chart.title == "Every run, and the interval of the change"
    assert found.statement is not None and drawn_of(chart.figure, BoxAnnotation) == []
    drawn = data(chart.figure, "interval")
    assert (drawn["low"], drawn["high"]) == ([found.statement.low_ratio], [found.statement.high_ratio])


def test_repeats_are_a_strip_with_a_row_for_each_figure() -> None:
    chart = lead(repeats())
    assert chart is not None and chart.name == "strip"
    drawn = data(chart.figure, "strip")
    assert drawn["side"][:10] == ["slowdown"] * 5 + ["elapsed"] * 5
    assert drawn["run"][:5] == [1, 2, 3, 4, 5]
    assert drawn["change"][:5] == pytest.approx([0.0] * 5)
    assert [(key.name, key.swatch) for key in chart.keys] == [
        ("run", "dot"),
        ("median of the runs", "dashed"),
    ]


def test_every_run_of_a_scaling_is_a_dot() -> None:
    said = scaling()
    assert [len(row.run_bytes_per_second) for row in said.scaling] == [2, 2, 2]
    chart = lead(said)
    assert chart is not None
    drawn = data(chart.figure, "scaling_runs")
    assert drawn["nodes"] == [1, 1, 2, 2, 4, 4]
    assert drawn["rate"] == [rate for row in said.scaling for rate in row.run_bytes_per_second]
    assert len(set(drawn["at"])) == 6, "no run covers another"


@pytest.mark.parametrize("make", EVERY.values())
def test_title_sign_and_chart_stand_before_the_folded_parts(make: Any) -> None:
    said, page = make(), rendered(document(make()), "html")
    found, chart = finding(said), lead(said)
    assert chart is not None
    first = page[page.index("<body>") : page.index('<details class="part"')]
    assert f"<h1>{escape(found.sentence)}</h1>" in first
    assert f">{found.sign}</span>" in first
    assert 'class="card' in first and f'data-chart="{chart.name}"' in first
    assert json.loads(render_json(said))["finding"]["sentence"] == found.sentence
    assert rendered(document(said), "markdown").startswith(f"# {escaped(found.sentence)}\n")
    assert f"finding {found.sentence} outcome" in " ".join(rendered(document(said), "text").split())


def test_a_campaign_that_was_stopped_says_so_first_and_how_to_go_on() -> None:
    said = msgspec.structs.replace(repeats(), outcome="interrupted")
    assert finding(said).sentence.startswith("Interrupted after 5 of 5 runs: measured: elapsed ")
    assert finding(said).next_step == "go on with it: mawl run --continue 20260101-080000-ab-tiny"


def test_a_search_that_was_stopped_does_not_say_that_it_reached_its_bound() -> None:
    whole = search_for_sessions()
    few = [run for run in whole.session_runs if run.sessions < 3]
    said = msgspec.structs.replace(whole, session_runs=few, knee=knee_of(few, SEARCH), outcome="interrupted")
    assert said.knee is not None and said.knee.beyond == "at least"
    for form in (
        rendered(document(said), "html"),
        rendered(document(said), "text"),
        rendered(document(said), "markdown"),
    ):
        assert "at least 2 sessions are carried" in " ".join(form.split())
        assert "to go no further" not in form


def test_nothing_is_drawn_where_no_run_is_finished() -> None:
    bare = msgspec.structs.replace(search_for_sessions(), session_runs=[], knee=None)
    assert lead(bare) is None
    assert "Undecided: no run is finished" in rendered(document(bare), "html")
