"""The pages of a site: plain HTML that needs no script, from a file system or any web server."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from mawl.analysis.published import published_block
from mawl.archive.site.entries import SiteEntry
from mawl.config.published import papers
from mawl.reporters.figure import ABSENT
from mawl.units import format_instant, format_rate, format_seconds

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 1.5rem auto; padding: 0 1rem; }
div.wide { overflow-x: auto; } table { border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: .25rem .9rem .25rem 0; }
tr { border-bottom: 1px solid #8884; } pre { overflow-x: auto; } input { font: inherit; padding: .3rem; }
.failed { color: #c0392b; } .passed { color: #2e7d32; }
"""
FILTER = """
const field = document.getElementById("filter");
field.hidden = false;
field.addEventListener("input", () => {
  const wanted = field.value.toLowerCase();
  for (const row of document.querySelectorAll("tr[data-row]"))
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
});
"""
"""Hides rows without the typed words; without scripts the whole table stays."""
HEAD = (
    "system",
    "by",
    "accepted",
    "runs",
    "cores",
    "elapsed",
    "real time, sum",
    "sustained",
    "per core",
    "limit",
)


def index(entries: Sequence[SiteEntry]) -> str:
    """All packs in groups that may be compared, and then the results of papers."""
    groups: dict[tuple[str, str, str], list[SiteEntry]] = {}
    for entry in entries:
        groups.setdefault(entry.group, []).append(entry)
    parts = [
        "<h1>Results</h1>",
        '<input id="filter" placeholder="filter rows" aria-label="filter rows" hidden>',
        "<p>Only results of one table may be compared: those of another have another workload, another "
        "scale, another use of the page cache or another division. Figures are medians over the runs of a "
        "pack.</p>",
    ]
    for (division, what, cache), members in sorted(groups.items()):
        parts.append(f"<h2>{escape(what)}</h2><p>{division} division; page cache: {escape(cache)}</p>")
        parts.append(_table(HEAD, [_row(entry) for entry in sorted(members, key=_order)]))
    parts += [
        "<h2>What papers published</h2>",
        "<p>Other machines, other programs and one run each: do not compare their totals with the tables "
        "above. mawl compares them per core and in shape (mawl compare ID RUN).</p>",
        _table(("result", "sessions", "real time, sum", "sustained", "per core"), list(_papers())),
        f"<script>{FILTER}</script>",
    ]
    return _page("Results", parts, root="")


def result(entry: SiteEntry) -> str:
    """The page of one pack: statement, rules, report, and its data."""
    statement = entry.validation.statement
    said = (
        {} if statement is None else {name: getattr(statement, name) for name in statement.__struct_fields__}
    )
    rules = [
        (
            escape(one.rule),
            escape(one.title),
            f'<span class="{escape(one.state.split()[0])}">{escape(one.state)}</span>',
            escape("; ".join(fault.sentence for fault in one.faults[:3])),
        )
        for one in entry.validation.rulings
    ]
    parts = [
        f"<h1>{escape(entry.title)}</h1>",
        f"<p>{'Accepted' if entry.validation.accepted else 'Not accepted'}; "
        f"{escape(', '.join(entry.group))}. "
        f'<a href="../../packs/{entry.slug}.zip">Download the pack</a> and check it with mawl validate.</p>',
        "<h2>In the maker's words</h2>",
        _table(("", ""), [(escape(name), escape(text) or ABSENT) for name, text in said.items()]),
        "<h2>Figures</h2>",
        _table(HEAD, [_row(entry, linked=False)]),
        "<h2>Rules</h2>",
        _table(("rule", "title", "state", "what it found"), rules),
        "<h2>Report of the first run</h2>",
        f"<pre>{escape(entry.report)}</pre>",
    ]
    return _page(entry.title, parts, root="../../")


def feed(entries: Sequence[SiteEntry], address: str) -> str:
    """An Atom feed (RFC 4287) of the packs, the newest first; ``address`` is where the site will be."""
    newest = sorted(entries, key=lambda entry: -entry.started_at)
    items = "".join(
        f"<entry><title>{escape(entry.title)}</title><id>{escape(address)}results/{entry.slug}/</id>"
        f'<link href="results/{entry.slug}/index.html"/><updated>{format_instant(entry.started_at)}</updated>'
        f"<summary>{escape(', '.join(entry.group))}</summary></entry>"
        for entry in newest
    )
    updated = format_instant(newest[0].started_at) if newest else format_instant(0.0)
    return (
        '<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom">'
        f"<title>Results</title><id>{escape(address)}</id><author><name>mawl publish</name></author>"
        f"<updated>{updated}</updated>{items}</feed>\n"
    )


def _order(entry: SiteEntry) -> tuple[bool, float, str]:
    return (not entry.validation.accepted, entry.figures["elapsed_seconds"] or float("inf"), entry.slug)


def _row(entry: SiteEntry, *, linked: bool = True) -> tuple[str, ...]:
    statement = entry.validation.statement
    name = escape(entry.title)
    return (
        f'<a href="results/{entry.slug}/index.html">{name}</a>' if linked else name,
        escape(statement.submitter if statement is not None else "") or ABSENT,
        "yes" if entry.validation.accepted else "no",
        str(len(entry.validation.runs)),
        ABSENT if entry.cores is None else str(entry.cores),
        _seconds(entry.figures["elapsed_seconds"]),
        _seconds(entry.figures["real_time_seconds"]),
        _rate(entry.figures["device_bytes_per_second"]),
        _rate(entry.figures["device_bytes_per_second_per_core"]),
        escape(entry.limit),
    )


def _papers() -> Sequence[tuple[str, ...]]:
    rows = []
    for paper in papers():
        for one in paper.results:
            block = published_block(one, paper)
            sustained = block.io.device.sustained
            rows.append(
                (
                    escape(block.title),
                    ABSENT if block.workload.sessions is None else str(block.workload.sessions),
                    _seconds(block.time.real_time_seconds),
                    _rate(sustained.total_bytes_per_second),
                    _rate(block.per_core.sustained_bytes_per_second),
                )
            )
    return rows


def _seconds(value: float | None) -> str:
    return ABSENT if value is None else format_seconds(value)


def _rate(value: float | None) -> str:
    return ABSENT if value is None else format_rate(value)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are HTML already."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr data-row>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{top}</tr>{body}</table></div>'


def _page(title: str, parts: Sequence[str], *, root: str) -> str:
    back = f'<p><a href="{root}index.html">All results</a></p>' if root else ""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<link rel="alternate" type="application/atom+xml" href="{root}feed.xml">',
            f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>",
            back,
            *parts,
            "</body></html>",
            "",
        ]
    )
