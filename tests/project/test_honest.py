"""What the tiers promise: no skip without a need, no long test without its time, nothing left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.leftovers import VARIABLE, Leftovers, report

ROOT = Path(__file__).resolve().parents[2]


def run(directory: Path, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    """pytest with the plugins of the tiers, over one file."""
    (directory / "test_one.py").write_text(text)
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.honest"),
            *("-c", os.devnull, "--rootdir", str(directory), *words, str(directory / "test_one.py")),
        ],
        cwd=directory,
        # Plugins of other packages have no part in it, and take longer to load than the file.
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


SKIPS = """
import pytest
from tests import needs

def test_skips_by_itself():
    pytest.skip("no time")

@pytest.mark.skipif(True, reason="no wish")
def test_skips_by_a_mark():
    raise AssertionError

@needs.marks(needs.tried("moon", lambda: "there is no moon"))
def test_needs_what_is_lacking():
    raise AssertionError

def test_finds_in_its_course_what_is_lacking():
    needs.program("no-such-program").require()

@pytest.mark.xfail(reason="known")
def test_is_expected_to_fail():
    raise AssertionError
"""


def test_a_skip_without_a_need_fails_and_one_with_a_need_gives_its_reason(tmp_path: Path) -> None:
    ended = run(tmp_path, SKIPS, "-rs", "-W", "ignore::pytest.PytestUnknownMarkWarning")
    assert ended.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 failed, 2 skipped, 1 xfailed, 1 error" in ended.stdout
    assert ended.stdout.count("a skip that names no need of the machine is a failure") == 2
    assert ": there is no moon" in ended.stdout
    assert ": not installed: no-such-program" in ended.stdout


def test_a_file_that_skips_itself_fails(tmp_path: Path) -> None:
    ended = run(tmp_path, "import pytest\npytest.skip('not today', allow_module_level=True)\n")
    assert ended.returncode != 0
    assert "a skip that names no need of the machine is a failure" in ended.stdout


def test_only_one_place_skips() -> None:
    skipping = re.compile(r"pytest\.skip\(|mark\.skip|importorskip|skipTest")
    files = {path for path in (ROOT / "tests").rglob("*.py") if skipping.search(path.read_text())}
    assert files == {Path(__file__)}


def test_every_long_test_is_in_the_table_of_what_a_change_needs() -> None:
    marked = {
        path.relative_to(ROOT)
        for path in (ROOT / "tests").rglob("test_*.py")
        if re.search(r"mark\.long\(minutes", path.read_text()) and path != Path(__file__)
    }
    table = [line for line in (ROOT / "CONTRIBUTING.md").read_text().splitlines() if line.startswith("| ")]
    named = {Path(word) for line in table for word in re.findall(r"tests/[\w/.]+", line)}
    assert [path for path in named if not (ROOT / path).exists()] == []
    assert [path for path in marked if not any(path.is_relative_to(place) for place in named)] == []


LONG = """
import pytest

@pytest.mark.long({argument})
def test_of_hours():
    pass
"""


def test_a_long_test_without_its_minutes_is_refused_and_one_with_them_announces_them(tmp_path: Path) -> None:
    words = ("-W", "ignore::pytest.PytestUnknownMarkWarning")
    refused = run(tmp_path, LONG.format(argument=""), *words)
    assert refused.returncode == pytest.ExitCode.USAGE_ERROR
    assert "test_of_hours: mark it long(minutes=N)" in refused.stderr + refused.stdout
    told = run(tmp_path, LONG.format(argument="minutes=90"), *words)
    assert told.returncode == 0
    assert "1 long tests announce 90 minutes" in told.stdout
    assert "test_one.py::test_of_hours: takes about 90 minutes" in told.stdout


def test_a_process_that_carries_the_mark_of_this_run_is_named_and_no_other(tmp_path: Path) -> None:
    mine, theirs = (
        subprocess.Popen(
            ["cat"],
            env={**os.environ, VARIABLE: mark},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        for mark in ("mine-1", "theirs-1")
    )
    try:
        for one in (mine, theirs):  # the kernel shows no environment until the program has begun
            assert one.stdin is not None and one.stdout is not None
            one.stdin.write(b"begun")
            assert one.stdout.read(5) == b"begun"
        left = Leftovers("mine-1")
        assert left.others
        assert left.own(tmp_path) == [f"processes: [{mine.pid}]"]
    finally:
        for one in (mine, theirs):
            one.kill()
            one.communicate()
    assert left.own(tmp_path) == []


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "shm"
    place.mkdir()
    monkeypatch.setattr("tests.leftovers.SHARED_MEMORY", place)
    monkeypatch.setattr("tests.leftovers.GROUPS", tmp_path / "groups")
    monkeypatch.setattr("tests.leftovers.PATIENCE_SECONDS", 0.0)
    return place


def test_counters_that_name_this_runs_directories_are_its_own(memory: Path, tmp_path: Path) -> None:
    (memory / "mawl-run-before").mkdir()
    left = Leftovers("none-such")
    base = tmp_path / "pytest-1"
    for name, place in (("ours", base), ("theirs", tmp_path / "pytest-10")):
        (memory / f"mawl-run-{name}").mkdir()
        (memory / f"mawl-run-{name}" / "1.counters").write_bytes(b"\0" + os.fsencode(place / "work") + b"\0")
        (memory / f"mawl-run-{name}" / ".mawl").write_text(f"made by mawl: run {name} as counters\n")
    assert left.own(base) == [str(memory / "mawl-run-ours")]
    # Nobody holds the other, and its name is of another run: what fails depends on whether one was there.
    left.others = True
    assert left.look(base) == ([str(memory / "mawl-run-ours")], [str(memory / "mawl-run-theirs")])


def test_a_group_without_processes_and_a_mount_are_found(
    memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = Leftovers("none-such")
    group = tmp_path / "groups" / "memory" / "mawl-1"
    group.mkdir(parents=True)
    (group / "cgroup.procs").write_text("12\n")
    assert left.unclaimed(tmp_path / "base") == []
    (group / "cgroup.procs").write_text("")
    assert left.unclaimed(tmp_path / "base") == [str(group)]
    mounts = tmp_path / "mounts"
    mounts.write_text("tmpfs /t/a\\040b/base/x tmpfs rw 0 0\ntmpfs /t/a\\040b/base2/x tmpfs rw 0 0\n")
    monkeypatch.setattr("tests.leftovers.MOUNTS", mounts)
    (line,) = left.own(Path("/t/a b/base"))
    assert line == "mount: tmpfs /t/a\\040b/base/x tmpfs rw 0 0"


INTERRUPTED = """
import signal
import subprocess
import sys

def test_an_interrupt_ends_a_command():
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    code = "import signal; signal.raise_signal(signal.SIGINT)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert ended.returncode == -signal.SIGINT
"""


def test_where_interrupts_are_ignored_at_the_start_they_end_the_tests_commands(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        ended = run(tmp_path, INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.returncode == 0, ended.stdout


LEAVES = """
import subprocess
def test_leaves_a_process():
    subprocess.Popen(["sleep", "30"], start_new_session=True)
"""


def test_a_run_that_left_a_process_fails(tmp_path: Path) -> None:
    ended = run(tmp_path, LEAVES, "-p", "tests.leftovers", "--basetemp", str(tmp_path / "base"))
    assert ended.returncode == pytest.ExitCode.TESTS_FAILED, ended.stdout
    line = next(one for one in ended.stdout.splitlines() if one.startswith("left behind by this run"))
    (pid,) = line.partition("processes: [")[2].rstrip("]").split(",")
    os.kill(int(pid), 9)


HANDLES = """
import signal

def test_leaves_a_handler():
    signal.signal(signal.SIGINT, print)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)

def test_finds_the_handlers_as_they_were():
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL

def test_blocks():
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))

def test_restores():
    before = signal.signal(signal.SIGINT, print)
    signal.signal(signal.SIGINT, before)
"""


def test_a_test_that_leaves_a_handler_of_a_signal_fails_and_the_next_does_not_have_it(tmp_path: Path) -> None:
    ended = run(tmp_path, HANDLES, "-p", "tests.leftovers", "--basetemp", str(tmp_path / "base"))
    assert "4 passed, 2 errors" in ended.stdout, ended.stdout
    assert "the test left SIGINT handled by <built-in function print>, SIGTERM handled by" in ended.stdout
    assert "the test left SIGINT blocked" in ended.stdout


def test_what_is_told_names_each_thing() -> None:
    said: list[str] = []
    report(["a"], ["b"], said.append)
    assert said == [
        "left behind by this run of the tests: a",
        "left behind by this run of the tests or another: b",
    ]
