"""Figures and tables of a summary as HTML: paths and values, definitions, and reasons of missing ones."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from markupsafe import Markup, escape
from msgspec import UNSET

from mawl.figures.job_sums import NOT_RECORDED, reason_of
from mawl.figures.trends import NIGHT_METRICS
from mawl.figures.view import RunView
from mawl.records.definitions import Metric
from mawl.records.model.metrics import METRICS
from mawl.records.model.summary.summary import Judged
from mawl.reports.html.page import fill
from mawl.reports.layout import ABSENT, Form
from mawl.reports.paragraphs import of_some
from mawl.reports.run_tables import RUN_TABLES
from mawl.reports.tables import Row, RunColumn, RunTable, Section, Shown, notes_of, shown

if TYPE_CHECKING:
    from mawl.reports.html.charts.frame import Chart

Cell = str | Markup

SUMS = ("time", "cpu_real_ratio")
"""Blocks with sums over the jobs that have a figure beside those over all jobs."""

Path = Sequence[str | int]
Named = TypeVar("Named")


@cache
def registry() -> dict[str, Metric]:
    return {metric.name: metric for metric in (*METRICS, *NIGHT_METRICS)}


class Terms:
    """Links names of figures to their definitions and remembers which of these the page has to hold."""

    def __init__(self) -> None:
        self._used: dict[str, Metric] = {}

    def term(self, label: str, name: str) -> Markup:
        """A label that leads to the definition of a metric of the registry; KeyError for any other name."""
        self._used[name] = registry()[name]
        return fill("term.html", label=label, name=name)

    def glossary(self) -> list[Metric]:
        return [self._used[name] for name in sorted(self._used)]


class ShownFigures(Terms):
    """Shows figures of one summary."""

    def __init__(self, summary: Judged) -> None:
        super().__init__()
        self.summary = summary
        self._plain: Mapping[str, Any] = msgspec.to_builtins(summary)

    def value(self, *path: str | int) -> Any:
        """The value at a path; None where it, or a block above it, is null."""
        found: Any = self._plain
        for part in path:
            if found is None:
                return None
            found = found[part]
        return found

    @property
    def imported(self) -> bool:
        """Whether foreign files are all there is: what they do not tell is named once, not row by row."""
        return bool(self.summary.kind == "imported")

    def told(
        self, labels: Mapping[str, Named], values: Callable[[Named], Iterable[Any]]
    ) -> tuple[dict[str, Named], Markup]:
        """The rows or columns of a table that have a figure, and a sentence that names the others.

        Of a measured run all of them: there each dash has its reason.
        """
        if not self.imported:
            return dict(labels), Markup()
        told = {
            label: named
            for label, named in labels.items()
            if any(value is not None for value in values(named))
        }
        absent = [label for label in labels if label not in told]
        if not absent:
            return told, Markup()
        return told, paragraph(f"Not known (imported): {'; '.join(absent)}.", "quiet")

    def known(self, *path: str | int) -> tuple[str | int, ...]:
        """The path of a sum over all jobs, or of that over the jobs that have the figure where it is null."""
        if path[0] in SUMS and self.value(*path) is None:
            some = (path[0], "known", *path[1:])
            if (
                len(path) == 2
                and path[1] in self._plain[str(path[0])]["known"]
                and self.value(*some) is not None
            ):
                return some
        return path

    def show(self, form: Form, *path: str | int) -> Markup:
        """A figure in a form for people; ``-`` with the reason where it is missing.

        A sum that is null because some jobs lack the figure is that of the others, with their number.
        """
        known = self.known(*path)
        if known != path:
            jobs = self.value(path[0], "known", "jobs")
            jobs = jobs if isinstance(jobs, int) else jobs[str(path[1]).rpartition("_")[0]]
            return self.show(form, *known) + f" ({of_some(self.summary, jobs)})"
        value = self.value(*path)
        return fill(
            "figure.html",
            path=_attribute(path),
            value=_attribute(value),
            text=ABSENT if value is None else form(value),
            reason=self.reason(path) if value is None else None,
        )

    def reason(self, path: Path) -> str:
        """Why a figure is missing: its own reason, or that of the block it would be in."""
        return reason_of(self.summary.missing, tuple(map(str, path))) or NOT_RECORDED


def _attribute(value: object) -> Markup:
    """JSON for an attribute in single quotes: double ones, of which it is full, stay one character each."""
    text = json.dumps(value, separators=(",", ":"))
    return Markup(text.replace("&", "&amp;").replace("'", "&#39;").replace("<", "&lt;"))


def absent(reason: str) -> Markup:
    """A dash with the reason, for a figure that is not of the summary."""
    return fill("figure.html", path=None, value=None, text=ABSENT, reason=reason)


def table(
    caption: str,
    head: Sequence[Cell],
    rows: Sequence[Sequence[Cell]],
    *,
    words: Sequence[int] = (),
    texts: Sequence[int] = (),
    narrow: bool = False,
    alike: bool = False,
) -> Markup:
    """A table whose first column names the rows; ``words`` are the columns that hold sentences,
    ``texts`` those that hold names.  Of rows that are ``alike`` the page shades figures outside the usual
    range of their column."""
    return fill(
        "table.html",
        caption=caption,
        head=head,
        rows=rows,
        words=words,
        texts=texts,
        narrow=narrow,
        alike=alike,
    )


def breakable(name: str) -> Markup:
    """A long name of parts, such as a path of a summary, that a narrow page may break between them."""
    parts = re.split(r"(?<=[._])", name)
    return Markup("<wbr>").join(escape(part) for part in parts)


def chart_of(chart: Chart, places: Mapping[str, Markup]) -> Markup:
    """A chart with its words and legend, or why it is not drawn."""
    return fill("chart.html", chart=chart, place=places.get(chart.name))


def charts_of(charts: Sequence[Chart], places: Mapping[str, Markup]) -> list[Markup]:
    """Charts with their words; a reason why several are not drawn is given once, with their titles."""
    reasons = Counter(chart.reason for chart in charts if chart.figure is None and not chart.not_yet)
    shared = [reason for reason, times in reasons.items() if times > 1]
    parts = [
        chart_of(chart, places) for chart in charts if chart.figure is not None or chart.reason not in shared
    ]
    for reason in shared:
        titles = "; ".join(chart.title for chart in charts if chart.figure is None and chart.reason == reason)
        parts.append(paragraph(f"Not drawn: {titles}. Why: {reason}.", "why"))
    return parts


def section(anchor: str, title: str, *parts: Markup) -> Markup:
    """A section of the page with its heading."""
    return fill("section.html", anchor=anchor, title=title, content=Markup("\n").join(parts))


def part(anchor: str, title: str, *parts: Markup) -> Markup:
    """A part of a report: its heading, which unfolds the rest."""
    return fill("part.html", anchor=anchor, title=title, content=Markup("\n").join(parts))


def beside(*parts: Markup) -> Markup:
    """Parts next to each other where there is room."""
    return fill("beside.html", parts=parts)


def folded(summary: str, content: Markup) -> Markup:
    """Content that is shown when it is asked for, and in print."""
    return fill("folded.html", summary=summary, content=content)


def paragraph(text: Cell, kind: str = "") -> Markup:
    """A paragraph; ``kind`` is its class in the style sheet."""
    return fill("paragraph.html", text=text, kind=kind)


def tables_in(section: Section, figures: ShownFigures, view: RunView) -> list[Markup]:
    """Every table of a section that has rows, with its notes."""
    tables = (run_table for run_table in RUN_TABLES if run_table.section == section)
    return [part for one in tables for part in html_table(one, figures, view)]


def html_table(of: RunTable, figures: ShownFigures, view: RunView) -> list[Markup]:
    """A table, a sentence that names the columns of which no file of an import tells, and its notes."""
    summary = figures.summary
    found = shown(of, view, summary, "html")
    above, below = notes_of(of, found, view, summary, "html")
    parts = [paragraph(note.text, "quiet") for note in above]
    if found.rows:
        named = "html" in of.named
        made = table(
            of.caption,
            [*([of.first] if named else []), *(_head(of, column, figures) for column in found.columns)],
            [
                [*([row.name] if named else []), *(_cell(column, row, figures) for column in found.columns)]
                for row in found.rows
            ],
            narrow=of.narrow,
            alike=of.alike,
            texts=[
                place
                for place, column in enumerate(found.columns, named)
                if column.holds != "figures" and place
            ],
        )
        folds = "html" in of.folded
        parts.append(folded(of.fold.format(rows=len(found.rows)), made) if folds else made)
        if found.unknown:
            parts.append(_unknown(found, figures))
    return [*parts, *(paragraph(note.text, "quiet") for note in below)]


def _unknown(found: Shown, figures: ShownFigures) -> Markup:
    """A sentence that names the columns without a figure; of a measured run with their reasons."""
    labels = {column.title or column.label: column for column in found.unknown}
    if figures.imported:
        return paragraph(f"Not known (imported): {'; '.join(labels)}.", "quiet")
    reasons = dict[str, list[str]]()
    for label, column in labels.items():
        absent = [row for row in found.rows if column.of(figures.summary, row) is None]
        paths = [row.path if column.value else column.path_of(row) for row in absent]
        reason = "; ".join(dict.fromkeys(map(figures.reason, paths)))
        reasons.setdefault(reason, []).append(label)
    said = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons.items())
    return paragraph(f"Not known: {said}.", "quiet")


def _head(of: RunTable, column: RunColumn, figures: ShownFigures) -> Cell:
    label = column.title or column.label
    name = of.definition(column)
    return label if name is None else figures.term(label, name)


def _cell(column: RunColumn, row: Row, figures: ShownFigures) -> Cell:
    """A figure of the summary with its path; one that is worked out here as a text."""
    found = column.of(figures.summary, row)
    if found is UNSET:
        return Markup()
    if column.value is None:
        return figures.show(column.form, *column.path_of(row))
    return absent(figures.reason(row.path)) if found is None else column.form(found)
