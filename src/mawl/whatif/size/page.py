"""The answer of ``mawl size`` as one HTML page: the pick, cards, price against sessions, and the tables."""

from __future__ import annotations

from mawl.printable import printable
from mawl.reporters.comparison.finding import Headline
from mawl.reporters.comparison.page import PagePart, found_page
from mawl.reporters.comparison.tables import ComparisonTable
from mawl.reporters.html.charts.prices import PricedSystem, price_chart
from mawl.reporters.html.sections.verdict import Card
from mawl.reporters.html.templating import fill
from mawl.units import counted_noun, format_percent
from mawl.whatif.size.records import SizeAnswer, SizedCandidate
from mawl.whatif.size.text import (
    candidate_cells,
    candidate_head,
    headline,
    money,
    next_buy,
    notes,
    upgrade_cells,
    upgrade_head,
)
from mawl.whatif.text import LIMITS


def render(answer: SizeAnswer) -> str:
    """The page; every text of the catalogue and of the run is escaped."""
    first, *more = headline(answer)
    facts = [
        f"run {answer.run_id}",
        answer.workload,
        f"{counted_noun(answer.sessions, 'session')} asked",
        counted_noun(len(answer.candidates), "candidate"),
    ]
    sized = [
        PricedSystem(
            printable(one.name), one.price, money(one.price, answer), one.fits, one.fits_safe, one.carries
        )
        for one in answer.candidates
        if one.fits is not None
    ]
    found = Headline(sign="undecided" if answer.pick is None else "measured", sentence=printable(first))
    return found_page(
        found,
        [printable(fact) for fact in facts],
        _cards(answer, more),
        price_chart(sized, answer.sessions, printable(answer.currency)),
        _parts(answer),
        tag=("no pick", "warn") if answer.pick is None else ("forecast", "good"),
    )


def _cards(answer: SizeAnswer, more: list[str]) -> list[Card]:
    shown = next(
        (one for one in answer.candidates if one.name == (answer.pick or answer.forecast_pick)), None
    )
    cards = [_pick(answer, shown, more)]
    if shown is not None:
        cards.append(
            Card(
                "What limits it?",
                printable(LIMITS.get(shown.limit, shown.limit)),
                "",
                [f"What most waiting is for with {counted_noun(answer.sessions, 'session')}."],
            )
        )
    if answer.upgrades:
        cards.append(
            Card(
                "What should the next money buy?",
                printable(answer.upgrades[0].name),
                "",
                [printable(next_buy(answer))],
            )
        )
    return cards


def _pick(answer: SizeAnswer, shown: SizedCandidate | None, more: list[str]) -> Card:
    known = shown is not None and shown.probability is not None
    return Card(
        "Which one?",
        "None" if shown is None else printable(shown.name),
        "good" if answer.pick else "warn",
        [printable(said) for said in more],
        format_percent(shown.probability or 0.0) if shown is not None and known else "",
        "least probability that it carries" if known else "",
    )


def _parts(answer: SizeAnswer) -> list[PagePart]:
    candidates = ComparisonTable(
        name="candidates",
        title="Candidates",
        head=tuple(candidate_head(answer)),
        rows=[tuple(map(printable, candidate_cells(one, answer))) for one in answer.candidates],
    )
    upgrades = ComparisonTable(
        name="upgrades",
        title="Upgrades",
        head=tuple(upgrade_head(answer)),
        rows=[tuple(map(printable, upgrade_cells(one, answer))) for one in answer.upgrades],
    )
    listed = fill("facts.html", facts=[("note", printable(said)) for said in notes(answer)])
    return [
        PagePart("ranking", "Candidates, the best first", "Candidates", tables=[candidates]),
        PagePart(
            "next", "What the next money should buy", "Next", tables=[upgrades] if upgrades.rows else []
        ),
        PagePart("rests", "What the answer rests on", "Rests on", [listed]),
    ]
