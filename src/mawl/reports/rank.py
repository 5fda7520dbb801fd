"""Qualified systems side by side, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Callable

from mawl.advice.rank import Ranked, Ranking
from mawl.base.printable import printable
from mawl.base.units import format_joules, format_plain, format_ratio
from mawl.importers.formats.text import one_line
from mawl.reports.layout import LEAST_WIDTH, escaped, stacked, table, wrapped
from mawl.reports.qualification.content import NO_MORE_SHOWN

HEAD = ("place", "system", "answer", "sessions that fit", "slowdown", "delivered cores", "limit")
SHORT = ("place", "system", "answer", "fits", "slowdown", "delivered cores")


def text(found: Ranking, width: int = LEAST_WIDTH) -> str:
    """The table, then for each system what limits it, in lines of ``width``; no newline at the end."""
    priced = any(one.cost is not None for one in found.systems)
    rows = [_turned([*SHORT, *_cost_head(found, priced=priced)])]
    for one in found.systems:
        cells = _cells(one, found, priced=priced)
        rows.append(_turned([*cells[: len(SHORT)], *cells[len(HEAD) :]]))
    lines = stacked([[_clean(cell) for cell in row] for row in rows], width)
    more = [f"{one.name}: {sentence}" for one in found.systems for sentence in _sentences(one)]
    told = [*more, *_about(found)]
    return "\n\n".join(
        "\n".join(part)
        for part in (
            lines,
            [line for one in told for line in wrapped(_clean(one), width, "  ")],
        )
    )


def markdown(found: Ranking) -> str:
    """The same for a ticket."""
    priced = any(one.cost is not None for one in found.systems)
    rows = [[escaped(cell) for cell in _cells(one, found, priced=priced)] for one in found.systems]
    lines = table([*HEAD, *map(escaped, _cost_head(found, priced=priced))], rows, words=True)
    more = [f"- {escaped(one.name)}: {escaped(said)}" for one in found.systems for said in _sentences(one)]
    return "\n".join([*lines, "", *more, "", *(escaped(line) for line in _about(found))])


def _cost_head(found: Ranking, *, priced: bool) -> list[str]:
    return [f"{found.currency} per 1000 jobs".strip()] if priced else []


def _turned(cells: list[str]) -> list[str]:
    """The name first, which is what stands to the left."""
    return [cells[1], cells[0], *cells[2:]]


def _cells(one: Ranked, found: Ranking, *, priced: bool) -> list[str]:
    tied = sum(other.place == one.place for other in found.systems) > 1
    place = "-" if one.place is None else f"{one.place}{' (tie)' if tied else ''}"
    cells = [
        place,
        one.name,
        {"carried": "yes", "not carried": "no", "not known": "not known"}[one.answer],
        _fits(one),
        _range(one.slowdown, one.slowdown_low, one.slowdown_high, format_ratio),
        _range(one.delivered_cores, one.delivered_cores_low, one.delivered_cores_high, format_plain),
        one.limit or "-",
    ]
    return [*cells, _range(one.cost, one.cost_low, one.cost_high, _price)] if priced else cells


def _fits(one: Ranked) -> str:
    """The sessions that fit, with their range."""
    if one.is_at_least:
        return f"at least {one.fits}"
    if one.fits is None and one.fits_high is not None:
        return f"fewer than {one.fits_high + 1}"
    return _range(one.fits, one.fits_low, one.fits_high, lambda number: f"{number:.0f}")


def _range(value: float | None, low: float | None, high: float | None, form: Callable[[float], str]) -> str:
    if value is None:
        return "-"
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


def _clean(line: str) -> str:
    return printable(one_line(line))
