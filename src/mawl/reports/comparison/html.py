"""A comparison as one HTML page: finding, cards and a dot for each run, the rest folded.

Reports of campaigns share the layout of the page (``found_page``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from markupsafe import Markup

from mawl.base.units import counted_noun, format_change
from mawl.figures.comparison.compare import ComparedPair, Comparison, Matrix, SideFacts
from mawl.figures.comparison.sides import Reason
from mawl.reports.comparison.charts import effect_charts, matrix_charts, pair_charts, runs_chart
from mawl.reports.comparison.over_time import charts_over_time, lines_over_time
from mawl.reports.comparison.papers import paper_tables
from mawl.reports.comparison.sentences import (
    ANSWERS,
    Headline,
    Sign,
    against,
    capital,
    changed_on_purpose,
    checks,
    counts,
    finding,
    head,
    listed,
    sentence_of,
    span_of,
    unlike,
    verdict,
    why,
    why_lines,
)
from mawl.reports.comparison.tables import (
    ComparisonTable,
    figures,
    matrix_tables,
    places,
    programs,
    roles,
    settings,
    shape,
)
from mawl.reports.html.charts.frame import Chart
from mawl.reports.html.embed import Embedded, embedded
from mawl.reports.html.figures import Cell, DefinedWords, Terms, beside, paragraph, part, table
from mawl.reports.html.page import page
from mawl.reports.html.sections.storage import chart_of
from mawl.reports.html.sections.system import definitions
from mawl.reports.html.sections.verdict import CARRIED, STATUS, STATUSES, Card, cards_and_step
from mawl.reports.html.templating import fill

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
    body += [_part_html(one, terms, drawn) for one in shown]
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


def _part_html(one: PagePart, terms: Terms, drawn: Embedded) -> Markup:
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


WHICH_RUNS = (
    "Of each side the run of median elapsed time is drawn in full colour, its other runs thin. "
    "Dashed upright lines: where the active phase of those two ended."
)
MOST_CARDS = 6
FAILED = "Checks that failed"

Counts = Sequence[tuple[str, int]]
"""What runs were judged, with how many had each."""


def render(comparison: Comparison) -> str:
    """The page of two sides."""
    return found_page(
        finding(comparison), facts(comparison), cards(comparison), lead(comparison), parts(comparison)
    )


def lead(comparison: Comparison) -> Chart | None:
    """The chart of the first screen: a dot for each run; of a paper's results their pairs of bars."""
    return runs_chart(comparison) or next(iter(pair_charts(comparison)), None)


def facts(comparison: Comparison) -> list[str]:
    """The line under the title: both sides, what was changed, and what they ran on."""
    sides = {"reference": comparison.reference, "candidate": comparison.candidate}
    named = [f'{name} "{side.label}" ({_runs(side)})' for name, side in sides.items()]
    changed = [f"{kind} {change}" for kind, change in changed_on_purpose(comparison)]
    return [*named, *changed, *dict.fromkeys(side.title for side in sides.values())]


def cards(comparison: Comparison) -> list[Card]:
    """Better or worse; of runs whether the load is carried, what differs, and whether it can be believed."""
    texts = dict(head(comparison))
    found = [_card_better(comparison, texts.get("programs", ""))]
    if comparison.basis != "runs":
        return found
    limits = why(comparison.reasons, "limit", comparison.runs)
    said: list[str | Markup] = [f"limit: {texts['limit']}" + (f" ({limits})" if limits else "")]
    said += [f"links: {texts['links']}"] if "links" in texts else []
    place = "No single part" if comparison.places else "Not known"
    place = capital(comparison.named.place) if comparison.named else place
    differs = Card("What differs?", place, "", [texts.get("differs", ""), *said], more=("effects", "Where"))
    if "differs" not in texts:
        lines = [f"{capital(limits)}."] if limits else []
        differs = Card("What limits the runs?", capital(texts["limit"]), "", [*lines, *said[1:]])
    return [
        *found,
        carried(comparison.reference.answers, comparison.candidate.answers, reasons=comparison.reasons),
        differs,
        _card_believed(comparison),
    ]


def carried(*sides: Counts, reasons: Sequence[Reason]) -> Card:
    """Whether the load is carried, of one side or two; the last gives the tone, ``reasons`` say why."""
    words = [[CARRIED[word][0] for word, _ in side] for side in sides]
    said = dict.fromkeys(" or ".join(word) or "Not known" for word in words)
    standing = CARRIED[sides[-1][0][0]][1] if len(sides[-1]) == 1 else "warn"
    alike = all(len(side) == 1 for side in sides)
    runs = sum(number for side in sides for _, number in side)
    reason = why(reasons, "answer", runs)
    lines = [f"{capital(reason)}." if reason else f"In {counted_noun(runs, 'run')}."]
    if not alike:
        lines = [f"{capital(' -> '.join(map(counts, sides)))}.", *(lines if reason else [])]
    return Card("Is the load carried?", " -> ".join(said), standing, lines)


def believed(
    statuses: Iterable[str],
    reasons: Iterable[Reason],
    runs: int,
    passed: tuple[str, str],
    lines: Sequence[str],
    more: str,
) -> Card:
    """Whether ``runs`` runs can be trusted: the worst status of any answers, and the check that fails most.

    ``passed`` are figure and words if no check failed.
    """
    known = set(statuses)
    worst = next((word for word in ("invalid", "preliminary", "publishable") if word in known), "preliminary")
    answer, standing = STATUSES[worst]
    figure, measures = passed
    failed = checks(one for one in reasons if worst == one.severity)
    if failed:
        figure, measures = f"{failed[0].runs} of {runs}", f"runs failed the check {failed[0].rule}"
        lines = [f"{capital(sentence_of(failed[0]))}.", *lines]
    return Card(
        "Can it be believed?",
        DefinedWords(answer, STATUS),
        standing,
        list(lines),
        figure,
        measures,
        more=("trust", more),
    )


def parts(comparison: Comparison, runs: Sequence[ComparisonTable] = ()) -> list[PagePart]:
    """What lies folded below the first screen, in the order in which people ask; ``runs`` of a campaign."""
    first = lead(comparison)
    over_time = charts_over_time(lines_over_time(comparison)) if comparison.basis == "runs" else []
    zoom = [paragraph(WHICH_RUNS), fill("zoom.html")] if any(one.figure for one in over_time) else []
    return [
        PagePart(
            "effects",
            "What changed: programs, and where the time went",
            "What changed",
            charts=effect_charts(comparison),
            tables=_filled(programs(comparison), places(comparison)),
        ),
        PagePart("trust", "Trust: runs, and what else differs", "Trust", _doubts(comparison), tables=runs),
        PagePart("settings", "Settings that changed", "Settings", tables=_filled(settings(comparison))),
        PagePart(
            "summary",
            "Tables and bars as in the papers",
            "Tables as in the papers",
            charts=[one for one in pair_charts(comparison) if first is None or one.name != first.name],
            aside=paper_tables(comparison),
        ),
        PagePart("figures", "All figures", "Figures", tables=_filled(figures(comparison))),
        PagePart("shape", "Per core and in shape", "Shape", tables=_filled(shape(comparison))),
        PagePart("roles", "Latency by role", "Roles", tables=_filled(roles(comparison))),
        PagePart("timeline", "Both sides over time", "Timeline", zoom, over_time),
    ]


def render_matrix(matrix: Matrix) -> str:
    """The page of many sides."""
    charts = matrix_charts(matrix)
    listed = fill("facts.html", facts=[(pair.candidate, against(pair)) for pair in matrix.pairs])
    systems, throughput = matrix_tables(matrix)
    return found_page(
        _finding_of_many(matrix),
        [counted_noun(len(matrix.rows), "side")],
        [_card_of_pair(pair) for pair in matrix.pairs[:MOST_CARDS]],
        charts[0] if charts else None,
        [
            PagePart("against", f"Each side against {matrix.reference}", "Against the first", [listed]),
            PagePart("throughput", "Time and throughput", "Throughput", tables=[throughput]),
            PagePart("systems", "The sides", "Sides", tables=[systems]),
        ],
    )


def _card_better(comparison: Comparison, programs: str) -> Card:
    sign, said = verdict(comparison)
    some = comparison.statement
    if some is None or some.change_ratio is None:
        return Card("Is the candidate better?", capital(sign), TONES[sign], [f"{capital(said)}."])
    return Card(
        "Is the candidate better?",
        capital(sign),
        TONES[sign],
        [f"{capital(programs)}."] if programs else [],
        format_change(some.change_ratio),
        f"real time per job ({span_of(some)})",
        more=("effects", "Program by program"),
    )


def _card_believed(comparison: Comparison) -> Card:
    some = comparison.statement
    doubts = [f"{capital(one.sentence)}." for one in comparison.obstacles]
    card = believed(
        comparison.statuses,
        comparison.reasons,
        comparison.runs,
        (" against ".join(str(len(side.run_ids)) for side in comparison.sides), "runs"),
        doubts[:1],
        f"{len(doubts)} to read" if doubts else "The checks and the runs",
    )
    few = some is not None and some.more_runs_needed > 0
    return card._replace(answer="Too few runs", standing="warn") if few else card


def _doubts(comparison: Comparison) -> list[Markup]:
    """Who the sides are, what the cards say, doubts, failed checks, and the facts that differ."""
    shown = (*ANSWERS.values(), "reference", "candidate", "basis", "differs", "limit", "links")
    lines = dict(head(comparison))
    facts = [(name, lines[name]) for name in shown if name in lines]
    found = [fill("facts.html", facts=[*facts, *why_lines(comparison.reasons, comparison.runs)])]
    doubts = [f"{one.severity}: {one.sentence}" for one in comparison.obstacles]
    parts = {
        "Before you believe it": doubts,
        FAILED: listed(comparison.reasons, comparison.runs),
        "Other facts that differ": unlike(comparison),
    }
    for title, texts in parts.items():
        if texts:
            found += [Markup("<h3>{}</h3>").format(title), fill("bullets.html", texts=texts)]
    return found


def _finding_of_many(matrix: Matrix) -> Headline:
    """How many sides are better, worse and so on; one sign where all have it."""
    signs = Counter(_sign(pair) for pair in matrix.pairs)
    listed = ", ".join(f"{count} {sign}" for sign, count in signs.items())
    sign: Sign = next(iter(signs)) if len(signs) == 1 else "mixed"
    said = f"{capital(sign)}: {counted_noun(len(matrix.pairs), 'side')} against {matrix.reference}"
    return Headline(sign=sign, sentence=said if len(signs) == 1 else f"{said}, {listed}")


def _sign(pair: ComparedPair) -> Sign:
    return "undecided" if pair.comparison is None else verdict(pair.comparison)[0]


def _card_of_pair(pair: ComparedPair) -> Card:
    sign = _sign(pair)
    said = verdict(pair.comparison)[1] if pair.comparison is not None else pair.reason or "not compared"
    lines = [f"{capital(said)}."]
    return Card(pair.candidate, capital(sign), TONES[sign], lines, more=("against", "What it rests on"))


def _runs(side: SideFacts) -> str:
    return counted_noun(len(side.run_ids), "run") if side.run_ids else side.kind


def _filled(*tables: ComparisonTable) -> list[ComparisonTable]:
    return [table for table in tables if table.rows]
