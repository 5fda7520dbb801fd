"""Qualified systems side by side as a document."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mawl.advice.rank import Ranked, Ranking
from mawl.base.units import counted_noun, format_joules, format_plain, format_ratio
from mawl.reports.document import TEXT, Document, Headline, Part, Sentences, Table
from mawl.reports.layout import ABSENT, by_reason
from mawl.reports.qualification import NO_MORE_SHOWN

if TYPE_CHECKING:
    from mawl.reports.html.charts.frame import Chart

ANSWERS = {"carried": "yes", "not carried": "no", "not known": "not known"}


def document(ranking: Ranking, *, compared: bool = False) -> Document:
    """The table, for each system what limits it, and what the order rests on.

    ``compared``: of two systems, what the second carries over what the first carries is the first sentence.
    """
    every = ranking.systems
    said = by_reason((system.name, line) for system in every for line in _sentences(system, ranking))
    rests = Sentences([*(f"{', '.join(names)}: {line}" for line, names in said.items()), *_about(ranking)])
    first, known = _finding(ranking)
    between = _between(ranking)
    if compared and between:
        first, known, between = between[0].removesuffix("."), True, []
    return Document(
        headline=Headline(sign="measured" if known else "undecided", sentence=first),
        tag=(_basis(ranking), "good") if known else ("no pick", "warn"),
        facts=[
            counted_noun(len(every), "system"),
            f"{ranking.workload} at scale {format_plain(ranking.scale)} of full",
            f"cache {ranking.cache}",
            f"bound {format_ratio(ranking.answer_bound)}",
        ],
        lead=lambda: _chart(ranking),
        parts=[
            Part([Sentences([f"{first}."])], formats=TEXT),
            Part([Sentences([*between, *_cheaper(ranking)])]),
            Part([_table(ranking)]),
            Part([rests]),
        ],
        folds=[
            Part(
                [Sentences([*between, *_cheaper(ranking)]), _table(ranking)],
                "systems",
                "Systems, in order",
                "Systems",
            ),
            Part([rests], "rests", "What the order rests on", "Rests on"),
        ],
    )


def _finding(ranking: Ranking) -> tuple[str, bool]:
    """The first sentence without a full stop, and whether it names a system."""
    if ranking.needed is None or (_by_place(ranking) and not ranking.needed_given):
        best = ranking.systems[0]
        first = [
            system.name
            for system in ranking.systems
            if (system.carries, system.place) == (best.carries, best.place) and best.place is not None
        ]
        found = f"First of {len(ranking.systems)} systems: {' and '.join(first)}"
        return (found, True) if first else ("No system has a place", False)
    needed = counted_noun(ranking.needed, "session")
    sure = [system for system in ranking.systems if system.carries == "yes"]
    if not sure:
        likely = [system.name for system in ranking.systems if system.carries == "probably"]
        if likely:
            return f"No system surely carries {needed}; {' and '.join(likely)} probably would", False
        return f"No system is known to carry {needed}", False
    picked = next((system for system in sure if system.name == ranking.pick), None)
    if picked is None or picked.price_per_hour is None:
        names = " and ".join(system.name for system in sure)
        return f"{names} {'carries' if len(sure) == 1 else 'carry'} {needed}", True
    also = "the only system" if len(sure) == 1 else f"the cheapest of {len(sure)}"
    price = _money(picked.price_per_hour, ranking)
    return f"Take {picked.name}: {also} that surely carries {needed}, for {price} an hour", True


def _basis(ranking: Ranking) -> str:
    """Whether runs or forecasts gave the sessions that fit on the system that the first sentence names."""
    picked = [one for one in ranking.systems if one.name == ranking.pick] or ranking.systems[:1]
    measured = all(
        one.fits_basis == "measured"
        or (one.answer == "carried" and ranking.needed is not None and one.sessions >= ranking.needed)
        for one in picked
    )
    return "measured" if measured else "forecast"


def _between(ranking: Ranking) -> list[str]:
    """Of two systems, the sessions that fit on the second over those that fit on the first."""
    ratio = ranking.session_ratio
    if ratio is None:
        return []
    if ratio.ratio is None:
        return [f"How {ratio.system} compares with {ratio.reference} is not known: {ratio.reason}."]
    times = _range(ratio.ratio, ratio.low, ratio.high, format_ratio)
    sure = (ratio.low or 0.0) > 1.0 or (ratio.high is not None and ratio.high < 1.0)
    open_ended = "" if sure else "; which of them carries more is open"
    return [f"{ratio.system} carries {times} times the sessions of {ratio.reference}{open_ended}."]


def _by_place(ranking: Ranking) -> bool:
    """Whether places order the systems: prices do where there are some, if the needed number is known."""
    return ranking.needed is None or all(system.price_per_hour is None for system in ranking.systems)


def _cheaper(ranking: Ranking) -> list[str]:
    """Cheaper systems that may carry what is needed, and what would decide."""
    picked = next((system for system in ranking.systems if system.name == ranking.pick), None)
    bound = None if picked is None else picked.price_per_hour
    lines = []
    for system in ranking.systems:
        price = system.price_per_hour
        maybe = system.carries in ("probably", "not known", "probably not")
        if maybe and price is not None and (bound is None or price < bound):
            nodes = "" if system.nodes == 1 else f" on {system.nodes} nodes"
            fits = "how many fit is not known" if system.fits is None else f"{fits_range(system)} fit"
            lines.append(
                f"{system.name} costs {_money(price, ranking)} an hour; whether it carries "
                f"{counted_noun(ranking.needed or 0, 'session')}{nodes} is open ({fits}): "
                f"mawl qualify --sessions {-(-(ranking.needed or 0) // system.nodes)} on it decides."
            )
    return lines


def _table(ranking: Ranking) -> Table:
    needed, every = ranking.needed, ranking.systems
    priced = any(system.price_per_hour is not None for system in every)
    carried = [] if needed is None else [(f"carries {needed}", lambda system: system.carries or ABSENT)]
    worth = any(system.cost is not None for system in every)
    money = [ranking.currency] if ranking.currency else []
    of_jobs = " ".join([*money, "per 1000 jobs"])
    columns: list[tuple[str, Callable[[Ranked], str]]] = [
        ("system", lambda system: system.name),
        *([("place", lambda system: _place(system, ranking))] if _by_place(ranking) else []),
        *carried,
        *([(" ".join([*money, "an hour"]), _price_per_hour)] if priced else []),
        *([(" ".join([*money, "a session and month"]), price_per_session)] if priced else []),
        *([("answer", lambda system: ANSWERS[system.answer])] if needed is None else []),
        ("fits", fits_range),
        ("slowdown", slowdown_range),
        ("delivered cores", _delivered),
        *([(of_jobs, _cost)] if worth else []),
        ("limit", lambda system: system.limit or ABSENT),
    ]
    return Table(
        name="systems",
        title="systems",
        head=tuple(name for name, _ in columns),
        rows=[tuple(cell(system) for _, cell in columns) for system in every],
        spare=("limit", "delivered cores", "slowdown", *([] if _by_place(ranking) else [of_jobs])),
    )


def _place(system: Ranked, ranking: Ranking) -> str:
    if system.place is None:
        return ABSENT
    tied = sum(other.place == system.place for other in ranking.systems) > 1
    return f"{system.place}{' (tie)' if tied else ''}"


def fits_range(system: Ranked) -> str:
    """The sessions that fit, with their range."""
    if system.is_at_least:
        return f"at least {system.fits}"
    if system.fits is None and system.fits_high is not None:
        return f"fewer than {system.fits_high + 1}"
    return _range(system.fits, system.fits_low, system.fits_high, lambda number: f"{number:.0f}")


def slowdown_range(system: Ranked) -> str:
    """W with its range."""
    return _range(system.slowdown, system.slowdown_low, system.slowdown_high, format_ratio)


def _delivered(system: Ranked) -> str:
    low, high = system.delivered_cores_low, system.delivered_cores_high
    return _range(system.delivered_cores, low, high, format_plain)


def _price_per_hour(system: Ranked) -> str:
    return ABSENT if system.price_per_hour is None else _price(system.price_per_hour)


def price_per_session(system: Ranked) -> str:
    """The price of a session and month, at most that where more sessions may fit."""
    price = system.price_per_session_month
    if price is None:
        return ABSENT
    return f"at most {_price(price)}" if system.is_at_least else _price(price)


def _cost(system: Ranked) -> str:
    return _range(system.cost, system.cost_low, system.cost_high, _price)


def _range(value: float | None, low: float | None, high: float | None, form: Callable[[float], str]) -> str:
    if value is None:
        return ABSENT
    return f"{form(value)}" if low is None or high is None else f"{form(value)} ({form(low)} to {form(high)})"


def _money(value: float, ranking: Ranking) -> str:
    return f"{_price(value)} {ranking.currency}".strip()


def _price(value: float) -> str:
    """Two decimals, and three significant digits of less than 1: ``0.0592``."""
    if value >= 1.0 or value == round(value, 2):
        return f"{value:,.2f}"
    return format_plain(value)


def _sentences(system: Ranked, ranking: Ranking) -> list[str]:
    basis = "measured" if system.fits_basis == "measured" else "forecast by simulation"
    limit = system.limit or f"not known ({system.missing.get('limit', 'no reason is known')})"
    cheap = "; no other is surely cheaper per job" if system.cheapest else ""
    fits = f"the number that fits is {basis}" if system.fits is not None else system.missing["fits"]
    if system.is_at_least:
        fits = f"the number is {basis}; {NO_MORE_SHOWN}"
    energy = ""
    if system.joules_per_job is not None:
        energy = f"; {format_joules(system.joules_per_job)} per job ({system.energy_scope})"
    jobs = "" if system.jobs_per_hour is None else f"; {system.jobs_per_hour:,.0f} jobs per hour"
    if system.cost is not None and not _by_place(ranking):
        jobs += f"; {_money(system.cost, ranking)} per 1000 jobs"
    behind = f"place {system.place}: {'; '.join(system.behind)}"
    return [
        f"{system.machine}; limit: {limit}; {fits}{jobs}{energy}{cheap}",
        *([behind] if system.behind and _by_place(ranking) else []),
    ]


def _about(ranking: Ranking) -> list[str]:
    load = (
        f"Bound {format_ratio(ranking.answer_bound)}; {ranking.workload} at scale "
        f"{format_plain(ranking.scale)} of full, cache {ranking.cache}. "
    )
    order = (
        "Places are by the sessions that fit; where ranges overlap, by delivered cores, if the systems "
        "ran as many sessions. A tie is a place that systems share: no figure says which is better."
        if _by_place(ranking)
        else "Of systems that carry as surely the cheaper comes first. A month has 730 hours."
    )
    if ranking.needed is not None:
        whose = "asked with --sessions" if ranking.needed_given else "what each system was asked"
        order = (
            f"Needed are {counted_noun(ranking.needed, 'session')}, {whose}; systems that carry them come "
            "first. Yes and no are sure: mawl ran as many, or the whole range of the sessions that fit is on "
            f"that side. {order}"
        )
    return [load + order, *(f"Note: {remark}" for remark in ranking.remarks)]


def _chart(ranking: Ranking) -> Chart:
    from mawl.reports.html.charts.answers import RankedBar, ranked_chart

    bars = [
        RankedBar(
            system.name,
            system.fits or 0,
            system.fits_low,
            system.fits_high,
            fits_range(system),
            _tone(system),
        )
        for system in ranking.systems
        if system.fits is not None
    ]
    return ranked_chart(
        bars, ranking.needed, [system.name for system in ranking.systems if system.fits is None]
    )


def _tone(system: Ranked) -> str:
    return {"yes": "good", "no": "bad"}.get(system.carries or "", "warn" if system.carries else "accent")
