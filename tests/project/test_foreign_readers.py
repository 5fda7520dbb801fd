"""TOML and JSON go to a parser through ``base.foreign_text``, or straight into a typed record."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src" / "mawl"
HOME = SOURCES / "base" / "foreign_text.py"
STARTED_BY_MAWL = SOURCES / "lab"
"""It reads the output of the fio that it started."""
PARSERS = {
    ("tomllib", "load"),
    ("tomllib", "loads"),
    ("json", "load"),
    ("json", "loads"),
    ("json", "JSONDecoder"),
    ("msgspec.json", "decode"),
    ("msgspec.json", "Decoder"),
    ("msgspec.toml", "decode"),
}


def unbounded(source: str) -> list[int]:
    """Lines that give a text to a parser.

    Left out: what goes straight into a typed record, because its type bounds depth, keys and numbers; text
    that the same call made (``json.dumps``); and a module that asks ``check_json`` before.
    """
    tree = ast.parse(source)
    if any(isinstance(node, ast.Call) and ast.unparse(node.func) == "check_json" for node in ast.walk(tree)):
        return []
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in ("json", "tomllib", "msgspec.json"):
            found += [node.lineno] * any((node.module, name.name) in PARSERS for name in node.names)
        if not isinstance(node, ast.Attribute) or (ast.unparse(node.value), node.attr) not in PARSERS:
            continue
        call = parents[node]
        if isinstance(call, ast.Subscript):  # an annotation
            continue
        arguments = [] if not isinstance(call, ast.Call) or call.func is not node else call.args
        typed = isinstance(call, ast.Call) and any(word.arg == "type" for word in call.keywords)
        typed = typed or (node.attr == "Decoder" and bool(arguments))
        made_here = bool(arguments) and ast.unparse(arguments[0]).startswith("json.dumps(")
        if not typed and not made_here:
            found.append(node.lineno)
    return found


def test_only_one_module_gives_foreign_text_to_a_parser() -> None:
    found = [
        f"{path.relative_to(SOURCES)}:{line}"
        for path in sorted(SOURCES.rglob("*.py"))
        if path != HOME and STARTED_BY_MAWL not in path.parents
        for line in unbounded(path.read_text())
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("import tomllib\ntomllib.loads(text)", [2]),
        ("from json import loads\nloads(text)", [1]),
        ("msgspec.json.decode(text)", [1]),
        ("read = lru_cache(msgspec.json.decode)", [1]),
        ("msgspec.json.Decoder()", [1]),
        ("msgspec.json.decode(text, type=Solo)", []),
        ("msgspec.json.Decoder(Solo)", []),
        ("json.loads(json.dumps(shown))", []),
        ("check_json(text)\njson.JSONDecoder()", []),
    ],
)
def test_what_counts_as_giving_text_to_a_parser(source: str, lines: list[int]) -> None:
    assert unbounded(source) == lines
