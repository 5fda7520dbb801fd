"""The answer of ``mawl size`` as text and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.formats.lines import one_line
from mawl.printable import printable
from mawl.reporters.columns import LEAST_WIDTH, stacked, wrapped
from mawl.reporters.markup import escaped, table
from mawl.units import counted_noun, format_change, format_percent, format_ratio, format_seconds
from mawl.whatif.size.records import SizeAnswer, SizedCandidate, SizedUpgrade
from mawl.whatif.text import LIMITS

ABSENT = "-"


def render(answer: SizeAnswer, width: int = LEAST_WIDTH) -> str:
    """The pick, the ranked candidates, what the next money should buy, and what it rests on."""
    parts = [[line for said in headline(answer) for line in wrapped(_clean(said), width, "  ")]]
    parts.append(
        stacked(
            [
                candidate_head(answer),
                *(list(map(_clean, candidate_cells(one, answer))) for one in answer.candidates),
            ],
            width,
        )
    )
    if answer.upgrades:
        rows = [list(map(_clean, upgrade_cells(one, answer))) for one in answer.upgrades]
        parts.append(
            [
                *wrapped(_clean(next_buy(answer)), width, "  "),
                *stacked([upgrade_head(answer), *rows], width),
            ]
        )
    parts.append([line for said in notes(answer) for line in wrapped(_clean(said), width, "  ")])
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def markdown(answer: SizeAnswer) -> str:
    """The same for a ticket."""
    lines = [*(escaped(said) for said in headline(answer)), ""]
    lines += table(
        candidate_head(answer),
        [[escaped(cell) for cell in candidate_cells(one, answer)] for one in answer.candidates],
    )
    if answer.upgrades:
        lines += ["", escaped(next_buy(answer)), ""]
        lines += table(
            upgrade_head(answer),
            [[escaped(cell) for cell in upgrade_cells(one, answer)] for one in answer.upgrades],
        )
    lines += ["", *(f"- {escaped(said)}" for said in notes(answer))]
    return "\n".join(lines) + "\n"


def headline(answer: SizeAnswer) -> list[str]:
    """The pick in a sentence; where nothing is known to carry, what is nearest to it."""
    asked = _asked(answer)
    found = _named(answer, answer.pick)
    likely = _named(answer, answer.forecast_pick)
    if found is not None:
        said = (
            f"Pick: {found.name} ({money(found.price, answer)}). It is the cheapest candidate that "
            f"{asked} with a probability of at least {format_percent(answer.asked_probability)}: "
            f"{_probability(found)}."
        )
    elif likely is not None:
        said = (
            f"No pick: no candidate {asked} with a known probability of at least "
            f"{format_percent(answer.asked_probability)}. By the forecast alone {likely.name} "
            f"({money(likely.price, answer)}) is the cheapest: {_figure(likely.figure, answer)} of "
            f"{_figure(answer.bound, answer)}."
        )
    else:
        said = f"No pick: by the forecast no candidate {asked}."
    lines = [said]
    safe = _named(answer, answer.safe_pick)
    if found is not None and safe is not found:
        percent = format_percent(answer.safe_probability)
        lines.append(
            f"No candidate carries with a probability of at least {percent}."
            if safe is None
            else f"With at least {percent} it is {safe.name} ({money(safe.price, answer)}): "
            f"{_probability(safe)}."
        )
    if answer.rule_pick is not None and answer.rule_pick != (answer.pick or answer.forecast_pick):
        lines.append(f"By the roofline, a simple rule, the cheapest is {answer.rule_pick}.")
    return lines


def next_buy(answer: SizeAnswer) -> str:
    """The upgrade with the most sessions for its price."""
    best = answer.upgrades[0]
    if not best.gained_sessions or best.gained_sessions < 0:
        return f"Next: no upgrade of the catalogue lets more sessions fit on {answer.upgraded}."
    return (
        f"Next: for {answer.upgraded} buy {best.name} ({money(best.price, answer)}): "
        f"{counted_noun(best.gained_sessions, 'more session')} fit by the forecast."
    )


def candidate_head(answer: SizeAnswer) -> list[str]:
    """The names of the columns of :func:`candidate_cells`."""
    figure = _word(answer)
    return ["candidate", "price", "carries", "probability", figure, "sessions that fit", "limit", "roofline"]


def upgrade_head(answer: SizeAnswer) -> list[str]:
    """The names of the columns of :func:`upgrade_cells`."""
    return ["upgrade", "price", "sessions gained", "per 1000 of price", _word(answer), "probability"]


def _word(answer: SizeAnswer) -> str:
    return "slowdown" if answer.bounded == "slowdown" else "elapsed"


def candidate_cells(one: SizedCandidate, answer: SizeAnswer) -> list[str]:
    """A row of the candidates' table."""
    return [
        one.name,
        money(one.price, answer, short=True),
        {True: "yes", False: "no", None: "not known"}[one.carries],
        ABSENT if one.probability is None else format_percent(one.probability),
        _figure(one.figure, answer),
        _fits(one),
        LIMITS.get(one.limit, one.limit),
        ABSENT if one.rule_figure is None else _figure(one.rule_figure, answer),
    ]


def upgrade_cells(one: SizedUpgrade, answer: SizeAnswer) -> list[str]:
    """A row of the upgrades' table."""
    return [
        one.name,
        money(one.price, answer, short=True),
        ABSENT if one.gained_sessions is None else str(one.gained_sessions),
        ABSENT
        if one.gained_sessions_per_price is None
        else format_ratio(1000.0 * one.gained_sessions_per_price),
        ABSENT if one.figure is None else _figure(one.figure, answer),
        ABSENT if one.probability is None else format_percent(one.probability),
    ]


def notes(answer: SizeAnswer) -> list[str]:
    """What the answer rests on."""
    measured = _figure(answer.measured, answer)
    word = "median slowdown" if answer.bounded == "slowdown" else "elapsed time"
    lines = [
        f"From run {answer.run_id} ({answer.workload}): {word} {measured} with "
        f"{counted_noun(answer.measured_sessions, 'session')} on a node; the bound is "
        f"{_figure(answer.bound, answer)}."
    ]
    if answer.bounded == "slowdown":
        lines.append(
            "Slowdown is real time in the mix over real time alone. The times alone stay those of the run, "
            "so a candidate with faster cores gains."
        )
    if answer.calibration_error_ratio is not None:
        lines.append(
            "The run itself, simulated on its own system: "
            f"{format_change(answer.calibration_error_ratio)} of its elapsed time."
        )
    lines.append(
        f"Sessions that fit are those of the forecast; safe are those with a probability of at least "
        f"{format_percent(answer.safe_probability)}."
    )
    lines.append(
        "Probability: of the forecasts that were compared with measured times, the part whose error would "
        "keep the bound here, k / (n + 1)."
    )
    lines += [f"Note: {remark}." for remark in answer.remarks]
    named: dict[str, list[str]] = {}
    for one in answer.candidates:
        for said in (*one.taken, *one.reasons):
            named.setdefault(said, []).append(one.name)
    every = len(answer.candidates)
    lines += [f"{_names(names, every)}: {said}." for said, names in named.items()]
    lines += [f"{one.name}: {one.reason}." for one in answer.upgrades if one.reason]
    return lines


def _names(names: Sequence[str], every: int) -> str:
    return "All candidates" if len(names) == every > 1 else ", ".join(names)


def money(price: float, answer: SizeAnswer, *, short: bool = False) -> str:
    """A price as the catalogue has it: ``1,200 EUR a month``; ``short``: without the period."""
    amount = f"{price:,.2f}".removesuffix(".00") if price < 1e12 else f"{price:g}"
    return " ".join(part for part in (amount, answer.currency, "" if short else answer.period) if part)


def _asked(answer: SizeAnswer) -> str:
    sessions = counted_noun(answer.sessions, "session")
    if answer.bounded == "slowdown":
        return f"carries {sessions} (median slowdown of at most {_figure(answer.bound, answer)})"
    return f"ends {sessions} within {_figure(answer.bound, answer)}"


def _probability(one: SizedCandidate) -> str:
    least = format_percent(one.probability or 0.0)
    return f"at least {least}, from {one.forecasts} checked forecasts ({one.error_basis})"


def _figure(value: float, answer: SizeAnswer) -> str:
    return format_ratio(value) if answer.bounded == "slowdown" else format_seconds(value)


def _fits(one: SizedCandidate) -> str:
    if one.fits is None:
        return ABSENT
    most = f"{'at least ' if one.more_may_fit else ''}{one.fits}"
    return most if one.fits_safe is None else f"{most} ({one.fits_safe} safe)"


def _named(answer: SizeAnswer, name: str | None) -> SizedCandidate | None:
    return next((one for one in answer.candidates if one.name == name), None)


def _clean(line: str) -> str:
    return printable(one_line(line))
