"""The pages of a site: plain HTML from a file system or any web server.

Tables need no script.  Two small scripts, inside the pages, filter rows and put two results side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from importlib import resources

import msgspec

from mawl.archive.site.entries import FIGURES, SiteEntry
from mawl.base.printable import printable
from mawl.base.units import counted_noun, format_instant, format_rate, format_seconds
from mawl.figures.published import published_block
from mawl.records.model.metrics import METRICS
from mawl.records.papers import papers
from mawl.reports.html.colours import style
from mawl.reports.layout import ABSENT

COLUMNS = ("elapsed", "real time, sum", "sustained", "per core", "per node", "energy per job")
"""Figures of the result tables; a page of a result has every one with its range."""
HEAD = ("system", "by", "accepted", "runs", "nodes", "cores", *COLUMNS, "limit")
NUMBERS = frozenset({"runs", "nodes", "cores", *COLUMNS, "sessions"})
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


def index(entries: Sequence[SiteEntry]) -> str:
    """All packs in groups that may be compared, and then the results of papers."""
    groups: dict[tuple[str, ...], list[SiteEntry]] = {}
    for entry in entries:
        groups.setdefault(entry.group, []).append(entry)
    parts = [
        "<h1>Results</h1>",
        "<p>Only results of one table may be compared: those of another have another workload, another "
        "scale, another cache mode or another division. Figures are medians over the runs of a "
        "pack. What energy was measured of is on the page of a result.</p>",
        _meanings(),
        _filters(entries),
    ]
    for place, (group, members) in enumerate(sorted(groups.items())):
        division, what, cache_use = group[:3]
        rows = "".join(_row(entry) for entry in sorted(members, key=_order))
        parts.append(
            f'<section data-group id="group-{place + 1}"><h2>{escape(what)}</h2>'
            f'<p class="quiet">{escape(division)} division; cache mode: {escape(cache_use)}</p>'
            f"{_table(HEAD, rows, cards=True)}</section>"
        )
    parts += [
        "<h2>What papers published</h2>",
        "<p>These are other machines and other programs, with one run each: do not compare their totals with "
        "the tables above. Per core and in shape they may be compared (mawl compare ID RUN).</p>",
        _table(PAPERS_HEAD, "".join(_cells(PAPERS_HEAD, row) for row in _papers()), cards=True),
        _script("filters.js"),
    ]
    return _page("Results", parts, root="")


def result(entry: SiteEntry) -> str:
    """The page of one pack: statement, figures with their ranges, rules, report, and its data."""
    said = _statement(entry)
    rules = "".join(
        _cells(
            ("rule", "title", "state", "what it found"),
            (
                escape(one.rule),
                escape(one.title),
                f'<span class="{escape(one.state.split()[0])}">{escape(one.state)}</span>',
                escape("; ".join(fault.sentence for fault in one.faults[:MOST_FAULTS])),
            ),
        )
        for one in entry.validation.rulings
    )
    figures = "".join(
        _pair(name, one.text + (f", {one.of}" if one.of and one.median is not None else ""))
        for name, one in entry.figures.items()
    )
    parts = [
        f"<h1>{escape(entry.title)}</h1>",
        f"<p>{'Accepted' if entry.validation.accepted else 'Not accepted'}; "
        f"{escape(entry.division)} division; {escape(entry.what)}; "
        f"cache mode: {escape(entry.must_match['cache mode'])}. Started "
        f"{format_instant(entry.started_at)[:10]}.</p>",
        f'<p><a href="../../packs/{entry.slug}.zip">Download the pack</a> and check it with mawl validate. '
        f'<a href="../../systems/{entry.system}/index.html">All results of this system</a>. '
        f'<a href="../../compare.html#{entry.slug}">Compare with another result</a>.</p>',
        f"<h2>In the maker's words</h2>{_pairs(said)}" if said else "<p>The maker left no statement.</p>",
        "<h2>Figures</h2>",
        f'<p class="quiet">Median over {counted_noun(len(entry.validation.runs), "run")}, and the lowest and '
        "highest one.</p>",
        _pairs(figures + _pair("limit", entry.limit)),
        "<h2>Machine</h2>",
        _pairs("".join(_pair(name, text) for name, text in entry.machine.items())),
        "<h2>Rules</h2>",
        _table(("rule", "title", "state", "what it found"), rules),
        "<h2>Report of the first run</h2>",
        f"<pre>{escape(entry.report)}</pre>",
    ]
    return _page(entry.title, parts, root="../../")


def system(entries: Sequence[SiteEntry]) -> str:
    """The page of one system: what its makers say of it, what it is, and every result of it.

    Entries are of one system if their statements give it the same name.
    """
    first = min(entries, key=lambda entry: entry.slug)
    rows = "".join(_row(entry, root="../../") for entry in sorted(entries, key=_order))
    machines = {tuple(entry.machine.items()): entry for entry in entries}
    parts = [f"<h1>{escape(first.title)}</h1>"]
    if said := _statement(first):
        parts += [f"<h2>In the maker's words</h2>{_pairs(said)}"]
    for entry in machines.values():
        of = f" of {entry.slug}" if len(machines) > 1 else ""
        parts += [
            f"<h2>Machine{escape(of)}</h2>",
            _pairs("".join(_pair(name, text) for name, text in entry.machine.items())),
        ]
    if len(machines) > 1:
        parts.append('<p class="note">Results under this name ran on different machines.</p>')
    parts += ["<h2>Results</h2>", _table((*HEAD, "workload"), rows, cards=True)]
    return _page(first.title, parts, root="../../")


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
    parts = [
        "<h1>Two results side by side</h1>",
        "<p>Pairs that differ in what was run are refused. The page compares medians; mawl compare says of "
        "the runs whether two sides differ for certain.</p>",
        '<noscript><p>This page needs its script. The tables of <a href="index.html">all results</a> do '
        "not: results of one table may be compared.</p></noscript>",
        '<form id="pair" class="filters" hidden><label>first <select name="first"></select></label>'
        '<label>second <select name="second"></select></label></form>',
        '<div id="beside" aria-live="polite"></div>',
        f'<script type="application/json" id="results">{data}</script>',
        _script("compare.js"),
    ]
    return _page("Two results side by side", parts, root="")


def feed(entries: Sequence[SiteEntry], address: str) -> str:
    """An Atom feed (RFC 4287) of the packs, the newest first; ``address`` is where the site will be."""
    newest = sorted(entries, key=lambda entry: -entry.started_at)
    items = "".join(
        f"<entry><title>{_xml(entry.title)}</title><id>{escape(address)}results/{entry.slug}/</id>"
        f'<link href="results/{entry.slug}/index.html"/><updated>{format_instant(entry.started_at)}</updated>'
        f"<summary>{_xml(f'{entry.division} division, {entry.what}')}</summary></entry>"
        for entry in newest
    )
    updated = format_instant(newest[0].started_at) if newest else format_instant(0.0)
    return (
        '<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom">'
        f"<title>Results</title><id>{escape(address)}</id><author><name>mawl publish</name></author>"
        f"<updated>{updated}</updated>{items}</feed>\n"
    )


def _xml(text: str) -> str:
    """Text of a pack in XML, which has no place for most controls and for two other characters."""
    return escape(printable(text).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd"))


def _meanings() -> str:
    defined = {metric.name: metric.definition for metric in METRICS}
    rows = "".join(
        _pair(
            name, defined[path] + (" The sum of all nodes over their number." if name == "per node" else "")
        )
        for name, path in FIGURES.items()
    )
    rows += _pair("accepted", "Whether every rule of mawl validate is met; the page of a result lists them.")
    rows += _pair("limit", "What limited most of the runs (docs/design/verdict.md).")
    return f"<details><summary>What the columns mean</summary>{_pairs(rows)}</details>"


def _filters(entries: Sequence[SiteEntry]) -> str:
    """The fields that filter rows, hidden until their script runs."""

    def choice(name: str, values: Sequence[str]) -> str:
        options = "".join(f'<option value="{escape(one)}">{escape(one)}</option>' for one in values)
        return f'<label>{name} <select name="{name}"><option value="">all</option>{options}</select></label>'

    return (
        '<form id="filters" class="filters" hidden>'
        '<label>words <input name="words" type="search" placeholder="system, maker, limit"></label>'
        + choice("workload", sorted({entry.what for entry in entries}))
        + choice("division", sorted({entry.division for entry in entries}))
        + choice("cache", sorted({entry.must_match["cache mode"] for entry in entries}))
        + '<label><input name="accepted" type="checkbox"> accepted only</label>'
        '<output id="shown"></output></form>'
    )


def _order(entry: SiteEntry) -> tuple[bool, float, str]:
    elapsed = entry.figures["elapsed"].median
    return (not entry.validation.accepted, float("inf") if elapsed is None else elapsed, entry.slug)


def _row(entry: SiteEntry, *, root: str | None = None) -> str:
    """A row of a result; ``root`` leads from a page of a system to the site, and adds the workload."""
    statement = entry.validation.statement
    accepted = "yes" if entry.validation.accepted else "no"
    name = entry.title if root is None else entry.slug
    cells = (
        f'<a href="{root or ""}results/{entry.slug}/index.html">{escape(name)}</a>',
        escape(printable(statement.submitter if statement is not None else "")) or ABSENT,
        f'<span class="{accepted}">{accepted}</span>',
        str(len(entry.validation.runs)),
        str(entry.nodes),
        ABSENT if entry.cores is None else str(entry.cores),
        *(escape(entry.figures[name].text.partition(" (")[0]) for name in COLUMNS),
        escape(entry.limit),
    )
    if root is not None:
        return _cells((*HEAD, "workload"), (*cells, escape(f"{entry.what}, {entry.division}")))
    of = {
        "division": entry.division,
        "workload": entry.what,
        "cache": entry.must_match["cache mode"],
        "accepted": accepted,
    }
    data = "".join(f' data-{key}="{escape(value)}"' for key, value in of.items())
    return _cells(HEAD, cells, f" data-row{data}")


def _papers() -> Sequence[tuple[str, ...]]:
    rows = []
    for paper in papers():
        for one in paper.results:
            block = published_block(one, paper)
            total = block.io.device.sustained.total_bytes_per_second
            nodes = block.workload.nodes
            rows.append(
                (
                    escape(block.title),
                    ABSENT if block.workload.sessions is None else str(block.workload.sessions),
                    str(nodes),
                    _known(block.time.elapsed_seconds, format_seconds),
                    _known(block.time.real_time_seconds, format_seconds),
                    _known(total, format_rate),
                    _known(block.per_core.sustained_bytes_per_second, format_rate),
                    _known(None if total is None else total / max(nodes, 1), format_rate),
                )
            )
    return rows


def _known(value: float | None, form: Callable[[float], str]) -> str:
    return ABSENT if value is None else form(value)


def _statement(entry: SiteEntry) -> str:
    statement = entry.validation.statement
    if statement is None:
        return ""
    said = {name: getattr(statement, name) for name in statement.__struct_fields__}
    words = ((WORDS.get(name, name), printable(text, "\n\t")) for name, text in said.items() if text)
    return "".join(_pair(name, text) for name, text in words)


def _pair(name: str, text: str) -> str:
    return f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>"


def _pairs(rows: str) -> str:
    return f'<div class="wide"><table>{rows}</table></div>'


def _cells(head: Sequence[str], cells: Sequence[str], attributes: str = "") -> str:
    """A row of cells that are HTML already; narrow windows show the label of each cell in front of it."""
    made = "".join(
        f'<td data-label="{escape(label)}"{_kind(label)}>{cell}</td>'
        for label, cell in zip(head, cells, strict=True)
    )
    return f"<tr{attributes}>{made}</tr>"


def _table(head: Sequence[str], rows: str, *, cards: bool = False) -> str:
    """A table of rows that are HTML already; with ``cards`` a narrow window shows a row as a list."""
    top = "".join(f"<th{_kind(cell)}>{escape(cell)}</th>" for cell in head)
    name = ' class="cards"' if cards else ""
    return f'<div class="wide"><table{name}><tr>{top}</tr>{rows}</table></div>'


def _kind(label: str) -> str:
    return ' class="number"' if label in NUMBERS else ""


@cache
def _asset(name: str) -> str:
    folder = resources.files("mawl.archive.site").joinpath("assets", name)
    return folder.read_text(encoding="utf-8")


def _script(name: str) -> str:
    return f"<script>{_asset(name)}</script>"


def _page(title: str, parts: Sequence[str], *, root: str) -> str:
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<link rel="icon" href="data:,">',
            f'<link rel="alternate" type="application/atom+xml" href="{root}feed.xml">',
            f"<title>{escape(title)}</title><style>{style()}{_asset('site.css')}</style></head><body>",
            f'<nav><a href="{root}index.html">All results</a><a href="{root}compare.html">Side by side</a>'
            f'<a href="{root}feed.xml">Feed</a></nav>',
            *parts,
            "</body></html>",
            "",
        ]
    )
