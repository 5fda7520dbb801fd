"""What commands print is read as it is; damaged, it is right or absent, and never another value."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from mawl.importers.formats.settings.collection import READERS, Section, reader_of, sections
from mawl.importers.formats.settings.output import NodeSettings
from tests.fakes.command_outputs import NO_VALUE, Fact, Made, collected, outputs

OUTPUTS = outputs()
MOST_CASES = 60
ASKED = (
    "vmo", "ioo", "no", "schedo", "raso", "ulimit", "smtctl", "lparstat -i", "mount", "lspath",
    "lsattr hdisk", "lsattr fcs", "lsattr fscsi", "lsattr en", "lsattr sys", "lsdev -C",
    "lsmap -all", "lsmap -all -npiv",
    "mmlsconfig", "mmlsfs", "mmdiag --config", "mmlsdisk", "mmlsnsd -m",
    "sysctl -a", "sysfiles", "lsblk", "multipath -ll", "udevadm", "tuned-adm", "numactl", "ppc64_cpu", "df",
    "ethtool e.*", "ethtool -g", "ethtool -k", "ulimit -H?n", "ulimit -a",
)  # fmt: skip
"""Commands with their options, and the kind of device."""


def read(name: str, content: bytes) -> tuple[dict[Fact, Any], dict[str, str]]:
    """Known values by family, subject and figure; and the reasons of the others."""
    settings = NodeSettings()
    for part in sections(name, content):
        if isinstance(part, Section) and (reader := reader_of(part.command, part.lines)):
            reader(part, settings)
    values = {
        (family, subject, figure): value
        for family, subjects in settings.families.items()
        for subject, figures in subjects.items()
        for figure, value in figures.items()
        if value is not None
    }
    return values, settings.missing


def known(made: Made) -> dict[Fact, Any]:
    return {
        fact: value
        for fact, value in made.truth.items()
        if not (isinstance(value, str) and value.startswith(NO_VALUE))
    }


@pytest.mark.parametrize("made", OUTPUTS, ids=lambda made: made.name)
def test_an_output_says_what_it_says_and_nothing_else(made: Made) -> None:
    content = collected("lpar1", made.platform, made.command, made.text).encode()
    values, missing = read("x.txt", content)
    assert values == known(made)
    for fact, value in made.truth.items():
        if fact not in values:
            assert missing[".".join(fact)].startswith(value)


@pytest.mark.parametrize("asked", ASKED)
def test_every_command_is_there_in_two_versions(asked: str) -> None:
    words = asked.split()
    found = [made.name for made in OUTPUTS if made.command.split()[0] == words[0] and fits(made, words[1:])]
    assert len(found) >= 2, found


def fits(made: Made, words: list[str]) -> bool:
    """Whether a command has these options, and a device of this kind."""
    return all(any(re.fullmatch(f"{word}[0-9]*", one) for one in made.command.split()) for word in words)


def test_every_reader_is_among_them() -> None:
    assert {asked.split()[0] for asked in ASKED} == {*READERS, "mount", "ulimit"}


@pytest.mark.parametrize("made", OUTPUTS, ids=lambda made: made.name)
def test_the_same_in_other_encodings_and_with_other_ends_of_lines(made: Made) -> None:
    text = collected("lpar1", made.platform, made.command, made.text)
    for content in (
        text.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + text.encode(),
        text.encode("utf-16"),
    ):
        assert read("x.txt", content)[0] == known(made)


def cut(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text))]


def line_gone(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    del lines[chance.randrange(len(lines))]
    return "\n".join(lines)


def line_twice(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    lines.insert(chance.randrange(len(lines)), chance.choice(lines))
    return "\n".join(lines)


def no_blanks_at_the_start(text: str, chance: random.Random) -> str:
    return "\n".join(line.lstrip() for line in text.split("\n"))


def one_blank(text: str, chance: random.Random) -> str:
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


def tabs(text: str, chance: random.Random) -> str:
    return text.replace("  ", "\t")


def noise(text: str, chance: random.Random) -> str:
    place = chance.randrange(len(text))
    return text[:place] + chance.choice(("\x1b[31m", "\0", "é", "\u202e", "\x07")) + text[place:]


def message(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    said = (
        "0514-519 The following device was not found",
        "Permission denied",
        "Speicherfehler: 12 = 7",
        "a = ",
        "=",
    )
    lines.insert(chance.randrange(len(lines)), chance.choice(said))
    return "\n".join(lines)


def foreign_words(text: str, chance: random.Random) -> str:
    for old, new in (
        ("enabled", "aktiviert"),
        ("threads", "Threads"),
        ("Name", "Nom"),
        ("yes", "ja"),
        ("True", "Wahr"),
    ):
        text = text.replace(old, new)
    return text


DAMAGE: tuple[Callable[[str, random.Random], str], ...] = (
    cut, line_gone, line_twice, no_blanks_at_the_start, one_blank, tabs, noise, message,
)  # fmt: skip
COUNTS = (
    "paths",
    "paths_enabled",
    "paths_usable",
    "disks",
    "every",
    "threads",
    "parents",
    "names",
    "policy",
    "vfchosts",
)
"""Figures over all lines: a file with its end that lacks a line in the middle has another number."""


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda one: one.__name__)
@pytest.mark.parametrize("made", OUTPUTS, ids=lambda made: made.name)
def test_a_damaged_output_says_nothing_that_is_not_so(made: Made, damage: Any) -> None:
    """Without check sums; damage of single digits is for those (test_files.py of tuning/collection)."""
    chance, truth = random.Random(f"{made.name} {damage.__name__}"), known(made)
    for _ in range(MOST_CASES):
        text = collected("lpar1", made.platform, made.command, damage(made.text.removeprefix("\n"), chance))
        if damage is cut:
            whole = collected("lpar1", made.platform, made.command, made.text)
            text = cut(whole, chance)
        values, missing = read("x.txt", text.encode("utf-8", "replace"))
        for fact, value in values.items():
            if damage in (line_gone, line_twice) and fact[2] in COUNTS:
                continue
            if fact in truth:
                assert value == truth[fact], (damage, fact, text)
            assert fact[2] in {figure for _, _, figure in made.truth} or damage in (message, noise), (
                fact,
                text,
            )
        assert all(missing.values())


@pytest.mark.parametrize("made", OUTPUTS, ids=lambda made: made.name)
def test_a_translated_output_says_less_and_nothing_else(made: Made) -> None:
    text = foreign_words(made.text, random.Random(0))
    values, _ = read("x.txt", collected("lpar1", made.platform, made.command, text).encode())
    for fact, value in values.items():
        if fact in known(made) and isinstance(value, int):
            assert value == known(made)[fact], fact
