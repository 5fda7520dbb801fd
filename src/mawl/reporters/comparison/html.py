"""A comparison as one HTML page: the statement first, both timelines over each other, every table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup, escape

from mawl.analysis.comparison.compare import Comparison, Matrix
from mawl.reporters.comparison.charts import comparison_charts, matrix_charts
from mawl.reporters.comparison.sentences import Line, against, head, unlike
from mawl.reporters.comparison.tables import Table, matrix_tables, tables
from mawl.reporters.html.embed import Embedded, embedded
from mawl.reporters.html.page import page

CAPTIONS = {
    "application": "What the programs asked for, a line a run. Vertical lines: where the active phase ended.",
    "device": "What reached the devices, on the same time axis.",
    "programs": "Real time per job against the reference, with the 95 % interval of each program by itself.",
    "places": "Where the time of all jobs went.",
    "per-core": "Throughput at the device; unlike bases (physical core, vCPU) do not compare.",
}
TITLES = {
    "application": "Throughput, application",
    "device": "Throughput, device",
    "programs": "Programs by effect",
    "places": "Time of all jobs",
    "per-core": "Throughput per core",
}
TONES = {"slower": "bad", "faster": "good", "no difference": "good", "not judged": "warn"}
ANSWERS = {
    "slower": "The candidate is slower",
    "faster": "The candidate is faster",
    "no difference": "No difference was seen",
    "not judged": "Shown, not judged",
}


def render(comparison: Comparison) -> str:
    """The page of two sides."""
    drawn = embedded(comparison_charts(comparison))
    parts = [_cards(comparison), _figures(drawn), *(_table(table) for table in tables(comparison))]
    facts = unlike(comparison)
    if facts:
        items = Markup("").join(Markup("<li>{}</li>").format(fact) for fact in facts)
        parts.append(_section("unlike", "Other facts that differ", Markup("<ul>{}</ul>").format(items)))
    sections = [(table.name, _capital(table.title)) for table in tables(comparison)]
    title = f"{comparison.reference.label} against {comparison.candidate.label}"
    return _page(title, parts, drawn, [("charts", "Charts"), *sections] if drawn.places else sections)


def render_matrix(matrix: Matrix) -> str:
    """The page of many sides."""
    drawn = embedded(matrix_charts(matrix))
    said = _facts([(pair.candidate, against(pair)) for pair in matrix.pairs])
    listed = _section("against", f"Against {matrix.reference}", said)
    return _page("Comparison", [*map(_table, matrix_tables(matrix)), _figures(drawn), listed], drawn, [])


def _page(title: str, parts: Sequence[Markup], drawn: Embedded, sections: Sequence[tuple[str, str]]) -> str:
    body = Markup("\n").join([*parts, drawn.data])
    return str(page(title, body, drawn.scripts, sections=sections))


def _cards(comparison: Comparison) -> Markup:
    """The answer, what differs, and what stands in the way, on the first screen."""
    verdict = comparison.statement.verdict if comparison.statement else "not judged"
    lines = head(comparison)
    texts = dict(lines)
    cards = [_card(TONES[verdict], "Result", ANSWERS[verdict], [texts["result"], texts.get("programs", "")])]
    if comparison.basis == "runs":
        place = comparison.named.place if comparison.named else "No single place"
        cards.append(_card("", "What differs", place, [texts["differs"], f"limit: {texts['limit']}"]))
    if comparison.obstacles:
        said = [f"{obstacle.severity}: {obstacle.sentence}" for obstacle in comparison.obstacles]
        cards.append(_card("warn", "Before you believe it", f"{len(said)} to read", said))
    sides = _facts([line for line in lines if line[0] in ("reference", "candidate")])
    return Markup('<div class="cards">{}</div>{}').format(Markup("").join(cards), sides)


def _card(tone: str, title: str, answer: str, texts: Sequence[str]) -> Markup:
    paragraphs = Markup("").join(Markup("<p>{}</p>").format(text) for text in texts if text)
    return Markup('<section class="card {}"><h2>{}</h2><p class="answer">{}</p>{}</section>').format(
        tone, title, _capital(answer), paragraphs
    )


def _facts(lines: Sequence[Line]) -> Markup:
    pairs = Markup("").join(Markup("<dt>{}</dt><dd>{}</dd>").format(name, text) for name, text in lines)
    return Markup('<dl class="facts">{}</dl>').format(pairs)


def _figures(drawn: Embedded) -> Markup:
    """Every chart with its title and caption; what they show stands in the tables, too."""
    made = [_figure(name, drawn.places) for name in drawn.places]
    if not made:
        return Markup("")
    return _section("charts", "Charts", Markup("").join(made))


def _figure(name: str, places: Mapping[str, Markup]) -> Markup:
    return Markup(
        '<figure role="group" aria-label="{}"><h3>{}</h3><figcaption>{}</figcaption>{}</figure>'
    ).format(TITLES[name], TITLES[name], CAPTIONS[name], places[name])


def _table(table: Table) -> Markup:
    heads = Markup("").join(Markup('<th scope="col">{}</th>').format(_capital(name)) for name in table.head)
    rows = Markup("").join(
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            row[0], Markup("").join(Markup("<td>{}</td>").format(cell) for cell in row[1:])
        )
        for row in table.rows
    )
    note = Markup('<p class="quiet">{}</p>').format(table.note) if table.note else ""
    whole = Markup(
        '<div class="scroll" tabindex="0" role="region" aria-label="{}"><table><thead><tr>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>{}"
    ).format(_capital(table.title), heads, rows, note)
    return _section(table.name, _capital(table.title), whole)


def _section(anchor: str, title: str, content: Markup) -> Markup:
    return Markup('<section id="{}"><h2>{}</h2>{}</section>').format(anchor, title, escape(content))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
