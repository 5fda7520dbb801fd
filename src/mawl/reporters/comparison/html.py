"""A comparison as one HTML page: the statement first, both timelines over each other, every table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from mawl.analysis.comparison.compare import Comparison, Matrix
from mawl.reporters.comparison.charts import effect_charts, matrix_charts
from mawl.reporters.comparison.over_time import charts_over_time, lines_over_time
from mawl.reporters.comparison.sentences import Line, against, head, margin_of, unlike
from mawl.reporters.comparison.tables import ComparisonTable, matrix_tables, tables
from mawl.reporters.html.charts.frame import Chart
from mawl.reporters.html.embed import Embedded, embedded
from mawl.reporters.html.figures import Cell, Terms, paragraph, section, table
from mawl.reporters.html.page import page
from mawl.reporters.html.sections.definitions import definitions
from mawl.reporters.html.sections.timeline import chart_of
from mawl.reporters.html.sections.verdict import Card
from mawl.reporters.html.templating import fill
from mawl.units import counted_noun

TONES = {"slower": "bad", "faster": "good", "not told apart": "", "not judged": "warn"}
ANSWERS = {
    "slower": "The candidate is slower",
    "faster": "The candidate is faster",
    "not told apart": "No difference found",
    "not judged": "Too few runs to decide",
}
WHICH_RUNS = (
    "Of each side the run of median elapsed time is drawn in full colour, its other runs thin. "
    "Dashed upright lines: where the active phase of those two ended."
)

Section = tuple[str, str, Markup]
"""Anchor, title in the contents, and the section itself."""


class Drawings(NamedTuple):
    """Charts of one section; ``zoomed`` where they share a time axis that a reader zooms."""

    anchor: str
    title: str
    charts: Sequence[Chart]
    zoomed: bool = False


def render(comparison: Comparison) -> str:
    """The page of two sides."""
    title = f"{comparison.reference.label} against {comparison.candidate.label}"
    facts = unlike(comparison)
    after = []
    if facts:
        listed = section("unlike", "Other facts that differ", fill("bullets.html", texts=facts))
        after.append(("unlike", "Other facts", listed))
    return sections_page(title, [_cards(comparison)], tables(comparison), drawings(comparison), after)


def drawings(comparison: Comparison) -> list[Drawings]:
    """What changed, and both sides over time, as far as there is something to draw."""
    over_time = charts_over_time(lines_over_time(comparison)) if comparison.basis == "runs" else []
    every = [
        Drawings("effects", "What changed", effect_charts(comparison)),
        Drawings("timeline", "Both sides over time", over_time, zoomed=True),
    ]
    return [one for one in every if one.charts]


def render_matrix(matrix: Matrix) -> str:
    """The page of many sides."""
    terms = Terms()
    charts = matrix_charts(matrix)
    drawn = _embedded(charts)
    found = [_table(made, terms) for made in matrix_tables(matrix)]
    if charts:
        found.append(_charts(Drawings("charts", "Throughput per core", charts), drawn))
    said = fill("facts.html", facts=[(pair.candidate, against(pair)) for pair in matrix.pairs])
    title = f"Against {matrix.reference}"
    found.append(("against", "Against the first", section("against", title, said)))
    return _page("Comparison", [], found, terms, drawn)


def sections_page(
    title: str,
    first: Sequence[Markup],
    found: Sequence[ComparisonTable],
    charts: Sequence[Drawings] = (),
    after: Sequence[Section] = (),
) -> str:
    """A page of what ``first`` says, charts, tables, and further sections."""
    terms = Terms()
    drawn = _embedded([chart for one in charts for chart in one.charts])
    sections = [*(_charts(one, drawn) for one in charts), *(_table(made, terms) for made in found), *after]
    return _page(title, first, sections, terms, drawn)


def _page(
    title: str, first: Sequence[Markup], found: Sequence[Section], terms: Terms, drawn: Embedded
) -> str:
    """The sections, the definitions of what they name, and the charts' data."""
    every = list(found)
    if terms.glossary():
        every.append(("definitions", "Definitions", definitions(terms)))
    body = Markup("\n").join([*first, *(content for _, _, content in every), drawn.data])
    contents = [(anchor, name) for anchor, name, _ in every]
    return str(page(title, body, drawn.scripts, sections=contents))


def _cards(comparison: Comparison) -> Markup:
    """The answer, what differs, and what stands in the way, on the first screen."""
    lines = head(comparison)
    texts = dict(lines)
    answers: list[str | Markup] = [text for name in ("result", "programs") if (text := texts.get(name))]
    cards = [Card("Result", *headline(comparison), answers)]
    if comparison.basis == "runs":
        said: list[str | Markup] = [f"limit: {texts['limit']}"]
        said += [f"links: {texts['links']}"] if "links" in texts else []
        place = _capital(comparison.named.place) if comparison.named else "No single place"
        differs = Card("What differs", place, "", [texts.get("differs", ""), *said])
        cards.append(
            differs if "differs" in texts else Card("What limited the runs", texts["limit"], "", said[1:])
        )
    if comparison.obstacles:
        doubts: list[str | Markup] = [
            f"{obstacle.severity}: {obstacle.sentence}" for obstacle in comparison.obstacles
        ]
        cards.append(Card("Before you believe it", f"{len(doubts)} to read", "warn", doubts))
    sides: list[Line] = [line for line in lines if line[0] in ("reference", "candidate")]
    return Markup("{}\n{}").format(
        fill("verdict.html", cards=cards, step="", command=""), fill("facts.html", facts=sides)
    )


def headline(comparison: Comparison) -> tuple[str, str]:
    """The answer and its tone; a program established slower stands in it whatever all jobs together say."""
    verdict = comparison.statement.verdict if comparison.statement else "not judged"
    programs = comparison.programs
    apart = {
        word: count
        for word, count in (
            ("slower", programs.slower if programs else 0),
            ("faster", programs.faster if programs else 0),
        )
        if count and word != verdict
    }
    listed = ", ".join(f"{counted_noun(count, 'program')} {word}" for word, count in apart.items())
    said = comparison.statement
    alike = said is not None and bool(said.alike)
    first = f"No change larger than {margin_of(said)}" if said and alike else ANSWERS[verdict]
    answer = f"{first}; {listed}" if listed else first
    if "slower" in apart:
        return answer, "warn" if verdict == "faster" else "bad"
    return answer, "good" if alike else TONES[verdict]


def _embedded(charts: Sequence[Chart]) -> Embedded:
    return embedded({chart.name: chart.figure for chart in charts if chart.figure is not None})


def _charts(found: Drawings, drawn: Embedded) -> Section:
    """Charts with their words; what they show stands in the tables, too."""
    zoomed = found.zoomed and any(chart.name in drawn.places for chart in found.charts)
    before = [paragraph(WHICH_RUNS), fill("zoom.html")] if zoomed else []
    content = section(
        found.anchor, found.title, *before, *(chart_of(chart, drawn.places) for chart in found.charts)
    )
    return found.anchor, found.title, content


def _table(found: ComparisonTable, terms: Terms) -> Section:
    """A table whose figures lead to their definitions."""
    title = _capital(found.title)
    heads = _linked([_capital(name) for name in found.head], found.head_figures, terms)
    firsts = _linked([row[0] for row in found.rows], found.row_figures, terms)
    rows = [(first, *row[1:]) for first, row in zip(firsts, found.rows, strict=True)]
    whole = table(_capital(found.note or title), heads, rows)
    return f"table-{found.name}", title, section(f"table-{found.name}", title, whole)


def _linked(labels: Sequence[str], names: Sequence[str], terms: Terms) -> list[Cell]:
    """Labels, as links where the figure of the summary that they name is known."""
    whole = [*names, *[""] * (len(labels) - len(names))]
    return [terms.term(label, name) if name else label for label, name in zip(labels, whole, strict=True)]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
