"""The command line as a whole: what is mistyped is told, in one sentence."""

from __future__ import annotations

import argparse
import gc
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mawl import __version__
from mawl.base import errors
from mawl.base.process import importing
from mawl.commands import doctor, plan
from mawl.commands.main import main
from mawl.commands.verbs import VERBS, Arguments, Verb, build_parser
from tests.fakes.command_line import Verbs


def test_a_mistyped_verb_is_told_the_one_that_is_like_it(verbs: Verbs) -> None:
    said = verbs.err("reprot", "latest", status=2)
    assert said.startswith(
        "mawl: no verb is called 'reprot'; did you mean 'report'? choose one of demo, qualify"
    )
    assert said.count("\n") == 1
    assert (
        verbs.err("zzz", "run", status=2)
        == f"mawl: no verb is called 'zzz'; choose one of {', '.join(VERBS)}\n"
    )


def test_a_process_that_is_done_ends_without_the_destructors_of_libraries() -> None:
    aborts = "import ctypes; loaded = ctypes.CDLL(None); loaded.__cxa_atexit(loaded.abort, None, None)"
    ends = "import sys; sys.argv = ['mawl', '--version']; from mawl.commands.main import entry; entry()"
    done = subprocess.run([sys.executable, "-c", f"{aborts}; {ends}"], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()[0], done.stderr) == (0, "mawl", "")


MOST_LINES = 60
"""Of a screen."""

OWN_STATUS = {
    "measure": "the command's",
    "qualify": "0 carried",
    "size": "0 a pick, 3 no candidate carries by the forecast, 4",
    "validate": "0 accepted",
}


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_is_a_screen_that_ends_with_its_exit_status(
    verb: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert 5 < shown.count("\n") <= MOST_LINES
    assert f"exit status: {OWN_STATUS.get(verb, '0 all well')}" in " ".join(shown.split())


def test_the_help_of_mawl_is_one_screen_with_every_verb_and_exit_status(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit):
        main(["--help"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 50 and max(map(len, lines)) <= 100
    heads = [line for line in lines if re.fullmatch("[a-z ]+:", line)]
    assert heads == ["answer:", "run:", "read:", "choose:", "your own files:", "system:"]
    assert [line.split()[0] for line in lines if line.startswith("  ")] == list(VERBS)
    last = " ".join(lines[-3:])
    statuses = re.findall(r"\b\d+(?= \w)", last.partition("exit status: ")[2])
    assert statuses == ["0", "1", "2", "3", "4", "130"]


def test_options_that_help_leaves_out_are_in_help_all_and_are_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    brief = capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["run", "--help-all"])
    every = capsys.readouterr().out
    assert "--node-timeout" not in brief and "nodes:" in brief and "--help-all" in brief
    assert "--node-timeout SECONDS" in every and "other options:" in every
    read = build_parser(["run"], everything=False).parse_args(["run", "--node-timeout", "9"])
    assert read.node_timeout == "9"


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["run", "--runs", ""], "--runs"),
        (["run", "--output="], "--output"),
        (["run", "", "--runs", "r"], "the argument WORKLOAD"),
        (["probe", ""], "the argument DIR"),
        (["report", ""], "the argument RUN"),
        (["import", "a.log", ""], "the argument PATH"),
        (["tune", "show", ""], "the argument PROFILE"),
        (["tune", "search", "--work", ""], "--work"),
        (["serve", "--runs", ""], "--runs"),
        (["clean", "--work", "w", ""], "--work"),
    ],
)
def test_an_empty_name_is_refused(words: list[str], what: str, verbs: Verbs) -> None:
    said = verbs.err(*words, status=2)
    assert said.startswith(
        f"mawl {words[0]}: {what} is empty: a shell variable that is not set reads like that"
    )


def test_without_proc_the_sentence_says_how_to_mount_it(
    verbs: Verbs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(_: argparse.Namespace) -> int:
        raise FileNotFoundError(2, "No such file or directory", str(tmp_path / "stat"))

    monkeypatch.setattr("mawl.commands.main.PROC", tmp_path)
    monkeypatch.setitem(doctor.VERBS, "doctor", Verb(Arguments, run))
    said = verbs.err("doctor", status=1)
    assert (
        said.endswith(f"mount -t proc proc {tmp_path}\n") and "no such file or directory; mawl reads" in said
    )


@pytest.mark.parametrize(
    ("error", "limited", "said"),
    [
        (MemoryError(), False, "no memory is left"),
        (ImportError("libx.so: failed to map segment"), True, "libx.so: failed to map segment"),
        (SystemError("error return without exception set"), True, "no memory is left"),
        (ImportError("libx.so: undefined symbol"), False, None),
    ],
)
def test_without_memory_the_sentence_names_the_limit_and_no_other_fault_hides_behind_it(
    error: Exception,
    limited: bool,
    said: str | None,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(_: argparse.Namespace) -> int:
        raise error

    monkeypatch.setitem(plan.VERBS, "plan", Verb(Arguments, run))
    monkeypatch.setattr("mawl.commands.main._address_space_is_limited", lambda: limited)
    if said is None:
        with pytest.raises(ImportError):
            main(["plan"])
        return
    assert main(["plan"]) == 1
    cure = "free memory, or raise the limit of a process's address space (ulimit -v)"
    assert capsys.readouterr().err == f"mawl plan: {said}; {cure}\n"


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
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, verbs: Verbs
) -> None:
    def fail(_: object) -> int:
        raise error

    monkeypatch.setitem(plan.VERBS, "plan", Verb(Arguments, fail))
    said = verbs.err("plan", status=code)
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
    assert "mawl.commands.compare" in done.stderr
    assert not any(f"mawl.commands.{verb}'" in done.stderr for verb in ("run", "report", "lab", "generate"))


def test_the_version_is_said_without_a_verb() -> None:
    code = (
        "import contextlib, sys; from mawl.commands.main import main; from mawl.commands.verbs import VERBS\n"
        "with contextlib.suppress(SystemExit): main(['--version'])\n"
        "print([verb for verb in VERBS if f'mawl.commands.{verb}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"mawl {__version__}\n[]\n"


def test_reading_verbs_do_not_import_the_engines() -> None:
    code = (
        "import sys; from mawl.commands.verbs import build_parser; build_parser();"
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


CODE = """
import sys, mawl.commands.run
unwanted = ("mawl.run.runner", "mawl.programs.datagen", "distributed")
print(*sorted(name for name in sys.modules if name.startswith(unwanted)))
"""


def test_the_command_alone_loads_neither_the_runner_nor_dask() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_no_collection_runs_while_modules_are_imported() -> None:
    before = gc.get_freeze_count()
    with importing():
        assert not gc.isenabled()
    assert gc.isenabled() and gc.get_freeze_count() > before
    gc.unfreeze()
