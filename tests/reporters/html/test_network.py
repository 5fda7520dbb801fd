"""A page loads nothing: no script in it knows an address, and no label is read as a formula."""

from __future__ import annotations

import re

from mawl.reporters.html.embed import bokeh_script


def test_the_plotting_library_knows_no_network_address() -> None:
    assert set(re.findall(r"https?://([\w.-]+)", bokeh_script())) <= {"www.w3.org"}


def test_a_label_is_never_read_as_a_formula() -> None:
    reading = re.search(
        r"parse_delimited_string=function\((\w)\)\{return new \w\.PlainText\(\{text:\1\}\);", bokeh_script()
    )
    assert reading is not None
