"""Qualified systems side by side: which carries what is needed, for how much; what fits, what limits; places.

docs/design/qualify-answer.md says how a place is found and what carrying means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Literal

import msgspec

from mawl.advice.limit.verdict import limit_words
from mawl.base.errors import UsageError
from mawl.base.units import counted_noun
from mawl.figures.comparison.comparability import match_of_answers
from mawl.records.model.qualification import (
    AnswerWord,
    Qualification,
    QualificationAnswer,
    QualificationChoice,
)

THOUSAND = 1000.0
FIGURES = (
    *("slowdown", "slowdown_low", "slowdown_high"),
    *("delivered_cores", "delivered_cores_low", "delivered_cores_high"),
    *("jobs_per_hour", "joules_per_job", "energy_scope"),
)
"""Fields of ``Ranked`` that are figures of the answer."""
NO_PRICE = "no price was given for this system"
NOT_ASKED = "the systems were asked for different numbers of sessions, and --sessions gives no number"

HOURS_A_MONTH = 730.0
"""8,760 hours of a year over 12."""

Carries = Literal["yes", "probably", "not known", "probably not", "no"]
"""Whether a system carries the needed sessions: ``yes`` and ``no`` are sure (the whole range of the sessions
that fit is on one side, or mawl ran as many), ``probably`` and ``probably not`` say on which side the number
is that fits while its range reaches to the other."""
CARRIES: tuple[Carries, ...] = ("yes", "probably", "not known", "probably not", "no")


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    """One system.  Sessions are those of all its ``nodes`` together.

    ``place`` is one more than the systems that are surely better; ``behind`` says which these are, and by
    what.  ``carries`` is about the needed sessions.  ``price_per_session_month`` is the price of a month over
    the sessions that fit; its ends are of the range of these.  ``fits_low`` without ``fits_high`` means at
    least, ``fits_high`` alone at most.  What is None has its reason in ``missing``.
    """

    name: str
    place: int | None
    behind: list[str]
    carries: Carries | None
    machine: str
    nodes: int
    answer: AnswerWord
    sessions: int
    slowdown: float | None
    slowdown_low: float | None
    slowdown_high: float | None
    delivered_cores: float | None
    delivered_cores_low: float | None
    delivered_cores_high: float | None
    fits: int | None
    fits_low: int | None
    fits_high: int | None
    fits_basis: str
    limit: str | None
    jobs_per_hour: float | None
    joules_per_job: float | None
    energy_scope: str | None
    price_per_hour: float | None
    price_per_session_month: float | None
    price_per_session_month_low: float | None
    price_per_session_month_high: float | None
    cost: float | None
    cost_low: float | None
    cost_high: float | None
    cheapest: bool | None
    missing: dict[str, str]

    @property
    def is_at_least(self) -> bool:
        """Whether so many sessions fit, and no run shows that more are too many."""
        return self.fits is not None and self.fits_high is None and self.fits_low == self.fits

    @property
    def sure_range(self) -> tuple[int | None, int | None]:
        """The fewest and the most sessions that surely fit; None without a bound.

        A system that answers YES carries what it was asked, and one that answers NO does not.
        """
        low, high = self.fits_low, self.fits_high
        if self.answer == "carried":
            low = max(low or 0, self.sessions)
        if self.answer == "not carried":
            fewer = self.sessions - self.nodes
            high = fewer if high is None else min(high, fewer)
        return low, high


class SessionRatio(msgspec.Struct, frozen=True, kw_only=True):
    """Sessions that fit on ``system`` over those that fit on ``reference``; None with ``reason`` if unknown.

    ``low`` and ``high`` are the least and the greatest quotient of two numbers of the ranges.
    """

    system: str
    reference: str
    ratio: float | None
    low: float | None
    high: float | None
    reason: str | None


class Ranking(msgspec.Struct, frozen=True, kw_only=True):
    """Systems that carry the ``needed`` sessions first, the cheapest of them at the top; without a number by
    place, of one place the cheapest first.

    ``needed`` are the sessions that were given, or those that all systems were asked for
    (``needed_given`` false).  ``pick`` is the cheapest system that surely carries them; None without prices.
    Costs are of a thousand jobs.  ``session_ratio`` is that of the second of two systems to the first.
    """

    currency: str
    needed: int | None
    needed_given: bool
    pick: str | None
    session_ratio: SessionRatio | None
    answer_bound: float
    workload: str
    scale: float
    cache: str
    systems: list[Ranked]
    remarks: list[str]


def rank(
    records: Mapping[str, Qualification],
    prices: Mapping[str, float],
    currency: str = "",
    sessions: int | None = None,
) -> Ranking:
    """The ranking of answered qualifications by name; ``sessions`` are what the buyer needs, on all nodes.

    Raises ``UsageError`` where one has no answer, or they must not be compared.
    """
    answered = {name: _answered(name, record) for name, record in records.items()}
    _check_alike(records)
    first = next(iter(records))
    unknown = sorted(set(prices) - set(records))
    if unknown:
        raise UsageError(
            f"a price is given for {unknown[0]!r}, which is not ranked",
            cure=f"name one of {', '.join(records)}",
        )
    every = [ranked(name, records[name], answer, prices.get(name)) for name, answer in answered.items()]
    choice = _choice(first, records[first])
    asked = {system.sessions for system in every}
    needed = sessions or (asked.pop() if len(asked) == 1 else None)
    systems = [
        _with_own_reasons(
            msgspec.structs.replace(
                system, cheapest=_cheapest(system, every), carries=_carries(system, needed)
            )
        )
        for system in _placed(every)
    ]
    systems.sort(key=lambda system: _order(system, priced=bool(prices)))
    carrying = [
        system.name for system in systems if system.carries == "yes" and system.price_per_hour is not None
    ]
    return Ranking(
        currency=currency,
        needed=needed,
        needed_given=sessions is not None,
        pick=carrying[0] if carrying else None,
        session_ratio=_session_ratio(every[1], every[0]) if len(every) == 2 else None,
        answer_bound=records[first].asked.answer_bound,
        workload=records[first].asked.workload,
        scale=choice.scale,
        cache=choice.cache,
        systems=systems,
        remarks=[
            *_remarks(records),
            *([] if needed else _too_much_asked(systems)),
            *_unpriced(records, prices),
        ],
    )


def _answered(name: str, record: Qualification) -> QualificationAnswer:
    if record.answer is None:
        raise UsageError(
            "has no answer yet",
            where=name,
            cure="finish it with mawl qualify --continue on the machine where it began, or leave it out",
        )
    outside, reference = record.answer.outside, record.answer.reference
    if not outside and reference is not None and reference.file is not None:
        outside = [f"reference times of {reference.file}"]
    if outside:
        raise UsageError(
            f"must not be ranked: it was measured with {', '.join(outside)}",
            where=name,
            cure="qualify that system without that",
        )
    return record.answer


def _choice(name: str, record: Qualification) -> QualificationChoice:
    if record.choice is None:
        raise UsageError("does not say what it measured", where=name, cure="qualify that system again")
    return record.choice


def _check_alike(records: Mapping[str, Qualification]) -> None:
    facts = {name: match_of_answers(record, _choice(name, record)) for name, record in records.items()}
    first, *others = facts
    for name in others:
        for what, value in facts[first].items():
            if facts[name][what] != value:
                sessions = _choice(first, records[first]).sessions
                option = {"scale": f"--scale {value}", "mix": f"--sessions {sessions}"}.get(what)
                same = f": mawl qualify {option}" if option else ""
                raise UsageError(
                    "these must not be ranked together",
                    why=f"the {what} of {first} is {value}, that of {name} is {facts[name][what]}",
                    cure=f"qualify both in the same way{same}",
                )


def ranked(name: str, record: Qualification, answer: QualificationAnswer, price: float | None) -> Ranked:
    """A system by itself, without a place; ``price`` is that of an hour."""
    figures, fits = answer.figures, answer.fits
    nodes = max(len(record.nodes), 1)
    hourly = figures.jobs_per_hour
    cost = None if price is None or not hourly else price / hourly * THOUSAND
    ends: list[float | None] = [None, None]
    if cost is not None and figures.slowdown and figures.slowdown_low and figures.slowdown_high:
        ends = [cost * end / figures.slowdown for end in (figures.slowdown_low, figures.slowdown_high)]
    most, low, high = (_of_all_nodes(nodes, number) for number in (fits.sessions, fits.low, fits.high))
    monthly = None if price is None else price * HOURS_A_MONTH
    shares = [None if monthly is None or not number else monthly / number for number in (most, high, low)]
    missing = {
        "fits": fits.reason or "the number of sessions that fits is not known",
        "fits_low": fits.reason or "the number has no interval",
        "fits_high": fits.reason or "the number has no interval",
        "place": "the number of sessions that fits is not known",
        "limit": answer.missing.get("limit", "it is not known"),
        **{name: answer.missing.get(f"figures.{name}", "it is not known") for name in FIGURES},
        "carries": NOT_ASKED,
        "price_per_hour": NO_PRICE,
        **dict.fromkeys(
            ("price_per_session_month", "price_per_session_month_low", "price_per_session_month_high"),
            NO_PRICE if price is None else "the number of sessions that fits, or its range, is not known",
        ),
        **dict.fromkeys(
            ("cost", "cost_low", "cost_high", "cheapest"),
            NO_PRICE if price is None else "how many jobs an hour finishes, or their spread, is not known",
        ),
    }
    return Ranked(
        name=name,
        place=None,
        behind=[],
        carries=None,
        machine=_nodes_words(record) or _machine_words(record, answer),
        nodes=nodes,
        answer=answer.carried.answer,
        sessions=nodes * answer.sessions,
        **{name: getattr(figures, name) for name in FIGURES},
        fits=most,
        fits_low=low,
        fits_high=high,
        fits_basis=fits.basis,
        limit=None if answer.limit is None else limit_words(answer.limit),
        price_per_hour=price,
        price_per_session_month=shares[0],
        price_per_session_month_low=shares[1],
        price_per_session_month_high=shares[2],
        cost=cost,
        cost_low=ends[0],
        cost_high=ends[1],
        cheapest=None,
        missing=missing,
    )


def _machine_words(record: Qualification, answer: QualificationAnswer) -> str:
    machine = record.machine
    basis = None if answer.system is None else answer.system.core_basis
    cores = "cores not known" if machine.cores is None else counted_noun(machine.cores, basis or "core")
    return f"{machine.name or 'unnamed'}: {machine.cpu_model or 'unknown processor'}, {cores}"


def _nodes_words(record: Qualification) -> str | None:
    if not record.nodes:
        return None
    first = record.nodes[0]
    kind = f"{first.cpu_model or 'unknown processor'}, {first.cores} cores"
    alike = all((node.cpu_model, node.cores) == (first.cpu_model, first.cores) for node in record.nodes)
    return f"{len(record.nodes)} nodes, {'each' if alike else 'the first'} with {kind}"


def _of_all_nodes(nodes: int, sessions: int | None) -> int | None:
    return None if sessions is None else nodes * sessions


def _with_own_reasons(one: Ranked) -> Ranked:
    kept = {name: why for name, why in one.missing.items() if getattr(one, name) is None}
    return msgspec.structs.replace(one, missing=kept)


def _placed(every: Sequence[Ranked]) -> list[Ranked]:
    """The systems with their places.

    Overlapping ranges are not transitive.  So systems make a group if surely more sessions fit on the same
    others: all of a group overlap, and of two groups the one with fewer such others comes first.  In a group
    delivered cores decide in the same way, if all of it ran as many sessions.
    """
    known = [one for one in every if one.fits is not None or one.fits_high is not None]
    more = {one.name: [other.name for other in known if _fits_more(other, one)] for one in known}
    faster: dict[str, list[str]] = {}
    for one in known:
        group = [other for other in known if more[other.name] == more[one.name]]
        alike = len({other.sessions for other in group}) == 1
        faster[one.name] = [other.name for other in group if alike and _delivers_more(other, one)]
    keys = {name: (len(more[name]), len(faster[name])) for name in more}
    ordered = sorted(keys.values())
    return [
        msgspec.structs.replace(
            one,
            place=ordered.index(keys[one.name]) + 1,
            behind=[
                f"{words} {', '.join(names[one.name])}"
                for words, names in (
                    ("surely more sessions fit on", more),
                    ("as many sessions fit and surely more cores are delivered on", faster),
                )
                if names[one.name]
            ],
        )
        if one.name in keys
        else one
        for one in every
    ]


def _fits_more(other: Ranked, one: Ranked) -> bool:
    """Whether surely more sessions fit; a number without a range is not surely more than anything."""
    low, high = other.sure_range[0], one.sure_range[1]
    return low is not None and high is not None and low > high


def _carries(system: Ranked, needed: int | None) -> Carries | None:
    if needed is None:
        return None
    low, high = system.sure_range
    if low is not None and low >= needed:
        return "yes"
    if high is not None and high < needed:
        return "no"
    if system.fits is None:
        return "not known"
    return "probably" if system.fits >= needed else "probably not"


def _delivers_more(other: Ranked, one: Ranked) -> bool:
    low, high = other.delivered_cores_low, one.delivered_cores_high
    return low is not None and high is not None and low > high


def _session_ratio(system: Ranked, reference: Ranked) -> SessionRatio:
    (low, high), (reference_low, reference_high) = system.sure_range, reference.sure_range
    known = [one.fits for one in (system, reference) if one.fits]
    unknown = [one.name for one in (system, reference) if not one.fits]
    return SessionRatio(
        system=system.name,
        reference=reference.name,
        ratio=known[0] / known[1] if len(known) == 2 else None,
        low=low / reference_high if low is not None and reference_high else None,
        high=high / reference_low if high is not None and reference_low else None,
        reason=f"how many sessions fit on {' and '.join(unknown)} is not known" if unknown else None,
    )


def _order(system: Ranked, *, priced: bool) -> tuple[int, bool, float, int, float, float, str]:
    """By what they carry and cost; without a number of sessions, or without prices, by place."""
    cost = inf if system.cost is None else system.cost
    price = inf if system.price_per_hour is None else system.price_per_hour
    return (
        0 if system.carries is None else CARRIES.index(system.carries),
        system.place is None,
        price if priced and system.carries is not None else 0.0,
        system.place or 0,
        cost,
        -(system.fits or 0),
        system.name,
    )


def _too_much_asked(systems: Sequence[Ranked]) -> Iterator[str]:
    """Where a system that does not carry what it was asked comes before one that carries less."""
    for one in systems:
        after = (other for other in systems if one.place and other.place and other.place > one.place)
        carries = next((other for other in after if other.answer == "carried"), None)
        if one.answer == "not carried" and carries is not None:
            yield (
                f"{one.name} answers NO for {counted_noun(one.sessions, 'session')} and {carries.name} YES "
                f"for {carries.sessions}; the place of {one.name} is by the sessions that fit"
            )


def _cheapest(one: Ranked, every: Sequence[Ranked]) -> bool | None:
    if one.cost_low is None:
        return None
    return not any(other.cost_high is not None and other.cost_high < one.cost_low for other in every)


def _unpriced(records: Mapping[str, Qualification], prices: Mapping[str, float]) -> list[str]:
    names = [name for name in records if name not in prices] if prices else []
    return [f"no price was given for {', '.join(names)}"] if names else []


def _remarks(records: Mapping[str, Qualification]) -> list[str]:
    versions = sorted({record.mawl_version for record in records.values()})
    found = [f"measured with mawl {' and '.join(versions)}"] if len(versions) > 1 else []
    scopes = {
        name: scope
        for name, record in records.items()
        if record.answer is not None and (scope := record.answer.figures.energy_scope) is not None
    }
    if len(set(scopes.values())) > 1:
        of = ", ".join(f"{name}: {scope}" for name, scope in scopes.items())
        found.append(f"energy per job must not be compared: its scope differs ({of})")
    short = [name for name, record in records.items() if record.answer and record.answer.preliminary]
    return [*found, *([f"preliminary: {', '.join(short)}"] if short else [])]
