"""One chart of the report on its own: it draws itself in a notebook."""

from __future__ import annotations

from bokeh.plotting import figure
from markupsafe import Markup

from mawl.reporters.html.charts.frame import Chart
from mawl.reporters.html.embed import embedded
from mawl.reporters.html.page import page
from mawl.reporters.html.sections.timeline import chart_of

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
