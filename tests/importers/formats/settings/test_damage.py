"""Outputs damaged at random: what is read is true, or is in a damaged line.

Files of a collection: by the collector's lines, by name, by content; and the check sum of cksum(1).
"""

from __future__ import annotations

import math
import random
import re
import subprocess
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from mawl.importers.formats.settings.collection import Section, UnreadOutput, sections
from mawl.importers.formats.settings.output import IGNORED, check_sum, check_sum_rows
from tests import needs
from tests.fakes.command_outputs import Fact, Made, collected, outputs
from tests.importers.formats.settings.test_outputs import COUNTS, known, read

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


def only(name: str, text: str) -> Section | UnreadOutput:
    (part,) = sections(name, text.encode())
    return part


def test_a_file_of_the_collector_says_command_node_and_whether_it_is_whole() -> None:
    part = only("x.txt", collected("lpar1", "aix", "/usr/sbin/vmo -a", "maxfree = 1"))
    assert isinstance(part, Section)
    assert (part.command, part.node, part.platform, part.whole) == (("vmo", "-a"), "lpar1", "aix", True)
    assert part.lines == ("maxfree = 1",)
    failed = only("x.txt", collected("lpar1", "aix", "vmo -a", "maxfree = 1", status=2))
    assert isinstance(failed, Section) and not failed.whole


def test_a_command_that_was_not_there_is_a_reason() -> None:
    part = only("x.txt", collected("h", "linux", "tuned-adm active", "sh: tuned-adm: not found", status=127))
    assert isinstance(part, UnreadOutput) and part.reason == "tuned-adm active: no such command there"


def test_several_outputs_in_one_file_are_told_apart() -> None:
    text = collected("h", "aix", "vmo -a", "maxfree = 1") + collected("h", "aix", "ioscli lsmap -all", "x")
    assert [part.command for part in sections("all.txt", text.encode())] == [("vmo", "-a"), ("lsmap", "-all")]


def test_a_last_line_without_its_end_counts_for_nothing() -> None:
    part = only("vmo_-a.txt", "maxfree = 1088\nminfree = 96")
    assert isinstance(part, Section) and part.lines == ("maxfree = 1088",) and not part.whole


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("lsattr_-El_hdisk4.txt", "queue_depth 40  Queue DEPTH True\n", ("lsattr", "-El", "hdisk4")),
        ("lsattr -El fcs0.out", "num_cmd_elems 40  x True\n", ("lsattr", "-El", "fcs0")),
        ("notes.txt", "  maxfree = 1088\n", ("vmo", "-a")),
        ("a.log", "Configuration data for cluster c:\npagepool 8G\n", ("mmlsconfig",)),
        ("b.log", "vm.swappiness = 60\n", ("sysctl", "-a")),
        ("c", "File system attributes for /dev/gpfs0:\n -B  1 Block size\n", ("mmlsfs", "all")),
    ],
)
def test_a_file_without_the_collectors_lines_is_known_by_name_or_content(
    name: str, text: str, command: tuple[str, ...]
) -> None:
    part = only(name, text)
    assert isinstance(part, Section) and part.command == command and not part.whole


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "mawl does not know the command"),
        ("Dear colleague,\n", "mawl does not know the command"),
        ("queue_depth     40    Queue DEPTH  True\n", "output of lsattr, but the device is not in it"),
        (" -B                 1048576                  Block size\n", "output of mmlsfs, but the device"),
        ("maxfree = 1\nvm.swappiness = 60\n", "the output of several commands: sysctl -a, vmo -a"),
    ],
)
def test_what_no_one_can_tell_is_not_guessed(text: str, reason: str) -> None:
    part = only("output.txt", text)
    assert isinstance(part, UnreadOutput) and reason in part.reason


def test_lines_with_control_characters_are_not_believed() -> None:
    part = only("x.txt", collected("h", "aix", "vmo -a", "maxfree = 10\x0088\nminfree = 960"))
    assert isinstance(part, Section) and part.lines == (IGNORED, "minfree = 960") and not part.whole


@pytest.mark.parametrize("content", [b"", b"a", b"vmo\n" * 3000, bytes(range(256)) * 7])
def test_the_check_sum_is_that_of_the_program(content: bytes) -> None:
    needs.program("cksum").require()
    printed = subprocess.run(["cksum"], input=content, capture_output=True, check=True).stdout
    assert printed.split() == [str(check_sum(content)).encode(), str(len(content)).encode()]
    assert list(check_sum_rows(printed.replace(b"\n", b" x.txt\n"))) == [
        ("x.txt", check_sum(content), len(content))
    ]


def test_a_line_without_end_is_not_believed_and_costs_no_time() -> None:
    lines = ["maxfree = 1088", " " * 10**6 + "maxfree = 1", "a" * 10**6]
    part = only("x.txt", collected("h", "aix", "vmo -a", "\n".join(lines)))
    assert isinstance(part, Section) and part.lines == ("maxfree = 1088", IGNORED, IGNORED) and not part.whole
