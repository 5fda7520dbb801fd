"""The page of all runs: searched, sorted and ticked by query parameters, so that it works without scripts.

A run is ticked in one of two columns, as a run of the reference or of the candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from mawl.reporters.figure import ABSENT
from mawl.server.folders import LibraryEntry
from mawl.units import format_instant, format_seconds

ROWS_A_PAGE = 500
MOST_TICKED = 50
"""On one side."""

SIDES = ("reference", "candidate")

SORTS: dict[str, Callable[[LibraryEntry], Any]] = {
    "run": lambda entry: entry.name,
    "workload": lambda entry: entry.workload,
    "scale": lambda entry: entry.scale,
    "kind": lambda entry: entry.kind,
    "outcome": lambda entry: entry.outcome,
    "started": lambda entry: entry.started_at,
    "elapsed": lambda entry: entry.elapsed_seconds,
}
"""Column to the figure it is sorted by."""

DESCENDING_FIRST = ("started", "elapsed")


class Judgement(msgspec.Struct, frozen=True):
    """What this server knows of a run because its report was made: the verdict and the validity."""

    verdict: str | None
    validity: str | None


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """What a visitor asked of the library."""

    search: str = ""
    sort: str = "started"
    descending: bool = True
    reference: tuple[str, ...] = ()
    candidate: tuple[str, ...] = ()
    page: int = 1

    @property
    def sides(self) -> list[tuple[str, ...]]:
        """What is to be compared: the runs of both columns against each other, or, where only one has
        ticks, each of its runs as a side of its own."""
        if self.reference and self.candidate:
            return [self.reference, self.candidate]
        return [(name,) for name in (*self.reference, *self.candidate)]


class SortColumn(msgspec.Struct, frozen=True):
    """A heading that sorts: ``mark`` is ``ascending`` or ``descending`` for the one in force."""

    name: str
    address: str
    mark: str


class RunRow(msgspec.Struct, frozen=True):
    """A run as texts; ``ticks`` says of each side whether the run is ticked there."""

    name: str
    address: str | None
    ticks: list[tuple[str, bool]]
    cells: list[str]
    verdict: str
    validity: str
    trouble: str | None


def query_of(pairs: Iterable[tuple[str, str]]) -> Query:
    """The query of ``q``, ``sort``, ``order``, ``page`` and both sides; what makes no sense is ignored."""
    every = list(pairs)
    given = dict(every)
    sort = given.get("sort", "")
    sort = sort if sort in SORTS else "started"
    order = given.get("order", "")
    page = given.get("page", "")
    return Query(
        search=given.get("q", "").strip(),
        sort=sort,
        descending=order == "descending" if order else sort in DESCENDING_FIRST,
        **{side: named(every, side) for side in SIDES},
        page=int(page) if page.isascii() and page.isdigit() and len(page) < 6 and int(page) else 1,
    )


def named(pairs: Iterable[tuple[str, str]], parameter: str) -> tuple[str, ...]:
    """The runs that a parameter names, each once, in the order of the address."""
    return tuple(dict.fromkeys(value for name, value in pairs if name == parameter))[:MOST_TICKED]


def chosen(entries: Iterable[LibraryEntry], query: Query) -> list[LibraryEntry]:
    """The entries that hold every word of the search, and those that are ticked, in the order asked for.

    What has no figure to sort by comes last in both orders.
    """
    words = query.search.casefold().split()
    ticked = {*query.reference, *query.candidate}
    found = [
        entry for entry in entries if entry.name in ticked or all(word in _text(entry) for word in words)
    ]
    figure = SORTS[query.sort]
    found.sort(key=lambda entry: entry.name)
    known = [entry for entry in found if figure(entry) is not None]
    known.sort(key=figure, reverse=query.descending)
    return known + [entry for entry in found if figure(entry) is None]


def contents(
    entries: list[LibraryEntry], query: Query, judgements: Mapping[str, Judgement], now: float
) -> dict[str, Any]:
    """What the template of the library shows."""
    found = chosen(entries, query)
    pages = max(1, -(-len(found) // ROWS_A_PAGE))
    page = min(query.page, pages)
    shown = found[(page - 1) * ROWS_A_PAGE : page * ROWS_A_PAGE]
    return {
        "query": query,
        "order": "descending" if query.descending else "ascending",
        "sides": SIDES,
        "columns": [_column(name, query) for name in SORTS],
        "rows": [_row(entry, query, judgements.get(entry.name), now) for entry in shown],
        "total": len(entries),
        "found": len(found),
        "first": (page - 1) * ROWS_A_PAGE + 1,
        "pages": [(number, _address(query, page=number), number == page) for number in range(1, pages + 1)],
    }


def run_address(name: str) -> str | None:
    """The address of a run's page; None for a name that is not UTF-8 and so has none."""
    try:
        return f"/runs/{quote(name, safe='')}"
    except UnicodeEncodeError:
        return None


def shown_name(name: str) -> str:
    """A folder's name as text; bytes that are not UTF-8 as escapes."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _text(entry: LibraryEntry) -> str:
    parts = (
        entry.name,
        entry.run_id,
        entry.workload,
        entry.scale,
        entry.kind,
        entry.outcome,
        *entry.nodes,
        entry.trouble,
    )
    return "\n".join(part for part in parts if part).casefold()


def _column(name: str, query: Query) -> SortColumn:
    current = name == query.sort
    descending = not query.descending if current else name in DESCENDING_FIRST
    mark = ("descending" if query.descending else "ascending") if current else ""
    return SortColumn(name, _address(query, sort=name, descending=descending), mark)


def _address(query: Query, **changes: Any) -> str:
    """The library under another sort, order or page, with the search and the ticks as they are."""
    asked = msgspec.structs.replace(query, **{"page": 1, **changes})
    pairs = [("q", asked.search)] if asked.search else []
    pairs += [("sort", asked.sort), ("order", "descending" if asked.descending else "ascending")]
    pairs += [(side, name) for side in SIDES for name in getattr(asked, side)]
    pairs += [("page", str(asked.page))] if asked.page > 1 else []
    return "/?" + urlencode(pairs, errors="replace")


def _row(entry: LibraryEntry, query: Query, judgement: Judgement | None, now: float) -> RunRow:
    elapsed = entry.elapsed_seconds
    if elapsed is None and entry.outcome == "running" and entry.started_at is not None:
        elapsed = max(0.0, now - entry.started_at)
    at = entry.started_at
    started = ABSENT if at is None else f"{format_instant(at)[:16].replace('T', ' ')} UTC"
    seconds = ABSENT if elapsed is None else format_seconds(elapsed)
    texts = (entry.workload, entry.scale, entry.kind, entry.outcome, started, seconds)
    return RunRow(
        name=shown_name(entry.name),
        address=run_address(entry.name),
        ticks=[(side, entry.name in getattr(query, side)) for side in SIDES],
        cells=[text or ABSENT for text in texts],
        verdict=(judgement and judgement.verdict) or ABSENT,
        validity=(judgement and judgement.validity) or ABSENT,
        trouble=entry.trouble,
    )
