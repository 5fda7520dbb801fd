"""The answer of ``mawl size`` as text and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from mawl.base.printable import printable
from mawl.base.units import counted_noun, format_change, format_ratio, format_seconds
from mawl.importers.formats.text import one_line
from mawl.reports.layout import ABSENT, LEAST_WIDTH, Form, escaped, figure, stacked, table, wrapped
from mawl.whatif.size.records import PrintedSize, SizeAnswer, SizedCandidate, SizedUpgrade
from mawl.whatif.text import LIMITS

OTHER_LIMITS = {
    "none": "nothing, jobs mostly compute",
    "mixed": "several resources",
    "memory": "too little memory",
}


def render(answer: SizeAnswer, width: int = LEAST_WIDTH) -> str:
    """The pick, the ranked candidates, the best upgrade, and what the answer rests on."""
    first = [f"{finding(answer)}.", *explained(answer), *alternatives(answer)]
    parts = [[line for said in first for line in wrapped(_clean(said), width, "  ")]]
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
    lines = [f"**{escaped(finding(answer))}.**", ""]
    lines += [*(escaped(said) for said in (*explained(answer), *alternatives(answer))), ""]
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
        if any(one.more_may_fit for one in answer.upgrades):
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


def candidate_head(answer: SizeAnswer) -> list[str]:
    """The names of the columns of ``candidate_cells``."""
    word = _word(answer)
    return ["candidate", "price", "carries", "probability", word, "sessions that fit", "limit", "roofline"]


def upgrade_head(answer: SizeAnswer) -> list[str]:
    """The names of the columns of ``upgrade_cells``."""
    return ["upgrade", "price", "sessions gained", "per 1000 of price", _word(answer), "probability"]


def _word(answer: SizeAnswer) -> str:
    return "slowdown" if answer.bounded == "slowdown" else "elapsed"


def candidate_cells(one: SizedCandidate, answer: SizeAnswer) -> list[str]:
    """A row of the candidates' table."""
    return [
        one.name,
        money(one.price, answer, short=True),
        {True: "yes", False: "no", None: "not known"}[one.carries],
        figure(one.probability, _lower),
        _figure(one.figure, answer),
        _fits(one),
        limit_said(one),
        figure(one.rule_figure, _form(answer)),
    ]


def upgrade_cells(one: SizedUpgrade, answer: SizeAnswer) -> list[str]:
    """A row of the upgrades' table."""
    return [
        one.name,
        money(one.price, answer, short=True),
        ABSENT
        if one.gained_sessions is None
        else f"{'at least ' if one.more_may_fit else ''}{one.gained_sessions}",
        figure(one.gained_sessions_per_price, lambda gained: format_ratio(1000.0 * gained)),
        figure(one.figure, _form(answer)),
        figure(one.probability, _lower),
    ]


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


def limit_said(one: SizedCandidate) -> str:
    """What limits a candidate, in words."""
    return OTHER_LIMITS.get(one.limit) or LIMITS.get(one.limit, f"waiting for {one.limit}")


def least(one: SizedCandidate) -> str:
    """The lower bound of a probability: ``at least 87.5 %``."""
    return f"at least {_lower(one.probability or 0.0)}"


def _basis(one: SizedCandidate) -> str:
    """The systems of the checked forecasts; lab beds and drawn beds are test beds."""
    return "test beds" if one.error_basis == "lab beds" else str(one.error_basis)


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


def _fits(one: SizedCandidate) -> str:
    if one.fits is None:
        return ABSENT
    most = f"{'at least ' if one.more_may_fit else ''}{one.fits}"
    return most if one.fits_safe is None else f"{most} ({one.fits_safe} safe)"


def _named(answer: SizeAnswer, name: str | None) -> SizedCandidate | None:
    return next((one for one in answer.candidates if one.name == name), None)


def _clean(line: str) -> str:
    return printable(one_line(line))
