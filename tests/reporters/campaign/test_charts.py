"""What the charts of a campaign's page hold."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from bokeh.models import ColumnDataSource
from bokeh.models.annotations import BoxAnnotation, Span

from mawl.reporters.campaign import html
from mawl.reporters.campaign.charts import campaign_drawings
from mawl.reporters.html.colours import light
from mawl.units import format_rate
from tests.fakes.found_campaigns import comparison, repeats, scaling, search_for_sessions


def data(plot: Any, name: str) -> dict[str, list[Any]]:
    """The columns of a chart's source."""
    source = plot.select_one({"type": ColumnDataSource, "name": name})
    return {column: list(values) for column, values in source.data.items()}


def drawn_of(plot: Any, kind: type) -> list[Any]:
    """What of a kind lies on a chart."""
    return list(plot.select({"type": kind}))


def test_every_run_of_a_search_for_sessions_stands_beside_the_bound_and_the_knee() -> None:
    said = search_for_sessions()
    assert said.knee is not None
    (section,) = campaign_drawings(said)
    (chart,) = section.charts
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
    (section,) = campaign_drawings(said)
    (chart,) = section.charts
    drawn = data(chart.figure, "scaling")
    assert drawn["nodes"] == [1, 2, 4]
    assert drawn["rate"] == [row.bytes_per_second for row in said.scaling]
    assert drawn["ideal"] == [drawn["rate"][0] * nodes for nodes in (1, 2, 4)]
    assert drawn["rate_said"] == [format_rate(rate) for rate in drawn["rate"]]
    assert drawn["ideal_said"] == [format_rate(rate) for rate in drawn["ideal"]]


def test_a_against_b_has_the_charts_of_a_comparison() -> None:
    names = [chart.name for section in campaign_drawings(comparison()) for chart in section.charts]
    assert names[:2] == ["programs", "places"]


@pytest.mark.parametrize("make", [search_for_sessions, scaling, comparison])
def test_the_page_embeds_what_is_drawn(make: Any) -> None:
    said = make()
    page = html.render(said)
    for section in campaign_drawings(said):
        assert f'id="{section.anchor}"' in page
        for chart in section.charts:
            assert (f'data-chart="{chart.name}"' in page) == (chart.figure is not None)


def test_nothing_is_drawn_where_no_run_is_finished() -> None:
    bare = msgspec.structs.replace(search_for_sessions(), session_runs=[], knee=None)
    assert campaign_drawings(bare) == []
    assert campaign_drawings(repeats()) == []
