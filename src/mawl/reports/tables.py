"""Tables of a run, stated once for text, Markdown, HTML and CSV: which rows, which figures, in what form.

A table is a ``RunTable`` in a module of ``reports.run_tables``; ``every.py`` there lists all.
Definitions, reasons of missing figures and units follow from the paths of the figures in the summary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, get_args

import msgspec

from mawl.base.units import (
    counted_noun,
    format_bytes,
    format_memory,
    format_percent,
    format_rate,
    format_ratio,
    format_seconds,
)
from mawl.figures.io import cached_directions
from mawl.figures.view import RunView
from mawl.importers.formats.text import one_line
from mawl.records.model.summary.io import Io, OwnBytes
from mawl.records.model.summary.summary import Summary
from mawl.reports.layout import ABSENT, LINE_WIDTH, Form, cpu_parts, figures, fitting, stacked, wrapped
from mawl.reports.paragraphs import ratio_text, sum_text
from mawl.reports.run_lines import labelled, periods_text

Format = Literal["text", "markdown", "html", "csv"]
Formats = frozenset[Format]

TEXT: Formats = frozenset({"text"})
MARKDOWN: Formats = frozenset({"markdown"})
HTML: Formats = frozenset({"html"})
CSV: Formats = frozenset({"csv"})
SHOWN = TEXT | MARKDOWN | HTML
"""For people: CSV, for programs, has every figure of a row instead of columns."""
EVERY: Formats = frozenset(get_args(Format))

Section = Literal["timeline", "summary", "nodes", "roles", "storage", "programs", "host", "system"]
"""Sections of the HTML report that show tables of runs."""

Path: TypeAlias = tuple[str | int, ...]
"""Names of fields, names of members, and numbers of members from 0, from a record to one of its figures."""


def _always(_: Summary, __: Format) -> bool:
    return True


class RunColumn(msgspec.Struct, frozen=True, kw_only=True):
    """A figure that every row has.

    ``path`` leads to it from the block of a row, or ``value`` works it out of that block; ``{way}`` in a path
    is the way of the row.  ``form`` makes the figure a text.  ``title`` is a longer label for HTML, and
    ``when`` says for which summaries the column stands in a format.  ``holds`` is what the cells are:
    ``code`` are words that Markdown shows as code.
    """

    label: str
    form: Callable[[Any], str]
    path: tuple[str, ...] = ()
    value: Callable[[Any], object] | None = None
    title: str = ""
    holds: Literal["figures", "words", "code"] = "figures"
    formats: Formats = SHOWN
    when: Callable[[Summary, Format], bool] = _always

    def path_of(self, row: Row) -> Path:
        return (*row.path, *(part.format(way=row.way) for part in self.path))

    def of(self, summary: Summary, row: Row) -> object:
        """The figure of a row; None if it is missing, UNSET if such a row has none."""
        if self.label in row.without:
            return msgspec.UNSET
        return at(summary, self.path_of(row)) if self.value is None else self.value(at(summary, row.path))

    def text(self, summary: Summary, row: Row) -> str:
        """``of`` as a text: ``-`` if it is missing, empty if such a row has none."""
        found = self.of(summary, row)
        return ABSENT if found is None else "" if found is msgspec.UNSET else self.form(found)


class Row(msgspec.Struct, frozen=True):
    """A row: its name, the path of its block in the summary, and the formats that show it.

    ``way`` is read, write or total where a block has all of them, ``without`` the labels of columns that
    such a row has no figure for.
    """

    name: str
    path: Path
    formats: Formats = EVERY
    way: str = ""
    without: frozenset[str] = frozenset()


class Note(msgspec.Struct, frozen=True):
    """A sentence above or below a table, with a word before it that says what it is about."""

    text: str
    formats: Formats = SHOWN
    label: str = ""


Notes = Callable[[RunView, Summary], Sequence[Note]]


def _no_notes(_: RunView, __: Summary) -> Sequence[Note]:
    return ()


class RunTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table of a run.

    ``name`` is that of the CSV table, ``caption`` that of the HTML table, ``section`` where it stands there.
    ``first`` is the label of the column with the rows' names (``text_first`` that in text); ``named`` are
    the formats with that column, and ``code`` says that Markdown shows the names as code.
    ``block`` is the path of the rows' blocks with ``*`` for any member, and ``way`` a way of theirs:
    definitions are found by them.  ``narrow`` lets the HTML table be no wider than it needs.
    ``alike``: rows may be compared with each other, so HTML shades figures outside the usual range.
    ``fold`` is the title behind which the table is folded in the formats ``folded``; ``{rows}`` is their
    number.  ``lead`` are sentences above, with or without rows; ``notes`` are below the rows.
    ``spare`` are the labels of columns that a narrow terminal does without, the first to go first.
    """

    name: str
    caption: str
    section: Section
    first: str
    block: tuple[str, ...]
    way: str = ""
    rows: Callable[[RunView, Summary], Sequence[Row]]
    columns: tuple[RunColumn, ...]
    text_first: str = ""
    named: Formats = EVERY
    code: bool = False
    narrow: bool = False
    alike: bool = False
    formats: Formats = SHOWN
    fold: str = ""
    folded: Formats = frozenset()
    lead: Notes = _no_notes
    notes: Notes = _no_notes
    spare: tuple[str, ...] = ()

    def definition(self, column: RunColumn) -> str | None:
        """The name of a column's figure in the registry of metrics; None for one that is worked out here."""
        if column.value is not None:
            return None
        return ".".join(map(str, column.path_of(Row(self.first, self.block, way=self.way))))


class Shown(msgspec.Struct, frozen=True):
    """What one format shows of a table: no row means no table.

    ``unknown`` are the columns that are left out because no row has their figures.
    """

    columns: list[RunColumn]
    rows: list[Row]
    unknown: list[RunColumn]


def shown(table: RunTable, view: RunView, summary: Summary, to: Format) -> Shown:
    """The rows and columns of a table in a format; of an import only those that have a figure.

    A page of a measured run leaves out columns without a figure, too.
    """
    rows = [row for row in table.rows(view, summary) if to in row.formats] if to in table.formats else []
    columns = [column for column in table.columns if to in column.formats and column.when(summary, to)]
    imported = summary.kind == "imported"
    if (not imported and to != "html") or to == "csv":
        return Shown(columns, rows, [])

    def known(column: RunColumn, row: Row) -> bool:
        return column.of(summary, row) not in (None, msgspec.UNSET)

    if imported:
        rows = [row for row in rows if any(known(column, row) for column in columns)]
    held = [column for column in columns if any(known(column, row) for row in rows)]
    if not (imported or held):
        return Shown(columns, rows, [])
    absent = (column for column in columns if column not in held)
    return Shown(held, rows, [one for one in absent if any(one.of(summary, row) is None for row in rows)])


def notes_of(
    table: RunTable, found: Shown, view: RunView, summary: Summary, to: Format
) -> tuple[list[Note], list[Note]]:
    """The notes above and below what a format shows of a table."""
    above = table.lead(view, summary) if to in table.formats else ()
    below = table.notes(view, summary) if found.rows else ()
    return [note for note in above if to in note.formats], [note for note in below if to in note.formats]


def at(found: Any, path: Path) -> Any:
    """What a record holds at a path: None where a part of it is null, UNSET where there is no such field."""
    for part in path:
        if found is None or found is msgspec.UNSET:
            break
        members = isinstance(found, dict | list)
        found = found[part] if members else getattr(found, str(part), msgspec.UNSET)
    return found


SHARES = {"read": "of the bytes read", "write": "of the bytes written"}
MOSTLY = 0.5
ALONE = {"read": "reading from ", "write": "writing to "}


def times(summary: Summary, width: int = LINE_WIDTH) -> list[str]:
    """Sums over the jobs that count, who does not and why, CPU over real time, and the phases."""
    time, ratio, jobs = summary.time, summary.cpu_real_ratio, summary.jobs
    cpu = cpu_parts(time)
    lines = stacked(
        [
            ("", "real time", *(label for label, _ in cpu), "memory"),
            (
                f"sum over {counted_noun(jobs.counted, 'job')}",
                sum_text(summary, "real_time_seconds", format_seconds),
                *(sum_text(summary, field, format_seconds) for _, field in cpu),
                sum_text(summary, "memory_bytes", format_memory),
            ),
        ],
        width,
    )
    lines += lacking(summary, width)
    left_out = [
        f"{number} {name.replace('_', ' ')}"
        for name, number in msgspec.structs.asdict(jobs.left_out).items()
        if number
    ]
    if (with_errors := jobs.counted - jobs.finished) > 0:
        text = f"{counted_noun(with_errors, 'job')} among them ended with errors"
        lines += wrapped(text, width, "  ")
    if left_out:
        text = f"left out of sums and tables (but not of the CPU account): {', '.join(left_out)}"
        lines += wrapped(text, width, "  ")
    ratios = figures(*((getattr(ratio, name), format_ratio) for name in ("mean", "stddev", "range")))
    phases = figures(
        *(
            (getattr(time, f"{name}_seconds"), format_seconds)
            for name in ("elapsed", "active", "tail", "startup")
        )
    )
    per_job = "per job: mean {}, standard deviation {}, range {}".format(*ratios)
    apart = periods_text(summary)
    elapsed = "{} = {} active + {} tail; start-up before it {}".format(*phases) if apart is None else apart
    return [
        *lines,
        *labelled("CPU/real", f"{ratio_text(summary)} of the sums; {per_job}", width),
        *labelled("elapsed", elapsed, width),
    ]


def lacking(summary: Summary, width: int = LINE_WIDTH) -> list[str]:
    reasons = {
        name: summary.missing.get(path, "")
        for name, path in (
            ("real time", "time.real_time_seconds"),
            ("CPU", "time.cpu_seconds"),
            ("CPU/real of the sums", "cpu_real_ratio.of_sums"),
            ("user and system CPU in the CPU account", "cpu_account.jobs.user_cpu_seconds"),
        )
    }
    told = [f"not of all jobs, {name}: {why}" for name, why in reasons.items() if " of the " in why]
    return [line for text in told for line in wrapped(text, width, "  ")]


def io(summary: Summary, width: int = LINE_WIDTH) -> list[str]:
    """What programs asked for, what reached the devices, and a note where the page cache stood between."""
    return [*io_totals(summary, width), *dirty_lines(summary, width), *_cached(summary.io, width)]


def io_totals(summary: Summary, width: int = LINE_WIDTH) -> list[str]:
    """The kinds of bytes by direction, each in its own row, and reach."""
    io = summary.io
    rows: list[Sequence[str]] = [
        ("I/O", "read", "written", "read share", "mean read", "mean written", "mean total")
    ]
    for side in ("application", "device"):
        mean = getattr(io, side).run_mean
        rates = [
            (getattr(mean, f"{direction}_bytes_per_second"), format_rate)
            for direction in ("read", "write", "total")
        ]
        rows.append((side, *figures(*_sizes(getattr(io, side)), *rates)))
    rows.append(("own", *figures(*_sizes(io.own)), *[""] * 3))
    rows.append(("dirtied", "", *figures((io.dirtied.written_bytes, format_bytes)), *[""] * 4))
    reached = figures(
        *((getattr(io.reach, f"{direction}_ratio"), format_percent) for direction in ("read", "write"))
    )
    rows.append(("reach (own/application)", *reached, *[""] * 4))
    return stacked(rows, width)


LEAST_FOREIGN_RATIO = 0.01
"""Less of what devices moved than this is not worth a line."""


def _sizes(block: OwnBytes) -> list[tuple[float | None, Form]]:
    return [
        (block.read_bytes, format_bytes),
        (block.written_bytes, format_bytes),
        (block.read_ratio, format_percent),
    ]


def dirty_lines(summary: Summary, width: int = LINE_WIDTH) -> list[str]:
    dirtied, foreign = summary.io.dirtied, summary.io.foreign
    lines = []
    left = dirtied.still_dirty_bytes
    if left:
        lines.append(f"dirtied: {format_bytes(left)} had not reached a device when the last job ended")
    if foreign is not None and foreign.ratio and foreign.ratio >= LEAST_FOREIGN_RATIO:
        moved = format_bytes((foreign.read_bytes or 0) + (foreign.written_bytes or 0))
        lines.append(
            f"device less own: {moved}, {100 * foreign.ratio:.0f} % of device: journals, metadata "
            "and other programs"
        )
    return [line for text in lines for line in wrapped(text, width, "")]


def _cached(block: Io, width: int = LINE_WIDTH) -> list[str]:
    directions = cached_directions(block)
    if not directions:
        return []
    ratios = {direction: getattr(block.reach, f"{direction}_ratio") for direction in directions}
    shares = " and ".join(f"{format_percent(ratio)} {SHARES[name]}" for name, ratio in ratios.items())
    what = ALONE[directions[0]] if len(directions) == 1 else ""
    most, much = ("most of it", "nothing") if max(ratios.values()) < MOSTLY else ("the rest", "little")
    return wrapped(
        f"Only {shares} reached a device: the page cache served {most}, so this run says {much} about "
        f"{what}storage; run with --cache none.",
        width,
        "",
    )


def table_lines(table: RunTable, view: RunView, summary: Summary, width: int = LINE_WIDTH) -> list[str]:
    """The notes above, head and rows in aligned columns, and the notes below; empty without any of them."""
    found = shown(table, view, summary, "text")
    lines: list[Sequence[str]] = []
    if found.rows:
        named = [table.text_first or table.first] if "text" in table.named else []
        lines.append([*named, *(column.label for column in found.columns)])
        lines += [_cells(table, found, row, summary) for row in found.rows]
    above, below = notes_of(table, found, view, summary, "text")
    return [
        *(line for note in above for line in _note_lines(note, width)),
        *stacked(fitting(lines, width, table.spare), width),
        *(line for note in below for line in _note_lines(note, width)),
    ]


def _cells(table: RunTable, found: Shown, row: Row, summary: Summary) -> list[str]:
    named = [one_line(row.name)] if "text" in table.named else []
    return [*named, *(one_line(column.text(summary, row)) for column in found.columns)]


def _note_lines(note: Note, width: int) -> list[str]:
    text = one_line(note.text)
    return labelled(note.label, text, width) if note.label else wrapped(text, width, "  ")
