"""Qualified systems side by side: what fits, what limits, what a thousand jobs cost; places and ties.

docs/design/qualify-answer.md says how a place is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf

import msgspec

from mawl.advice.limit.verdict import limit_words
from mawl.base.errors import UsageError
from mawl.base.units import counted_noun, format_ratio
from mawl.plan.mix import mix_range
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


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    """One system.  Sessions are those of all its ``nodes`` together.

    ``place`` counts the systems before it, and one; ``behind`` says behind which systems it surely is, and by
    what.  ``fits_low`` without ``fits_high`` means at least, ``fits_high`` alone at most.  What is None has
    its reason in ``missing``.
    """

    name: str
    place: int | None
    behind: list[str]
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
    cost: float | None
    cost_low: float | None
    cost_high: float | None
    cheapest: bool | None
    missing: dict[str, str]

    @property
    def is_at_least(self) -> bool:
        """Whether so many sessions fit, and no run shows that more are too many."""
        return self.fits is not None and self.fits_high is None and self.fits_low == self.fits


class Ranking(msgspec.Struct, frozen=True, kw_only=True):
    """Systems by place; of one place the cheapest first.  Costs are of a thousand jobs."""

    currency: str
    answer_bound: float
    workload: str
    scale: float
    cache: str
    systems: list[Ranked]
    remarks: list[str]


def rank(records: Mapping[str, Qualification], prices: Mapping[str, float], currency: str = "") -> Ranking:
    """The ranking of answered qualifications by name.

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
    found = [_ranked(name, records[name], answer, prices.get(name)) for name, answer in answered.items()]
    choice = _choice(first, records[first])
    systems = [
        _with_own_reasons(msgspec.structs.replace(one, cheapest=_cheapest(one, found)))
        for one in _placed(found)
    ]
    systems.sort(key=_order)
    return Ranking(
        currency=currency,
        answer_bound=records[first].asked.answer_bound,
        workload=records[first].asked.workload,
        scale=choice.scale,
        cache=choice.cache,
        systems=systems,
        remarks=[*_remarks(records), *_too_much_asked(systems), *_unpriced(records, prices)],
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


def _compared_facts(name: str, record: Qualification) -> dict[str, str]:
    choice = _choice(name, record)
    mix = mix_range(choice.sessions)
    return {
        "workload": record.asked.workload,
        "scale": f"{choice.scale:g}",
        "cache mode": choice.cache,
        "bound": format_ratio(record.asked.answer_bound),
        "version of the load": f"{record.load_version}",
        "reference": _reference_words(record),
        "mix": f"that of {mix.fewest} to {mix.most} sessions",
    }


def _reference_words(record: Qualification) -> str:
    found = None if record.answer is None else record.answer.reference
    return "none" if found is None else f"version {found.version}"


def _check_alike(records: Mapping[str, Qualification]) -> None:
    facts = {name: _compared_facts(name, record) for name, record in records.items()}
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


def _ranked(name: str, record: Qualification, answer: QualificationAnswer, price: float | None) -> Ranked:
    figures, fits = answer.figures, answer.fits
    nodes = max(len(record.nodes), 1)
    hourly = figures.jobs_per_hour
    cost = None if price is None or not hourly else price / hourly * THOUSAND
    ends: list[float | None] = [None, None]
    if cost is not None and figures.slowdown and figures.slowdown_low and figures.slowdown_high:
        ends = [cost * end / figures.slowdown for end in (figures.slowdown_low, figures.slowdown_high)]
    missing = {
        "fits": fits.reason or "the number of sessions that fits is not known",
        "fits_low": fits.reason or "the number has no interval",
        "fits_high": fits.reason or "the number has no interval",
        "place": "the number of sessions that fits is not known",
        "limit": answer.missing.get("limit", "it is not known"),
        **{name: answer.missing.get(f"figures.{name}", "it is not known") for name in FIGURES},
        "price_per_hour": NO_PRICE,
        **dict.fromkeys(
            ("cost", "cost_low", "cost_high", "cheapest"),
            NO_PRICE if price is None else "how many jobs an hour finishes, or their spread, is not known",
        ),
    }
    return Ranked(
        name=name,
        place=None,
        behind=[],
        machine=_nodes_words(record) or _machine_words(record, answer),
        nodes=nodes,
        answer=answer.carried.answer,
        sessions=nodes * answer.sessions,
        **{name: getattr(figures, name) for name in FIGURES},
        fits=_of_all_nodes(nodes, fits.sessions),
        fits_low=_of_all_nodes(nodes, fits.low),
        fits_high=_of_all_nodes(nodes, fits.high),
        fits_basis=fits.basis,
        limit=None if answer.limit is None else limit_words(answer.limit),
        price_per_hour=price,
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
    """Whether surely more sessions fit; a number without a range is not surely more than anything.

    A system that answers YES carries what it was asked, and one that answers NO does not.
    """
    low, high = other.fits_low, one.fits_high
    if other.answer == "carried":
        low = max(low or 0, other.sessions)
    if one.answer == "not carried":
        fewer = one.sessions - one.nodes
        high = fewer if high is None else min(high, fewer)
    return low is not None and high is not None and low > high


def _delivers_more(other: Ranked, one: Ranked) -> bool:
    low, high = other.delivered_cores_low, one.delivered_cores_high
    return low is not None and high is not None and low > high


def _order(one: Ranked) -> tuple[bool, int, float, float, str]:
    cost = inf if one.cost is None else one.cost
    return one.place is None, one.place or 0, cost, -(one.fits or 0), one.name


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
