"""Completion in the real shells, and the manual page in the real formatters."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mawl.commands.schema import SCRIPTS
from mawl.commands.verbs import VERBS
from tests import needs
from tools.shell import files
from tools.shell.tree import Argument, Values, Verb, brief, tree

ROOT = Path(__file__).resolve().parents[2]
SHELL = ROOT / "src/mawl/commands/shell"

CASES = [
    ("mawl ", {"run", "tune", "completion"}, {"nano", "--help"}),
    ("mawl --debug re", {"report"}, {"run"}),
    ("mawl run ", {"nano", "mixed20", "mine.toml"}, {"report"}),
    ("mawl run --ca", {"--cache"}, {"--cores"}),
    ("mawl run --cache ", {"cold", "warm", "none"}, {"nano", "mine.toml"}),
    ("mawl run --cache none --c", {"--cores", "--cluster"}, {"cold"}),
    ("mawl run --data ", {"folder"}, {"mine.toml", "nano"}),
    ("mawl run --data folder fol", {"folder"}, {"nano"}),
    ("mawl run --data folder --sc", {"--scale", "--scaling"}, {"folder"}),
    ("mawl run --scale s", {"smoke", "standard"}, {"quick"}),
    ("mawl run nano --work f", {"folder"}, {"full"}),
    ("mawl report --format op", {"openmetrics"}, {"json"}),
    ("mawl report run", set(), {"run"}),
    ("mawl tune ", {"show", "check", "search"}, {"run"}),
    ("mawl tune show --j", {"--json"}, {"--live"}),
    ("mawl tune check --l", {"--live"}, {"--json"}),
    ("mawl completion ", {"bash", "zsh", "fish"}, {"folder", "mine.toml"}),
    ("mawl qualify --shared data ", {"work", "util"}, {"nano"}),
]
"""A line, what is offered at its end, and what is not.  The directory has ``folder`` and ``mine.toml``."""

ONLY_WITH_EQUALS = [("mawl run --cache=n", {"none"}, {"cold"}), ("mawl run --data=fol", {"folder"}, {"none"})]

BASH = """
source "$1"
read -ra COMP_WORDS <<<"${2//=/ = }"
[[ $2 == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_mawl
printf '%s\\n' "${COMPREPLY[@]}"
"""
FISH = "source $argv[1]; complete -C $argv[2]"


def offered(shell: str, line: str, place: Path) -> set[str]:
    """What a shell offers at the end of a line; names of directories without their slash."""
    script = str(SHELL / SCRIPTS[shell])
    command = {
        "bash": ["bash", "--norc", "-c", BASH, "bash", script, line],
        "zsh": ["zsh", "-f", str(ROOT / "tests/project/zsh_complete.zsh"), script, line],
        "fish": ["fish", "--no-config", "-c", FISH, script, line],
    }[shell]
    # Nothing but the shell: no script may start Python, or any other program, at a Tab.
    programs = place / "programs"
    programs.mkdir(exist_ok=True)
    if not (programs / shell).exists():
        (programs / shell).symlink_to(str(shutil.which(shell)))
    home = place / "home"
    home.mkdir(exist_ok=True)
    environment = {"PATH": str(programs), "HOME": str(home), "TERM": "dumb", "LC_ALL": "C.UTF-8"}
    folder = place / "here"
    (folder / "folder").mkdir(parents=True, exist_ok=True)
    (folder / "mine.toml").touch()
    ended = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    return {found.split("\t")[0].rstrip("/") for found in ended.stdout.splitlines()} - {""}


@pytest.mark.parametrize(("line", "wanted", "unwanted"), CASES + ONLY_WITH_EQUALS)
def test_bash_offers(line: str, wanted: set[str], unwanted: set[str], tmp_path: Path) -> None:
    found = offered("bash", line, tmp_path)
    assert wanted <= found and not unwanted & found


@pytest.mark.lab
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_zsh_and_fish_offer_the_same(shell: str, tmp_path: Path) -> None:
    needs.program(shell).require()
    wrong = {}
    for line, wanted, unwanted in CASES:
        found = offered(shell, line, tmp_path)
        if not wanted <= found or unwanted & found:
            wrong[line] = found
    assert wrong == {}


def test_bash_offers_every_option_of_every_verb_and_nothing_else(tmp_path: Path) -> None:
    verbs = [verb for verb in tree().all() if verb.words]
    assert {verb.words[0] for verb in verbs} == set(VERBS)
    for verb in verbs[:: len(verbs) // 6]:  # each costs a shell
        wanted = {flag for one in verb.options for flag in one.flags}
        assert offered("bash", f"mawl {' '.join(verb.words)} -", tmp_path) == wanted


@pytest.mark.parametrize("shell", sorted(SCRIPTS))
def test_every_option_is_in_every_script(shell: str) -> None:
    text = files.files()[SCRIPTS[shell]]
    flags = {flag for verb in tree().all() for one in verb.options for flag in one.flags if flag[:2] == "--"}
    written = re.compile(r"(?<![\w-])-l ([a-z-]+)" if shell == "fish" else r"(?<![\w-])--([a-z-]+)")
    assert flags <= {f"--{name}" for name in written.findall(text)}


def test_quotes_brackets_and_colons_of_a_help_text_reach_the_shells_as_they_are(tmp_path: Path) -> None:
    hostile = 'it\'s [a $(touch burst) `touch burst`: \\ "thing"'
    one = Argument(flags=("--odd",), metavar="A:B", help=hostile, values=Values(("x",)))
    verb = Verb(words=("odd",), help=hostile, description=hostile, exit_status="", arguments=(one,))
    mawl = Verb(words=(), help="", description=hostile, exit_status="", arguments=(), verbs=(verb,))
    for name, text in files.files(mawl).items():
        (tmp_path / name).write_text(text)
    bash = subprocess.run(
        ["bash", "-c", f"source {tmp_path / SCRIPTS['bash']}"], cwd=tmp_path, capture_output=True
    )
    assert (bash.returncode, bash.stderr) == (0, b"")
    assert not (tmp_path / "burst").exists()
    assert brief(hostile) == hostile
    for shell in ("zsh", "fish"):
        if shutil.which(shell):
            read = subprocess.run([shell, "-n", tmp_path / SCRIPTS[shell]], capture_output=True, text=True)
            assert (read.returncode, read.stderr) == (0, "")


def test_a_short_help_ends_at_a_semicolon_but_not_within_parentheses() -> None:
    assert brief("drop caches (root; slow); more") == "drop caches (root; slow)"
    assert brief("one; two (three)") == "one"
    assert brief("long " * 20, 12) == "long long …"


def test_completion_prints_the_script_that_the_package_holds(capsys: pytest.CaptureFixture[str]) -> None:
    from mawl.commands.main import main

    for shell, name in SCRIPTS.items():
        assert main(["completion", shell]) == 0
        assert capsys.readouterr().out == (SHELL / name).read_text()
    with pytest.raises(SystemExit):
        main(["completion", "tcsh"])
    assert "choose from" in capsys.readouterr().err


def test_the_manual_page_has_every_verb_and_option() -> None:
    text = (SHELL / "mawl.1").read_text().replace("\\-", "-")
    for verb in tree().all():
        assert f"mawl {' '.join(verb.words)}".strip() in text
        for one in verb.options:
            assert all(rf"\fB{flag}\fR" in text for flag in one.flags)


def test_dots_follow_a_value_only_where_more_values_may_follow() -> None:
    shown = {flag: one.value for verb in tree().all() for one in verb.options for flag in one.flags}
    assert (shown["--ab"], shown["--data"], shown["--json"]) == ("A.toml B.toml", "DIR ...", "")
    assert "\\fIA.toml B.toml\\fR\n" in (SHELL / "mawl.1").read_text()


@pytest.mark.lab
def test_formatters_read_the_manual_page_without_a_warning() -> None:
    needs.program("man", "mandoc", "groff").require()
    page = str(SHELL / "mawl.1")
    environment = {
        **os.environ,
        "LC_ALL": "C.UTF-8",
        "MANWIDTH": "80",
        "MAN_KEEP_FORMATTING": "",
        "PAGER": "cat",
    }
    for command in (
        ["man", "--warnings", "-l", page],
        ["groff", "-man", "-Tutf8", "-ww", page],
        ["mandoc", "-T", "lint", page],
    ):
        ended = subprocess.run(
            command, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL
        )
        assert (ended.returncode, ended.stderr) == (0, "")
        shown = ended.stdout
        assert command[0] == "mandoc" or "mixed analytics load" in " ".join(shown.split())
        assert command[0] != "mandoc" or shown == ""
