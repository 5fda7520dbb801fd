"""The answer of ``mawl size`` as one HTML page: the pick, cards, price against sessions, and the tables."""

from __future__ import annotations

from mawl.base.printable import printable
from mawl.base.units import counted_noun, format_percent
from mawl.reports.comparison.html import PagePart, found_page
from mawl.reports.comparison.sentences import Headline, capital
from mawl.reports.comparison.tables import ComparisonTable
from mawl.reports.html.charts.prices import PricedSystem, price_chart
from mawl.reports.html.sections.verdict import Card
from mawl.reports.html.templating import fill
from mawl.whatif.size.records import SizeAnswer, SizedCandidate
from mawl.whatif.size.text import (
    alternatives,
    candidate_cells,
    candidate_head,
    exact_percent,
    explained,
    finding,
    gained_sessions,
    least,
    limit_said,
    money,
    next_buy,
    notes,
    upgrade_cells,
    upgrade_head,
)


def render(answer: SizeAnswer) -> str:
    """The page; every text of the catalogue and of the run is escaped."""
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
    found = Headline(
        sign="undecided" if answer.pick is None else "measured", sentence=printable(finding(answer))
    )
    return found_page(
        found,
        [printable(fact) for fact in facts],
        _cards(answer),
        price_chart(
            sized, answer.sessions, printable(answer.currency), exact_percent(answer.safe_probability)
        ),
        _parts(answer),
        tag=("no pick", "warn") if answer.pick is None else ("forecast", "good"),
    )


def _cards(answer: SizeAnswer) -> list[Card]:
    shown = next(
        (one for one in answer.candidates if one.name == (answer.pick or answer.forecast_pick)), None
    )
    cards = [_pick(answer, shown)]
    if shown is not None:
        share = shown.limit_ratio
        cards.append(
            Card(
                "What limits it?",
                capital(printable(limit_said(shown))),
                "",
                [],
                "" if share is None else format_percent(share),
                "" if share is None else f"of the jobs' time with {counted_noun(answer.sessions, 'session')}",
                ("ranking", "Every candidate"),
            )
        )
    if answer.upgrades:
        best, gained = answer.upgrades[0], gained_sessions(answer)
        open_ended = "at least " if best.more_may_fit else ""
        without = (
            "Not known" if any(one.more_may_fit for one in answer.upgrades) else "Nothing of the catalogue"
        )
        cards.append(
            Card(
                "What to add next, to carry more?",
                printable(best.name) if gained else without,
                "",
                [] if gained else [printable(next_buy(answer))],
                f"{open_ended}{counted_noun(gained, 'more session')}" if gained else "",
                printable(f"for {money(best.price, answer)}, by the forecast") if gained else "",
                ("next", "Every upgrade"),
            )
        )
    return cards


def _pick(answer: SizeAnswer, shown: SizedCandidate | None) -> Card:
    known = shown is not None and shown.probability is not None
    sessions = counted_noun(answer.sessions, "session")
    likely = f"likely to carry {sessions}" if answer.bounded == "slowdown" else "likely to end in time"
    return Card(
        "Which one?",
        "None" if shown is None else printable(shown.name),
        "good" if answer.pick else "warn",
        [printable(said) for said in alternatives(answer)],
        least(shown) if shown is not None and known else "",
        likely if known else "",
        ("rests", "What the answer rests on"),
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
    listed = fill(
        "facts.html", facts=[("note", printable(said)) for said in (*explained(answer), *notes(answer))]
    )
    return [
        PagePart("ranking", "Candidates, the best first", "Candidates", tables=[candidates]),
        PagePart(
            "next", "What to add next, to carry more", "Next", tables=[upgrades] if upgrades.rows else []
        ),
        PagePart("rests", "What the answer rests on", "Rests on", [listed]),
    ]
