"""The frame of a page: nothing from outside, nothing of the data runs, and Bokeh is there once."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode

import pytest
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure
from markupsafe import Markup

from mawl.reports.html.embed import embedded
from mawl.reports.html.figures import breakable
from mawl.reports.html.page import fill, page

NASTY = "</script><script>alert(1)</script><!--<script>"


def test_a_title_is_text_and_a_body_is_html() -> None:
    html = page(NASTY, "<p>one</p>", sections=[("a", "<b>")])
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 2  # the window's title and the heading
    assert "<p>one</p>" in html and '<a href="#a">&lt;b&gt;</a>' in html


def test_only_the_scripts_of_the_page_may_run_and_nothing_may_be_fetched() -> None:
    html = page("t", "", ["let one = 1;"])
    policy = re.search(r'Policy" content="([^"]*)"', html)
    assert policy is not None
    allowed = policy[1].replace("&#39;", "'").replace("&#43;", "+")
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert len(scripts) == 2 and scripts[1] == "let one = 1;"
    for script in scripts:
        assert f"'sha256-{b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in allowed
    assert "default-src 'none'" in allowed and "connect-src 'none'" in allowed


def test_a_script_that_would_end_its_element_is_refused() -> None:
    with pytest.raises(ValueError, match="closing tag"):
        page("t", "", ["let a = '</SCRIPT>';"])


def test_a_page_without_figures_carries_no_plotting_library() -> None:
    nothing = embedded({})
    assert nothing.scripts == [] and len(page("t", nothing.data, nothing.scripts)) < 50_000


def test_figures_lie_in_one_inert_block_whatever_their_data_say() -> None:
    plot = figure(name="plot", height=150)
    plot.scatter("x", "y", source=ColumnDataSource({"x": [1.0], "y": [2.0], "job": [NASTY]}, name="jobs"))
    found = embedded({"plot": plot})
    block = re.fullmatch(r'<script type="application/json" id="charts-data">(.*)</script>', found.data)
    assert block is not None and "<" not in block[1]
    assert NASTY in json.dumps(json.loads(block[1])["document"])
    place = '<div class="chart" id="chart-plot" data-chart="plot" style="--height: 150px"></div>'
    assert found.places["plot"].strip() == place
    html = page("t", found.places["plot"] + found.data, found.scripts)
    assert html.count("Anaconda, Inc., and Bokeh Contributors") == found.scripts[0].count(
        "Anaconda, Inc., and Bokeh Contributors"
    )
    assert len(html) < 1_500_000


def test_templates_escape_text_and_keep_html() -> None:
    assert 'data-chart="&lt;&#34;"' in fill("place.html", element="e", name='<"', height=1)
    assert isinstance(fill("place.html", element="e", name="n", height=1), Markup)


def test_a_long_name_breaks_between_its_parts_and_is_text() -> None:
    assert breakable("a.b_c") == "a.<wbr>b_<wbr>c"
    assert breakable("<b>") == "&lt;b&gt;"
