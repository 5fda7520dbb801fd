"""The command line as a whole: help, exit codes, one sentence for every error, no noise on a broken pipe."""

from __future__ import annotations

import argparse
import subprocess
import sys

import pytest

from mawl import __version__
from mawl.base import errors
from mawl.commands import main as command
from mawl.commands.main import VERBS, build_parser, main


def test_every_verb_has_help_that_says_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in VERBS:
        with pytest.raises(SystemExit) as ended:
            main([verb, "--help"])
        assert ended.value.code == 0
        own = {
            "measure": "the command's",
            "qualify": "0 carried",
            "size": "0 a pick, 3 no candidate carries by the forecast, 4",
            "validate": "0 accepted",
        }.get(verb, "0 all well")
        assert f"exit status: {own}" in " ".join(capsys.readouterr().out.split())


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"mawl {__version__}\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UsageError("wrong", where="here", why="so", cure="do that"), 2),
        (errors.RunFailedError("failed"), 1),
        (errors.InterruptedRunError("stopped"), 130),
        (KeyboardInterrupt(), 130),
        (PermissionError(13, "Permission denied", "/x"), 1),
    ],
)
def test_an_error_is_a_sentence_and_an_exit_code(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = build_parser()

    def fail(_: object) -> int:
        raise error

    class Parser:
        _actions = ()

        def __init__(self, wanted: tuple[str, ...], *, everything: bool) -> None:
            assert wanted == ("plan",) and not everything

        def parse_args(self, argv: object, arguments: argparse.Namespace) -> None:
            parser.parse_args(["plan"], arguments)
            arguments.run_verb = fail

    monkeypatch.setattr(command, "build_parser", Parser)
    assert main(["plan"]) == code
    said = capsys.readouterr().err
    assert said.startswith("mawl plan: ")
    assert said.count("\n") == 1


def test_a_reader_that_goes_away_is_no_error() -> None:
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"'{sys.executable}' -m mawl plan | head -n 1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert done.stderr == ""


def test_a_verb_loads_its_own_modules_alone() -> None:
    code = (
        "import sys; from mawl.commands.main import main; status = main(['published', '--json']);"
        "print(sorted(n for n in sys.modules if n.startswith('mawl.commands.')), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "mawl.commands.published" in done.stderr
    assert not any(f"mawl.commands.{verb}'" in done.stderr for verb in ("run", "report", "lab", "generate"))


def test_the_version_is_said_without_a_verb() -> None:
    code = (
        "import contextlib, sys; from mawl.commands.main import VERBS, main\n"
        "with contextlib.suppress(SystemExit): main(['--version'])\n"
        "print([verb for verb in VERBS if f'mawl.commands.{verb}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"mawl {__version__}\n[]\n"


def test_an_unknown_verb_names_all_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bogus", "run"]) == 2
    said = capsys.readouterr().err
    assert "'bogus'" in said and all(verb in said for verb in VERBS)


def test_reading_verbs_do_not_import_the_engines() -> None:
    code = (
        "import sys; from mawl.commands.main import build_parser; build_parser();"
        "print(sorted({'duckdb', 'sklearn', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_base_install_reads_and_reports_and_names_what_the_rest_needs() -> None:
    blocked = (
        "import sys\nfor name in ('duckdb', 'sklearn', 'scipy', 'threadpoolctl'):"
        " sys.modules[name] = None\nfrom mawl.commands.main import main\nsys.exit(main(sys.argv[1:]))"
    )

    def mawl(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", blocked, *arguments], capture_output=True, text=True, check=False
        )

    assert "--format" in mawl("report", "--help").stdout
    assert mawl("plan").returncode == 0
    refused = mawl("run", "nano", "--start", "spawn")
    assert refused.returncode == 1
    assert refused.stderr == (
        "mawl run: needs the package duckdb, which is not installed; "
        "install it with: pip install 'mawl[programs]'\n"
    )


@pytest.mark.parametrize(("version", "said"), [("(3, 10, 13)", "3.10.13"), ("(3, 11, 0)", None)])
def test_an_older_python_is_refused_in_one_sentence(version: str, said: str | None) -> None:
    script = f"import sys; sys.version_info = {version}; import mawl"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    wanted = f"mawl needs Python 3.11 or later, and this is {said}\n" if said else ""
    assert (done.returncode, done.stderr) == (1 if said else 0, wanted)
