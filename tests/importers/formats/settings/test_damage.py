"""Outputs damaged at random: what is read is true, or is in a damaged line."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.fakes.command_outputs import Fact, Made, collected, outputs
from tests.importers.formats.settings.test_outputs import known, read

OUTPUTS = outputs()
SEEDS = 60
WORKED_OUT = {
    "storage": "unique_id",
    "fast": "Speed",
    "network": " type ",
    "access_times": " type ",
    "connections": " type ",
    "nodes": "node",
    "policy": "",
}
"""Figures that are no words of an output, to what is in the line that they follow from."""
WORD = re.compile(r"\b[A-Z][a-z]{2,}\b")
COUNTS = (
    "paths",
    "paths_enabled",
    "paths_usable",
    "parents",
    "disks",
    "names",
    "every",
    "threads",
    "vfchosts",
)
"""Figures that follow from all lines."""
FACTORS = (1, 512, 1024, 10**6, 1024**2, 1024**3, 1e-2, 1e-3, 1e-9)
"""What an output's number is multiplied by to be in the unit of the inventory."""


def bits(lines: list[str], chance: random.Random) -> list[str]:
    """One or two bits of the text are flipped."""
    content = bytearray("\n".join(lines).encode())
    for _ in range(chance.randint(1, 2)):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return content.decode("utf-8", "replace").split("\n")


def words_swapped(lines: list[str], chance: random.Random) -> list[str]:
    """Two words of one line change places."""
    place = chance.randrange(len(lines))
    return [*lines[:place], swapped(lines[place], *pair(lines[place], chance)), *lines[place + 1 :]]


def columns_swapped(lines: list[str], chance: random.Random) -> list[str]:
    """Two columns of the whole output change places."""
    one, other = chance.sample(range(4), 2)
    return [swapped(line, one, other) for line in lines]


def pair(line: str, chance: random.Random) -> tuple[int, int]:
    number = len(line.split())
    return (0, 0) if number < 2 else (chance.randrange(number), chance.randrange(number))


def swapped(line: str, one: int, other: int) -> str:
    """A line in which two words have changed places, its blanks as they were."""
    parts = re.split(r"(\s+)", line)
    words = [place for place, part in enumerate(parts) if part.strip()]
    if max(one, other) < len(words):
        first, second = words[one], words[other]
        parts[first], parts[second] = parts[second], parts[first]
    return "".join(parts)


def heads_translated(lines: list[str], chance: random.Random) -> list[str]:
    """Words of three letters and more that no setting has as its value are in another language."""
    changed = {word: word[::-1] for word in WORD.findall("\n".join(lines))}
    some = {word for word in sorted(changed) if chance.random() < 0.7}
    return [WORD.sub(lambda found: changed[found[0]] if found[0] in some else found[0], line)
            for line in lines]  # fmt: skip


DAMAGE: tuple[Callable[[list[str], random.Random], list[str]], ...] = (
    bits, words_swapped, columns_swapped, heads_translated,
)  # fmt: skip


def said(fact: Fact, value: Any, changed: Iterable[str]) -> bool:
    """Whether damaged lines say this value of this figure."""
    _, subject, figure = fact
    for line in changed:
        numbers = {float(number) for number in re.findall(r"\d+(?:\.\d+)?", line)}
        if figure in COUNTS or WORKED_OUT.get(figure, "\0") in line or subject in line:
            return True
        if isinstance(value, bool):
            return True
        if isinstance(value, str) and value in line:
            return True
        if not isinstance(value, str) and any(
            math.isclose(value, number * factor) for number in numbers for factor in FACTORS
        ):
            return True
    return False


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda one: one.__name__)
@pytest.mark.parametrize("made", OUTPUTS, ids=lambda made: made.name)
def test_a_value_that_differs_is_in_a_damaged_line(made: Made, damage: Any) -> None:
    truth, lines = known(made), made.text.split("\n")
    partial = {fact for fact, value in made.truth.items() if str(value).startswith("not the same")}
    for seed in range(SEEDS):
        damaged = damage(lines, random.Random(f"{made.name} {damage.__name__} {seed}"))
        changed = [line for line in damaged if line not in lines]
        text = collected("lpar1", made.platform, made.command, "\n".join(damaged))
        for fact, value in read("x.txt", text.encode("utf-8", "replace"))[0].items():
            named = any(fact[2] in line for line in changed) if fact not in made.truth else fact in partial
            assert truth.get(fact) == value or named or said(fact, value, changed), (
                seed,
                fact,
                value,
                changed,
            )


@pytest.mark.parametrize("made", OUTPUTS, ids=lambda made: made.name)
def test_an_output_that_ends_at_any_line_has_true_values_only(made: Made) -> None:
    """Without the collector's last line; a setting that differs by node may have that of the first ones."""
    truth, lines = known(made), made.text.split("\n")
    partial = {fact for fact, value in made.truth.items() if str(value).startswith("not the same")}
    for end in range(len(lines)):
        text = "\n".join([f"### mawl lpar1 {made.platform}: {made.command}", *lines[:end], ""])
        for fact, value in read("x.txt", text.encode())[0].items():
            assert fact in partial or truth[fact] == value, (end, fact)
