"""The command line as a whole: what is mistyped is told, in one sentence."""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from mawl.commands.main import VERBS, build_parser, main


def test_a_mistyped_verb_is_told_the_one_that_is_like_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reprot", "latest"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(
        "mawl: no verb is called 'reprot'; did you mean 'report'? choose one of demo, qualify"
    )
    assert said.count("\n") == 1


def test_a_verb_like_none_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zzz"]) == 2
    assert "no verb is called 'zzz'; choose one of demo, qualify" in capsys.readouterr().err


def test_a_process_that_is_done_ends_without_the_destructors_of_libraries() -> None:
    aborts = "import ctypes; loaded = ctypes.CDLL(None); loaded.__cxa_atexit(loaded.abort, None, None)"
    ends = "import sys; sys.argv = ['mawl', '--version']; from mawl.commands.main import entry; entry()"
    done = subprocess.run([sys.executable, "-c", f"{aborts}; {ends}"], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()[0], done.stderr) == (0, "mawl", "")


MOST_LINES = 60
"""Of a screen."""


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_is_no_longer_than_a_screen(
    verb: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    assert 5 < capsys.readouterr().out.count("\n") <= MOST_LINES


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


def test_every_option_that_help_groups_is_one_of_the_verb() -> None:
    for verb in ("run", "plan", "probe", "qualify"):
        groups = importlib.import_module(f"mawl.commands.{verb}").GROUPS
        parser = build_parser([verb])
        page = next(one for one in parser._actions if isinstance(one, argparse._SubParsersAction)).choices[
            verb
        ]
        known = {flag for one in page._actions for flag in (*one.option_strings, one.metavar)}
        assert {name for names in groups.values() for name in names} <= known


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
def test_an_empty_name_is_refused(words: list[str], what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said.startswith(
        f"mawl {words[0]}: {what} is empty: a shell variable that is not set reads like that"
    )


def test_without_proc_the_sentence_says_how_to_mount_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(_: argparse.Namespace) -> int:
        raise FileNotFoundError(2, "No such file or directory", str(tmp_path / "stat"))

    monkeypatch.setattr("mawl.commands.main.PROC", tmp_path)
    monkeypatch.setattr("mawl.commands.doctor.run", run)
    assert main(["doctor"]) == 1
    said = capsys.readouterr().err
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

    monkeypatch.setattr("mawl.commands.plan.run", run)
    monkeypatch.setattr("mawl.commands.main._address_space_is_limited", lambda: limited)
    if said is None:
        with pytest.raises(ImportError):
            main(["plan"])
        return
    assert main(["plan"]) == 1
    cure = "free memory, or raise the limit of a process's address space (ulimit -v)"
    assert capsys.readouterr().err == f"mawl plan: {said}; {cure}\n"
