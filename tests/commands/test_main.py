"""The command line as a whole: what is mistyped is told, in one sentence."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mawl.commands.main import main


def test_a_mistyped_verb_is_told_the_one_that_is_like_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reprot", "latest"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("mawl: no verb is called 'reprot'; did you mean 'report'? choose one of run, plan")
    assert said.count("\n") == 1


def test_a_verb_like_none_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zzz"]) == 2
    assert "no verb is called 'zzz'; choose one of run, plan" in capsys.readouterr().err


def test_a_process_that_is_done_ends_without_the_destructors_of_libraries() -> None:
    aborts = "import ctypes; loaded = ctypes.CDLL(None); loaded.__cxa_atexit(loaded.abort, None, None)"
    ends = "import sys; sys.argv = ['mawl', '--version']; from mawl.commands.main import entry; entry()"
    done = subprocess.run([sys.executable, "-c", f"{aborts}; {ends}"], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()[0], done.stderr) == (0, "mawl", "")
