"""A document as a page: the first screen with cards and a chart, and parts that are folded below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from mawl.reports.document import (
    NAMES,
    SENTENCES,
    TONES,
    Aside,
    Block,
    Charts,
    Commands,
    Document,
    Headline,
    Line,
    Lines,
    Part,
    Sentences,
    Table,
    capital,
    repeats,
)
from mawl.reports.html.figures import (
    Cell,
    Terms,
    beside,
    chart_of,
    charts_of,
    paragraph,
    part,
    section,
    table,
)
from mawl.reports.html.page import fill, page
from mawl.reports.html.sections.system import definitions
from mawl.reports.html.sections.verdict import cards_and_step
from mawl.reports.layout import ABSENT

if TYPE_CHECKING:
    from mawl.reports.html.charts.frame import Chart


def page_of(document: Document) -> str:
    """The page; every text is escaped here."""
    headline = document.headline
    sign, tone = document.tag or (headline.sign, TONES[headline.sign])
    terms = Terms()
    lead = None if document.lead is None else document.lead()
    parts = [one for one in document.folds or document.parts if "html" in one.formats]
    drawn = [_charts(one) for one in parts]
    charts = [*([lead] if lead else []), *(chart for one in drawn for some in one for chart in some)]
    places, data, scripts = dict[str, Markup](), Markup(), list[str]()
    if charts:
        from mawl.reports.html.embed import embedded

        places, data, scripts = embedded(
            {chart.name: chart.figure for chart in charts if chart.figure is not None}
        )
    step = headline.next_step, terms, headline.to_publish
    body = [cards_and_step(document.cards, *step)] if document.cards or headline.next_step else []
    body += [chart_of(lead, places)] if lead else []
    contents = list[tuple[str, str]]()
    for one, some in zip(parts, drawn, strict=True):
        content = list(_content(one, headline, terms, places, iter(some)))
        if content:
            # Below cards everything is folded; without any the first part is the first screen.
            around = part if document.cards or contents else section
            body.append(around(one.anchor, one.title, *content))
            contents.append((one.anchor, one.short))
    if terms.glossary():
        body.append(definitions(terms))
        contents.append(("definitions", "Definitions"))
    return str(
        page(
            capital(headline.sentence),
            Markup("\n").join([*body, data]),
            scripts,
            lead=fill("found.html", sign=sign, tone=tone, facts=document.facts),
            sections=contents,
            tools=fill("print.html"),
        )
    )


def _charts(one: Part) -> list[Sequence[Chart]]:
    return [block.draw() for block in one.blocks if isinstance(block, Charts)]


def _content(
    one: Part,
    headline: Headline,
    terms: Terms,
    places: Mapping[str, Markup],
    charts: Iterator[Sequence[Chart]],
) -> Iterator[Markup]:
    for block in one.blocks:
        if isinstance(block, Charts):
            drawn = next(charts)
            if any(chart.figure for chart in drawn):
                yield from [paragraph(block.lead)] if block.lead else ()
                yield from [fill("zoom.html")] if block.zoom else ()
            yield from charts_of(drawn, places)
        else:
            yield from _block(block, headline, terms)


def _block(block: Block, headline: Headline, terms: Terms) -> Iterator[Markup]:
    match block:
        case Table() if block.rows:
            yield _table(block, terms)
        case Aside() if block.tables:
            yield beside(*(_table(one, terms, narrow=True) for one in block.tables))
        case Lines():
            if lines := [line for line in block.lines if not _shown_above(line, headline)]:
                yield from _title(block.title)
                yield fill("facts.html", facts=lines)
        case Sentences() if block.sentences:
            yield from _title(block.title)
            yield fill("bullets.html", texts=block.sentences)
        case Commands():
            yield from (paragraph(fill("code.html", text=command)) for command in block.commands)


def _title(title: str) -> list[Markup]:
    return [Markup("<h3>{}</h3>").format(capital(title.removesuffix(":")))] if title else []


def _shown_above(line: Line, headline: Headline) -> bool:
    """Whether the title or the line below the cards has it."""
    said = line[1]
    return repeats(said, headline.sentence) or said in (headline.next_step, headline.to_publish)


def _table(block: Table, terms: Terms, *, narrow: bool = False) -> Markup:
    """A table whose figures lead to their definitions, under its title and note.

    Columns without a cell are left out, and those without a figure, which a sentence names.
    """
    heads = _linked([capital(name) for name in block.head], block.head_figures, terms)
    firsts = _linked([row[0] for row in block.rows], block.row_figures, terms)
    rows = [(first, *row[1:]) for first, row in zip(firsts, block.rows, strict=True)]
    caption = capital(block.title) + (f": {block.note}" if block.note else "")
    columns = [{str(row[place]) for row in block.rows} for place in range(len(block.head))]
    kept = [place for place, cells in enumerate(columns) if not place or cells - {"", ABSENT}]
    unknown = [block.head[place] for place in range(1, len(columns)) if columns[place] == {ABSENT}]
    names = [block.head[place] for place in kept]
    made = table(
        caption,
        [heads[place] for place in kept],
        [[row[place] for place in kept] for row in rows],
        words=[place for place, name in enumerate(names) if name in SENTENCES],
        texts=[
            place
            for place, name in enumerate(names)
            if name in NAMES or not any(letter.isdigit() for cell in columns[kept[place]] for letter in cell)
        ],
        narrow=narrow,
    )
    return made + (paragraph(f"Not known: {'; '.join(unknown)}.", "quiet") if unknown else Markup())


def _linked(labels: Sequence[str], names: Sequence[str], terms: Terms) -> list[Cell]:
    """Labels, as links where the figure of the summary that they name is known."""
    whole = [*names, *[""] * (len(labels) - len(names))]
    return [terms.term(label, name) if name else label for label, name in zip(labels, whole, strict=True)]
