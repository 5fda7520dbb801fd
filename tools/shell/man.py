"""The manual page in the ``man`` macros, of all verbs on one page."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from mawl.commands.verbs import EXIT_STATUS
from mawl.version import __version__
from tools.markdown import plain
from tools.shell.tree import Argument, Verb

NAME = "mawl.1"

_CHANGELOG = Path(__file__).resolve().parents[2] / "CHANGELOG.md"
_FILES = (
    ("mawl.toml", "Settings of the current directory; MAWL_CONFIG names another file."),
    ("runs/", "Run folders, one for each run."),
)
_ENVIRONMENT = (
    (
        "MAWL_NAME",
        "The setting NAME, as in mawl.toml: MAWL_WORK=/srv/work. Options of the command line go before it.",
    ),
)
_SEE_ALSO = "fio(1), iostat(1), proc(5)"


def page(mawl: Verb) -> str:
    """The page as roff."""
    lines = [
        r".\" Printed from the command line by tools/shell; do not edit.",
        f'.TH MAWL 1 "{_released()}" "mawl {__version__}" "User Commands"',
        ".ad l",  # a long list of values leaves lines without a blank to widen
        ".SH NAME",
        r"mawl \- run a mixed analytics load and say what limits it",
        ".SH SYNOPSIS",
        r".B mawl",
        r".I VERB",
        ".RI [ options ]",
        ".SH DESCRIPTION",
        *_paragraphs(mawl.description),
        ".SH OPTIONS",
        *_arguments(mawl.arguments),
        ".SH VERBS",
    ]
    for verb in mawl.verbs:
        lines += [".TP", f".B {_text(verb.words[-1])}", _text(verb.help)]
    for verb in mawl.verbs:
        lines += [f".SH {_text(' '.join(('MAWL', *verb.words)).upper())}", *_about(verb)]
        for below in verb.verbs:
            lines += [f".SS mawl {_text(' '.join(below.words))}", *_about(below)]
    lines += [".SH EXIT STATUS", *_paragraphs(mawl.exit_status.removeprefix("exit status: "))]
    for title, entries in (("ENVIRONMENT", _ENVIRONMENT), ("FILES", _FILES)):
        lines += [f".SH {title}"]
        for name, text in entries:
            lines += [".TP", f".B {_text(name)}", _text(text)]
    return "\n".join([*lines, ".SH SEE ALSO", _SEE_ALSO]) + "\n"


def _about(verb: Verb) -> list[str]:
    lines = [*_paragraphs(plain(verb.description) or verb.help), ".PP", _text(verb.usage)]
    if verb.exit_status not in ("", EXIT_STATUS):
        lines += [".PP", _text(" ".join(verb.exit_status.split()))]
    return lines + _arguments(verb.arguments)


def _arguments(arguments: tuple[Argument, ...]) -> list[str]:
    lines = []
    for one in arguments:
        value = rf"\fI{_text(one.metavar)}\fR{one.value.removeprefix(one.metavar)}" if one.value else ""
        names = ", ".join(rf"\fB{_text(flag)}\fR {value}".rstrip() for flag in one.flags) or value
        lines += [".TP", names, _text(one.help)]
    return lines


def _paragraphs(text: str) -> list[str]:
    parts = [_text(" ".join(part.split())) for part in re.split(r"\n\s*\n", text.strip())]
    return [line for part in parts for line in (".PP", part)][1:]


def _text(text: str) -> str:
    """Words as roff prints them: a minus stays one, no line begins with a request, alternatives may break."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("|", r"|\:")
    lines = textwrap.wrap(escaped, 79, break_long_words=False, break_on_hyphens=False)
    return "\n".join(rf"\&{line}" if line.startswith((".", "'")) else line for line in lines)


def _released() -> str:
    """The day of the newest version."""
    found = re.search(r"^## [\d.]+, (\d{4}-\d\d-\d\d)$", _CHANGELOG.read_text(), re.MULTILINE)
    return found[1] if found else ""
