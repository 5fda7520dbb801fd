"""An answer as plain data: its finding, named lines, sentences, tables, charts, and one writer for each form.

A new answer builds a ``Document``; ``rendered`` makes text, Markdown or a page of it (``html/document.py``).
Charts are functions, so that only a page loads the library that draws them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import msgspec

from mawl.base.units import counted_noun
from mawl.importers.formats.text import one_line
from mawl.reports.layout import LINE_WIDTH, escaped, fitting, stacked, table, with_command, wrapped

if TYPE_CHECKING:
    from markupsafe import Markup

    from mawl.reports.html.charts.frame import Chart

DocumentFormat = Literal["text", "markdown", "html"]
EVERYWHERE: frozenset[DocumentFormat] = frozenset(get_args(DocumentFormat))
TEXT: frozenset[DocumentFormat] = frozenset({"text"})
NOT_TEXT: frozenset[DocumentFormat] = frozenset({"markdown", "html"})

Sign = Literal["better", "worse", "mixed", "no change", "undecided", "measured"]
"""``better`` and ``worse``: the candidate's real time per job, established.  ``mixed``: programs were
established to go another way than all jobs together.  ``no change``: none larger than the margin is
established.  ``measured``: a campaign that compares nothing has its number.  ``undecided`` is also what runs
say that are invalid by their own checks."""

TONES: dict[Sign, str] = {
    "better": "good",
    "worse": "bad",
    "mixed": "warn",
    "no change": "good",
    "undecided": "warn",
    "measured": "",
}
Line = tuple[str, str]
"""A short name and a sentence."""

NAME_WIDTH = 11
"""Letters of the column with the names of lines."""
WHY = "why"
"""Column with a sentence, which text puts below the table."""


SENTENCES = {"why", "verdict", "rules", "meaning", "found", "required", "what it found", "reason"}
NAMES = {
    *("folder", "outcome", "judged", "limit", "fabric", "kernel", "procedure", "device", "met", "state"),
    *("purpose", "value"),
}
"""Heads of columns that hold sentences or names and not figures: these are to the left."""


class Headline(msgspec.Struct, frozen=True, kw_only=True):
    """The headline: its sign, a sentence that begins with it, what to do next (None: nothing), and which
    check to fix before the runs are published (None: they are fit for it)."""

    sign: Sign
    sentence: str
    next_step: str | None = None
    to_publish: str | None = None


class DefinedWords(NamedTuple):
    """Words that lead to the definition of a metric of the registry, on a page that has its glossary."""

    label: str
    name: str


class Card(NamedTuple):
    """A question in plain words with its answer, tone and sentences.

    ``figure`` is what the answer rests on and ``measures`` its words; ``more`` is a link (anchor and text).
    """

    question: str
    answer: str | Markup | DefinedWords
    standing: str
    lines: Sequence[str | Markup]
    figure: Markup | str = ""
    measures: Markup | str | DefinedWords = ""
    more: tuple[str, str] | None = None


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """``name`` is an anchor; the first column of ``rows`` is their title, ``note`` a legend or empty.

    ``row_figures`` and ``head_figures`` are the figures of the summary (``*`` for any role) that rows or
    columns show, an empty text for what is none of these.  A narrow terminal does without the columns
    ``spare``, the first to go first.  ``gap`` is a line of text that stands for rows left out, and how many
    rows are above it; text has ``indent`` before each line.  Markdown folds the table behind the number of
    its rows if these have a ``noun``.
    """

    name: str = ""
    title: str = ""
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""
    row_figures: Sequence[str] = ()
    head_figures: Sequence[str] = ()
    spare: tuple[str, ...] = ()
    gap: tuple[int, str] | None = None
    noun: str = ""
    indent: str = ""


class Lines(msgspec.Struct, frozen=True):
    """Named lines.

    Text has the names in a column as wide as the longest, or before the sentence if ``inline``.  The colon
    of a title is for text.
    """

    lines: Sequence[Line]
    title: str = ""
    indent: str = ""
    inline: bool = False


class Sentences(msgspec.Struct, frozen=True):
    """Sentences under a title, a list but in text: there their later lines hang by two more blanks."""

    sentences: Sequence[str]
    title: str = ""
    indent: str = ""


class Commands(msgspec.Struct, frozen=True):
    """Commands to copy: text keeps each in one line."""

    commands: Sequence[str]
    indent: str = "  "


class Charts(msgspec.Struct, frozen=True):
    """Charts of a page; ``draw`` makes them, and an empty list if there is nothing to draw."""

    draw: Callable[[], Sequence[Chart]]
    lead: str = ""
    zoom: bool = False


class Aside(msgspec.Struct, frozen=True):
    """Tables next to each other where there is room, all that one printed page keeps of ``summary``."""

    tables: Sequence[Table]


Block: TypeAlias = Table | Lines | Sentences | Commands | Charts | Aside


class Part(msgspec.Struct, frozen=True):
    """Blocks that belong together.

    A page folds them behind ``title``, under an ``anchor`` that its contents call ``short``; a terminal
    leaves a blank line between parts.  ``formats`` are those that show the part.
    """

    blocks: Sequence[Block]
    anchor: str = ""
    title: str = ""
    short: str = ""
    formats: frozenset[DocumentFormat] = EVERYWHERE


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """An answer.  A line that repeats the headline is left out where the headline is shown.

    ``facts`` are the line under the title of a page, ``lead`` the charts of its first screen, ``tag`` a word
    and its tone in place of the sign.  ``parts`` are those of text and Markdown, and of a page without
    ``folds``.
    """

    headline: Headline
    parts: Sequence[Part]
    facts: Sequence[str] = ()
    cards: Sequence[Card] = ()
    lead: Callable[[], Chart | None] | None = None
    folds: Sequence[Part] = ()
    tag: tuple[str, str] | None = None


def capital(text: str) -> str:
    """A text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def filled(*tables: Table) -> list[Table]:
    """The tables that have rows."""
    return [one for one in tables if one.rows]


def each(*blocks: Block) -> list[Part]:
    """A part for each block."""
    return [Part((block,)) for block in blocks]


def rendered(document: Document, form: str, width: int = LINE_WIDTH) -> str:
    """The document in a ``DocumentFormat``, without a newline at its end; text in lines of ``width``."""
    if form == "html":
        # The library of charts takes a second to import, which only a page should pay.
        from mawl.reports.html.document import page_of

        return page_of(document)
    return markdown(document) if form == "markdown" else terminal(document.parts, width)


def terminal(parts: Iterable[Part], width: int = LINE_WIDTH) -> str:
    """Parts for a terminal, with a blank line between."""
    laid_out = (part_lines(part, width) for part in parts if "text" in part.formats)
    return "\n\n".join("\n".join(lines) for lines in laid_out if lines)


def part_lines(part: Part, width: int) -> list[str]:
    """The lines of a part on a terminal."""
    return [line for block in part.blocks for line in block_lines(block, width)]


def block_lines(block: Block, width: int) -> list[str]:
    """The lines of a block on a terminal; charts have none."""
    match block:
        case Table():
            return _table_lines(block, width) if block.rows else []
        case Lines() if block.lines:
            begin, indent, lines = _title_line(block.title), block.indent, block.lines
            if block.inline:
                return [*begin, *_wrapped((f"{name}: {said}" for name, said in lines), width, indent)]
            column = max(NAME_WIDTH - len(indent), *(1 + len(name) for name, _ in lines))
            hang = " " * (len(indent) + column)
            for name, said in lines:
                line = f"{indent}{name:<{column}}{one_line(said)}"
                begin += wrapped(line, width, hang, whole_command=name == "next")
            return begin
        case Sentences() if block.sentences:
            return [*_title_line(block.title), *_wrapped(block.sentences, width, block.indent)]
        case Commands():
            return [block.indent + _printable(command) for command in block.commands]
    return []


def _wrapped(sentences: Iterable[str], width: int, indent: str = "") -> list[str]:
    return [
        line for sentence in sentences for line in wrapped(indent + one_line(sentence), width, f"{indent}  ")
    ]


def _title_line(title: str) -> list[str]:
    return [one_line(title)] if title else []


def _table_lines(block: Table, width: int) -> list[str]:
    """A table in columns, the reasons of its rows, and its note."""
    rows, reasons = [list(map(_cell, row)) for row in (block.head, *block.rows)], list[str]()
    if block.head[-1] == WHY:
        reasons = [f"{row[0]}: {row[-1]}" for row in block.rows if row[-1]]
        rows = [row[:-1] for row in rows]
    lines = stacked(fitting(rows, width, block.spare), width)
    if block.gap is not None:
        lines.insert(1 + block.gap[0], block.gap[1])
    note = _wrapped([block.note], width) if block.note else []
    return [*(block.indent + line if line else "" for line in lines), *_wrapped(reasons, width, "  "), *note]


def _printable(command: str) -> str:
    """A command as it is, but for what could end the line or steer a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in command)


def _cell(text: str) -> str:
    return text[: len(text) - len(text.lstrip(" "))] + one_line(text)


def markdown(document: Document) -> str:
    """The headline as the title, lines and sentences as lists, and the tables."""
    shown = [block for part in document.parts if "markdown" in part.formats for block in part.blocks]
    sections = (_markdown_lines(block, document.headline) for block in shown)
    title = f"# {escaped(document.headline.sentence)}"
    return "\n\n".join([title, *("\n".join(lines) for lines in sections if lines)])


def _markdown_lines(block: Block, headline: Headline) -> list[str]:
    match block:
        case Table():
            return _markdown_table(block) if block.rows else []
        case Lines():
            listed = [
                f"- **{escaped(name)}**: {with_command(said)}"
                for name, said in block.lines
                if not repeats(said, headline.sentence)
            ]
        case Sentences():
            said = (one for one in block.sentences if not repeats(one, headline.sentence))
            listed = [f"- {escaped(one)}" for one in said]
        case Commands() if block.commands:
            return ["```", *map(_printable, block.commands), "```"]
        case _:
            return []
    title = capital(block.title.removesuffix(":"))
    return [*([f"## {escaped(title)}", ""] if title else []), *listed] if listed else []


def repeats(sentence: str, headline: str | None) -> bool:
    """Whether a line says the headline once more."""
    return headline is not None and capital(sentence.removesuffix(".")) == headline.removesuffix(".")


def _markdown_table(block: Table) -> list[str]:
    rows = [tuple(map(with_command, row)) for row in block.rows]
    left = [place for place, name in enumerate(block.head) if name in SENTENCES | NAMES]
    lines = table(tuple(map(escaped, block.head)), rows, left=left)
    if block.note:
        lines += ["", escaped(block.note)]
    if block.noun:
        count = counted_noun(len(rows), block.noun)
        return [f"<details><summary>{count}</summary>", "", *lines, "", "</details>"]
    return [f"## {escaped(capital(block.title))}", "", *lines] if block.title else lines
