"""The answer of ``mawl size`` as a document: the pick, the ranked candidates, and the best upgrade."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from mawl.base.units import counted_noun, format_change, format_percent, format_ratio, format_seconds
from mawl.reports.document import Block, Card, Document, Headline, Part, Sentences, Table, capital, filled
from mawl.reports.layout import ABSENT, Form, by_reason, figure
from mawl.whatif.size.question import PrintedSize, SizeAnswer, SizedCandidate, SizedUpgrade
from mawl.whatif.text import LIMITS, OTHER_LIMITS

if TYPE_CHECKING:
    from mawl.reports.html.charts.frame import Chart


def document(answer: SizeAnswer) -> Document:
    """The pick, the ranked candidates, the best upgrade, and what the answer rests on."""
    word = _word(answer)
    candidates = Table(
        name="candidates",
        title="candidates",
        head=("candidate", "price", "carries", "probability", word, "sessions that fit", "limit", "roofline"),
        rows=[_candidate(candidate, answer) for candidate in answer.candidates],
    )
    upgrades = Table(
        name="upgrades",
        title="upgrades",
        head=("upgrade", "price", "sessions gained", "per 1000 of price", word, "probability"),
        rows=[_upgrade(upgrade, answer) for upgrade in answer.upgrades],
    )
    pick, what = finding(answer), explained(answer)
    more: list[Block] = [Sentences([next_buy(answer)]), upgrades] if answer.upgrades else []
    return Document(
        headline=Headline(sign="undecided" if answer.pick is None else "measured", sentence=pick),
        tag=("no pick", "warn") if answer.pick is None else ("forecast", "good"),
        facts=[
            f"run {answer.run_id}",
            answer.workload,
            f"{counted_noun(answer.sessions, 'session')} asked",
            counted_noun(len(answer.candidates), "candidate"),
        ],
        cards=_cards(answer),
        lead=lambda: _chart(answer),
        parts=[
            Part([Sentences([f"{pick}.", *what, *alternatives(answer)])]),
            Part([candidates]),
            Part(more),
            Part([Sentences(notes(answer))]),
        ],
        folds=[
            Part([candidates], "ranking", "Candidates, the best first", "Candidates"),
            Part(filled(upgrades), "next", "What to add next, to carry more", "Next"),
            Part([Sentences([*what, *notes(answer)])], "rests", "What the answer rests on", "Rests on"),
        ],
    )


def finding(answer: SizeAnswer) -> str:
    """What to buy, for how much and how likely it is enough, in one sentence without a full stop."""
    found = _named(answer, answer.pick)
    if found is not None:
        return (
            f"Buy {found.name}: it {_asked(answer)} for {money(found.price, answer)} "
            f"(probability {least(found)})"
        )
    if answer.forecast_pick is not None:
        enough = exact_percent(answer.asked_probability)
        return (
            f"No candidate is known to {_asked(answer, plain=True)} with a probability of at least {enough}"
        )
    return f"Buy none of these: by the forecast no candidate {_asked(answer)}"


def printed(answer: SizeAnswer) -> PrintedSize:
    """The answer with its sentence, for JSON."""
    return PrintedSize(**msgspec.structs.asdict(answer), finding=finding(answer))


def explained(answer: SizeAnswer) -> list[str]:
    """What carrying means, and what the choice rests on."""
    found, enough = _named(answer, answer.pick), exact_percent(answer.asked_probability)
    lines = []
    if answer.bounded == "slowdown":
        lines.append(
            f"Carried means: jobs take at most {_figure(answer.bound, answer)} times their reference time."
        )
    if found is not None:
        lines.append(f"No cheaper candidate is known to do so with a probability of at least {enough}.")
        lines.append(
            f"The probability comes from {counted_noun(found.forecasts or 0, 'forecast')} that "
            f"{'was' if found.forecasts == 1 else 'were'} compared with measured times ({_basis(found)})."
        )
        return lines
    likely = _named(answer, answer.forecast_pick)
    if likely is not None:
        lines.append(
            f"By the forecast alone {likely.name} ({money(likely.price, answer)}) is the cheapest: "
            f"{_word(answer)} {_figure(likely.figure, answer)}, at most "
            f"{_figure(answer.bound, answer)} allowed."
        )
    return lines


def alternatives(answer: SizeAnswer) -> list[str]:
    """The pick of a more careful buyer, and that of a simple rule, if they are other candidates."""
    lines = []
    found, safe = _named(answer, answer.pick), _named(answer, answer.safe_pick)
    if found is not None and safe is not found:
        percent = exact_percent(answer.safe_probability)
        lines.append(
            f"No candidate reaches a probability of {percent}."
            if safe is None
            else f"For a probability of at least {percent} buy {safe.name} "
            f"({money(safe.price, answer)}): {least(safe)}."
        )
    if answer.rule_pick is not None and answer.rule_pick != (answer.pick or answer.forecast_pick):
        lines.append(f"A simple rule, the roofline, would buy {answer.rule_pick}.")
    return lines


def next_buy(answer: SizeAnswer) -> str:
    """The upgrade with the most sessions for its price."""
    best, gained = answer.upgrades[0], gained_sessions(answer)
    if not gained:
        if any(upgrade.more_may_fit for upgrade in answer.upgrades):
            return (
                f"What an upgrade brings is not known: on {answer.upgraded} even the search without an "
                "upgrade ended at the most sessions that mawl tries."
            )
        return f"No upgrade of the catalogue lets more sessions fit on {answer.upgraded}."
    open_ended = "at least " if best.more_may_fit else ""
    return (
        f"To carry more, add {best.name} to {answer.upgraded} ({money(best.price, answer)}): "
        f"by the forecast {open_ended}{counted_noun(gained, 'more session')} "
        f"{'fits' if gained == 1 else 'fit'}."
    )


def gained_sessions(answer: SizeAnswer) -> int:
    """How many more sessions fit with the first upgrade; 0 if no more fit."""
    return max(answer.upgrades[0].gained_sessions or 0, 0)


def _word(answer: SizeAnswer) -> str:
    return "slowdown" if answer.bounded == "slowdown" else "elapsed"


def _candidate(candidate: SizedCandidate, answer: SizeAnswer) -> tuple[str, ...]:
    """A row of the candidates' table."""
    return (
        candidate.name,
        money(candidate.price, answer, short=True),
        {True: "yes", False: "no", None: "not known"}[candidate.carries],
        figure(candidate.probability, _lower),
        _figure(candidate.figure, answer),
        _fits(candidate),
        limit_text(candidate),
        figure(candidate.rule_figure, _form(answer)),
    )


def _upgrade(upgrade: SizedUpgrade, answer: SizeAnswer) -> tuple[str, ...]:
    """A row of the upgrades' table."""
    return (
        upgrade.name,
        money(upgrade.price, answer, short=True),
        ABSENT
        if upgrade.gained_sessions is None
        else f"{'at least ' if upgrade.more_may_fit else ''}{upgrade.gained_sessions}",
        figure(upgrade.gained_sessions_per_price, lambda gained: format_ratio(1000.0 * gained)),
        figure(upgrade.figure, _form(answer)),
        figure(upgrade.probability, _lower),
    )


def notes(answer: SizeAnswer) -> list[str]:
    """What the answer rests on."""
    measured = _figure(answer.measured, answer)
    word = "slowdown" if answer.bounded == "slowdown" else "elapsed time"
    lines = [
        f"From run {answer.run_id} ({answer.workload}): {word} {measured} with "
        f"{counted_noun(answer.measured_sessions, 'session')} on a node; the bound is "
        f"{_figure(answer.bound, answer)}."
    ]
    if answer.bounded == "slowdown":
        lines.append(
            "Slowdown is the real time of the jobs over mawl's reference time, which is the same for every "
            "system."
        )
    if answer.calibration_error_ratio is not None:
        lines.append(
            "The run itself, simulated on its own system: "
            f"{format_change(answer.calibration_error_ratio)} of its elapsed time."
        )
    lines.append(
        "Sessions that fit: the most that keep the bound by the forecast; safe: the most that keep it with a "
        f"probability of at least {exact_percent(answer.safe_probability)}."
    )
    lines.append(
        "Probability: k / (n + 1). n forecasts were compared with measured times; k of them would keep the "
        "bound here with the error that they had."
    )
    lines += [f"Note: {remark}." for remark in answer.remarks]
    named = by_reason(
        (candidate.name, remark)
        for candidate in answer.candidates
        for remark in (*candidate.taken, *candidate.reasons)
    )
    every = len(answer.candidates)
    lines += [f"{_names(names, every)}: {said}." for said, names in named.items()]
    lines += [f"{upgrade.name}: {upgrade.reason}." for upgrade in answer.upgrades if upgrade.reason]
    return lines


def _names(names: Sequence[str], every: int) -> str:
    return "All candidates" if len(names) == every > 1 else ", ".join(names)


def money(price: float, answer: SizeAnswer, *, short: bool = False) -> str:
    """A price as the catalogue has it: ``1,200 EUR a month``; ``short``: without the period."""
    amount = f"{price:,.2f}".removesuffix(".00") if price < 1e12 else f"{price:,.0f}"
    return " ".join(part for part in (amount, answer.currency, "" if short else answer.period) if part)


def limit_text(candidate: SizedCandidate) -> str:
    """What limits a candidate, in words."""
    return OTHER_LIMITS.get(candidate.limit) or LIMITS.get(candidate.limit, f"waiting for {candidate.limit}")


def least(candidate: SizedCandidate) -> str:
    """The lower bound of a probability: ``at least 87.5 %``."""
    return f"at least {_lower(candidate.probability or 0.0)}"


def _basis(candidate: SizedCandidate) -> str:
    """The systems of the checked forecasts; lab beds and drawn beds are test beds."""
    return "test beds" if candidate.error_basis == "lab beds" else str(candidate.error_basis)


def exact_percent(probability: float) -> str:
    """A probability that was asked for, as a percentage: ``80 %``, ``99.9 %``."""
    return f"{100.0 * probability:.6g} %"


def _lower(probability: float) -> str:
    """A lower bound as a percentage, rounded down to a tenth: ``87.5 %``, ``50 %``."""
    tenths = math.floor(1000.0 * probability + 1e-9)
    return f"{tenths / 10:.1f}".removesuffix(".0") + " %"


def _asked(answer: SizeAnswer, *, plain: bool = False) -> str:
    """``carries 20 sessions``, or ``ends 20 sessions within 5 h 00 min``; ``plain``: without the verb's s."""
    sessions = counted_noun(answer.sessions, "session")
    if answer.bounded == "slowdown":
        return f"{'carry' if plain else 'carries'} {sessions}"
    return f"{'end' if plain else 'ends'} {sessions} within {_figure(answer.bound, answer)}"


def _figure(value: float, answer: SizeAnswer) -> str:
    return _form(answer)(value)


def _form(answer: SizeAnswer) -> Form:
    return format_ratio if answer.bounded == "slowdown" else format_seconds


def _fits(candidate: SizedCandidate) -> str:
    if candidate.fits is None:
        return ABSENT
    most = f"{'at least ' if candidate.more_may_fit else ''}{candidate.fits}"
    return most if candidate.fits_safe is None else f"{most} ({candidate.fits_safe} safe)"


def _named(answer: SizeAnswer, name: str | None) -> SizedCandidate | None:
    return next((candidate for candidate in answer.candidates if candidate.name == name), None)


def _cards(answer: SizeAnswer) -> list[Card]:
    shown = next(
        (
            candidate
            for candidate in answer.candidates
            if candidate.name == (answer.pick or answer.forecast_pick)
        ),
        None,
    )
    cards = [_pick(answer, shown)]
    if shown is not None:
        share = shown.limit_ratio
        cards.append(
            Card(
                "What limits it?",
                capital(limit_text(shown)),
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
            "Not known"
            if any(upgrade.more_may_fit for upgrade in answer.upgrades)
            else "Nothing of the catalogue"
        )
        cards.append(
            Card(
                "What to add next, to carry more?",
                best.name if gained else without,
                "",
                [] if gained else [next_buy(answer)],
                f"{open_ended}{counted_noun(gained, 'more session')}" if gained else "",
                f"for {money(best.price, answer)}, by the forecast" if gained else "",
                ("next", "Every upgrade"),
            )
        )
    return cards


def _pick(answer: SizeAnswer, shown: SizedCandidate | None) -> Card:
    known = answer.pick is not None and shown is not None and shown.probability is not None
    sessions = counted_noun(answer.sessions, "session")
    likely = f"likely to carry {sessions}" if answer.bounded == "slowdown" else "likely to end in time"
    picked = shown.name if answer.pick and shown is not None else "None is known to be enough"
    by_forecast = [] if answer.pick or shown is None else explained(answer)[-1:]
    return Card(
        "Which one?",
        picked if answer.pick or shown is not None else "None",
        "good" if answer.pick else "warn",
        [*by_forecast, *alternatives(answer)],
        least(shown) if shown is not None and known else "",
        likely if known else "",
        ("rests", "What the answer rests on"),
    )


def _chart(answer: SizeAnswer) -> Chart:
    from mawl.reports.html.charts.answers import PricedSystem, price_chart

    sized = [
        PricedSystem(
            candidate.name,
            candidate.price,
            money(candidate.price, answer),
            candidate.fits,
            candidate.fits_safe,
            candidate.carries,
        )
        for candidate in answer.candidates
        if candidate.fits is not None
    ]
    unknown = [candidate.name for candidate in answer.candidates if candidate.fits is None]
    return price_chart(
        sized, answer.sessions, answer.currency, exact_percent(answer.safe_probability), unknown
    )
