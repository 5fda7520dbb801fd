"""Documents that show a command are run; here the machinery, `make check` runs the documents."""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec
import pytest

from tools import documents

GUIDES = sorted((documents.ROOT / "docs" / "guides").glob("*.md"))
MOST_NOT_RUN_RATIO = 0.2
MOST_LINES_OF_README = 120
PAGE = """# Page
```console
$ printf one > file
output that is no command
$ test "$(cat file)" = \\
  one
```
```console ignore
$ exit 9
```
```sh
$ exit 9
```
"""


def run(tmp_path: Path, text: str) -> int:
    page = tmp_path / "page.md"
    page.write_text(text)
    return documents.main([str(page)])


def test_commands_are_found_with_their_lines() -> None:
    assert list(documents.commands(PAGE)) == [
        documents.Command(3, "printf one > file"),
        documents.Command(5, 'test "$(cat file)" = one'),
    ]


def test_commands_run_in_order_in_one_scratch_directory(tmp_path: Path) -> None:
    assert run(tmp_path, PAGE) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]


def test_a_command_that_fails_is_named_with_what_it_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "```console\n$ echo sorry >&2; exit 7\n```\n") == 1
    assert "page.md:2: echo sorry >&2; exit 7: exit status 7: sorry" in capsys.readouterr().err


def test_make_is_looked_up_and_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "```console\n$ make demo\n$ make check PYTHON=python3.12\n```\n") == 0
    assert run(tmp_path, "```console\n$ make coffee\n```\n") == 1
    assert "no target coffee" in capsys.readouterr().err


def test_what_would_change_the_machine_is_not_run(tmp_path: Path) -> None:
    assert run(tmp_path, "```console\n$ git clone nowhere\n$ sudo false\n$ cd /absent\n```\n") == 0


def test_the_targets_that_the_documents_may_name() -> None:
    makefile = (documents.ROOT / "Makefile").read_text()
    assert {"demo", "test", "test-lab", "check", "bench", "help"} <= documents.make_targets(makefile)


def test_the_environment_of_the_project_comes_first_on_path(tmp_path: Path) -> None:
    page = f'```console\n$ test "$(command -v python)" = "{documents.ROOT}/.venv/bin/python"\n```\n'
    assert run(tmp_path, page) == 0


@pytest.mark.parametrize("fence", ["console ignore", "text", "sh"])
def test_a_command_that_is_only_shown_must_be_one_that_mawl_takes(
    fence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = (
        f"```{fence}\n$ mawl run nano \\\n    --cache none  # a remark\nmawl plan bed\nother --words\n```\n"
    )
    assert [command.line for command in documents.mawl_commands_not_run(shown)] == [2, 4]
    assert run(tmp_path, shown) == 0
    assert run(tmp_path, shown.replace("--cache", "--cash")) == 1
    assert "page.md:2: mawl run nano --cash none" in capsys.readouterr().err
    assert run(tmp_path, shown.replace("plan", "plane")) == 1
    assert "invalid choice: 'plane'" in capsys.readouterr().err


@pytest.mark.parametrize("after", [" &", " > out.txt", " | head -3"])
def test_what_the_shell_does_with_a_command_is_not_parsed_as_its_options(after: str) -> None:
    assert documents.parse(documents.Command(1, f"mawl report{after}")) is None
    refused = documents.parse(documents.Command(1, f"mawl report --no-such-option{after}"))
    assert refused is not None and "--no-such-option" in refused


def test_of_five_commands_of_readme_and_guides_at_least_four_are_run() -> None:
    texts = [path.read_text() for path in [documents.ROOT / "README.md", *GUIDES]]
    left = sum(len(documents.not_run(text)) for text in texts)
    shown = sum(len(list(documents.commands(text, long=True))) for text in texts)
    looked_up = sum(
        one.text.split()[0] in (*documents.NOT_RUN, "make")
        for text in texts
        for one in documents.commands(text, long=True)
    )
    assert left <= MOST_NOT_RUN_RATIO * (shown - looked_up + left)


LONG_PAGE = """```console
$ mkdir made
```
```console long
$ touch /mnt/x/../y && echo mawl qualify --minutes 30 /mnt/y
```
"""


def test_long_commands_run_among_the_others_and_leave_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, scratch = tmp_path / "page.md", tmp_path / "scratch"
    page.write_text(LONG_PAGE)
    (scratch / "mnt" / "x").mkdir(parents=True)
    assert [one.text for one in documents.commands(LONG_PAGE)] == ["mkdir made"]
    assert documents.not_run(LONG_PAGE) == []
    monkeypatch.setattr(documents, "ROOT", tmp_path)
    (row,) = documents.run_long(page, scratch, dict(os.environ), 3)
    assert (scratch / "made").is_dir() and (scratch / "mnt" / "y").exists()
    assert (row.page, row.minutes, row.status) == ("page.md", 3, 0)
    assert row.said == "mawl qualify --minutes 3 /mnt/y"
    line = msgspec.json.encode(row)
    assert documents.stored([line]) == [row]
    assert "| mawl qualify --minutes 3 /mnt/y |" in documents.long_page([row])
    page.write_text("nothing")
    assert documents.stored([line]) == []
    page.write_text(LONG_PAGE.replace("mkdir made", "false"))
    with pytest.raises(AssertionError, match=r"page\.md: false"):
        documents.run_long(page, scratch, dict(os.environ), None)


def test_the_answer_of_the_readme_is_a_kept_row() -> None:
    text = (documents.ROOT / "README.md").read_text()
    page = (documents.ROOT / "docs/reference/known-truth.md").read_text()
    row = next(line for line in page.splitlines() if line.startswith("| work writes at 25 MB a second |"))
    said = text.partition("## A real answer")[2].partition("## Install")[0]
    found = re.findall(
        r"took ([\d.]+) times|\n\| what limits .*: (\d+ %)|\| ([\d.]+) times|([\d.]+ %) (?:less|more)", said
    )
    figures = [one for groups in found for one in groups if one]
    assert len(figures) == 5 and [one for one in figures if one not in row] == []
    assert "1 December 2026" in said and "| 2026-12-01 |" in row
    assert "| not carried |" in row and "work write bandwidth" in row
    assert text.count("\n") <= MOST_LINES_OF_README
    assert text.index("make test") < text.index("## A real answer")
