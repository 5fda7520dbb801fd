"""Documents that show a command are run; here the machinery, `make check` runs the documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import documents

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
