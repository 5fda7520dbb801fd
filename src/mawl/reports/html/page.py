"""Bokeh's figures in a page: one document, its JSON as an inert block, Bokeh's own script once.

All figures of a page are roots of one Bokeh document, so that they may share ranges and sources; a
live page finds a source there by its name (``Bokeh.documents[0].get_model_by_name``).

The frame of every HTML page: head, style, skip link, contents, and the scripts, all in the one file.

A page names no address outside itself, and its own content security policy forbids to load any: a
report opens the same on a laptop without a network and on a stranger's.  Scripts run by the hash of
their text alone, so that a script that a name in the data smuggled in would not.

One chart of the report on its own: it draws itself in a notebook.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document
from bokeh.plotting import figure
from bokeh.util.paths import static_path
from markupsafe import Markup

from mawl.base.printable import printable, printable_json
from mawl.reports.html.charts.frame import Chart
from mawl.reports.html.colours import meanings, style
from mawl.reports.html.sections.storage import chart_of
from mawl.reports.html.templating import asset, fill

FRAME_SCRIPTS = ("frame.js", "definitions.js", "tables.js")
"""The scripts that every page has."""
CLOSING = "</script"


def page(
    title: str,
    body: str,
    scripts: Sequence[str] = (),
    *,
    lead: str = "",
    sections: Sequence[tuple[str, str]] = (),
    tools: str = "",
    connect: str = "'none'",
    forms: str = "'none'",
) -> str:
    """A whole HTML document.

    ``title`` is plain text (escaped here), the window's title and the only ``h1``; ``body`` and
    ``lead`` (what stands under the title) are HTML whose texts are escaped already (see
    ``fill``).  ``scripts`` are JavaScript sources, run in order
    once the body is there (``mawl.reports.html.page.embedded(...).scripts`` for charts).
    ``sections`` are anchor and title of the contents, ``tools`` more items of that list, as HTML;
    ``connect`` is what the page may fetch from
    (``'self'`` for a live page behind a server), ``forms`` where its forms may lead.
    Raises ValueError for a script that would end its own element.
    """
    every = ["\n".join(asset(name) for name in FRAME_SCRIPTS), *scripts]
    if any(CLOSING in script.lower() for script in every):
        raise ValueError("a script of a page holds its closing tag")
    return fill(
        "page.html",
        title=printable(title),
        body=Markup(_readable(body)),
        lead=Markup(_readable(lead)),
        sections=sections,
        tools=tools,
        style=Markup(style() + asset("page.css")),
        scripts=[Markup(script) for script in every],
        policy=policy(every, connect, forms),
    )


def _readable(html: str) -> str:
    """HTML without control characters: a page may be shown on a terminal (``curl``, ``less``)."""
    return printable(html, "\n\t")


def policy(scripts: Sequence[str], connect: str = "'none'", forms: str = "'none'") -> str:
    """The content security policy of a page: nothing from anywhere, and only these scripts.

    Styles are inline because charts set them on their own elements.
    """
    hashes = " ".join(
        f"'sha256-{b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes or chr(39) + 'none' + chr(39)}; style-src 'unsafe-inline'; "
        f"img-src data: blob:; connect-src {connect}; base-uri 'none'; form-action {forms}"
    )


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

    Without figures there are no scripts: a page of tables carries no Bokeh.
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
    return Embedded(places, _inert(serialize_json(block)), [bokeh_script(), asset(CHARTS_SCRIPT)])


_FORMULA = re.compile(
    r"(parse_delimited_string=function\((\w)\)\{)(.{0,2000}?return new (\w)\.PlainText\(\{text:\2\}\))"
)
_ADDRESS = re.compile(r"https?://(?!www\.w3\.org/)")
"""An address that a script could load from; those of the W3C are names of formats."""


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


def _inert(json: str) -> Markup:
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
        """The chart as an HTML document that needs nothing else, to be saved or shown in a frame."""
        drawn = embedded({self._chart.name: self.figure})
        body = Markup("\n").join([chart_of(self._chart, drawn.places), drawn.data])
        return str(page(self.title, body, drawn.scripts))

    def _repr_html_(self) -> str:
        framed = _FRAME.format(self.title, self.html(), FRAME_PIXELS)
        # The scripts run by the hash of their text, so the page around may not read it in another encoding.
        return framed.encode("ascii", "xmlcharrefreplace").decode()
