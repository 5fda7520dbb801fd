"""The page of what several runs say together: finding, cards, one chart, and the rest folded below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from mawl.reporters.comparison.finding import Headline, Sign, capital
from mawl.reporters.comparison.tables import ComparisonTable
from mawl.reporters.html.charts.frame import Chart
from mawl.reporters.html.embed import Embedded, embedded
from mawl.reporters.html.figures import Cell, Terms, beside, part, table
from mawl.reporters.html.page import page
from mawl.reporters.html.sections.definitions import definitions
from mawl.reporters.html.sections.timeline import chart_of
from mawl.reporters.html.sections.verdict import Card, cards_and_step
from mawl.reporters.html.templating import fill

TONES: dict[Sign, str] = {
    "better": "good",
    "worse": "bad",
    "mixed": "warn",
    "no change": "good",
    "undecided": "warn",
    "measured": "",
}
SENTENCES = {"why", "verdict"}
NAMES = {"folder", "outcome", "judged", "limit", "fabric"}
"""Heads of columns that hold sentences or names and not figures."""


class PagePart(NamedTuple):
    """A folded part: anchor, heading, name in the contents, and what it holds in this order.

    Tables ``aside`` lie next to each other where there is room, and are all that one printed page keeps of
    the part ``summary``.
    """

    anchor: str
    title: str
    short: str
    first: Sequence[Markup] = ()
    charts: Sequence[Chart] = ()
    aside: Sequence[ComparisonTable] = ()
    tables: Sequence[ComparisonTable] = ()

    @property
    def empty(self) -> bool:
        """Whether it holds nothing, and is left out."""
        return not (self.first or self.charts or self.aside or self.tables)


def found_page(
    found: Headline,
    facts: Sequence[str],
    cards: Sequence[Card],
    lead: Chart | None,
    parts: Sequence[PagePart],
    *,
    tag: tuple[str, str] | None = None,
) -> str:
    """The page: ``facts`` are the line under the title, ``lead`` is the chart of the first screen.

    ``tag`` is a word and its tone, in place of the headline's sign.
    """
    sign, tone = tag or (found.sign, TONES[found.sign])
    terms = Terms()
    shown = [one for one in parts if not one.empty]
    charts = [*([lead] if lead else []), *(chart for one in shown for chart in one.charts)]
    drawn = embedded({chart.name: chart.figure for chart in charts if chart.figure is not None})
    body = [cards_and_step(cards, found.next_step, terms, found.to_publish)]
    body += [chart_of(lead, drawn.places)] if lead else []
    body += [_part(one, terms, drawn) for one in shown]
    contents = [(one.anchor, one.short) for one in shown]
    if terms.glossary():
        body.append(definitions(terms))
        contents.append(("definitions", "Definitions"))
    return str(
        page(
            found.sentence,
            Markup("\n").join([*body, drawn.data]),
            drawn.scripts,
            lead=fill("found.html", sign=sign, tone=tone, facts=facts),
            sections=contents,
            tools=fill("print.html"),
        )
    )


def _part(one: PagePart, terms: Terms, drawn: Embedded) -> Markup:
    content = [*one.first, *(chart_of(chart, drawn.places) for chart in one.charts)]
    if one.aside:
        content.append(beside(*(table_of(made, terms, narrow=True) for made in one.aside)))
    content += [table_of(made, terms) for made in one.tables]
    return part(one.anchor, one.title, *content)


def table_of(found: ComparisonTable, terms: Terms, *, narrow: bool = False) -> Markup:
    """A table whose figures lead to their definitions, under its title and note."""
    heads = _linked([capital(name) for name in found.head], found.head_figures, terms)
    firsts = _linked([row[0] for row in found.rows], found.row_figures, terms)
    rows = [(first, *row[1:]) for first, row in zip(firsts, found.rows, strict=True)]
    caption = capital(found.title) + (f": {found.note}" if found.note else "")
    places = dict(enumerate(found.head))
    return table(
        caption,
        heads,
        rows,
        words=[place for place, name in places.items() if name in SENTENCES],
        texts=[place for place, name in places.items() if name in NAMES],
        narrow=narrow,
    )


def _linked(labels: Sequence[str], names: Sequence[str], terms: Terms) -> list[Cell]:
    """Labels, as links where the figure of the summary that they name is known."""
    whole = [*names, *[""] * (len(labels) - len(names))]
    return [terms.term(label, name) if name else label for label, name in zip(labels, whole, strict=True)]
