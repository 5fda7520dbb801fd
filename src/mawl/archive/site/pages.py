"""The pages of a site: plain HTML from a file system or any web server.

Tables need no script.  Two small scripts, inside the pages, filter rows and put two results side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

import msgspec
from markupsafe import Markup

from mawl.advice.rank import Ranked, ranked
from mawl.archive.site.entries import FIGURES, SiteEntry
from mawl.base.printable import printable
from mawl.base.units import counted_noun, format_instant, format_rate, format_seconds
from mawl.figures.published import published_block
from mawl.records.model.metrics import METRICS
from mawl.records.model.published import PriceBook, papers
from mawl.reports.html.colours import style
from mawl.reports.html.page import fill
from mawl.reports.layout import ABSENT, figure
from mawl.reports.rank import fits_range, price_per_session, slowdown_range

NO_PRICES = PriceBook()
COLUMNS = ("slowdown", "elapsed", "real time, sum", "sustained", "per core", "per node", "energy per job")
"""Figures of the result tables; a page of a result has every one with its range."""
HEAD = ("system", "by", "accepted", "answer", "sessions", "limit", "runs", "nodes", "cores", *COLUMNS)
QUALIFIED = ("system", "by", "accepted", "answer", "sessions", "fits", "slowdown", "limit", "nodes", "cores")
"""Columns of qualifications; with prices that of a session and month comes last."""
NUMBERS = frozenset({"runs", "nodes", "cores", *COLUMNS, "sessions", "fits"})
PAPERS_HEAD = (
    "result",
    "sessions",
    "nodes",
    "elapsed",
    "real time, sum",
    "sustained",
    "per core",
    "per node",
)
WORDS = {"submitter": "submitted by"}
"""Words on a page for fields of a statement; the others go by their names."""
MOST_FAULTS = 3


class SiteLink(NamedTuple):
    """A cell that leads to another page."""

    text: str
    address: str


class MarkedCell(NamedTuple):
    """A cell in the colour of a state: the class of the style sheet."""

    text: str
    state: str


class SiteRow(NamedTuple):
    """Cells of a row, and the facts by which the first page filters it."""

    cells: Sequence[str | SiteLink | MarkedCell]
    facts: Mapping[str, str] = {}


def index(entries: Sequence[SiteEntry], prices: PriceBook = NO_PRICES) -> str:
    """All packs in groups that may be compared, and then the results of papers.

    ``prices`` are of qualified systems, by the names of their packs.
    """
    groups: dict[tuple[str, ...], list[SiteEntry]] = {}
    for entry in entries:
        groups.setdefault(entry.group, []).append(entry)
    return _page(
        "site_index.html",
        "Results",
        root="",
        script="filters.js",
        meanings=_meanings(),
        choices={
            "workload": sorted({entry.what for entry in entries}),
            "division": sorted({entry.division for entry in entries}),
            "cache": sorted({entry.must_match["cache mode"] for entry in entries}),
        },
        groups=[
            {
                "head": head,
                "division": group[0],
                "what": group[1],
                "cache": group[2],
                "rows": [_row(entry, head, prices) for entry in sorted(members, key=_order)],
            }
            for group, members in sorted(groups.items())
            for head in [_head(members, prices)]
        ],
        papers_head=PAPERS_HEAD,
        papers=[SiteRow(row) for row in _papers()],
    )


def result(entry: SiteEntry) -> str:
    """The page of one pack: statement, figures with their ranges, rules, report, and its data."""
    rules = [
        SiteRow(
            (
                one.rule,
                one.title,
                MarkedCell(one.state, one.state.split()[0]),
                "; ".join(fault.sentence for fault in one.faults[:MOST_FAULTS]),
            )
        )
        for one in entry.validation.rulings
    ]
    figures = [
        (name, one.text + (f", {one.of}" if one.of and one.median is not None else ""))
        for name, one in entry.figures.items()
    ]
    return _page(
        "site_result.html",
        entry.title,
        root="../../",
        entry=entry,
        started=format_instant(entry.started_at)[:10],
        statement=_statement(entry),
        runs=counted_noun(len(entry.validation.runs), "run"),
        figures=[("answer", entry.answer), *_fits(entry), *figures, ("limit", entry.limit)],
        heading="Report of the first run" if entry.qualified is None else "The answer",
        rules_head=("rule", "title", "state", "what it found"),
        rules=rules,
    )


def system(entries: Sequence[SiteEntry], prices: PriceBook = NO_PRICES) -> str:
    """The page of one system: what its makers say of it, what it is, and every result of it.

    Entries are of one system if their statements give it the same name.
    """
    first = min(entries, key=lambda entry: entry.slug)
    kinds = [[one for one in entries if (one.qualified is None) is runs] for runs in (True, False)]
    return _page(
        "site_system.html",
        first.title,
        root="../../",
        statement=_statement(first),
        machines=list({tuple(entry.machine.items()): entry for entry in entries}.values()),
        tables=[
            (head, [_row(entry, head, prices, root="../../") for entry in sorted(members, key=_order)])
            for members in kinds
            if members
            for head in [(*_head(members, prices), "workload")]
        ],
    )


def compare_page(entries: Sequence[SiteEntry]) -> str:
    """The page that puts two results side by side, or refuses and says why."""
    shown = [
        {
            "slug": entry.slug,
            "title": entry.title,
            "what": f"{entry.what}, {entry.division}",
            "accepted": entry.validation.accepted,
            "runs": len(entry.validation.runs),
            "failed": ", ".join(
                one.rule for one in entry.validation.rulings if one.state in ("failed", "not known")
            ),
            "must_match": entry.must_match,
            "doubts": entry.doubts,
            "machine": entry.machine,
            "figures": {name: msgspec.to_builtins(one) for name, one in entry.figures.items()},
        }
        for entry in sorted(entries, key=lambda entry: (entry.group, entry.title, entry.slug))
    ]
    # Inside a script element only these two letters could end it.
    data = msgspec.json.encode(shown).decode().replace("<", "\\u003c").replace(">", "\\u003e")
    return _page(
        "site_compare.html", "Two results side by side", root="", script="compare.js", data=Markup(data)
    )


def feed(entries: Sequence[SiteEntry], address: str) -> str:
    """An Atom feed (RFC 4287) of the packs, the newest first; ``address`` is where the site will be."""
    newest = sorted(entries, key=lambda entry: -entry.started_at)
    items = [
        {
            "title": _xml(entry.title),
            "slug": entry.slug,
            "updated": format_instant(entry.started_at),
            "summary": _xml(f"{entry.division} division, {entry.what}"),
        }
        for entry in newest
    ]
    updated = format_instant(newest[0].started_at if newest else 0.0)
    return f"{fill('site_feed.xml', address=address, updated=updated, entries=items)}\n"


def _xml(text: str) -> str:
    """Text of a pack in XML, which has no place for most controls and for two other characters."""
    return printable(text).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")


def _meanings() -> list[tuple[str, str]]:
    defined = {metric.name: metric.definition for metric in METRICS}
    more = {"per node": " The sum of all nodes over their number."}
    return [
        *((name, defined[path] + more.get(name, "")) for name, path in FIGURES.items()),
        ("answer", "Whether the system carried the load in the runs, by the slowdown and its bound."),
        ("accepted", "Whether every rule of mawl validate is met; the page of a result lists them."),
        ("limit", "What limited most of the runs; of a qualification over all its measured runs."),
        ("fits", "The most sessions that the system carries within the bound, with the range, on all nodes."),
        ("a session and month", "The price of an hour, times 730, over the sessions that fit."),
    ]


def _head(entries: Sequence[SiteEntry], prices: PriceBook) -> tuple[str, ...]:
    """The columns of a group; all of its entries are qualifications, or no one is."""
    if entries[0].qualified is None:
        return HEAD
    priced = any(entry.slug in prices.per_hour for entry in entries)
    return (*QUALIFIED, *([_money(prices)] if priced else []))


def _money(prices: PriceBook) -> str:
    return f"{prices.currency} a session and month".strip()


def _ranked(entry: SiteEntry, prices: PriceBook = NO_PRICES) -> Ranked | None:
    record = entry.qualified
    if record is None or record.answer is None:
        return None
    return ranked(entry.slug, record, record.answer, prices.per_hour.get(entry.slug))


def _fits(entry: SiteEntry) -> list[tuple[str, str]]:
    """The sessions that fit, where that was asked."""
    found = _ranked(entry)
    return [] if found is None else [("sessions that fit", f"{fits_range(found)}, {found.fits_basis}")]


def _order(entry: SiteEntry) -> tuple[bool, float, str]:
    found = _ranked(entry)
    if found is not None:
        return (not entry.validation.accepted, -(found.fits or 0), entry.slug)
    elapsed = entry.figures["elapsed"].median
    return (not entry.validation.accepted, float("inf") if elapsed is None else elapsed, entry.slug)


def _row(
    entry: SiteEntry, head: Sequence[str], prices: PriceBook = NO_PRICES, *, root: str | None = None
) -> SiteRow:
    """A row of a result; ``root`` leads from a page of a system to the site."""
    statement = entry.validation.statement
    accepted = "yes" if entry.validation.accepted else "no"
    title = entry.title if root is None else entry.slug
    every: dict[str, str | SiteLink | MarkedCell] = {
        "system": SiteLink(title, f"{root or ''}results/{entry.slug}/index.html"),
        "by": printable(statement.submitter if statement is not None else "") or ABSENT,
        "accepted": MarkedCell(accepted, accepted),
        "answer": entry.answer,
        "sessions": str(entry.sessions),
        "limit": entry.limit,
        "runs": str(len(entry.validation.runs)),
        "nodes": str(entry.nodes),
        "cores": ABSENT if entry.cores is None else str(entry.cores),
        **{name: entry.figures[name].text.partition(" (")[0] for name in COLUMNS},
        "workload": f"{entry.what}, {entry.division}",
    }
    if (found := _ranked(entry, prices)) is not None:
        every |= {"fits": fits_range(found), "slowdown": slowdown_range(found)}
        every |= {_money(prices): price_per_session(found)}
    cells = [every[name] for name in head]
    if root is not None:
        return SiteRow(cells)
    facts = {
        "division": entry.division,
        "workload": entry.what,
        "cache": entry.must_match["cache mode"],
        "accepted": accepted,
    }
    return SiteRow(cells, facts)


def _papers() -> Sequence[tuple[str, ...]]:
    rows = []
    for paper in papers():
        for one in paper.results:
            block = published_block(one, paper)
            total = block.io.device.sustained.total_bytes_per_second
            nodes = block.workload.nodes
            rows.append(
                (
                    block.title,
                    ABSENT if block.workload.sessions is None else str(block.workload.sessions),
                    str(nodes),
                    figure(block.time.elapsed_seconds, format_seconds),
                    figure(block.time.real_time_seconds, format_seconds),
                    figure(total, format_rate),
                    figure(block.per_core.sustained_bytes_per_second, format_rate),
                    figure(None if total is None else total / max(nodes, 1), format_rate),
                )
            )
    return rows


def _statement(entry: SiteEntry) -> list[tuple[str, str]]:
    statement = entry.validation.statement
    if statement is None:
        return []
    said = {name: getattr(statement, name) for name in statement.__struct_fields__}
    return [(WORDS.get(name, name), printable(text, "\n\t")) for name, text in said.items() if text]


@cache
def _asset(name: str) -> str:
    folder = resources.files("mawl.archive.site").joinpath("assets", name)
    return folder.read_text(encoding="utf-8")


def _page(template: str, title: str, *, root: str, script: str = "", **values: object) -> str:
    return fill(
        template,
        title=title,
        root=root,
        style=Markup(style() + _asset("site.css")),
        script=Markup(_asset(script)) if script else "",
        numbers=NUMBERS,
        **values,
    )
