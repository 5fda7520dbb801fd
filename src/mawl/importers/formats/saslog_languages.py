"""SAS logs in other languages, and of Altair SLC, line by line in SAS's English.

The wordings are data (``saslog_languages.toml``).  Every line stays a line, so that numbers of lines hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from typing import NamedTuple

import msgspec

from mawl.importers.formats.text import text_of

_PARTS = {
    "name": r"(\S{1,128}?)",
    "rows": r"([0-9][0-9,.]{0,25})",
    "columns": r"([0-9]{1,9})",
    "rest": r"(.*)",
}
_PART = re.compile(r"\{([a-z]+)\}")
_VALUE = r"[ \t]*(?::[ \t]*)?([0-9][0-9.:,]*)(k?)[ \t]*"
_FOREIGN_HEADING = re.compile(
    r"^[^\s:]{3,12}: [^\n]{4,120}[:：][ \t\r]*\n"
    r"(?: {5,8}\S[^\n:]{1,40}?(?: {2,}| : )[0-9][0-9.,:]*[^\n]*\n){2}",
    re.MULTILINE,
)
"""A heading that ends with a colon, and two lines of a label and a figure: the shape of performance notes in
every language and release since 8.2."""


class Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of the file: whole lines, and the labels and the unit of figures, with their English."""

    name: str
    unit: str
    lines: dict[str, str]
    labels: dict[str, str]


class _Wordings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    language: list[Wording]


class _Line(NamedTuple):
    pattern: re.Pattern[str]
    names: tuple[str, ...]
    english: str


class Language:
    """Turns lines of one language into SAS's English."""

    def __init__(self, wording: Wording) -> None:
        self.name = wording.name
        self._lines = [_line(words, english) for words, english in wording.lines.items()]
        labels = "|".join(map(re.escape, sorted(wording.labels, key=len, reverse=True)))
        unit = rf"(?:{re.escape(wording.unit)})?" if wording.unit else ""
        self._figure = re.compile(rf"( +)({labels}){_VALUE}{unit}[ \t]*")
        self._labels = wording.labels
        self._marks = tuple({_literal(words) for words in wording.lines} | set(wording.labels))
        self._headings = [
            (_literal(words), re.compile(rf"^\s?{_pattern(words)}\s*$", re.MULTILINE))
            for words, english in wording.lines.items()
            if " used" in english
        ]

    def is_of(self, text: str) -> bool:
        """Whether a text has a heading of this language."""
        return any(literal in text and heading.search(text) for literal, heading in self._headings)

    def english(self, line: str) -> str:
        """The line as SAS writes it in English; a line that tells nothing as it is."""
        if not any(mark in line for mark in self._marks):
            return line
        text = line.strip()
        for pattern, names, english in self._lines:
            if match := pattern.fullmatch(text):
                for name, part in zip(names, match.groups(), strict=True):
                    english = english.replace(f"{{{name}}}", _english(name, part))
                return english
        if match := self._figure.fullmatch(line.rstrip()):
            indent, label, value, kilo = match.groups()
            unit = kilo or ("" if ":" in value else " seconds")
            return f"{indent}{self._labels[label]:<20}{value}{unit}"
        return line


def _line(words: str, english: str) -> _Line:
    return _Line(re.compile(_pattern(words)), tuple(_PART.findall(words)), english)


def _pattern(words: str) -> str:
    pieces = enumerate(_PART.split(words))
    return "".join(_PARTS[piece] if place % 2 else re.escape(piece) for place, piece in pieces)


def _literal(words: str) -> str:
    """The longest part of a wording that does not vary."""
    return max(_PART.split(words)[::2], key=len)


def _english(name: str, text: str) -> str:
    if name == "rows":
        return text.replace(",", "").replace(".", "")
    return text.upper() if name == "name" and text.islower() else text


@cache
def languages() -> tuple[Language, ...]:
    """The languages of ``saslog_languages.toml``."""
    content = resources.files(__package__).joinpath("saslog_languages.toml").read_bytes()
    return tuple(map(Language, msgspec.toml.decode(content, type=_Wordings).language))


def language_of(text: str) -> Language | None:
    """The language of the first headings of a log; None for English, and for one that mawl does not read."""
    return next((language for language in languages() if language.is_of(text)), None)


def unread_language(text: str) -> int | None:
    """The line, from 1, of the first heading in a language that mawl does not read; None without one."""
    match = _FOREIGN_HEADING.search(text)
    return None if match is None else text.count("\n", 0, match.start()) + 1


def in_english(chunks: Iterable[bytes], language: Language) -> Iterator[bytes]:
    """The chunks of a log, as of ``byte_chunks``, in English and UTF-8."""
    rest = b""
    for chunk in chunks:
        content = rest + chunk
        end = content.rfind(b"\n") + 1
        rest = content[end:]
        if end:
            lines = content[: end - 1].split(b"\n")
            yield b"".join(language.english(text_of(line)).encode() + b"\n" for line in lines)
    if rest:
        yield language.english(text_of(rest)).encode()
