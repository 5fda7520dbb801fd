"""mawl help: the guides on the terminal; and no hint of mawl names a file that an installed mawl lacks."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from mawl.base.errors import UsageError
from mawl.commands.help import ELSEWHERE, HelpArguments, guides, run, shown
from mawl.commands.verbs import VERBS
from tests.files import text_of
from tools.shell import files

ROOT = Path(__file__).resolve().parents[2]
PAGE = text_of(__file__, "guide.md")


def test_a_guide_is_laid_out_for_a_terminal() -> None:
    assert "\n".join(shown(PAGE, {"other": ""}, 60)).rstrip() == (
        "# Head\nBold and a guide (mawl help other), a note, out\n(https://example.com).\n"
        "    $ mawl run [x](y)\n"
        "a  b\n1  words that are longer than the room that the table has on\n   a narrow terminal"
    )


def test_every_guide_is_printed_whole_and_within_the_width() -> None:
    for topic, text in guides().items():
        lines = list(shown(text, guides(), 100))
        wide = [line for line in lines if len(line) > 100 and not line.startswith("    ")]
        assert wide == [], topic
        words = re.findall(r"(?m)^## (.*)$", re.sub(r"(?s)```.*?```", "", text))
        assert all(f"## {head}" in lines for head in words if "`" not in head and "[" not in head)


def test_a_verb_has_its_guide_or_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(ELSEWHERE) <= set(VERBS) and set(ELSEWHERE.values()) <= set(guides())
    run(HelpArguments(topic="rank"))
    assert capsys.readouterr().out.startswith("# Read an answer")
    with pytest.raises(SystemExit):
        run(HelpArguments(topic="schema"))
    assert capsys.readouterr().out.startswith("usage: mawl schema")
    with pytest.raises(UsageError, match="did you mean 'qualify'"):
        run(HelpArguments(topic="qualfy"))


def test_no_help_text_names_a_file_of_the_repository_and_each_guide_that_one_names_is_there() -> None:
    manual = files.files()["mawl.1"].replace("\\-", "-")
    assert not re.search(r"docs/|ARCHITECTURE|README", manual)
    assert set(re.findall(r"mawl help\s+([a-z][a-z-]*)", manual)) - set(VERBS) <= set(guides())


def test_no_message_names_a_page_of_the_repository() -> None:
    """A page is cited as the source of a definition; a sentence for a reader names a command."""
    found = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        tree = ast.parse(path.read_text())
        documentation = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        } | {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        found += [
            f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in documentation
            and "docs/" in node.value
            and not re.match(r"docs/(design|reference|guides)/[a-z-]+\.md($|[,:;])", node.value)
        ]
    assert found == []
