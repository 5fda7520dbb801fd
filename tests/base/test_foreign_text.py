"""Bounds of TOML and JSON, and that no text hides something from the pass that checks them."""

from __future__ import annotations

import tomllib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.base.foreign_text import (
    DEEPEST,
    LARGEST_JSON_BYTES,
    LARGEST_TOML_BYTES,
    LONGEST_KEY,
    MOST_DIGITS,
    MOST_JSON_PARTS,
    MOST_KEY_PARTS,
    MOST_TOML_PARTS,
    BeyondBoundError,
    check_json,
    check_toml,
    json_record,
    json_tree,
    toml_tree,
)

DEEP = "[" * DEEPEST + "]" * DEEPEST
ODD_TEXTS = (
    '"""x"y""z\\"""q"""',
    "'''x'y''z'''",
    '"x\\"y"',
    '""',
    "''",
    '"""x"""""',
    '""""""',
    "''''''",
    '"""x\\\\"""',
    '"b"#c"',
    '"#"',
    '"""\n[[[\n"""',
    '"""""""',
    "'''x'''''",
)
ALMOST = {
    "depth": f"a = {DEEP}",
    "parts": ".".join("a" * MOST_KEY_PARTS) + " = 1",
    "quoted parts": " . ".join(['"a"'] * MOST_KEY_PARTS) + " = 1",
    "header": f"[{'.'.join('a' * MOST_KEY_PARTS)}]",
    "key": "a" * LONGEST_KEY + " = 1",
    "digits": f"a = {'1' * MOST_DIGITS}",
    "values": f"a = [{'1,' * (MOST_TOML_PARTS - 1)}]",
    "bytes": "#" * LARGEST_TOML_BYTES,
}
BEYOND = {
    "depth": f"a = [{DEEP}]",
    "parts": ".".join("a" * (MOST_KEY_PARTS + 1)) + " = 1",
    "quoted parts": " . ".join(['"a"'] * (MOST_KEY_PARTS + 1)) + " = 1",
    "header": f"[{'.'.join('a' * (MOST_KEY_PARTS + 1))}]",
    "key": "a" * (LONGEST_KEY + 1) + " = 1",
    "digits": f"a = {'1' * (MOST_DIGITS + 1)}",
    "values": f"a = [{'1,' * MOST_TOML_PARTS}]",
    "bytes": "#" * (LARGEST_TOML_BYTES + 1),
}


@pytest.mark.parametrize("bound", ALMOST)
def test_toml_at_a_bound_is_read_and_beyond_it_refused(bound: str) -> None:
    assert toml_tree(ALMOST[bound]) == tomllib.loads(ALMOST[bound])
    with pytest.raises(BeyondBoundError, match=r"^line 1: expected .*, found more$|^larger than the 2 MiB"):
        toml_tree(BEYOND[bound])


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_no_text_of_toml_hides_what_comes_behind_it(text: str) -> None:
    assert tomllib.loads(f"a = {text}\nb = {DEEP}")["b"] is not None
    check_toml(f"a = {text}\nb = {DEEP}")
    with pytest.raises(BeyondBoundError, match="64 deep"):
        check_toml(f"a = {text}\nb = [{DEEP}]")


def test_a_long_text_is_no_key() -> None:
    assert toml_tree(f'a = [["{"b" * 5000}"]]') == {"a": [["b" * 5000]]}
    assert toml_tree(f'"{"a" * LONGEST_KEY}" = 1') == {"a" * LONGEST_KEY: 1}


@given(st.sampled_from(['"', "'", '"""', "'''"]), st.text(alphabet="\"'\\\n#a=[] ", max_size=12))
def test_what_the_parser_accepts_was_looked_at_to_its_end(quotes: str, text: str) -> None:
    whole = f"first = {quotes}{text}{quotes}\nlast = [{DEEP}]"
    try:
        tomllib.loads(whole)
    except ValueError:
        return
    with pytest.raises(BeyondBoundError, match="64 deep"):
        check_toml(whole)


@pytest.mark.parametrize(
    ("within", "beyond"),
    [
        (DEEP, f"[{DEEP}]"),
        (f'{{"{"a" * LONGEST_KEY}": 1}}', f'{{"{"a" * (LONGEST_KEY + 1)}" : 1}}'),
        (f'{{"a": "{"b" * 5000}"}}', f'{{"a": "{"b" * 5000}", "{"c" * 5000}": 1}}'),
        (f"[{' ' * 5000}0.{'1' * (MOST_DIGITS - 1)}]", f"[{' ' * 5000}0.{'1' * (MOST_DIGITS + 1)}]"),
        (f"[{'1,' * (MOST_JSON_PARTS - 2)}1]", f"[{'1,' * MOST_JSON_PARTS}1]"),
        (" " * (LARGEST_JSON_BYTES - 1) + "1", " " * LARGEST_JSON_BYTES + "1"),
    ],
    ids=["depth", "key", "no key", "digits", "parts", "bytes"],
)
def test_json_at_a_bound_is_read_and_beyond_it_refused(within: str, beyond: str) -> None:
    assert json_tree(within) == msgspec.json.decode(within)
    with pytest.raises(BeyondBoundError):
        json_tree(beyond)


@pytest.mark.parametrize("text", ['"\\""', '"\\\\"', '"[[["', '"{\\"{"', '"1111"'])
def test_no_text_of_json_hides_what_comes_behind_it(text: str) -> None:
    check_json(f"[{text}, {DEEP[1:-1]}]".encode())
    with pytest.raises(BeyondBoundError, match="64 deep"):
        check_json(f"[{text}, {DEEP}]".encode())


def test_many_texts_are_looked_at_part_by_part() -> None:
    many = '"a",' * 120_000
    check_json(f"[{many}{DEEP[1:-1]}]".encode())
    with pytest.raises(BeyondBoundError, match="64 deep"):
        check_json(f"[{many}{DEEP}]".encode())


def test_the_depth_of_json_is_counted_over_all_parts() -> None:
    text = f'"{"a" * 2**20}"'
    lists, ends = "[" * (DEEPEST // 2), "]" * (DEEPEST // 2)
    check_json(f"{lists}{text},{lists}{ends}{ends}".encode())
    with pytest.raises(BeyondBoundError, match="64 deep"):
        check_json(f"{lists}{text},[{lists}{ends}]{ends}".encode())


def test_a_record_says_what_it_holds_instead() -> None:
    assert json_record(b'{"a": 1}', dict[str, int]) == {"a": 1}
    with pytest.raises(msgspec.ValidationError, match="Expected `int`, got `str`"):
        json_record(b'{"a": "x"}', dict[str, int])
    with pytest.raises(ValueError):
        json_tree("\udcff")
