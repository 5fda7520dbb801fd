"""Qualified systems side by side as a document."""

from __future__ import annotations

from collections.abc import Callable

from mawl.advice.rank import Ranked, Ranking
from mawl.base.units import format_joules, format_plain, format_ratio
from mawl.reports.document import Document, Headline, Sentences, Table, each
from mawl.reports.layout import ABSENT
from mawl.reports.qualification_content import NO_MORE_SHOWN


def document(found: Ranking) -> Document:
    """The table, for each system what limits it, and what the places rest on."""
    priced = (
        [f"{found.currency} per 1000 jobs".strip()]
        if any(one.cost is not None for one in found.systems)
        else []
    )
    systems = Table(
        name="systems",
        title="systems",
        head=("system", "place", "answer", "fits", "slowdown", "delivered cores", *priced, "limit"),
        rows=[_cells(one, found, priced=bool(priced)) for one in found.systems],
        spare=("limit",),
    )
    sentences = [f"{one.name}: {sentence}" for one in found.systems for sentence in _sentences(one)]
    first = [one.name for one in found.systems if one.place == 1]
    best = f"First of {len(found.systems)} systems: {' and '.join(first)}"
    return Document(
        headline=Headline(
            sign="measured" if first else "undecided", sentence=best if first else "No system has a place"
        ),
        parts=each(systems, Sentences([*sentences, *_about(found)])),
    )


def _cells(one: Ranked, found: Ranking, *, priced: bool) -> tuple[str, ...]:
    tied = sum(other.place == one.place for other in found.systems) > 1
    return (
        one.name,
        ABSENT if one.place is None else f"{one.place}{' (tie)' if tied else ''}",
        {"carried": "yes", "not carried": "no", "not known": "not known"}[one.answer],
        _fits(one),
        _range(one.slowdown, one.slowdown_low, one.slowdown_high, format_ratio),
        _range(one.delivered_cores, one.delivered_cores_low, one.delivered_cores_high, format_plain),
        *([_range(one.cost, one.cost_low, one.cost_high, _price)] if priced else []),
        one.limit or ABSENT,
    )


def _fits(one: Ranked) -> str:
    """The sessions that fit, with their range."""
    if one.is_at_least:
        return f"at least {one.fits}"
    if one.fits is None and one.fits_high is not None:
        return f"fewer than {one.fits_high + 1}"
    return _range(one.fits, one.fits_low, one.fits_high, lambda number: f"{number:.0f}")


def _range(value: float | None, low: float | None, high: float | None, form: Callable[[float], str]) -> str:
    if value is None:
        return ABSENT
    return f"{form(value)}" if low is None or high is None else f"{form(value)} ({form(low)} to {form(high)})"


def _price(value: float) -> str:
    """Two decimals, and three significant digits of less than 1: ``0.0592``."""
    if value >= 1.0:
        return f"{value:,.2f}"
    return format_plain(value)


def _sentences(one: Ranked) -> list[str]:
    basis = "measured" if one.fits_basis == "measured" else "forecast by simulation"
    limit = one.limit or f"not known ({one.missing.get('limit', 'no reason is known')})"
    cheap = "; no other is surely cheaper per job" if one.cheapest else ""
    fits = f"the number that fits is {basis}" if one.fits is not None else one.missing["fits"]
    if one.is_at_least:
        fits = f"the number is {basis}; {NO_MORE_SHOWN}"
    energy = ""
    if one.joules_per_job is not None:
        energy = f"; {format_joules(one.joules_per_job)} per job ({one.energy_scope})"
    jobs = "" if one.jobs_per_hour is None else f"; {one.jobs_per_hour:,.0f} jobs per hour"
    behind = f"place {one.place}: {'; '.join(one.behind)}"
    return [
        f"{one.machine}; limit: {limit}; {fits}{jobs}{energy}{cheap}",
        *([behind] if one.behind else []),
    ]


def _about(found: Ranking) -> list[str]:
    return [
        f"Bound {format_ratio(found.answer_bound)}; {found.workload} at scale "
        f"{format_plain(found.scale)} of full, cache {found.cache}. "
        "Places are by the sessions that fit; where ranges overlap, by delivered cores, if the systems "
        "ran as many sessions. A tie is a place that systems share: no figure says which is better.",
        *(f"Note: {remark}" for remark in found.remarks),
    ]
