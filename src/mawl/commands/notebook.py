"""What ``mawl.open_run()`` gives: the tables of a run for Arrow, its typed summary, and its charts.

In a notebook a run shows itself as a table, and a chart draws itself.
Engines of the report are imported when they are first asked for.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from mawl.base.errors import MawlError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from mawl.figures.view import StoredView
    from mawl.records.model.probe import Probe
    from mawl.records.model.run import RunFacts
    from mawl.records.model.summary.summary import Judged
    from mawl.records.store import Run
    from mawl.reports.html.charts.frame import Chart
    from mawl.reports.html.embed import Plot
    from mawl.reports.html.sources import ChartData

_TABLE = Markup('<table style="text-align: left">{}</table>')
_ROW = Markup("<tr><th>{}</th><td>{}</td></tr>")


class OpenedRun:
    """A stored run for programs and notebooks.

    ``jobs``, ``steps``, ``events`` and ``samples`` are Arrow tables, read when they are first
    asked for.
    Every member raises ``UnreadableRunError`` if a file that it needs is damaged.
    """

    def __init__(self, stored: Run) -> None:
        self._stored = stored

    @property
    def path(self) -> Path:
        """The run folder."""
        return self._stored.path

    @property
    def facts(self) -> RunFacts:
        """What was asked, on which nodes, and how the run ended: ``run.json``, typed."""
        return self._stored.facts

    @property
    def jobs(self) -> pa.Table:
        """One row per job."""
        return self._stored.jobs

    @property
    def steps(self) -> pa.Table:
        """One row per step."""
        return self._stored.steps

    @property
    def events(self) -> pa.Table:
        """One row per event of the run."""
        return self._stored.events

    @property
    def samples(self) -> pa.Table:
        """One row per node, second and series."""
        return self._stored.samples

    @property
    def probe(self) -> Probe | None:
        """What the storage can do, where a probe was put into the folder; else None."""
        return self._stored.probe

    @cached_property
    def summary(self) -> Judged:
        """All figures of the report with its judgements, typed, each with one definition.

        A figure that is not known is None, and ``summary.missing`` has its reason by its path.
        """
        from mawl.advice.judge import judged

        return judged(self._view)

    @property
    def charts(self) -> dict[str, str]:
        """Charts that ``plot`` can draw for this run: title by name."""
        return {chart.name: chart.title for chart in self._charts if chart.figure is not None}

    def plot(self, name: str = "device") -> Plot:
        """A chart of the HTML report by its name.

        Raises ``UsageError``, with the reason, if no chart has that name or the run
        has nothing to draw.
        """
        from mawl.reports.html.embed import Plot

        for chart in self._charts:
            if chart.name == name:
                if chart.figure is None:
                    raise UsageError(
                        f"the chart {name} cannot be drawn", where=str(self.path), why=chart.reason
                    )
                return Plot(f"Run {self.facts.run_id}", chart, chart.figure)
        drawn = ", ".join(self.charts) or "this run has none"
        raise UsageError(f"there is no chart {name!r}", cure=f"name one of these: {drawn}")

    @cached_property
    def _view(self) -> StoredView:
        from mawl.figures.view import StoredView

        return StoredView(self._stored)

    @cached_property
    def _chart_data(self) -> ChartData:
        from mawl.reports.html.sources import chart_data

        return chart_data(self._view)

    @property
    def _charts(self) -> list[Chart]:
        """Made anew each time: a figure of Bokeh belongs to one document."""
        from mawl.reports.html.charts.every import charts_of
        from mawl.reports.html.sources import sources_of

        found = self._chart_data
        return charts_of(found, sources_of(found, self.summary), self.summary)

    def __repr__(self) -> str:
        facts = self.facts
        return f"<run {facts.run_id}: {facts.workload.name}, {facts.outcome}>"

    def _repr_html_(self) -> str:
        try:
            rows = self._rows()
        except MawlError as error:
            rows = [("run", str(self.path)), ("not readable", str(error))]
        return str(_TABLE.format(Markup().join(_ROW.format(*row) for row in rows)))

    def _rows(self) -> list[tuple[str, str]]:
        from mawl.reports.judgement import headlines
        from mawl.reports.paragraphs import times
        from mawl.reports.run_lines import node_text, outcome_text, workload_text

        summary = self.summary
        return [
            ("run", summary.run_id),
            ("workload", workload_text(self._view, summary)),
            *(("system", node_text(node)) for node in summary.nodes),
            ("outcome", outcome_text(summary)),
            *headlines(summary),
            *times(summary),
        ]
