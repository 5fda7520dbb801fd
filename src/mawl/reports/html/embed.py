"""Charts in a page: all are one Bokeh document, whose JSON is an inert block, next to Bokeh's own script."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document
from bokeh.plotting import figure
from bokeh.util.paths import static_path
from markupsafe import Markup

from mawl.base.printable import printable_json
from mawl.reports.html.charts.frame import Chart
from mawl.reports.html.colours import meanings
from mawl.reports.html.figures import chart_of
from mawl.reports.html.page import asset, fill, page

CHARTS_SCRIPT = "charts.js"
DATA_ELEMENT = "charts-data"


class Embedded(NamedTuple):
    """What a page needs to draw figures.

    ``places`` has an element per figure by its key, for the body; ``data`` is the block with all
    that they draw, once anywhere in the body; ``scripts`` go to ``page``.
    """

    places: dict[str, Markup]
    data: Markup
    scripts: list[str]


def embedded(figures: Mapping[str, figure]) -> Embedded:
    """The figures as roots of one document; a key becomes the id ``chart-KEY`` of its element.

    They are in one document so that they may share ranges and sources; a live page finds a source there by
    its name (``Bokeh.documents[0].get_model_by_name``).  Without figures there are no scripts: a page of
    tables carries no Bokeh.
    """
    if not figures:
        return Embedded({}, Markup(), [])
    document = Document(title="")
    for one in figures.values():
        document.add_root(one)
    block = {
        "document": document.to_json(deferred=False),
        "colours": meanings(),
        "roots": {one.id: f"chart-{key}" for key, one in figures.items()},
    }
    document.clear()  # a figure belongs to one document, and may be drawn again
    places = {
        key: fill("place.html", element=f"chart-{key}", name=key, height=one.height)
        for key, one in figures.items()
    }
    return Embedded(places, _inert_json(serialize_json(block)), [bokeh_script(), asset(CHARTS_SCRIPT)])


@cache
def bokeh_script() -> str:
    """Bokeh's own minified script, without widgets, tables and the like (1.3 MB), that knows no network.

    As it comes, it reads ``$$`` in a label as a formula and loads MathJax from a network address for it.
    Raises RuntimeError for a version of Bokeh in which the reading of formulas is not found.
    """
    script = (static_path() / "js" / "bokeh.min.js").read_text(encoding="utf-8")
    script, found = _FORMULA.subn(r"\1return new \4.PlainText({text:\2});\3", script)
    if found != 1:
        raise RuntimeError("this version of Bokeh reads formulas in labels in a way that mawl does not know")
    return _ADDRESS.sub("no-network:", script)


def _inert_json(json: str) -> Markup:
    """JSON in an element that no browser runs; no ``<`` in it, so nothing in it can end the element."""
    safe = printable_json(json.encode()).replace("<", "\\u003c")
    return Markup(f'<script type="application/json" id="{DATA_ELEMENT}">{safe}</script>')


FRAME_PIXELS = 480
"""Height of a chart with its title, caption and legend."""


_FRAME = Markup('<iframe title="{}" srcdoc="{}" style="width: 100%; height: {}px; border: 0"></iframe>')


class Plot:
    """A chart with its caption and legend, under a title; ``figure`` is Bokeh's own object."""

    def __init__(self, title: str, chart: Chart, drawing: figure) -> None:
        self.title = title
        self.figure = drawing
        self._chart = chart

    def html(self) -> str:
        drawn = embedded({self._chart.name: self.figure})
        body = Markup("\n").join([chart_of(self._chart, drawn.places), drawn.data])
        return str(page(self.title, body, drawn.scripts))

    def _repr_html_(self) -> str:
        framed = _FRAME.format(self.title, self.html(), FRAME_PIXELS)
        # The scripts run by the hash of their text, so the page around may not read it in another encoding.
        return framed.encode("ascii", "xmlcharrefreplace").decode()


_FORMULA = re.compile(
    r"(parse_delimited_string=function\((\w)\)\{)(.{0,2000}?return new (\w)\.PlainText\(\{text:\2\}\))"
)


_ADDRESS = re.compile(r"https?://(?!www\.w3\.org/)")
"""An address that a script could load from; those of the W3C are names of formats."""
