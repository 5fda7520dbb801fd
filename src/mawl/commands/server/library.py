"""The page of all runs: searched, sorted and ticked by query parameters, so that it works without scripts.

A run is ticked as a run of the reference or of the candidate.  Its answer, limit and throughput are shown
once the run was judged: its report was opened, or the page's script asked for its overview.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, get_args
from urllib.parse import quote, urlencode

import msgspec
from markupsafe import Markup

from mawl.advice.limit.verdict import limit_words
from mawl.base.units import format_instant, format_rate, format_ratio, format_seconds
from mawl.commands.server.run_folders import QUALIFIES, CampaignEntry, LibraryEntry
from mawl.records.model.summary.judgement import AnswerWord
from mawl.records.model.summary.summary import Judged
from mawl.reports.campaign_document import QUESTIONS
from mawl.reports.html.sections.nights import spark
from mawl.reports.layout import ABSENT

MOST_POINTS = 40
"""Of the line of throughput; of more windows, each point is the highest of several that follow each other."""
TONES = {"carried": "good", "not carried": "bad", "publishable": "good", "invalid": "bad"}
QUALIFIED = "Can the system carry the load?"
ALONE = "alone"
"""The word to search for to see the runs that measured programs alone for other runs."""
MOST_SIDES = ("device", "application")
WORDS = "throughput over time, from zero"


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one judged summary, under the definitions that they have there.

    ``slowdown`` is ``answer.slowdown``, ``sustained_bytes_per_second`` that of ``io.SIDE.sustained``
    for the ``side`` that is known (the device's first), ``line`` the windows' totals of that side,
    drawn once.
    """

    answer: str
    preliminary: bool
    limit: str | None
    validity: str
    finished: int
    jobs: int
    slowdown: float | None
    side: str | None
    sustained_bytes_per_second: float | None
    line: str

    @property
    def answer_tone(self) -> str:
        """The tone of a tag: ``good``, ``warn`` or ``bad``."""
        tone = TONES.get(self.answer, "warn")
        return "warn" if self.preliminary and tone == "good" else tone

    @property
    def validity_tone(self) -> str:
        return TONES.get(self.validity, "warn")

    @property
    def answer_words(self) -> str:
        """``carried (preliminary)``."""
        return self.answer + (" (preliminary)" if self.preliminary else "")


def overview_of(summary: Judged) -> Overview:
    """The overview of a judged summary."""
    answer = summary.answer
    side = next((name for name in MOST_SIDES if _sustained(summary, name) is not None), None)
    return Overview(
        answer=answer.answer,
        preliminary=bool(answer.preliminary),
        limit=None if summary.limit is None else limit_words(summary.limit),
        validity=summary.validity.status,
        finished=summary.jobs.finished,
        jobs=max(summary.jobs.total, summary.workload.jobs),
        slowdown=answer.slowdown,
        side=side,
        sustained_bytes_per_second=None if side is None else _sustained(summary, side),
        line="" if side is None else str(spark(_thinned(_rates(summary, side)), WORDS, from_zero=True)),
    )


def _sustained(summary: Judged, side: str) -> float | None:
    found: float | None = getattr(summary.io, side).sustained.total_bytes_per_second
    return found


def _rates(summary: Judged, side: str) -> list[float | None]:
    ways = [
        [getattr(window, f"{side}_{way}_bytes_per_second") for way in ("read", "write")]
        for window in summary.windows
    ]
    return [None if None in both else sum(both) for both in ways]


def _thinned(rates: Sequence[float | None]) -> tuple[float | None, ...]:
    size = max(-(-len(rates) // MOST_POINTS), 1)
    parts = (rates[at : at + size] for at in range(0, len(rates), size))
    return tuple(max((one for one in part if one is not None), default=None) for part in parts)


ROWS_A_PAGE = 500
MOST_TICKED = 50
"""On one side."""

SIDES = ("reference", "candidate")

ANSWERS: tuple[str, ...] = get_args(AnswerWord)
SORTS: dict[str, Callable[[LibraryEntry, Overview | None], Any]] = {
    "run": lambda entry, _: entry.name,
    "workload": lambda entry, _: entry.workload,
    "scale": lambda entry, _: entry.scale,
    "kind": lambda entry, _: entry.kind,
    "outcome": lambda entry, _: entry.outcome,
    "started": lambda entry, _: entry.started_at,
    "elapsed": lambda entry, _: entry.elapsed_seconds,
    "answer": lambda _, overview: overview and (ANSWERS.index(overview.answer), overview.preliminary),
    "limit": lambda _, overview: overview and overview.limit,
}
"""Column to the figure it is sorted by; those of a run that was not judged yet are None."""

HEADS: dict[str, tuple[str, ...]] = {
    "Run": ("run", "workload", "scale", "kind"),
    "Answer": ("answer",),
    "Limit": ("limit",),
    "Elapsed": ("elapsed",),
    "Started": ("started", "outcome"),
}
"""Heading to the figures that its column can be sorted by."""

FILTERS = ("workload", "kind", "outcome")
"""Facts of a run that the library can be narrowed to."""
NOT_READ = "not read yet"
MOST_CHOICES = 50
"""Of workloads to narrow to, the most frequent."""

DESCENDING_FIRST = ("started", "elapsed")


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """What a visitor asked of the library."""

    search: str = ""
    sort: str = "started"
    descending: bool = True
    reference: tuple[str, ...] = ()
    candidate: tuple[str, ...] = ()
    page: int = 1
    workload: str = ""
    kind: str = ""
    outcome: str = ""
    answer: str = ""

    @property
    def ticked(self) -> frozenset[str]:
        return frozenset((*self.reference, *self.candidate))

    @property
    def sides(self) -> list[tuple[str, ...]]:
        """What is to be compared: the runs of both columns against each other, or, where only one has
        ticks, each of its runs as a side of its own."""
        if self.reference and self.candidate:
            return [self.reference, self.candidate]
        return [(name,) for name in (*self.reference, *self.candidate)]


class SortHead(msgspec.Struct, frozen=True):
    """A heading with links (name, address, whether it is in force) that sort by what its column has; ``mark``
    is ``ascending`` or ``descending`` where one of them is in force."""

    name: str
    links: list[tuple[str, str, bool]]
    mark: str


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A run as texts; ``ticks`` says of each side whether the run is ticked there.

    ``traits`` are workload, scale and kind; ``overview`` is None for a run that was not judged yet.
    """

    name: str
    address: str | None
    ticks: list[tuple[str, bool]]
    traits: list[str]
    outcome: str
    started: str
    elapsed: str
    overview: Overview | None
    trouble: str | None

    @property
    def line(self) -> Markup:
        return Markup(self.overview.line if self.overview else "")

    @property
    def sustained(self) -> str:
        """``120 MB/s at the device``."""
        found = self.overview
        if found is None or found.sustained_bytes_per_second is None:
            return ABSENT
        return f"{format_rate(found.sustained_bytes_per_second)}, {found.side}"

    @property
    def slowdown(self) -> str:
        """``1.8 times the reference time``; empty where that is not known."""
        found = self.overview
        if found is None or found.slowdown is None:
            return ""
        return f"{format_ratio(found.slowdown)} times the reference time"


def query_of(pairs: Iterable[tuple[str, str]]) -> Query:
    """The query of ``q``, ``sort``, ``order``, ``page``, the filters and both sides; what makes no sense is
    ignored."""
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
        reference=names_of(every, "reference"),
        candidate=names_of(every, "candidate"),
        workload=given.get("workload", ""),
        kind=given.get("kind", ""),
        outcome=given.get("outcome", ""),
        answer=given.get("answer", ""),
        page=int(page) if page.isascii() and page.isdigit() and len(page) < 6 and int(page) else 1,
    )


def names_of(pairs: Iterable[tuple[str, str]], parameter: str) -> tuple[str, ...]:
    """The runs that a parameter names, each once, in the order of the address."""
    return tuple(dict.fromkeys(value for name, value in pairs if name == parameter))[:MOST_TICKED]


def select_entries(
    entries: Iterable[LibraryEntry], query: Query, overviews: Mapping[str, Overview] = {}
) -> list[LibraryEntry]:
    """The entries that hold every word of the search and pass the filters, and those that are ticked, in the
    order asked for.

    What has no figure to sort by comes last in both orders.
    """
    words = query.search.casefold().split()
    found = [
        entry
        for entry in entries
        if entry.name in query.ticked
        or (_passes(entry, query, overviews) and all(word in _text(entry) for word in words))
    ]

    def figure(entry: LibraryEntry) -> Any:
        return SORTS[query.sort](entry, overviews.get(entry.name))

    found.sort(key=lambda entry: entry.name)
    known = [entry for entry in found if figure(entry) is not None]
    known.sort(key=figure, reverse=query.descending)
    return known + [entry for entry in found if figure(entry) is None]


def _passes(entry: LibraryEntry, query: Query, overviews: Mapping[str, Overview]) -> bool:
    if entry.alone and ALONE not in query.search.casefold():
        return False
    asked = ((getattr(query, name), getattr(entry, name)) for name in FILTERS)
    if any(wanted and wanted != found for wanted, found in asked):
        return False
    return not query.answer or query.answer == _answer(entry, overviews)


def _answer(entry: LibraryEntry, overviews: Mapping[str, Overview]) -> str:
    overview = overviews.get(entry.name)
    return NOT_READ if overview is None else overview.answer


def contents(
    entries: list[LibraryEntry], query: Query, overviews: Mapping[str, Overview], now: float
) -> dict[str, Any]:
    """What the template of the library shows."""
    found = select_entries(entries, query, overviews)
    pages = max(1, -(-len(found) // ROWS_A_PAGE))
    page = min(query.page, pages)
    shown = found[(page - 1) * ROWS_A_PAGE : page * ROWS_A_PAGE]
    return {
        "query": query,
        "order": "descending" if query.descending else "ascending",
        "filters": _filters(entries, query, overviews),
        "heads": {head: _head(head, query) for head in HEADS},
        "rows": [row_of(entry, query, overviews.get(entry.name), now) for entry in shown],
        "selected": [(side, [display_name(name) for name in getattr(query, side)]) for side in SIDES],
        "comparable": len(query.sides) > 1,
        "cleared": _address(query, **dict.fromkeys(SIDES, ())),
        "total": len(entries),
        "alone": 0 if ALONE in query.search.casefold() else sum(entry.alone for entry in entries),
        "found": len(found),
        "first": (page - 1) * ROWS_A_PAGE + 1,
        "pages": [(number, _address(query, page=number), number == page) for number in range(1, pages + 1)],
        "reading": not any(entry.outcome == "running" for entry in entries),
    }


def _filters(
    entries: Iterable[LibraryEntry], query: Query, overviews: Mapping[str, Overview]
) -> list[tuple[str, str, list[tuple[str, int]]]]:
    every = list(entries)
    counts = {name: Counter(getattr(entry, name) for entry in every) for name in FILTERS}
    counts["answer"] = Counter(_answer(entry, overviews) for entry in every if not entry.trouble)
    return [
        (
            name,
            getattr(query, name),
            sorted((value, many) for value, many in found.most_common(MOST_CHOICES) if value),
        )
        for name, found in counts.items()
    ]


class CampaignRow(msgspec.Struct, frozen=True, kw_only=True):
    """A campaign as texts."""

    name: str
    address: str | None
    kind: str
    runs: str
    outcome: str
    started: str
    trouble: str | None


def campaign_rows(entries: Iterable[CampaignEntry], query: Query) -> list[CampaignRow]:
    """Those that hold every word of the search, the newest first; those that cannot be read last."""
    words = query.search.casefold().split()
    found = [
        entry
        for entry in entries
        if all(word in "\n".join((entry.name, entry.kind, entry.outcome)).casefold() for word in words)
    ]
    found.sort(key=lambda entry: -(entry.created_at or 0.0))
    return [
        CampaignRow(
            name=display_name(entry.name),
            address=_quoted("campaigns", entry.name, "/"),
            kind=QUALIFIED if entry.kind == QUALIFIES else QUESTIONS.get(entry.kind, entry.kind),
            runs=f"{entry.finished} of {entry.planned}",
            outcome=entry.outcome,
            started=_minute(entry.created_at),
            trouble=entry.trouble,
        )
        for entry in found
    ]


def run_address(name: str) -> str | None:
    return _quoted("runs", name, "")


def _quoted(kind: str, name: str, safe: str) -> str | None:
    try:
        return f"/{kind}/{quote(name, safe=safe)}"
    except UnicodeEncodeError:
        return None


def _minute(at: float | None) -> str:
    return ABSENT if at is None else f"{format_instant(at)[:16].replace('T', ' ')} UTC"


def display_name(name: str) -> str:
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


def _head(head: str, query: Query) -> SortHead:
    names = HEADS[head]
    mark = ("descending" if query.descending else "ascending") if query.sort in names else ""
    # The one in force comes first, since it is what the heading is read with.
    ordered = sorted(names, key=lambda name: name != query.sort)
    return SortHead(head, [_sorting(name, query) for name in ordered], mark)


def _sorting(name: str, query: Query) -> tuple[str, str, bool]:
    current = name == query.sort
    descending = not query.descending if current else name in DESCENDING_FIRST
    return (name, _address(query, sort=name, descending=descending), current)


def _address(query: Query, **changes: Any) -> str:
    asked = msgspec.structs.replace(query, **{"page": 1, **changes})
    pairs = [("q", asked.search)] if asked.search else []
    pairs += [(name, getattr(asked, name)) for name in (*FILTERS, "answer") if getattr(asked, name)]
    pairs += [("sort", asked.sort), ("order", "descending" if asked.descending else "ascending")]
    pairs += [(side, name) for side in SIDES for name in getattr(asked, side)]
    pairs += [("page", str(asked.page))] if asked.page > 1 else []
    return "/?" + urlencode(pairs, errors="replace")


def row_of(entry: LibraryEntry, query: Query, overview: Overview | None, now: float) -> RunRow:
    """The row of a run."""
    elapsed = entry.elapsed_seconds
    if elapsed is None and entry.outcome == "running" and entry.started_at is not None:
        elapsed = max(0.0, now - entry.started_at)
    return RunRow(
        name=display_name(entry.name),
        address=run_address(entry.name),
        ticks=[(side, entry.name in getattr(query, side)) for side in SIDES],
        traits=[text for text in (entry.workload, entry.scale, entry.kind) if text],
        outcome=entry.outcome or ABSENT,
        started=_minute(entry.started_at),
        elapsed=ABSENT if elapsed is None else format_seconds(elapsed),
        overview=overview,
        trouble=entry.trouble,
    )
