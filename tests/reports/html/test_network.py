"""A page loads nothing: no script in it knows an address, and no label is read as a formula."""

from __future__ import annotations

import re
from pathlib import Path

import mawl.reports
from mawl.reports.html.embed import bokeh_script


def test_the_plotting_library_knows_no_network_address() -> None:
    assert set(re.findall(r"https?://([\w.-]+)", bokeh_script())) <= {"www.w3.org"}


def test_a_label_is_never_read_as_a_formula() -> None:
    reading = re.search(
        r"parse_delimited_string=function\((\w)\)\{return new \w\.PlainText\(\{text:\1\}\);", bokeh_script()
    )
    assert reading is not None


def test_no_tooltip_leaves_the_unit_of_bytes_to_the_plotting_library() -> None:
    """It writes ``KB`` for a thousand bytes and ``NaN`` for a missing figure."""
    modules = list(Path(mawl.reports.__file__).parent.rglob("*.py"))
    assert len(modules) > 50
    assert [file.name for file in modules if re.search(r"\{0[.0\[\]]* [bd]\}", file.read_text())] == []
