"""Census text: what stands in the fields is what the value functions say, in the right order."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from mawl.plan.catalogue import INPUTS
from mawl.plan.columns import RecordLayout
from mawl.programs.datagen.records import make_groups, read_sums
from mawl.programs.datagen.values import column_values
from mawl.programs.declarations.census_load import HOUSEHOLD, PERSON, SIZES

TABLE = INPUTS["census"]
FIRST = 2**29
GROUPS = 9


@pytest.fixture(scope="module")
def lines() -> list[bytes]:
    text, _ = make_groups(TABLE, seed=3, replica=1, first=FIRST, groups=GROUPS, filled=12)
    return text.tobytes().split(b"\n")


def field(layout: RecordLayout, line: bytes, name: str) -> bytes:
    (found,) = [field for field in layout.fields if field.column.name == name]
    return line[found.start : found.start + found.width]


def test_each_household_is_followed_by_its_persons(lines: list[bytes]) -> None:
    assert lines.pop() == b""
    assert {len(line) for line in lines} == {230}
    households = 0
    rest = iter(lines)
    for line in rest:
        assert line[:1] == b"H"
        assert int(field(HOUSEHOLD, line, "serial")) == FIRST * len(SIZES) + households
        persons = list(itertools.islice(rest, int(field(HOUSEHOLD, line, "persons"))))
        assert [person[:1] for person in persons] == [b"P"] * len(persons)
        assert {field(PERSON, person, "serial") for person in persons} == {field(HOUSEHOLD, line, "serial")}
        numbers = [int(field(PERSON, person, "person")) for person in persons]
        assert numbers == list(range(1, len(persons) + 1))
        households += 1
    assert households == GROUPS * len(SIZES)


def test_household_sizes_are_rotated_from_group_to_group(lines: list[bytes]) -> None:
    sizes = [int(field(HOUSEHOLD, line, "persons")) for line in lines if line[:1] == b"H"]
    patterns = {tuple(sizes[place : place + 8]) for place in range(0, len(sizes), 8)}
    rotations = {SIZES[turn:] + SIZES[:turn] for turn in range(8)}
    assert len(patterns) > 2
    assert patterns <= rotations


@pytest.mark.parametrize("layout", [HOUSEHOLD, PERSON], ids=["H", "P"])
def test_fields_hold_the_values_of_their_columns(layout: RecordLayout, lines: list[bytes]) -> None:
    records = [line for line in lines if line[:1] == layout.kind.encode()]
    assert len(records) == GROUPS * layout.per_group
    for column in (field.column for field in layout.fields):
        values = column_values(
            TABLE, column, seed=3, replica=1, start=FIRST * layout.per_group, count=len(records)
        )
        texts = [field(layout, record, column.name) for record in records]
        if column.width is None:
            assert [int(text) for text in texts] == values.tolist(), column.name
        else:
            assert texts == values.tolist()
    filler = layout.filler
    assert all(line[filler.start + 12 :].strip(b" ") == b"" for line in records)
    assert len({line[filler.start : filler.start + 12] for line in records}) == len(records)


def test_sums_read_back_are_the_sums_made() -> None:
    text, sums = make_groups(TABLE, seed=3, replica=1, first=7, groups=40, filled=0)
    assert read_sums(TABLE, text) == sums
    serials = sum(range(7 * 8, 47 * 8))
    assert sums["H.serial"] == serials
    assert sums["H.persons"] == 40 * sum(SIZES)


@pytest.mark.parametrize("place", [0, 3, 40])
def test_a_changed_byte_changes_the_sums(place: int) -> None:
    text, sums = make_groups(TABLE, seed=3, replica=1, first=0, groups=2, filled=0)
    text[5, place] += 1
    assert read_sums(TABLE, text) != sums


def test_any_groups_can_be_made_alone() -> None:
    whole, _ = make_groups(TABLE, seed=3, replica=1, first=FIRST, groups=8, filled=100)
    alone, _ = make_groups(TABLE, seed=3, replica=1, first=FIRST + 2, groups=3, filled=100)
    assert np.array_equal(alone, whole[2 * 28 : 5 * 28])
